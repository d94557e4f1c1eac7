import type { AnyReason } from "../../base/reason.ts";
import { runReason } from "../../reasons/run.ts";
import { isInTurn, isProposed } from "../state/batch.ts";
import { changeBatch, type Draft, pause } from "../state/draft.ts";
import { batchRef, pullRef } from "../state/names.ts";
import type { Batch } from "../state/run.ts";

/** Builds of one batch that ended in a conflict or a strict up-to-date rule, after which a person is asked. */
const MOST_ATTEMPTS = 10;

/** Asks for the batch's PR to be closed. Once it is observed closed it is built again, if the run goes on. */
export function close(draft: Draft, batch: Batch, why: AnyReason): void {
  if (batch.closing !== undefined) return;
  pauseWhereBuiltOften(draft, batch, why);
  const event = runReason("PULL_CLOSING", { pull: pullRef(batch.pull), because: why });
  changeBatch(draft, batch.number, { closing: { why, at: draft.at }, promoted: undefined }, event);
  if (batch.pull !== undefined) draft.effects.push({ kind: "Close", batch: batch.number, pull: batch.pull.number, why });
}

/** Asks a person about a batch that is closed again and again. */
export function pauseWhereBuiltOften(draft: Draft, batch: Batch, because: AnyReason): void {
  if (batch.attempt % MOST_ATTEMPTS !== 0) return;
  const reason = runReason("BATCH_BUILT_OFTEN", { batch: batchRef(draft.run, batch), times: batch.attempt, because });
  pause(draft, "Refused", "stagecoach", reason, runReason("ASK_TRY_AGAIN"));
}

/**
 * Closes what is open of later stages, before a stage that was left has a PR again: it is built again when its turn comes. An open PR of an
 * earlier stage is waited for, and so is a merge call that may be under way. True: no PR of another stage is open.
 */
export function makeRoom(draft: Draft, stage: number): boolean {
  const others = draft.run.batches.filter((batch) => batch.stage !== stage && isInTurn(batch) && isProposed(batch));
  for (const batch of others) {
    if (batch.stage > stage && (batch.phase !== "Merging" || batch.intention?.queued !== undefined))
      close(draft, batch, runReason("EARLIER_STAGE_FIRST"));
  }
  return others.length === 0;
}
