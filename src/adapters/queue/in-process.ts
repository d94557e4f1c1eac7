/**
 * The queue of one process. It keeps what is asked of each repo apart: the rounds of a repo never overlap, so that a round sees what
 * the one before wrote, and what arrives during a round is due after it. Started by the server alone.
 *
 * Fair: of those that are due the one that has waited for its turn the longest goes first. A round that takes long leaves its place to
 * others, and one that does not end is given up, so that what hangs in one repo holds no other up.
 */
import { type Asked, add, dueNow, isDue, nothingAsked } from "./asked.ts";
import { type Queue, type QueueDepth, type QueueOptions, type RoundLimits, RoundOverdue, type WakeRequest } from "./port.ts";

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;
/** The same of a round that was given up: it had a place of its own for long. */
const FIRST_RETRY_OVERDUE_MS = 60_000;
const LAST_RETRY_OVERDUE_MS = 15 * 60_000;

export const ROUND_LIMITS: RoundLimits = { placeMs: 15_000, roundMs: 10 * 60_000, most: 32 };

interface State extends Required<QueueOptions> {
  repos: Map<string, Asked>;
  /** Who waits until nothing is due. */
  idlers: Set<() => void>;
  /** Rounds under way, and those of them that have a place. */
  active: number;
  placed: number;
  turns: number;
  /** It will be gone through at once. */
  isPumping: boolean;
  closed: boolean;
}

interface InProcessQueue extends Queue {
  /** When a repo is to be looked at next, by the clock; undefined: nothing is asked of it. */
  next(repository: string): number | undefined;
  /** Nothing is asked of a repo, nor is it being looked at. */
  isIdle(repository: string): boolean;
  /** Whatever is asked of it waits until then, but for what somebody says. */
  slow(repository: string, until: number): void;
}

