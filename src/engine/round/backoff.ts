import { ForgeError } from "../../adapters/forge/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import type { RepoContext } from "./context.ts";

const FIRST_RETRY_MS = 2000;
const LONGEST_RETRY_MS = 5 * 60_000;
const MOST_KEPT = 1000;

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
