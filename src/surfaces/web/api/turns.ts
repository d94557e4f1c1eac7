/** What keeps many from asking at once, or too often. */
import type { IncomingMessage } from "node:http";
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

/** How often something happened within a minute of the first time. */
export function openCounter(most: number, now: () => number) {
  const counts = new BoundedMap<string, { until: number; count: number }>(MOST_KNOWN);
  const of = (key: string) => {
    const entry = counts.get(key);
    return entry !== undefined && now() < entry.until ? entry : { until: now() + 60_000, count: 0 };
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

/** Whose request it is, for counting. Behind a proxy all have one address: what it adds, the last, tells them apart. Who comes without one may write it. */
export function clientOf(incoming: Pick<IncomingMessage, "headers" | "socket"> | undefined): string {
  const through = [incoming?.headers["x-forwarded-for"] ?? []].flat().at(-1)?.split(",").at(-1)?.trim() ?? "";
  return `${incoming?.socket.remoteAddress ?? ""} ${through.slice(0, 64)}`;
}
