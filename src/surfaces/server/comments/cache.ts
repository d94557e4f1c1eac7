import type { Comment, Forge } from "../../../adapters/forge/port.ts";
import type { Clock } from "../../../core/base/time.ts";
import type { Log } from "../../../engine/round/context.ts";

/** Without a webhook, and without a resync of everything, a PR's comments are asked for this often. */
const RESYNC_MS = 5 * 60_000;
/** Dropped are those that nobody asked about for the longest. All of a long run are asked about in turn: too few would hold none. */
const MOST_PULLS = 20_000;

/** Comments of pull requests as last read: rounds are many, and comments few. */
export interface HeldComments {
  /** Asked for anew where a webhook said so, or it was long ago. What cannot be read now is as it was. */
  of(pull: number): Promise<readonly Comment[]>;
  touched(pull: number): void;
  /** All are asked for anew: webhooks may have been lost. */
  resync(): void;
}

export function heldComments(forge: Forge, clock: Clock, log: Log): HeldComments {
  const held = new Map<number, { comments: readonly Comment[]; readAt: number }>();
  const dirty = new Set<number>();

  function keep(pull: number, comments: readonly Comment[], readAt: number): void {
    held.delete(pull);
    held.set(pull, { comments, readAt });
    const oldest = held.keys().next().value;
    if (held.size > MOST_PULLS && oldest !== undefined) held.delete(oldest);
  }

  return {
    touched: (pull) => void dirty.add(pull),
    resync() {
      for (const pull of held.keys()) dirty.add(pull);
    },
    async of(pull) {
      const known = held.get(pull);
      const now = clock.now();
      if (known !== undefined && !dirty.has(pull) && now - known.readAt < RESYNC_MS) return known.comments;
      // Opened by us a moment ago: a comment on it is told before it is asked for.
      if (known === undefined && !dirty.has(pull) && forge.isBlank?.(pull) === true) {
        keep(pull, [], now);
        return [];
      }
      dirty.delete(pull);
      try {
        const fresh = await forge.comments(pull);
        keep(pull, fresh, now);
        return fresh;
      } catch (error) {
        dirty.add(pull);
        log.warn({ pull, error: String(error) }, "comments could not be read; trying again");
        return known?.comments ?? [];
      }
    },
  };
}
