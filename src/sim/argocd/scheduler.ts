import type { Clock } from "../../core/base/time.ts";

/** One timer of the clock for all tasks: ten thousand Applications cost one timer, and what is due together runs in order. */
export interface Scheduler {
  now(): number;
  /** Runs the task once, `ms` of the clock from now. Returns how to call it off. */
  after(ms: number, task: () => void): () => void;
  /** Keeps count of work that is under way, for `idle`. */
  track(work: Promise<unknown>): void;
  /** Waits for the clock inside tracked work, which does not count as under way meanwhile. Never resolves once closed. */
  sleep(ms: number): Promise<void>;
  /** Resolves when no tracked work is under way; what is due is the clock's to call. */
  idle(): Promise<void>;
  /** When the next task is due; undefined: none is. */
  next(): number | undefined;
  close(): void;
  readonly closed: boolean;
}

interface Entry {
  at: number;
  order: number;
  task: (() => void) | undefined;
}

/** A thousand tasks a turn: the sockets of the same process get theirs in between. */
const TURN = 1000;

const before = (a: Entry, b: Entry) => a.at < b.at || (a.at === b.at && a.order < b.order);

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !before(entry, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    const [left, right] = [heap[child], heap[child + 1]];
    if (left === undefined) break;
    if (right !== undefined && before(right, left)) child += 1;
    const smaller = heap[child];
    if (smaller === undefined || !before(smaller, last)) break;
    heap[at] = smaller;
    at = child;
  }
  heap[at] = last;
}

export function createScheduler(clock: Clock): Scheduler {
  const heap: Entry[] = [];
  const waiters = new Set<() => void>();
  let order = 0;
  let tracked = 0;
  let armed: { at: number; stop: () => void } | undefined;
  let turning = false;
  let closed = false;

  function top(): Entry | undefined {
    while (heap.length > 0 && heap[0]?.task === undefined) pop(heap);
    return heap[0];
  }

  function arm(): void {
    const at = top()?.at;
    if (closed || turning || at === armed?.at) return;
    armed?.stop();
    armed = undefined;
    if (at === undefined) return;
    armed = { at, stop: clock.after(Math.max(0, at - clock.now()), turn) };
  }

  function turn(): void {
    armed = undefined;
    turning = true;
    const now = clock.now();
    for (let count = 0; count < TURN; count++) {
      const entry = top();
      if (closed || entry === undefined || entry.at > now) break;
      pop(heap);
      entry.task?.();
    }
    turning = false;
    arm();
    settle();
  }

  function settle(): void {
    if (tracked > 0 || turning) return;
    for (const resolve of waiters) resolve();
    waiters.clear();
  }

  function after(ms: number, task: () => void): () => void {
    const entry: Entry = { at: clock.now() + Math.max(0, ms), order: order++, task };
    if (closed) return () => undefined;
    push(heap, entry);
    arm();
    return () => {
      entry.task = undefined;
    };
  }

  return {
    now: () => clock.now(),
    after,
    sleep(ms) {
      tracked -= 1;
      setImmediate(settle);
      return new Promise((resolve) => {
        after(ms, () => {
          tracked += 1;
          resolve();
        });
      });
    },
    track(work) {
      tracked += 1;
      void work.finally(() => {
        tracked -= 1;
        // What the work leads to is scheduled in its own continuations: look only after them.
        setImmediate(settle);
      });
    },
    idle() {
      return new Promise((resolve) => {
        waiters.add(resolve);
        setImmediate(settle);
      });
    },
    next: () => top()?.at,
    close() {
      closed = true;
      armed?.stop();
      heap.length = 0;
    },
    get closed() {
      return closed;
    },
  };
}
