import { seededFraction } from "../../base/seeded.ts";
import { epoch, iso } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { type Scene, type Wait, wait } from "../state/decision.ts";
import { pullRef } from "../state/names.ts";
import type { Batch, Run } from "../state/run.ts";
import type { ObservedPull } from "../state/world.ts";

/** Epoch milliseconds before which a batch does not merge by its stage's `jitter`: the same whenever it is asked. undefined: it has none. */
export function jitterUntil(
  run: Pick<Run, "rollout" | "number" | "spec">,
  batch: Pick<Batch, "number" | "stage" | "since" | "pull">,
): number | undefined {
  const longest = run.spec.stages[batch.stage]?.jitterMs;
  if (longest === undefined || batch.pull === undefined) return undefined;
  return epoch(batch.pull.openedAt) + Math.floor(longest * seededFraction(`${run.rollout}/${run.number}/${batch.number}`));
}

export function jitterGate({ run, now }: Scene, batch: Batch, observed: ObservedPull): Wait | undefined {
  const until = jitterUntil(run, batch);
  if (until === undefined || now >= until) return undefined;
  return wait(runReason("JITTER", { pull: pullRef(observed) }), { what: runReason("NEXT_MERGES"), eta: iso(until) }, until);
}
