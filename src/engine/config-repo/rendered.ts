import type { Run } from "../../core/run/state/run.ts";
import { planesFor } from "../resolve/fleet.ts";
import { editsOf } from "../round/act/batch-commit.ts";
import type { RepoContext } from "../round/context.ts";
import type { RepoMemory } from "../round/memory.ts";
import { generatorClusters, type RenderedSpecs } from "./appset-in-git.ts";
import { pinFilesOf, setsByPlane, specsByPlane } from "./plane-sets.ts";

/** By name of the control plane, then by Application: those of one name on two planes never mix. */
export type SpecsByPlane = ReadonlyMap<string, RenderedSpecs>;

const MOST_KEPT = 64;

/** What a run's ApplicationSet yields at a commit, remembered for as long as the fleet stays the same. */
export function renderer(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
  baseBranch: string,
): (commit: string) => Promise<SpecsByPlane | undefined> {
  if (run.spec.source.kind !== "ApplicationSet") return async () => undefined;
  const planes = planesFor(context, run.spec.source.controlPlanes);
  const fleet = JSON.stringify(planes.map((plane) => [plane.name, generatorClusters([plane]).map((c) => [c.name, c.server, c.labels])]));
  const likely = run.batches.flatMap((batch) => editsOf(batch).map((edit) => edit.file)).slice(0, 50);
  return async (commit) => {
    const key = `${run.rollout} ${commit}`;
    const known = memory.renders.get(key);
    if (known !== undefined && known.fleet === fleet) return known.specs;
    const snapshot = memory.commits.snapshot(commit);
    const sets = await setsByPlane(snapshot, run.spec.source, likely, planes, pinFilesOf(run.plan));
    const specs = await specsByPlane(context, snapshot, sets, planes, baseBranch);
    // Which manifest is whose is known only once the planes follow one of them: not remembered before.
    if (sets.size === planes.length) memory.renders.set(key, { fleet, specs });
    const oldest = memory.renders.keys().next().value;
    if (memory.renders.size > MOST_KEPT && oldest !== undefined) memory.renders.delete(oldest);
    return specs;
  };
}
