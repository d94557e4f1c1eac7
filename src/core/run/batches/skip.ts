import type { Words } from "../../base/reason.ts";
import { change, type Draft } from "../state/draft.ts";

/** Leaves a cluster out of the rest of the run. */
export function skip(draft: Draft, cluster: string, why: Words, event: Words): void {
  const skipped = [...draft.run.skipped.filter((one) => one.cluster !== cluster), { cluster, why, at: draft.at }];
  const requeued = draft.run.requeued.filter((one) => one.cluster !== cluster);
  change(draft, { skipped, requeued }, event);
}
