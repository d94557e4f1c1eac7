import { seededFraction } from "../../base/seeded.ts";
import { epoch } from "../../base/time.ts";
import type { Batch, Run } from "../state/run.ts";

/** Epoch milliseconds before which a batch does not merge by its stage's `jitter`: the same whenever it is asked. undefined: it has none. */
export function jitterUntil(
  run: Pick<Run, "rollout" | "number" | "spec">,
  batch: Pick<Batch, "number" | "stage" | "since" | "pull">,
): number | undefined {
  const longest = run.spec.stages[batch.stage]?.jitterMs;
  if (longest === undefined || batch.pull === undefined) return undefined;
  return epoch(batch.pull.openedAt) + Math.floor(longest * seededFraction(`${run.rollout}/${run.number}/${batch.number}`));
}