/** Opens a queue. A round that throws is tried again after 1 s, doubling up to 60 s. */
export function inProcessQueue(options: QueueOptions): InProcessQueue {
  const state = stateOf(options);
  const { clock } = options;
  const { repos, idlers } = state;
  return {
    wake({ repository, rollout, heard = false }: WakeRequest, at = clock.now()) {
      if (state.closed) return;
      const asked = repos.get(repository) ?? nothingAsked();
      repos.set(repository, asked);
      asked.forgotten = false;
      asked.heard ||= heard;
      add(asked, rollout, at);
      pumpSoon(state);
    },
    idle() {
      return new Promise((resolve) => {
        idlers.add(resolve);
        pumpSoon(state);
      });
    },
    waits(repository) {
      const asked = repos.get(repository);
      return asked !== undefined && (asked.isLong || asked.overdue > 0 || asked.notBefore > clock.now());
    },
    depth: () => depthOf(state),
    next(repository) {
      const earliest = earliestOf(repos.get(repository) ?? nothingAsked());
      return Number.isFinite(earliest) ? earliest : undefined;
    },
    slow(repository, until) {
      const asked = repos.get(repository) ?? nothingAsked();
      repos.set(repository, asked);
      asked.notBefore = until;
      arm(state, asked);
    },
    isIdle(repository) {
      const asked = repos.get(repository);
      return asked === undefined || (!asked.running && asked.due.size === 0);
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

function stateOf({ clock, handler, ...given }: QueueOptions): State {
  const ignore = () => undefined;
  const { concurrency = 4, limits = ROUND_LIMITS, after = clock.after, onError = ignore, onLong = ignore } = given;
  const counts = { active: 0, placed: 0, turns: 0, isPumping: false };
  return { clock, handler, concurrency, limits, after, onError, onLong, repos: new Map(), idlers: new Set(), ...counts, closed: false };
}

function depthOf({ repos, clock, active }: State): QueueDepth {
  const now = clock.now();
  const waiting = [...repos.values()].filter((asked) => !asked.running && isDue(asked, now));
  const longestMs = Math.max(0, ...waiting.map(({ due, notBefore }) => now - Math.max(notBefore, Math.min(...due.values()))));
  return { due: waiting.length, running: active, longestMs };
}

/** Once for all that is asked at the same moment: of ten thousand repos each would be gone through for each. */
function pumpSoon(state: State): void {
  if (state.isPumping) return;
  state.isPumping = true;
  queueMicrotask(() => {
    state.isPumping = false;
    pump(state);
  });
}

/**
 * Begins whatever is due, as far as there is room: first what had its last turn the longest ago. An owner has no more rounds under way than
 * are left for all others.
 */
function pump(state: State): void {
  const { repos, clock, limits } = state;
  // It is gone through again when a place is free.
  const isFull = state.placed >= state.concurrency || state.active >= limits.most;
  const now = clock.now();
  const waiting: [string, Asked][] = [];
  const underWay = new Map<string, number>();
  for (const [repository, asked] of state.closed || isFull ? [] : repos) {
    if (asked.running) count(underWay, ownerOf(repository));
    if (asked.running) continue;
    if (isDue(asked, now)) waiting.push([repository, asked]);
    else arm(state, asked);
  }
  for (const [repository, asked] of waiting.sort(([, a], [, b]) => a.lastTurn - b.lastTurn)) {
    if (state.placed >= state.concurrency || state.active >= limits.most) break;
    const owner = ownerOf(repository);
    if ((underWay.get(owner) ?? 0) >= limits.most - state.active) continue;
    count(underWay, owner);
    asked.running = true;
    asked.lastTurn = ++state.turns;
    state.active += 1;
    void work(state, repository, asked, dueNow(asked, now)).finally(() => {
      asked.running = false;
      state.active -= 1;
      if (asked.forgotten) repos.delete(repository);
      pump(state);
    });
  }
  settle(state);
}

const ownerOf = (repository: string): string => repository.split("/", 1)[0] ?? "";

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** When it is looked at next; infinity: nothing is asked of it. What somebody said waits for nothing. */
function earliestOf({ due, notBefore, heard }: Asked): number {
  return Math.max(Math.min(...due.values()), heard ? 0 : notBefore);
}

/** Sets the timer for the earliest request. */
function arm(state: State, asked: Asked): void {
  const earliest = earliestOf(asked);
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

async function work(state: State, repository: string, asked: Asked, rollouts: Set<string | null>): Promise<void> {
  const { clock, handler, onError } = state;
  for (const rollout of rollouts) asked.due.delete(rollout);
  asked.heard = false;
  const { over, end } = beginRound(state, repository, asked);
  try {
    await Promise.race([handler(repository, rollouts, over), aborted(over)]);
    asked.failures = 0;
    asked.overdue = 0;
  } catch (error) {
    const delay = over.aborted
      ? Math.min(LAST_RETRY_OVERDUE_MS, FIRST_RETRY_OVERDUE_MS * 2 ** asked.overdue++)
      : Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** asked.failures++);
    onError(error, repository, delay);
    if (over.aborted) asked.notBefore = clock.now() + delay;
    if (asked.forgotten) return;
    for (const rollout of rollouts) add(asked, rollout, clock.now() + delay);
  } finally {
    end();
  }
}

/** Gives a round its place for a while, and its end. */
function beginRound(state: State, repository: string, asked: Asked): { over: AbortSignal; end(): void } {
  const { limits, after, onLong } = state;
  const over = new AbortController();
  let placed = true;
  state.placed += 1;
  const leave = (): void => {
    if (placed) state.placed -= 1;
    placed = false;
  };
  const offPlace = after(limits.placeMs, () => {
    leave();
    asked.isLong = true;
    onLong(repository);
    pump(state);
  });
  const offRound = after(limits.roundMs, () => over.abort(new RoundOverdue(limits.roundMs)));
  const end = (): void => {
    offPlace();
    offRound();
    asked.isLong = false;
    leave();
  };
  return { over: over.signal, end };
}

function aborted(over: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => over.addEventListener("abort", () => reject(over.reason), { once: true }));
}

/** Lets go who waits, where nothing is due or worked on. */
function settle({ active, closed, repos, idlers, clock }: State): void {
  if (idlers.size === 0) return;
  const busy = active > 0 || (!closed && [...repos.values()].some((asked) => isDue(asked, clock.now())));
  if (busy) return;
  for (const resolve of idlers) resolve();
  idlers.clear();
}
