import { isEnded, type Run } from "../../../core/run/state/run.ts";
import { type Times, timesOf } from "../../../simulate/plan/times.ts";
import { CommandError } from "../command.ts";
import { entryOf } from "../journal/known-rollouts.ts";
import { type SourceOptions, withSource } from "../journal/source.ts";

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
