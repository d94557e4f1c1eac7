import type { AnyReason } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { type Draft, mapTargets, touchTarget, wakeAt } from "../state/draft.ts";
import { isOut } from "../state/names.ts";
import type { Run } from "../state/run.ts";
import type { LostPlane, ObservedRollouts } from "../state/world.ts";

/** The control plane of a target or a cluster, by its key. */
export function planeOf(key: string): string {
  return key.slice(0, key.indexOf("/"));
}

/** Why nothing can be concluded about a target now; undefined: its control plane is seen. */
export function lostPlane(draft: Pick<Draft, "world">, key: string): LostPlane | undefined {
  return draft.world.lostPlanes?.get(planeOf(key));
}

/** Whether the inventory says of this cluster what there is to know: that of one plane may be read while another's is not. */
export function seesClusterOf({ world }: Pick<Draft, "world">, cluster: string): boolean {
  if (world.clustersKnown) return true;
  return (world.lostPlanes?.size ?? 0) > 0 && world.lostPlanes?.has(planeOf(cluster)) === false;
}

/** Why nothing is known of what is on a control plane. */
export function lostWords(plane: string, { since, why }: LostPlane): AnyReason {
  return runReason("CONTROL_PLANE_UNSEEN", { plane, since, because: why });
}

/** Keeps in the run what cannot be seen, and what Argo Rollouts of targets in flight show: for people, nothing is decided by it. */
export function noteUnseen(draft: Draft): void {
  notePlanes(draft);
  for (const batch of draft.run.batches) {
    if (
      batch.merged === undefined ||
      draft.resting.has(batch) ||
      (batch.phase === "Settled" && !batch.targets.some((target) => target.rollouts))
    )
      continue;
    mapTargets(draft, batch.number, (target) => {
      if (isOut(target) || target.phase === "Baked") return touchTarget(target, { rollouts: undefined });
      const looked = draft.world.targets.get(target.key)?.rollouts;
      // Nobody looks at them any more once the Application is healthy: what they showed before is over.
      if (looked === undefined) return target.phase === "Healthy" ? touchTarget(target, { rollouts: undefined }) : target;
      if (looked.lookAgainAt !== undefined) wakeAt(draft, epoch(looked.lookAgainAt));
      const rollouts = shown(looked);
      if (looked.unseen !== undefined || JSON.stringify(rollouts) === JSON.stringify(target.rollouts)) return target;
      return touchTarget(target, { rollouts });
    });
  }
}

/** What the journal keeps of one target's Rollouts at most. */
const MOST_KEPT = 5;

function shown({ seen = [] }: ObservedRollouts) {
  return seen.length === 0 ? undefined : seen.slice(0, MOST_KEPT);
}

function notePlanes(draft: Draft): void {
  const lost = draft.world.lostPlanes ?? new Map<string, LostPlane>();
  if (lost.size === 0 && draft.run.unseen === undefined) return;
  const unseen: NonNullable<Run["unseen"]> = [...lost].map(([plane, { since, why }]) => ({ plane, since, why }));
  const before = draft.run.unseen ?? [];
  // The reason may be worded anew at each try: that it cannot be seen is what is worth a word.
  if (before.map((one) => one.plane).join() === unseen.map((one) => one.plane).join()) return;
  const { unseen: _, ...rest } = draft.run;
  draft.run = unseen.length === 0 ? rest : { ...rest, unseen };
  draft.observation = true;
}
