import type { ControlPlane } from "../../adapters/argocd/port.ts";
import type { RenderResult } from "../../core/appset/types.ts";
import type { Intended } from "../../core/argocd/liveness/types.ts";
import { replaceBraces } from "../../core/base/braces.ts";
import { matchesGlob } from "../../core/base/glob.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { readOrNull } from "../../core/base/repo-files.ts";
import { type Edit, filesOf, type Plan, targetsOfStage } from "../../core/plan/plan-types.ts";
import { planeOf } from "../../core/run/targets/unseen.ts";
import type { SourceRef } from "../../core/spec/rollout.ts";
import {
  type ApplicationSetInGit,
  findApplicationSet,
  findApplicationSets,
  generatorClusters,
  manifestIn,
  type RenderedSpecs,
  setsDeclaredIn,
  setsIn,
  specsOf,
} from "./appset-in-git.ts";
import { chartTemplate, feedingFile, liveWithPins, makerOf } from "./live-set.ts";
import { renderApart } from "./render-set.ts";
import { specDifference } from "./same-spec.ts";
import { noting, type Snapshot, type SyncFiles } from "./snapshot.ts";

/** By name of the control plane. */
type PlaneSets = ReadonlyMap<string, ApplicationSetInGit>;

/** By control plane: files in which pins of its targets stand. */
type PinFiles = ReadonlyMap<string, ReadonlySet<string>>;

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
      for (const edit of edits) for (const file of filesOf(edit)) mine.add(file);
    }
  }
  pinFiles.set(plan, files);
  return files;
}

/** Of whose sets is asked, and what of them is written. */
interface Question {
  ref: Pick<SourceRef, "name" | "namespace"> & { unverified?: boolean };
  planes: readonly ControlPlane[];
  /** Files in which the manifest may stand, looked at first. */
  likely: Iterable<string>;
  pinned?: PinFiles;
  /** Pins, as resolved: where a set is not applied as it stands, only they tell one commit from another. */
  edits: readonly Edit[];
}

/**
 * The manifest of a rollout's ApplicationSet at a commit, for each of its control planes. Where the repo declares it once,
 * every plane follows that one. Where it declares it several times, as with a folder for each hub, a plane's is the one in
 * which its targets are pinned, or else the one that its live set equals; a plane of which neither can be said has none.
 * One that is patched or made on its way to the cluster is the live one, with the pins of this commit.
 */
export async function setsByPlane(snapshot: Snapshot, question: Question): Promise<PlaneSets> {
  const { ref, planes, pinned = new Map<string, ReadonlySet<string>>() } = question;
  const sets = new Map<string, ApplicationSetInGit>();
  const found = await candidates(snapshot, question);
  for (const plane of planes) {
    const set =
      followed(found, plane, ref, pinned.get(plane.name)) ?? (found.length === 0 ? await strangeSet(snapshot, question, plane) : undefined);
    if (set !== undefined) sets.set(plane.name, await asApplied(snapshot, question, plane, set));
  }
  return sets;
}

/** Of one plane the manifest in which its targets are pinned is its own, and no other file need be read. */
async function candidates(snapshot: Snapshot, { ref, planes, likely }: Question): Promise<ApplicationSetInGit[]> {
  if (planes.length === 1) {
    const pinned = await snapshot.with((files) => setsDeclaredIn(files, ref, new Set(likely)));
    if (pinned.length === 1) return pinned;
  }
  return findApplicationSets(snapshot, ref);
}

/** Which of several manifests a plane follows. */
function followed(
  found: readonly ApplicationSetInGit[],
  plane: ControlPlane,
  ref: Question["ref"],
  pinned: ReadonlySet<string> | undefined,
): ApplicationSetInGit | undefined {
  return chooseSet(found, pinned, plane.applicationSet(ref.namespace, ref.name)?.spec);
}

/** Chooses, of several manifests of one name, the one with pins, or else the only one that equals the live set. */
export function chooseSet(
  found: readonly ApplicationSetInGit[],
  pinned: ReadonlySet<string> | undefined,
  live: unknown,
): ApplicationSetInGit | undefined {
  if (found.length <= 1) return found[0];
  const own = found.filter((one) => pinned?.has(one.file) === true);
  if (own.length === 1) return own[0];
  const equal = found.filter((one) => live !== undefined && specDifference(live, one.object["spec"]) === undefined);
  return equal.length === 1 ? equal[0] : undefined;
}

/** A set that no file declares under its name: renamed by kustomize, or made by Helm. Only the live one tells what it is. */
async function strangeSet(snapshot: Snapshot, { ref, likely }: Question, plane: ControlPlane): Promise<ApplicationSetInGit | undefined> {
  const live = plane.applicationSet(ref.namespace, ref.name);
  if (live === undefined) return undefined;
  return snapshot.with((files) => {
    for (const file of new Set(likely)) {
      const [only, ...others] = setsIn(readOrNull(files, file));
      if (only !== undefined && others.length === 0 && makerOf(files, file) === "kustomize") return { file, object: only };
    }
    const template = chartTemplate(files, ref.name);
    if (template === undefined && ref.unverified !== true) return undefined;
    return { file: template ?? "", object: { spec: live.spec } };
  });
}

