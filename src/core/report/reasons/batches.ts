import type { BatchesReasons } from "../../reasons/batches.ts";
import type { Entries } from "./entry.ts";
import { batchPhrase, pullPhrase } from "./phrases.ts";

export const BATCHES: Entries<BatchesReasons> = {
  BATCH_BUILT_OFTEN: {
    says: ({ batch, times, because }, names) => `${batchPhrase(batch)} was built ${times} times: ${names.because(because)}`,
    subject: "batch",
    actions: ["resume", "abort"],
  },
  PULL_CLOSING: { says: ({ pull, because }, names) => `closing ${pullPhrase(pull)}: ${names.because(because)}`, subject: "pull" },
  ASK_TRY_AGAIN: { says: () => "`/resume` tries again, `/abort` ends the run", actions: ["resume", "abort"] },
};
