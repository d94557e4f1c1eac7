import type { Clock } from "../../core/base/time.ts";

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

/** One timer of the clock for all tasks: ten thousand Applications cost one timer, and what is due together runs in order. */
export class Scheduler {
  readonly #clock: Clock;
  readonly #heap: Entry[] = [];
  readonly #waiters = new Set<() => void>();
  #order = 0;
  #tracked = 0;
  #armed: { at: number; stop: () => void } | undefined;
  #isTurning = false;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get closed(): boolean {
    return this.#isClosed;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Runs the task once, `ms` of the clock from now. Returns how to call it off. */
  after(ms: number, task: () => void): () => void {
    const entry: Entry = { at: this.now() + Math.max(0, ms), order: this.#order++, task };
    if (this.#isClosed) return () => undefined;
    push(this.#heap, entry);
    this.#arm();
    return () => {
      entry.task = undefined;
    };
  }

  /** When the next task is due; undefined: none is. */
  next(): number | undefined {
    return this.#top()?.at;
  }

  /** Keeps count of work that is under way, for `idle`. */
  track(work: Promise<unknown>): void {
    this.#tracked += 1;
    void work.finally(() => {
      this.#tracked -= 1;
      // What the work leads to is scheduled in its own continuations: look only after them.
      this.#settleSoon();
    });
  }

  /** Waits for the clock inside tracked work, which does not count as under way meanwhile. Never resolves once closed. */
  sleep(ms: number): Promise<void> {
    this.#tracked -= 1;
    this.#settleSoon();
    return new Promise((resolve) => {
      this.after(ms, () => {
        this.#tracked += 1;
        resolve();
      });
    });
  }

  /** Resolves when no tracked work is under way; what is due is the clock's to call. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.add(resolve);
      this.#settleSoon();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#armed?.stop();
    this.#heap.length = 0;
  }

  #top(): Entry | undefined {
    while (this.#heap.length > 0 && this.#heap[0]?.task === undefined) pop(this.#heap);
    return this.#heap[0];
  }

  #arm(): void {
    const at = this.next();
    if (this.#isClosed || this.#isTurning || at === this.#armed?.at) return;
    this.#armed?.stop();
    this.#armed = at === undefined ? undefined : { at, stop: this.#clock.after(Math.max(0, at - this.now()), () => this.#turn()) };
  }

  #turn(): void {
    this.#armed = undefined;
    this.#isTurning = true;
    const now = this.now();
    for (let count = 0; count < TURN; count++) {
      const entry = this.#top();
      if (this.#isClosed || entry === undefined || entry.at > now) break;
      pop(this.#heap);
      entry.task?.();
    }
    this.#isTurning = false;
    this.#arm();
    this.#settle();
  }

  #settleSoon(): void {
    setImmediate(() => this.#settle());
  }

  #settle(): void {
    if (this.#tracked > 0 || this.#isTurning) return;
    for (const resolve of this.#waiters) resolve();
    this.#waiters.clear();
  }
}
