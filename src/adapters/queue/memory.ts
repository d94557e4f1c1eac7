import type { Clock } from "../../core/base/time.ts";
import type { Queue, QueueHandler, WakeRequest } from "./port.ts";

interface Lane {
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

/**
 * The queue of one process. A lane a repo: its rounds never overlap, so that a round sees what the one before wrote. What
 * arrives during a round is due after it. A round that throws is tried again after 1 s, doubling up to 60 s.
 */
export function memoryQueue({ clock, handler, concurrency = 4, onError = () => undefined }: MemoryQueueOptions): Queue {
  const lanes = new Map<string, Lane>();
  const idlers = new Set<() => void>();
  let active = 0;
  let closed = false;

  function lane(repository: string): Lane {
    const found = lanes.get(repository);
    if (found !== undefined) return found;
    const made: Lane = { due: new Map(), running: false, failures: 0, forgotten: false, armedFor: Number.POSITIVE_INFINITY };
    lanes.set(repository, made);
    return made;
  }

  function dueNow(l: Lane): Set<string | null> {
    const now = clock.now();
    return new Set([...l.due].filter(([, at]) => at <= now).map(([rollout]) => rollout));
  }

  function arm(l: Lane): void {
    const earliest = Math.min(...l.due.values());
    if (earliest === l.armedFor) return;
    l.disarm?.();
    delete l.disarm;
    l.armedFor = earliest;
    if (!Number.isFinite(earliest)) return;
    l.disarm = clock.after(Math.max(0, earliest - clock.now()), () => {
      l.armedFor = Number.POSITIVE_INFINITY;
      pump();
    });
  }

  async function work(repository: string, l: Lane, rollouts: Set<string | null>): Promise<void> {
    for (const rollout of rollouts) l.due.delete(rollout);
    try {
      await handler(repository, rollouts);
      l.failures = 0;
    } catch (error) {
      const delay = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** l.failures++);
      onError(error, repository, delay);
      if (l.forgotten) return;
      for (const rollout of rollouts) add(l, rollout, clock.now() + delay);
    }
  }

  function add(l: Lane, rollout: string | null, at: number): void {
    const before = l.due.get(rollout);
    if (before === undefined || at < before) l.due.set(rollout, at);
  }

  function pump(): void {
    for (const [repository, l] of lanes) {
      if (closed || active >= concurrency || l.running) continue;
      const rollouts = dueNow(l);
      if (rollouts.size === 0) {
        arm(l);
        continue;
      }
      l.running = true;
      active += 1;
      void work(repository, l, rollouts).finally(() => {
        l.running = false;
        active -= 1;
        if (l.forgotten) lanes.delete(repository);
        pump();
      });
    }
    settle();
  }

  function settle(): void {
    const busy = active > 0 || (!closed && [...lanes.values()].some((l) => dueNow(l).size > 0));
    if (busy) return;
    for (const resolve of idlers) resolve();
    idlers.clear();
  }

  return {
    wake({ repository, rollout }: WakeRequest, at = clock.now()) {
      if (closed) return;
      const l = lane(repository);
      l.forgotten = false;
      add(l, rollout, at);
      queueMicrotask(pump);
    },
    idle() {
      return new Promise((resolve) => {
        idlers.add(resolve);
        queueMicrotask(pump);
      });
    },
    forget(repository) {
      const l = lanes.get(repository);
      if (l === undefined) return;
      l.due.clear();
      l.forgotten = true;
      arm(l);
      // A look under way keeps its lane, so that no other one begins beside it.
      if (!l.running) lanes.delete(repository);
    },
    async close() {
      closed = true;
      for (const l of lanes.values()) l.disarm?.();
      await new Promise<void>((resolve) => {
        idlers.add(resolve);
        settle();
      });
    },
  };
}
