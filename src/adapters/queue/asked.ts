/** What is asked of one repo, and what of it is due. Kept by `in-process.ts`. */

/** What is asked of one repo. */
export interface Asked {
  /** Rollout → earliest time asked for. */
  due: Map<string | null, number>;
  running: boolean;
  /** Its round has left its place to others. */
  isLong: boolean;
  /** Rounds in a row that failed, and those that were given up: an outage does not tell that rounds hang. */
  failures: number;
  overdue: number;
  /** Its last round was given up: whatever is asked of it waits until then, but for what somebody says. */
  notBefore: number;
  /** Somebody said something that no round has begun after. */
  heard: boolean;
  /** Which round of all was its last. */
  lastTurn: number;
  /** Nothing was asked since it was forgotten. */
  forgotten: boolean;
  /** Calls off the timer for the earliest request. */
  disarm?: () => void;
  armedFor: number;
}

export function nothingAsked(): Asked {
  const armedFor = Number.POSITIVE_INFINITY;
  const counts = { failures: 0, overdue: 0, notBefore: 0, lastTurn: 0 };
  return { due: new Map(), running: false, isLong: false, ...counts, heard: false, forgotten: false, armedFor };
}

export function add(asked: Asked, rollout: string | null, at: number): void {
  const before = asked.due.get(rollout);
  if (before === undefined || at < before) asked.due.set(rollout, at);
}

export function dueNow({ due }: Asked, now: number): Set<string | null> {
  return new Set([...due].filter(([, at]) => at <= now).map(([rollout]) => rollout));
}

export function isDue({ due, heard, notBefore }: Asked, now: number): boolean {
  if (now < notBefore && !heard) return false;
  for (const at of due.values()) if (at <= now) return true;
  return false;
}
