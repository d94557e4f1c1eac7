/**
 * With `sync: Request`: Argo CD is asked to sync a target whose automated sync is off, once its change is seen and nothing else stands
 * in the way. The wish is recorded first; what came of it the next looks show, whichever process asked.
 */
import type { AnyReason } from "../../base/reason.ts";
import { runReason } from "../../reasons/run.ts";
import { haltCovers, haltsNow } from "../gates/halt.ts";
import { type Draft, touchTarget, wakeAt } from "../state/draft.ts";
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
  if (!isMoving(draft.run) || isHalted(draft, target)) return [target, runReason("SYNC_HELD")];
  const asked = target.syncAsked ?? { at: draft.at, revisions: [...wanted.revisions] };
  if (target.syncAsked === undefined) {
    draft.transition = true;
    draft.events.push(runReason("TARGET_SYNC_ASKED", { cluster: target.cluster, application: target.application }));
  }
  draft.effects.push({ kind: "Sync", target: target.key, commit: batch.merged.commit });
  wakeAt(draft, draft.now + LOOK_AGAIN_MS);
  const refused = typeof last?.answer === "object" ? last.answer.refused : undefined;
  const why = refused === undefined ? runReason("SYNC_ASKED", { at: asked.at }) : runReason("SYNC_NOT_ASKED", { because: refused });
  return [touchTarget(target, { syncAsked: asked }), why];
}

function isHalted({ run, world, now }: Draft, { cluster }: BatchTarget): boolean {
  return haltsNow({ run, world, now }).some((halt) => haltCovers(halt, run, cluster));
}
