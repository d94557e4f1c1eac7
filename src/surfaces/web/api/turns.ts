/** What keeps many from asking at once, or too often. */
import { BoundedMap } from "../../../core/base/bounded.ts";

/** Entries of a counter. */
const MOST_KNOWN = 20_000;

/** So many works at once, the others in their order; where more wait than may, the next is refused with this error. */
export function openTurns({ atOnce, waiting: most, full }: { atOnce: number; waiting: number; full: () => Error }) {
  const waiting: (() => void)[] = [];
  let working = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (working >= atOnce) {
      if (waiting.length >= most) throw full();
      await new Promise<void>((resolve) => void waiting.push(resolve));
    } else working += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) working -= 1;
      else next();
    }
  };
}

/** How often something happened in this minute. */
export function openCounter(most: number, now: () => number) {
  const counts = new BoundedMap<string, { minute: number; count: number }>(MOST_KNOWN);
  const of = (key: string) => {
    const minute = Math.floor(now() / 60_000);
    const entry = counts.get(key);
    return entry?.minute === minute ? entry : { minute, count: 0 };
  };
  return {
    isOver: (key: string) => of(key).count >= most,
    /** False: too often. */
    count(key: string): boolean {
      const entry = of(key);
      entry.count += 1;
      counts.set(key, entry);
      return entry.count <= most;
    },
  };
}
