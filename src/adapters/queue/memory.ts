/**
 * The queue of one process. It keeps what is asked of each repo apart: the rounds of a repo never overlap, so that a round sees what
 * the one before wrote, and what arrives during a round is due after it. Started by the server alone.
 */
import type { Clock } from "../../core/base/time.ts";
import type { Queue, QueueHandler, WakeRequest } from "./port.ts";

/** What is asked of one repo. */
interface Asked {
  /** Rollout → earliest time asked for. */
  due: Map<string | null, number>;
  running: boolean;
  failures: number;
  /** Nothing was asked since it was forgotten. */
  forgotten: boolean;
  /** Calls off the timer for the earliest request. */
  disarm?: () => void;
  armedFor: number;
}

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;

interface MemoryQueueOptions {
  clock: Clock;
  handler: QueueHandler;
  /** How many repos at once. */
  concurrency?: number;
  onError?: (error: unknown, repository: string, retryInMs: number) => void;
}

interface State extends Required<MemoryQueueOptions> {
  repos: Map<string, Asked>;
  /** Who waits until nothing is due. */
  idlers: Set<() => void>;
  active: number;
  closed: boolean;
}

/** Opens a queue. A round that throws is tried again after 1 s, doubling up to 60 s. */
export function memoryQueue({ clock, handler, concurrency = 4, onError = () => undefined }: MemoryQueueOptions): Queue {
  const state: State = { clock, handler, concurrency, onError, repos: new Map(), idlers: new Set(), active: 0, closed: false };
  const { repos, idlers } = state;
  return {
    wake({ repository, rollout }: WakeRequest, at = clock.now()) {
      if (state.closed) return;
      const asked = repos.get(repository) ?? nothingAsked();
      repos.set(repository, asked);
      asked.forgotten = false;
      add(asked, rollout, at);
      queueMicrotask(() => pump(state));
    },
    idle() {
      return new Promise((resolve) => {
        idlers.add(resolve);
        queueMicrotask(() => pump(state));
      });
    },
    forget(repository) {
      const asked = repos.get(repository);
      if (asked === undefined) return;
      asked.due.clear();
      asked.forgotten = true;
      arm(state, asked);
      // A look under way keeps its place, so that no other one begins beside it.
      if (!asked.running) repos.delete(repository);
    },
    async close() {
      state.closed = true;
      for (const asked of repos.values()) asked.disarm?.();
      await new Promise<void>((resolve) => {
        idlers.add(resolve);
        settle(state);
      });
    },
  };
}

function nothingAsked(): Asked {
  return { due: new Map(), running: false, failures: 0, forgotten: false, armedFor: Number.POSITIVE_INFINITY };
}

function add(asked: Asked, rollout: string | null, at: number): void {
  const before = asked.due.get(rollout);
  if (before === undefined || at < before) asked.due.set(rollout, at);
}

function dueNow(asked: Asked, now: number): Set<string | null> {
  return new Set([...asked.due].filter(([, at]) => at <= now).map(([rollout]) => rollout));
}

/** Begins whatever is due, as far as there is room. */
function pump(state: State): void {
  const { repos, clock, concurrency } = state;
  for (const [repository, asked] of repos) {
    if (state.closed || state.active >= concurrency || asked.running) continue;
    const rollouts = dueNow(asked, clock.now());
    if (rollouts.size === 0) {
      arm(state, asked);
      continue;
    }
    asked.running = true;
    state.active += 1;
    void work(state, repository, asked, rollouts).finally(() => {
      asked.running = false;
      state.active -= 1;
      if (asked.forgotten) repos.delete(repository);
      pump(state);
    });
  }
  settle(state);
}

/** Sets the timer for the earliest request. */
function arm(state: State, asked: Asked): void {
  const earliest = Math.min(...asked.due.values());
  if (earliest === asked.armedFor) return;
  asked.disarm?.();
  delete asked.disarm;
  asked.armedFor = earliest;
  if (!Number.isFinite(earliest)) return;
  asked.disarm = state.clock.after(Math.max(0, earliest - state.clock.now()), () => {
    asked.armedFor = Number.POSITIVE_INFINITY;
    pump(state);
  });
}

async function work({ clock, handler, onError }: State, repository: string, asked: Asked, rollouts: Set<string | null>): Promise<void> {
  for (const rollout of rollouts) asked.due.delete(rollout);
  try {
    await handler(repository, rollouts);
    asked.failures = 0;
  } catch (error) {
    const delay = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** asked.failures++);
    onError(error, repository, delay);
    if (asked.forgotten) return;
    for (const rollout of rollouts) add(asked, rollout, clock.now() + delay);
  }
}

/** Lets go who waits, where nothing is due or worked on. */
function settle({ active, closed, repos, idlers, clock }: State): void {
  const busy = active > 0 || (!closed && [...repos.values()].some((asked) => dueNow(asked, clock.now()).size > 0));
  if (busy) return;
  for (const resolve of idlers) resolve();
  idlers.clear();
}
