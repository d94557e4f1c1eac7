import type { Plan } from "../../core/plan/plan-types.ts";
import type { Problem } from "../../core/reasons/problem.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { findApplicationSet, generatorClusters } from "../config-repo/appset-in-git.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { editsOf, type GatherInput, parentOf } from "../lint/gather.ts";
import { lintOutside } from "../lint/lint-outside.ts";
import { planesFor } from "../resolve/fleet.ts";
import type { RepoContext } from "../round/context.ts";

/** What lint says of a planned rollout and what stands outside its file, each at its line. */
export async function lintPlanned(
  context: RepoContext,
  rollout: Rollout,
  plan: Plan,
  snapshot: Snapshot,
  defaultBranch: string,
  required: readonly { context: string; app?: number }[] | undefined,
): Promise<Problem[]> {
  const planes = planesFor(context, rollout.source.controlPlanes);
  const edits = editsOf(plan);
  const files = new Set([...edits.values()].flatMap((own) => own.map((edit) => edit.file)));
  const set = rollout.source.kind === "ApplicationSet" ? await findApplicationSet(snapshot, rollout.source, files) : undefined;
  const input: GatherInput = {
    rollout,
    set,
    clusters: generatorClusters(planes),
    edits,
    parents: planes.flatMap((plane) => plane.applications().map(parentOf)),
    seesAll: context.grants === undefined,
    repoURL: context.repoURL,
    defaultBranch,
    required,
  };
  return snapshot.with((sync) => lintOutside(input, sync));
}
