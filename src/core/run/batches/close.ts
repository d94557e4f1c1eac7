import type { Words } from "../../base/reason.ts";
import { batchReason } from "../../reasons/batches.ts";
import { changeBatch, type Draft, pause } from "../state/draft.ts";
import { batchRef, pullRef } from "../state/names.ts";
import type { Batch } from "../state/run.ts";

/** Builds of one batch that ended in a conflict or a strict up-to-date rule, after which a person is asked. */
const MOST_ATTEMPTS = 10;

/** Asks for the batch's PR to be closed. Once it is observed closed it is built again, if the run goes on. */
export function close(draft: Draft, batch: Batch, why: Words): void {
  if (batch.closing !== undefined) return;
  if (batch.attempt % MOST_ATTEMPTS === 0) {
    const reason = batchReason("BATCH_BUILT_OFTEN", { batch: batchRef(draft.run, batch), times: batch.attempt, because: why });
    pause(draft, "Refused", "stagecoach", reason, batchReason("ASK_TRY_AGAIN"));
  }
  const event = batchReason("PULL_CLOSING", { pull: pullRef(batch.pull), because: why });
  changeBatch(draft, batch.number, { closing: { why, at: draft.at }, promoted: undefined }, event);
  if (batch.pull !== undefined) draft.effects.push({ kind: "Close", batch: batch.number, pull: batch.pull.number, why });
}
