import { epoch } from "../../core/base/time.ts";
import type { Target } from "../../core/plan/plan-types.ts";
import { shortName } from "../../core/report/words.ts";
import type { Batch, BatchTarget, Run } from "../../core/run/state/run.ts";
import type { Random } from "../generate/random.ts";
import type { Fault } from "./faults.ts";

/** How targets did in past runs. */
export interface Times {
  /** One of what was recorded of it, or of its cluster; where nothing was, of any other. */
  of(target: Pick<Target, "key" | "cluster">, dice: Random): Took | undefined;
  /** Runs and targets they are from. */
  runs: number;
  samples: number;
}

interface Took {
  /** From the merge to the first sight of the change in Argo CD. */
  lagMs: number;
  /** From then until it was healthy, or failed. */
  progressMs: number;
  /** It never was healthy. */
  failed?: Fault["kind"] | undefined;
}

export function timesOf(runs: readonly Run[], settleMs: number): Times {
  const all = runs.flatMap(({ batches }) =>
    batches.flatMap((batch) =>
      batch.targets.flatMap((target) => {
        const took = tookOf(batch, target, settleMs);
        return took === undefined ? [] : [{ took, key: target.key, name: shortName(target.cluster) }];
      }),
    ),
  );
  const byTarget = Map.groupBy(all, ({ key }) => key);
  const byCluster = Map.groupBy(all, ({ name }) => name);
  return {
    runs: runs.length,
    samples: all.length,
    // A checkout does not know what the bot calls its control planes.
    of: ({ key, cluster }, dice) => {
      const known = byTarget.get(key) ?? byCluster.get(shortName(cluster)) ?? all;
      return known.length === 0 ? undefined : dice.pick(known).took;
    },
  };
}

/** undefined: it tells nothing, such as of a target that needed no change. */
function tookOf(batch: Batch, target: BatchTarget, settleMs: number): Took | undefined {
  if (batch.merged === undefined || batch.pull === undefined) return undefined;
  const { firstSeenAt, confirmedAt, phase, since } = target;
  const merged = epoch(batch.merged.at);
  const seen = firstSeenAt === undefined ? undefined : epoch(firstSeenAt);
  const lagMs = Math.max(0, (seen ?? merged) - merged);
  if (phase === "Failed") return { lagMs, progressMs: Math.max(0, epoch(since) - (seen ?? merged)), failed: faultOf(target) };
  if (seen === undefined || confirmedAt === undefined) return undefined;
  return { lagMs, progressMs: Math.max(0, epoch(confirmedAt) - seen - settleMs) };
}

function faultOf({ evidence }: BatchTarget): Fault["kind"] {
  if (evidence?.verdict === "failing") return "degraded";
  return evidence?.verdict === "lost" ? "unreachable" : "stuck";
}
