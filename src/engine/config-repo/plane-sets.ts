import type { ControlPlane } from "../../adapters/argocd/port.ts";
import type { RenderResult } from "../../core/appset/index.ts";
import { type Plan, targetsOfStage } from "../../core/plan/plan-types.ts";
import { planeOf } from "../../core/run/targets/unseen.ts";
import type { SourceRef } from "../../core/spec/rollout.ts";
import {
  type ApplicationSetInGit,
  findApplicationSet,
  findApplicationSets,
  generatorClusters,
  type RenderedSpecs,
  renderAt,
  specsOf,
} from "./appset-in-git.ts";
import { specDifference } from "./same-spec.ts";
import type { Snapshot, SyncFiles } from "./snapshot.ts";

/** By name of the control plane. */
export type PlaneSets = ReadonlyMap<string, ApplicationSetInGit>;

/** By control plane: files in which pins of its targets stand. */
export type PinFiles = ReadonlyMap<string, ReadonlySet<string>>;

const pinFiles = new WeakMap<Plan, PinFiles>();

/** Worked out once a plan: a plan never changes. */
export function pinFilesOf(plan: Plan): PinFiles {
  const known = pinFiles.get(plan);
  if (known !== undefined) return known;
  const files = new Map<string, Set<string>>();
  for (const stage of plan.stages) {
    for (const { key, edits } of targetsOfStage(stage)) {
      const plane = planeOf(key);
      const mine = files.get(plane) ?? new Set<string>();
      files.set(plane, mine);
      for (const edit of edits) if (edit.kind !== "branch") mine.add(edit.file);
    }
  }
  pinFiles.set(plan, files);
  return files;
}

/**
 * The manifest of a rollout's ApplicationSet at a commit, for each of its control planes. Where the repo declares it once,
 * every plane follows that one. Where it declares it several times, as with a folder for each hub, a plane's is the one in
 * which its targets are pinned, or else the one that its live set equals; a plane of which neither can be said has none.
 */
export async function setsByPlane(
  snapshot: Snapshot,
  ref: Pick<SourceRef, "name" | "namespace">,
  likely: Iterable<string>,
  planes: readonly ControlPlane[],
  pinned: PinFiles = new Map(),
): Promise<PlaneSets> {
  const sets = new Map<string, ApplicationSetInGit>();
  const [only] = planes;
  if (planes.length === 1 && only !== undefined) {
    const found = await findApplicationSet(snapshot, ref, likely);
    return found === undefined ? sets : new Map([[only.name, found]]);
  }
  const found = await findApplicationSets(snapshot, ref);
  for (const plane of planes) {
    const live = plane.applicationSet(ref.namespace, ref.name)?.spec;
    const equal = found.find((one) => live !== undefined && specDifference(live, one.object["spec"]) === undefined);
    const own = found.filter((one) => pinned.get(plane.name)?.has(one.file) === true);
    const set = found.length === 1 ? found[0] : own.length === 1 ? own[0] : equal;
    if (set !== undefined) sets.set(plane.name, set);
  }
  return sets;
}

/** The same manifests at another commit: each plane stays with its file. */
export async function sameSetsAt(snapshot: Snapshot, ref: Pick<SourceRef, "name" | "namespace">, sets: PlaneSets): Promise<PlaneSets> {
  const after = new Map<string, ApplicationSetInGit>();
  for (const [plane, { file }] of sets) {
    const found = await findApplicationSet(snapshot, ref, [file]);
    if (found !== undefined) after.set(plane, found);
  }
  return after;
}

/** What each control plane's set yields at a commit, from that plane's own clusters. A plane without an answer is left out. */
export async function specsByPlane(
  repoURL: string,
  snapshot: Snapshot,
  sets: PlaneSets,
  planes: readonly ControlPlane[],
  baseBranch: string,
): Promise<ReadonlyMap<string, RenderedSpecs>> {
  const all = new Map<string, RenderedSpecs>();
  for (const plane of planes) {
    const set = sets.get(plane.name);
    if (set === undefined) continue;
    const clusters = generatorClusters([plane]);
    const madeFrom = new Set([set.file]);
    const noting = (files: SyncFiles): SyncFiles => ({
      paths: () => files.paths(),
      read(path) {
        madeFrom.add(path);
        return files.read(path);
      },
    });
    const specs = specsOf(await snapshot.with((files) => renderAt(set, clusters, noting(files), repoURL, baseBranch)), madeFrom);
    if (specs !== undefined) all.set(plane.name, specs);
  }
  return all;
}

/** What the sets of all control planes yield together; an Application whose name stands on several bears its plane's before it. */
export function joined(renders: ReadonlyMap<string, RenderResult>): RenderResult {
  const all = [...renders].flatMap(([plane, { applications }]) => applications.map((application) => ({ plane, application })));
  const byName = Map.groupBy(all, ({ application }) => application.metadata.name);
  const applications = all.map(({ plane, application }) => {
    const { name } = application.metadata;
    if ((byName.get(name)?.length ?? 0) < 2) return application;
    return { ...application, metadata: { ...application.metadata, name: `${plane}/${name}` } };
  });
  const results = [...renders.values()];
  const problems = results.flatMap((result) => result.problems);
  return { ok: results.every((result) => result.ok), applications, generators: results.flatMap((result) => result.generators), problems };
}
