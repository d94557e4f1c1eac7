import type { Draft } from "../state/run-draft.ts";
import { close } from "./close.ts";

/**
 * Before a stage that was left has a pull request again: what is open of a later one is closed, also where it is in the merge
 * queue, and built again when its turn comes. What is open of an earlier one is waited for, and so is a merge call that may be
 * under way. True: there is room, no pull request of another stage is open.
 */
export function makeRoom(draft: Draft, stage: number): boolean {
  let room = true;
  for (const batch of draft.run.batches) {
    const inTurn = batch.kind === "Planned" || batch.kind === "CatchUp";
    if (batch.stage === stage || !inTurn || !["Proposing", "Open", "Merging"].includes(batch.phase)) continue;
    room = false;
    if (batch.stage > stage && (batch.phase !== "Merging" || batch.intention?.queued !== undefined))
      close(draft, batch, "an earlier stage has clusters to catch up on");
  }
  return room;
}
