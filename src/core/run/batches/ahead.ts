import { batchReason } from "../../reasons/batches.ts";
import { isInTurn } from "../state/batch-kind.ts";
import type { Draft } from "../state/draft.ts";
import { close } from "./close.ts";

/**
 * Before a stage that was left has a pull request again: what is open of a later one is closed, also where it is in the merge
 * queue, and built again when its turn comes. What is open of an earlier one is waited for, and so is a merge call that may be
 * under way. True: there is room, no pull request of another stage is open.
 */
export function makeRoom(draft: Draft, stage: number): boolean {
  let room = true;
  for (const batch of draft.run.batches) {
    const inTurn = isInTurn(batch);
    if (batch.stage === stage || !inTurn || !["Proposing", "Open", "Merging"].includes(batch.phase)) continue;
    room = false;
    if (batch.stage > stage && (batch.phase !== "Merging" || batch.intention?.queued !== undefined))
      close(draft, batch, batchReason("EARLIER_STAGE_FIRST"));
  }
  return room;
}
