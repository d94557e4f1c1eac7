/** A thread that drives seeds: so many cores, so many runs at once. Told what to do by pool.ts. */
import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { drive } from "../../src/simulate/drive.ts";
import { generate } from "../../src/simulate/generate/generate.ts";
import { cpuMs } from "../support/cpu-time.ts";
import { MUTANTS } from "./mutants/all.ts";
import type { Job, Result } from "./pool.ts";

// Of this thread: beside the runs go worlds, which wait for git and for one another half of their time, and that half is ours.
setPriority(constants.priority.PRIORITY_LOW);

function work(job: Job): Result {
  const mutant = job.mutant === undefined ? undefined : MUTANTS.find(({ name }) => name === job.mutant);
  const result: Result = { runs: 0, steps: 0, cpuMs: 0, seen: {}, failed: [] };
  const began = cpuMs();
  for (const seed of seedsOf(job)) {
    result.runs += 1;
    let wrong: string | undefined;
    try {
      const outcome = drive(generate(seed), mutant?.bug ?? {});
      result.steps += outcome.steps;
      for (const [what, times] of Object.entries(outcome.seen)) result.seen[what] = (result.seen[what] ?? 0) + times;
      const { by } = mutant ?? {};
      wrong = by === undefined ? outcome.violations[0] : outcome.violations.find((one) => by.test(one));
    } catch (error) {
      // A planted bug that is to be noticed by a check is not noticed by breaking something.
      if (mutant?.by === undefined) wrong = `throws: ${error instanceof Error ? error.stack : String(error)}`;
    }
    if (wrong === undefined) continue;
    result.failed.push({ seed, wrong });
    // One is enough: it is made small and told.
    break;
  }
  result.cpuMs = cpuMs() - began;
  return result;
}

function* seedsOf({ first, from, to }: Job): Iterable<number> {
  if (first !== undefined) yield first;
  for (let seed = from; seed < to; seed++) yield seed;
}

parentPort?.on("message", (job: Job) => parentPort?.postMessage({ id: job.id, result: work(job) }));
