import { ForgeError } from "../../adapters/forge/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import type { RepoContext } from "./context.ts";

const FIRST_RETRY_MS = 2000;
const LONGEST_RETRY_MS = 5 * 60_000;
const MOST_KEPT = 1000;
/** Rounds in a row that find what the one before found, and each want the next at once. */
const MOST_CIRCLES = 50;
const AT_ONCE_MS = 100;

/** What failed (effects of a rollout, a question to GitHub) is left alone for a while, longer each time in a row. */
export interface Backoff {
  /** When it may be tried again, in epoch milliseconds; undefined: now. */
  until(name: string): number | undefined;
  note(name: string, error?: unknown, longestMs?: number): void;
  forget(name: string): void;
  /** All whose names begin so. */
  forgetAll(prefix: string): void;
  /** The times that are still to come. */
  pending(): number[];
}

export function openBackoff({ clock }: Pick<RepoContext, "clock">, longestMs = LONGEST_RETRY_MS): Backoff {
  const failed = new BoundedMap<string, { count: number; until: number }>(MOST_KEPT);
  return {
    until(name) {
      const { until = 0 } = failed.get(name) ?? {};
      return until > clock.now() ? until : undefined;
    },
    note(name, error, longest = longestMs) {
      const count = (failed.get(name)?.count ?? 0) + 1;
      const until = clock.now() + Math.min(longest, FIRST_RETRY_MS * 2 ** (count - 1));
      const asked = error instanceof ForgeError ? (error.retryAt ?? 0) : 0;
      failed.set(name, { count, until: Math.max(until, asked) });
    },
    forget: (name) => void failed.delete(name),
    forgetAll(prefix) {
      for (const name of failed.keys()) if (name.startsWith(prefix)) failed.delete(name);
    },
    pending: () => [...failed.values()].map(({ until }) => until).filter((until) => until > clock.now()),
  };
}

export type Circling = ReturnType<typeof openCircling>;

/**
 * Gives when a repository is looked at next. Rounds that move nothing and want the next at once, again and again, are a fault of ours: they go on
 * at a pace that holds up nobody, 1 s, doubling to 5 minutes, and the log says so.
 */
export function openCircling({ clock, log }: Pick<RepoContext, "clock" | "log">) {
  let before = "";
  let circles = 0;
  return (found: string, wakeAt: number | undefined): number | undefined => {
    const isAnother = found !== before;
    before = found;
    const now = clock.now();
    if (isAnother || wakeAt === undefined || wakeAt > now + AT_ONCE_MS) {
      circles = 0;
      return wakeAt;
    }
    circles += 1;
    const beyond = circles - MOST_CIRCLES;
    if (beyond <= 0) return wakeAt;
    if (beyond === 1) log.error({ rounds: circles, found }, "round after round wants the next at once, and nothing moves: they are slowed");
    return now + Math.min(LONGEST_RETRY_MS, 1000 * 2 ** (beyond - 1));
  };
}
