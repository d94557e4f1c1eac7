import { type Draft, say } from "../state/draft.ts";
import { isSettled } from "../state/progress.ts";

/** What a paused run says: why, and what is asked of people. */
export function sayPaused(draft: Draft): void {
  const { paused } = draft.run;
  if (paused !== undefined) say(draft, paused.reason, { what: paused.ask });
}

/** Where its first batch that is not settled stands is where the run stands. Without one, its stage has said what it waits for. */
export function sayFromBatches(draft: Draft): void {
  const batch = draft.run.batches.find((one) => one.stage <= draft.run.stage && one.phase !== "Closed" && !isSettled(one));
  if (batch !== undefined) say(draft, batch.why, batch.next);
}
