import { epoch } from "../../../core/base/time.ts";
import type { Target } from "../../../core/plan/plan-types.ts";
import { shortName } from "../../../core/report/words.ts";
import { type Batch, type BatchTarget, isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Random } from "../../../simulate/generate/random.ts";
import { CommandError } from "../command.ts";
import { entryOf } from "../journal/known-rollouts.ts";
import { type SourceOptions, withSource } from "../journal/source.ts";
import type { Fault } from "./simulate-faults.ts";

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

const MOST_RUNS = 20;

/** From the journal of a checkout. CommandError 1 where it has no run of the rollout that has ended with anything to go by. */
export async function timesFromJournal(place: SourceOptions, rollout: string, settleMs: number): Promise<Times> {
  const runs = await withSource(place, async (source) => {
    await entryOf(source, rollout);
    const found: (Run | undefined)[] = [];
    for (const { number } of (await source.runs(rollout)).slice(-MOST_RUNS)) found.push(await source.run(rollout, number));
    return found.filter((run) => run !== undefined && isEnded(run)) as Run[];
  });
  if (runs.length === 0)
    throw new CommandError(1, `the journal has no run of ${rollout} that has ended yet: leave --from-journal out, or wait for one`);
  const times = timesOf(runs, settleMs);
  if (times.samples > 0) return times;
  const moved = runs.length === 1 ? ["the run", "no"] : [`none of the ${runs.length} runs`, "any"];
  const why = `${moved[0]} of ${rollout} that ended in the journal moved ${moved[1]} cluster`;
  throw new CommandError(1, `${why}: leave --from-journal out`);
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
