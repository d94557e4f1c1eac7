import type { Intended } from "../../core/argocd/liveness/types.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { targetsOf } from "../../core/plan/plan-types.ts";
import type { Run } from "../../core/run/state/run.ts";
import { planesFor } from "../resolve/fleet.ts";
import { editsOf } from "../round/act/batch-commit.ts";
import type { RepoContext } from "../round/context.ts";
import { type DeclaredTarget, declaredSpecs } from "./applications-in-git.ts";
import { generatorClusters, type RenderedSpecs } from "./appset-in-git.ts";
import type { Commits } from "./commits.ts";
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
  return (run, baseBranch) => {
    const { source } = run.spec;
    if (source.kind !== "ApplicationSet") return renderDeclared(run);
    const planes = planesFor(all, source.controlPlanes);
    const fleet = JSON.stringify(planes.map((plane) => [plane.name, generatorClusters([plane])]));
    const likely = run.batches.flatMap((batch) => editsOf(batch).map((edit) => edit.file)).slice(0, 50);
    const live = () => JSON.stringify(planes.map((plane) => plane.applicationSet(source.namespace, source.name)?.spec));
    return async (commit) => {
      const key = `${run.rollout} ${commit}`;
      const known = kept.get(key);
      if (known?.fleet === fleet && (known.live === undefined || known.live === live())) return known.specs;
      const snapshot = commits.snapshot(commit);
      const edits = targetsOf(run.plan).flatMap((target) => target.edits);
      const sets = await setsByPlane(snapshot, { ref: source, likely, planes, pinned: pinFilesOf(run.plan), edits });
      const specs = await specsByPlane(repoURL, snapshot, sets, planes, baseBranch);
      const made = [...sets.values()].some((set) => set.made !== undefined);
      // Which manifest is whose is known only once the planes follow one of them: not remembered before.
      if (sets.size === planes.length) kept.set(key, { fleet, live: made ? live() : undefined, specs });
      return specs;
    };
  };
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
