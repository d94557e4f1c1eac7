import { generatePathsOf } from "../../core/argocd/decode/application.ts";
import { intendedOf } from "../../core/argocd/decode/source.ts";
import type { Intended } from "../../core/argocd/liveness/types.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { defined } from "../../core/base/defined.ts";
import { isRecord } from "../../core/base/is-record.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { filesOf, type PlannedTarget, targetsOf } from "../../core/plan/plan-types.ts";
import type { Run } from "../../core/run/state/run.ts";
import { setsOfRun } from "../resolve/source-sets.ts";
import { editsOf } from "../round/act/batch-commit.ts";
import type { RepoContext } from "../round/context.ts";
import { generatorClusters, manifestIn, type RenderedSpecs } from "./appset-in-git.ts";
import type { Commits } from "./commits.ts";
import { type Kustomizations, kustomizationsIn } from "./kustomize.ts";
import { makerOf } from "./live-set.ts";
import { pinFilesOf, setsByPlane, specsByPlane } from "./plane-sets.ts";

/** By name of the control plane, then by Application: those of one name on two planes never mix. */
export type SpecsByPlane = ReadonlyMap<string, RenderedSpecs>;

const MOST_KEPT = 64;

/** What Git gives one Application: its annotation, and the files that its spec is made from. */
export function givenTo(
  specs: SpecsByPlane | undefined,
  plane: string,
  name: string,
): Pick<Intended, "generatePaths" | "madeFrom"> | undefined {
  const own = specs?.get(plane);
  return own?.get(name) ?? own;
}

/** What a run's ApplicationSet, or the manifests of its Applications, yield at a commit, remembered while the fleet stays the same. */
export type Renderer = (run: Run, baseBranch: string) => (commit: string) => Promise<SpecsByPlane | undefined>;

export function openRenderer({ planes: all, repoURL }: Pick<RepoContext, "planes" | "repoURL">, commits: Commits): Renderer {
  /** By rollout and commit, for the fleet it was rendered with, and for the live sets where these are what was rendered. */
  const kept = new BoundedMap<string, { fleet: string; live: string | undefined; specs: SpecsByPlane }>(MOST_KEPT);
  const renderDeclared = openDeclared(commits);

  function ofSets(run: Run, baseBranch: string): (commit: string) => Promise<SpecsByPlane> {
    const sources = setsOfRun(all, run);
    const fleet = JSON.stringify(
      sources.map(({ ref, planes }) => [ref.name, planes.map((plane) => [plane.name, generatorClusters([plane])])]),
    );
    const likely = run.batches.flatMap((batch) => editsOf(batch).flatMap(filesOf)).slice(0, 50);
    const live = () =>
      JSON.stringify(sources.map(({ ref, planes }) => planes.map((plane) => plane.applicationSet(ref.namespace, ref.name)?.spec)));
    return async (commit) => {
      const key = `${run.rollout} ${commit}`;
      const known = kept.get(key);
      if (known?.fleet === fleet && (known.live === undefined || known.live === live())) return known.specs;
      const snapshot = commits.snapshot(commit);
      const edits = targetsOf(run.plan).flatMap((target) => target.edits);
      let [specs, made, whole]: [SpecsByPlane, boolean, boolean] = [new Map(), false, true];
      for (const { ref, planes } of sources) {
        const sets = await setsByPlane(snapshot, { ref, likely, planes, pinned: pinFilesOf(run.plan), edits });
        specs = together(specs, await specsByPlane(repoURL, snapshot, sets, planes, baseBranch));
        made ||= [...sets.values()].some((set) => set.made !== undefined);
        whole &&= sets.size === planes.length;
      }
      // Which manifest is whose is known only once the planes follow one of them: not remembered before.
      if (whole) kept.set(key, { fleet, live: made ? live() : undefined, specs });
      return specs;
    };
  }

  return (run, baseBranch) => {
    const generated = ofSets(run, baseBranch);
    if (run.spec.source.kind === "ApplicationSet") return generated;
    const declared = renderDeclared(run);
    return async (commit) => together(await declared(commit), await generated(commit));
  };
}

/** Applications of one namespace have names of their own, whatever makes them. */
function together(one: SpecsByPlane, other: SpecsByPlane): SpecsByPlane {
  if (one.size === 0) return other;
  const all = new Map(one);
  for (const [plane, specs] of other) {
    const known = one.get(plane);
    const madeFrom = [...(known?.madeFrom ?? []), ...(specs.madeFrom ?? [])];
    const both = new Map([...(known ?? []), ...specs]);
    all.set(plane, madeFrom.length === 0 ? both : Object.assign(both, { madeFrom: new Set(madeFrom) }));
  }
  return all;
}

/** Of Applications that people write themselves: what their manifests say, which pins may stand in. */
function openDeclared(commits: Commits): (run: Run) => (commit: string) => Promise<SpecsByPlane> {
  const kept = new BoundedMap<string, SpecsByPlane>(MOST_KEPT);
  return (run) => {
    const targets = new Map<string, DeclaredTarget>();
    for (const target of [...targetsOf(run.plan), ...run.batches.flatMap((batch) => batch.targets)]) targets.set(target.key, target);
    return async (commit) => {
      const key = `${run.rollout} ${commit} ${targets.size}`;
      const specs = kept.get(key) ?? (await commits.snapshot(commit).with((files) => declaredSpecs(files, [...targets.values()])));
      kept.set(key, specs);
      return specs;
    };
  };
}

type DeclaredTarget = Pick<PlannedTarget, "key" | "edits">;

/**
 * By control plane, what the edited manifests of targets say. One that is patched or templated on its way to the cluster, or that several
 * files declare, says too little: of it only the files are told.
 */
function declaredSpecs(files: RepoFiles, targets: readonly DeclaredTarget[]): ReadonlyMap<string, RenderedSpecs> {
  const planes = new Map<string, Map<string, Intended> & { madeFrom: Set<string> }>();
  const seen = new Set<string>();
  let kustomizations: Kustomizations | undefined;
  for (const { key, edits } of targets) {
    const [plane = "", namespace = "", name = ""] = key.split("/");
    const edited = new Set(edits.flatMap((edit) => filesOf(edit)));
    const found = [...edited].flatMap((file) => {
      const manifest = manifestIn(readOrNull(files, file), "Application", [{ name, namespace }]);
      return manifest === undefined ? [] : [{ file, manifest }];
    });
    const [only, ...others] = found;
    if (only === undefined) continue;
    const own = planes.get(plane) ?? Object.assign(new Map<string, Intended>(), { madeFrom: new Set<string>() });
    planes.set(plane, own);
    for (const { file } of found) own.madeFrom.add(file);
    kustomizations ??= kustomizationsIn(files);
    const stands = others.length === 0 && makerOf(files, only.file, kustomizations) === undefined;
    // One of the same name in another namespace would be taken for it.
    if (stands && !seen.has(`${plane}/${name}`)) own.set(name, declared(only.manifest, only.file));
    else own.delete(name);
    seen.add(`${plane}/${name}`);
  }
  return planes;
}

function declared({ metadata, spec }: Record<string, unknown>, file: string): Intended {
  const annotations = isRecord(metadata) && isRecord(metadata["annotations"]) ? metadata["annotations"] : {};
  return defined({ ...intendedOf(spec), generatePaths: generatePathsOf(annotations), madeFrom: new Set([file]) });
}
