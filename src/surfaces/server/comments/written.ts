/**
 * Whether a comment is its author's own word. Whoever may write to the repository may edit anybody's comment, and the times that are listed
 * with it are whole seconds: GitHub is asked who edited it, at the moment at which a command in it is about to act.
 */
import type { Comment, Forge } from "../../../adapters/forge/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { Clock } from "../../../core/base/time.ts";
import type { Log } from "../../../engine/round/context.ts";
import { RECHECK_MS } from "./reading.ts";
import { keyOf } from "./refusals.ts";

/** A command that waits is asked about again after this long; what was edited stays so. */
const FRESH_MS = 10_000;
const MOST_KEPT = 1_000;

interface Options {
  forge: Pick<Forge, "unedited">;
  clock: Clock;
  log: Log;
  again?: (inMs: number) => void;
}

/**
 * `stops`: the comment's command does nothing but keep merges off. It is believed by the times that are listed with it where GitHub's GraphQL
 * does not answer, since a stop that is nobody's does less harm than one that is not heard.
 */
export function openWritten({ forge, clock, log, again }: Options): (comment: Comment, stops?: boolean) => Promise<boolean> {
  const known = new BoundedMap<string, { body: string; at: number; isEdited: boolean }>(MOST_KEPT);
  return async (comment, stops = false) => {
    const key = keyOf(comment);
    const { body } = comment;
    const before = known.get(key);
    if (before?.isEdited === true) return false;
    if (before?.body === body && clock.now() - before.at < FRESH_MS) return true;
    try {
      const isEdited = (await forge.unedited([comment])).length === 0;
      if (isEdited)
        log.warn({ comment: key, author: comment.author }, "a comment with a command was edited since it was written; it does nothing");
      known.set(key, { body, at: clock.now(), isEdited });
      return !isEdited;
    } catch (error) {
      if (stops) {
        log.warn({ comment: key, error: String(error) }, "whether a comment was edited could not be asked; it stops all the same");
        return true;
      }
      log.warn({ comment: key, error: String(error) }, "whether a comment was edited could not be asked; trying again");
      again?.(RECHECK_MS);
      return false;
    }
  };
}