/** The set as it is applied: as it stands, or the live one with what this commit says at the pins. */
async function asApplied(
  snapshot: Snapshot,
  { ref, edits }: Question,
  plane: ControlPlane,
  set: ApplicationSetInGit,
): Promise<ApplicationSetInGit> {
  const live = plane.applicationSet(ref.namespace, ref.name);
  if (live === undefined) return set;
  const stands = set.object["kind"] !== undefined;
  if (stands && specDifference(live.spec, set.object["spec"]) === undefined) return set;
  return snapshot.with((files) => {
    const by = makerOf(files, set.file) ?? (ref.unverified === true ? "unknown" : undefined);
    if (by === undefined) return set;
    const mine = stands ? edits.filter((edit) => edit.file === set.file) : [];
    const { spec, lost } = liveWithPins(live.spec, stands ? readOrNull(files, set.file) : null, mine);
    const fed = feedingFile(files, set.file, edits, plane) ?? (stands ? undefined : edits.find((edit) => edit.file === set.file)?.file);
    const metadata = { name: ref.name, namespace: ref.namespace };
    return { file: set.file, object: { kind: "ApplicationSet", metadata, spec }, made: { by, lost, fed } };
  });
}

/** The same manifests at another commit: each plane stays with its file. */
export async function sameSetsAt(snapshot: Snapshot, question: Question, sets: PlaneSets): Promise<PlaneSets> {
  const after = new Map<string, ApplicationSetInGit>();
  for (const plane of question.planes) {
    const before = sets.get(plane.name);
    if (before === undefined) continue;
    const found = await setAt(snapshot, question.ref, before);
    if (found === undefined) continue;
    after.set(plane.name, before.made === undefined ? found : await asApplied(snapshot, question, plane, found));
  }
  return after;
}

function setAt(snapshot: Snapshot, ref: Question["ref"], { file, made }: ApplicationSetInGit): Promise<ApplicationSetInGit | undefined> {
  if (made === undefined) return findApplicationSet(snapshot, ref, [file]);
  return snapshot.with((files) => {
    const text = readOrNull(files, file);
    const object = manifestIn(text, "ApplicationSet", [ref]) ?? setsIn(text)[0] ?? {};
    return { file, object };
  });
}

/**
 * What each control plane's set yields at a commit, from that plane's own clusters. A plane without a set is left out. Of a set that cannot be
 * rendered, or whose pins the live one does not show, it is told what it is made from.
 */
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
    const render = (files: SyncFiles) => renderApart(set, clusters, noting(files, madeFrom), repoURL, baseBranch);
    const specs = specsOf(await snapshot.with(render), madeFrom);
    const { fed, lost } = set.made ?? {};
    if (specs !== undefined && fed === undefined && lost === undefined) all.set(plane.name, specs);
    else {
      // One that fails leaves those unread that come after it.
      for (const file of await snapshot.with((files) => generatorFiles(set.object["spec"], files.paths()))) madeFrom.add(file);
      all.set(plane.name, Object.assign(new Map<string, Intended>(), { madeFrom: fed === undefined ? madeFrom : madeFrom.add(fed) }));
    }
  }
  return all;
}

const MOST_NESTED = 6;

/** Files that Git generators of a set name by their patterns, within matrix and merge, too; whatever stands for a parameter. */
function generatorFiles(holder: unknown, paths: readonly string[], depth = 0): string[] {
  if (!isRecord(holder) || !Array.isArray(holder["generators"]) || depth > MOST_NESTED) return [];
  return holder["generators"].filter(isRecord).flatMap(({ git, matrix, merge }) => {
    const named = isRecord(git) && Array.isArray(git["files"]) ? git["files"].filter(isRecord) : [];
    const globs = named.map(({ path }) => replaceBraces(String(path), "**"));
    const own = paths.filter((path) => globs.some((glob) => matchesGlob(glob, "pathspec", path) || matchesGlob(glob, "doublestar", path)));
    return [...own, ...[matrix, merge].flatMap((one) => generatorFiles(one, paths, depth + 1))];
  });
}

/** What several sets of one namespace yield: names of their own. */
export function together(one: RenderResult | undefined, other: RenderResult): RenderResult {
  return one === undefined ? other : { ...other, applications: [...one.applications, ...other.applications] };
}

/** Joins what the sets of all control planes yield; an Application whose name stands on several bears its plane's before it. */
export function joinPlanes(renders: ReadonlyMap<string, RenderResult>): RenderResult {
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
