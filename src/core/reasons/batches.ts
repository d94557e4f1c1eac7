import { reasonsOf, type Words } from "../base/reason.ts";
import type { BatchRef, PullRef } from "./refs.ts";

type None = Record<never, never>;

/** The reasons of batches: each code with its data. `core/report/reasons/batches.ts` says them. */
export interface BatchesReasons {
  BATCH_BUILT_OFTEN: { batch: BatchRef; times: number; because: Words };
  PULL_CLOSING: { pull: PullRef; because: Words };
  ASK_TRY_AGAIN: None;
}

/** Makes a reason of batches. */
export const batchReason = reasonsOf<BatchesReasons>();
