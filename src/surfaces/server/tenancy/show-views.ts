/** Shows the other replicas what is looked after here: written where it has changed, twice a second at most. Opened by `shared-views.ts`. */
import type { ShownBoard } from "../../../adapters/queue/port.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { Log } from "../../../engine/round/context.ts";
import type { Repos } from "./repos.ts";
import type { ServedRepo } from "./served-repo.ts";
import { BESIDE, besideText, historyText, pack, packBeside, packNumber, VIEW_FORMAT, viewOf } from "./view.ts";

const COALESCE_MS = 50;
const LEAST_MS = 500;
/** What takes long is written rarer: one part in so many of the time at most. */
const SHARE = 20;
/** What changed without being told. */
const LOOK_MS = 2000;
const MOST_AT_ONCE = 2;

/** What others have of a repository. */
interface Written {
  /** What it was made of: while that is the same, so is what would be written. */
  parts: readonly unknown[];
  beside: string | undefined;
  runs: ReadonlyMap<string, { run: Run; history: string }>;
  /** In the process's time. */
  nextAt: number;
}

interface ShowOptions {
  repos: Pick<Repos, "openedByKey">;
  owns(key: string): boolean;
  board: ShownBoard;
  log: Log;
}

export function showViews({ repos, owns, board, log }: ShowOptions) {
  const written = new WeakMap<ServedRepo, Written>();
  const changed = new Map<string, ServedRepo>();
  const workers = new Set<Promise<void>>();
  let due: NodeJS.Timeout | undefined;
  const regular = setInterval(look, LOOK_MS).unref();

  async function work(): Promise<void> {
    for (const [key, served] of changed) {
      changed.delete(key);
      await write(board, key, served, stateOf(written, served)).catch((error: unknown) => {
        log.info({ repository: key, error: String(error).slice(0, 300) }, "what is shown could not be written; it is tried again");
      });
    }
  }

  /** Writes what may be written by now, and comes back for the rest. */
  function look(): void {
    let soonest = Number.POSITIVE_INFINITY;
    const now = performance.now();
    for (const [key, served] of repos.openedByKey()) {
      if (served.journal === undefined || !owns(key)) continue;
      const { parts, nextAt } = stateOf(written, served);
      if (isSame(parts, partsOf(served))) continue;
      if (nextAt > now) soonest = Math.min(soonest, nextAt);
      else changed.set(key, served);
    }
    if (soonest < Number.POSITIVE_INFINITY) arm(soonest - now);
    while (workers.size < Math.min(MOST_AT_ONCE, changed.size)) {
      const worker = work();
      workers.add(worker);
      void worker.then(() => {
        workers.delete(worker);
        // What changed meanwhile, and did not find a worker.
        if (changed.size > 0) look();
      });
    }
  }

  function arm(ms: number): void {
    due ??= setTimeout(() => {
      due = undefined;
      look();
    }, ms).unref();
  }

  return {
    /** Something may have changed. */
    changed: () => arm(COALESCE_MS),
    async stop(): Promise<void> {
      clearInterval(regular);
      clearTimeout(due);
      changed.clear();
      await Promise.all(workers);
    },
  };
}

function stateOf(written: WeakMap<ServedRepo, Written>, served: ServedRepo): Written {
  const known = written.get(served) ?? { parts: [], beside: undefined, runs: new Map(), nextAt: 0 };
  written.set(served, known);
  return known;
}

async function write(board: ShownBoard, key: string, served: ServedRepo, state: Written): Promise<void> {
  const began = performance.now();
  const before = { ...state };
  // Another may have it, or have had it: then all is written anew once it is ours.
  Object.assign(state, { parts: [], beside: undefined, runs: new Map() } satisfies Partial<Written>);
  const parts = partsOf(served);
  const view = viewOf(served);
  const beside = besideText(view);
  const sent = new Map<string, Uint8Array>();
  if (before.beside !== beside) sent.set(BESIDE, await packBeside(beside));
  const runs = new Map(view.runs.map(({ run, history }) => [run.rollout, { run, history: historyText(history) }]));
  for (const [rollout, { run, history }] of runs) {
    const old = before.runs.get(rollout);
    if (old?.run !== run || old.history !== history) sent.set(rollout, await packRun(run, history, board.largest));
  }
  if (sent.size > 0 && !(await board.write(key, VIEW_FORMAT, sent, [BESIDE, ...runs.keys()]))) return;
  Object.assign(state, { parts, beside, runs, nextAt: performance.now() + Math.max(LEAST_MS, SHARE * (performance.now() - began)) });
}

async function packRun(run: Run, history: string, largest: number): Promise<Uint8Array> {
  const whole = await pack(run, history);
  return whole.length > largest ? await packNumber(run) : whole;
}

function partsOf({ runs, refused, journal, loop, inbox, context }: ServedRepo): unknown[] {
  const told = (context.attention?.told() ?? []).map((one) => JSON.stringify(one));
  return [runs, refused, journal, loop.shownPlans.of(), ...told, ...inbox.heard()];
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}
