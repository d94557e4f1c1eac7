import { epoch } from "../../../core/base/time.ts";
import type { Target } from "../../../core/plan/plan-types.ts";
import { type Batch, type BatchTarget, isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Random } from "../../../simulate/generate/random.ts";
import { CommandError } from "../command.ts";
import { entryOf, type SourceOptions, withSource } from "../journal/source.ts";
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
  failed?: Fault["kind"];
}

const MOST_RUNS = 20;

/** From the journal of a checkout. CommandError 1 where it has no run of the rollout that has ended with anything to go by. */
export async function timesFromJournal(place: SourceOptions, rollout: string, settleMs: number): Promise<Times> {
  const runs: Run[] = [];
  await withSource(place, async (source) => {
    entryOf(await source.index(), rollout);
    for (const { number } of (await source.runs(rollout)).slice(-MOST_RUNS)) {
      const run = await source.run(rollout, number);
      if (run !== undefined && isEnded(run)) runs.push(run);
    }
    return 0;
  });
  if (runs.length === 0)
    throw new CommandError(1, `the journal has no run of ${rollout} that has ended yet: leave --from-journal out, or wait for one`);
  const times = timesOf(runs, settleMs);
  if (times.samples > 0) return times;
  const ended = runs.length === 1 ? "the run" : `none of the ${runs.length} runs`;
  throw new CommandError(
    1,
    `${ended} of ${rollout} that ended in the journal moved ${runs.length === 1 ? "no" : "any"} cluster: leave --from-journal out`,
  );
}

export function timesOf(runs: readonly Run[], settleMs: number): Times {
  const byTarget = new Map<string, Took[]>();
  const byCluster = new Map<string, Took[]>();
  const all: Took[] = [];
  for (const run of runs) {
    for (const batch of run.batches) {
      for (const target of batch.targets) {
        const took = tookOf(batch, target, settleMs);
        if (took === undefined) continue;
        add(byTarget, target.key, took);
        add(byCluster, nameOf(target.cluster), took);
        all.push(took);
      }
    }
  }
  return {
    runs: runs.length,
    samples: all.length,
    // A checkout does not know what the bot calls its control planes.
    of: ({ key, cluster }, dice) => {
      const known = byTarget.get(key) ?? byCluster.get(nameOf(cluster)) ?? all;
      return known.length === 0 ? undefined : dice.pick(known);
    },
  };
}

/** undefined: it tells nothing, such as of a target that needed no change. */
function tookOf(batch: Batch, target: BatchTarget, settleMs: number): Took | undefined {
  if (batch.merged === undefined || batch.pull === undefined) return undefined;
  const { firstSeenAt, confirmedAt, phase, since } = target;
  const merged = epoch(batch.merged.at);
  const seen = firstSeenAt === undefined ? undefined : epoch(firstSeenAt);
  if (phase === "Failed")
    return {
      lagMs: Math.max(0, (seen ?? merged) - merged),
      progressMs: Math.max(0, epoch(since) - (seen ?? merged)),
      failed: faultOf(target),
    };
  if (seen === undefined || confirmedAt === undefined) return undefined;
  return { lagMs: Math.max(0, seen - merged), progressMs: Math.max(0, epoch(confirmedAt) - seen - settleMs) };
}

function faultOf({ evidence }: BatchTarget): Fault["kind"] {
  if (evidence?.verdict === "failing") return "degraded";
  return evidence?.verdict === "lost" ? "unreachable" : "stuck";
}

function add(map: Map<string, Took[]>, key: string, took: Took): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [took]);
  else list.push(took);
}

function nameOf(cluster: string): string {
  return cluster.slice(cluster.indexOf("/") + 1);
}
