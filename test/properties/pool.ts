import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

export interface Job {
  id: number;
  /** Tried before all others. */
  first?: number | undefined;
  /** Seeds from here up to, not including, there; ends at the first that fails. */
  from: number;
  to: number;
  /** With this bug planted. */
  mutant?: string;
}

export interface Result {
  runs: number;
  steps: number;
  /** Milliseconds of processor time: a thread gives way to whoever else has work. */
  cpuMs: number;
  seen: Record<string, number>;
  failed: { seed: number; wrong: string }[];
}

/** Threads that take jobs as they are free. */
export interface Pool {
  run(job: Omit<Job, "id">): Promise<Result>;
  close(): Promise<void>;
}

interface Waiting {
  job: Job;
  resolve: (result: Result) => void;
  reject: (error: Error) => void;
}

export function openPool(threads = availableParallelism()): Pool {
  const queue: Waiting[] = [];
  const idle: Worker[] = [];
  const busy = new Map<Worker, Waiting>();
  let next = 0;

  function feed(): void {
    for (let worker = idle.pop(); worker !== undefined; worker = idle.pop()) {
      const waiting = queue.shift();
      if (waiting === undefined) {
        idle.push(worker);
        return;
      }
      busy.set(worker, waiting);
      worker.postMessage(waiting.job);
    }
  }

  function add(): Worker {
    // What a step makes is forgotten with it: with more room for the young the collector runs less often.
    const resourceLimits = { maxYoungGenerationSizeMb: 192 };
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { execArgv: [], resourceLimits });
    worker.on("message", ({ result }: { result: Result }) => {
      busy.get(worker)?.resolve(result);
      busy.delete(worker);
      idle.push(worker);
      feed();
    });
    worker.on("error", (error) => {
      busy.get(worker)?.reject(error instanceof Error ? error : new Error(String(error)));
      busy.delete(worker);
    });
    return worker;
  }

  const workers = Array.from({ length: threads }, add);
  idle.push(...workers);
  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        queue.push({ job: { ...job, id: next++ }, resolve, reject });
        feed();
      }),
    close: async () => {
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

/** Adds up what several jobs found. */
export function sum(results: readonly Result[]): Result {
  const total: Result = { runs: 0, steps: 0, cpuMs: 0, seen: {}, failed: [] };
  for (const { runs, steps, cpuMs, seen, failed } of results) {
    total.runs += runs;
    total.steps += steps;
    total.cpuMs += cpuMs;
    total.failed.push(...failed);
    for (const [what, times] of Object.entries(seen)) total.seen[what] = (total.seen[what] ?? 0) + times;
  }
  return total;
}
