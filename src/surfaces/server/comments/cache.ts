import type { Comment, Forge } from "../../../adapters/forge/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { Clock } from "../../../core/base/time.ts";
import type { Log } from "../../../engine/round/context.ts";

/** Without a webhook, and without a resync of everything, a PR's comments are asked for this often. */
const RESYNC_MS = 5 * 60_000;
/** Dropped are those that nobody asked about for the longest. All of a long run are asked about in turn: too few would hold none. */
const MOST_PULLS = 20_000;

/** Comments of pull requests as last read: rounds are many, and comments few. */
interface CommentCache {
  /** Asked for anew where a webhook said so, or it was long ago. What cannot be read now is as it was. */
  of(pull: number): Promise<readonly Comment[]>;
  touched(pull: number): void;
  /** The PRs that were touched since this was asked last. */
  takeTouched(): number[];
  /** All are asked for anew: webhooks may have been lost. */
  resync(): void;
}

export function commentCache(forge: Forge, clock: Clock, log: Log): CommentCache {
  const known = new BoundedMap<number, { comments: readonly Comment[]; readAt: number }>(MOST_PULLS);
  const needsFetch = new Set<number>();
  const touched = new Set<number>();

  return {
    touched(pull) {
      needsFetch.add(pull);
      touched.add(pull);
    },
    takeTouched() {
      const pulls = [...touched];
      touched.clear();
      return pulls;
    },
    resync() {
      for (const pull of known.keys()) needsFetch.add(pull);
    },
    async of(pull) {
      const before = known.get(pull);
      const now = clock.now();
      if (before !== undefined && !needsFetch.has(pull) && now - before.readAt < RESYNC_MS) return before.comments;
      // Opened by us a moment ago: a comment on it is reported before it is asked for.
      if (before === undefined && !needsFetch.has(pull) && forge.isBlank?.(pull) === true) {
        known.set(pull, { comments: [], readAt: now });
        return [];
      }
      needsFetch.delete(pull);
      try {
        const comments = await forge.comments(pull);
        known.set(pull, { comments, readAt: now });
        return comments;
      } catch (error) {
        needsFetch.add(pull);
        log.warn({ pull, error: String(error) }, "comments could not be read; trying again");
        return before?.comments ?? [];
      }
    },
  };
}
