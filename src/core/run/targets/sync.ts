/**
 * With `sync: Request`: Argo CD is asked to sync a target whose automated sync is off, once its change is seen and nothing else stands
 * in the way. The wish is recorded first; what came of it the next looks show, whichever process asked.
 */
import type { AnyReason } from "../../base/reason.ts";
import { runReason } from "../../reasons/run.ts";
import { type Draft, mapTargets, touchTarget, wakeAt } from "../state/draft.ts";
import { haltCovers, haltsNow } from "../state/halts.ts";
import { type Batch, type BatchTarget, isMoving } from "../state/run.ts";
import type { Assessment } from "../state/world.ts";

/** How soon the bot looks again at what was asked for, though nothing was heard. */
const LOOK_AGAIN_MS = 60_000;

/** The target, and why it waits. */
export function wantSync(draft: Draft, batch: Batch, target: BatchTarget, { sync, sentence }: Assessment): [BatchTarget, AnyReason] {
  if (sync === undefined || draft.run.spec.stages[batch.stage]?.sync !== "Request") return [target, sentence];
  const { wanted, cannot, last } = sync;
  if (wanted === undefined || batch.merged === undefined)
    return [target, cannot === undefined ? sentence : runReason("SYNC_NOT_ASKED", { because: cannot })];
  draft.syncs.push({ batch: batch.number, target: target.key, commit: batch.merged.commit, revisions: wanted.revisions });
  const refused = typeof last?.answer === "object" ? last.answer.refused : undefined;
  const { at } = target.syncAsked ?? draft;
  return [target, refused === undefined ? runReason("SYNC_ASKED", { at }) : runReason("SYNC_NOT_ASKED", { because: refused })];
}

/** Last of all in a round: what people said in it, and what it found, may hold the run, and so the syncs. */
export function askSyncs(draft: Draft): void {
  for (const [batch, wishes] of Map.groupBy(draft.syncs, (wish) => wish.batch)) {
    const byTarget = new Map(wishes.map((wish) => [wish.target, wish]));
    mapTargets(draft, batch, (target) => {
      const wish = byTarget.get(target.key);
      if (wish === undefined || (target.phase !== "Merged" && target.phase !== "Syncing")) return target;
      if (!isMoving(draft.run) || isHalted(draft, target)) return touchTarget(target, { why: runReason("SYNC_HELD") });
      draft.effects.push({ kind: "Sync", target: target.key, commit: wish.commit });
      wakeAt(draft, draft.now + LOOK_AGAIN_MS);
      if (target.syncAsked !== undefined) return target;
      draft.transition = true;
      draft.events.push(runReason("TARGET_SYNC_ASKED", { cluster: target.cluster, application: target.application }));
      return touchTarget(target, { syncAsked: { at: draft.at, revisions: [...wish.revisions] } });
    });
  }
}

function isHalted({ run, world, now }: Draft, { cluster }: BatchTarget): boolean {
  return haltsNow({ run, world, now }).some((halt) => haltCovers(halt, run, cluster));
}
