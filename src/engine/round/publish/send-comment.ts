/**
 * Comments on their way: they follow the rounds and hold none up.
 *
 * What is sent to one PR is sent one after the other, and of a comment only the newest body: a burst of rounds is one edit.
 */
import { BoundedMap } from "../../../core/base/bounded.ts";
import { iso, type Time } from "../../../core/base/time.ts";
import type { Attention } from "../attention.ts";
import type { RepoContext } from "../context.ts";

const MOST_KEPT = 1000;

interface Comment {
  key: string;
  pull: number;
  marker: string;
  body: string;
  /** Where there is none it is not made. */
  ifThere?: boolean;
}

/** What a comment was last wanted to say; `at`: since when it does. */
interface Wanted {
  body: string;
  at?: Time;
  /** Who is told what becomes of it. */
  listeners: Listener[];
}

interface Listener {
  failed?(): void;
  sent?(at: Time): void;
}

export interface Comments {
  /** Sends in the background. `failed` is told where it could not be sent; `sent`, since when it stands there by GitHub's clock. */
  send(comment: Comment, listener?: Listener): void;
  /** Does something when all that was sent to the PR before is through. Number 0 is no PR. */
  follow(pull: number, work: () => Promise<unknown>): void;
  /** Resolves when all that is under way is sent or given up. */
  settled(): Promise<void>;
}

export function openComments(
  { forge, log, clock }: Pick<RepoContext, "forge" | "log" | "clock">,
  attention: Pick<Attention, "line">,
): Comments {
  /** Comment → what it was last wanted to say. */
  const wanted = new BoundedMap<string, Wanted>(MOST_KEPT);
  const underWay = new Map<number, Promise<void>>();

  function follow(pull: number, work: () => Promise<unknown>): void {
    const before = underWay.get(pull) ?? Promise.resolve();
    const mine: Promise<void> = before
      .then(work)
      .catch((error: unknown) => log.warn({ pull, error: String(error) }, "what follows a comment could not be done"))
      .then(() => {
        if (underWay.get(pull) === mine) underWay.delete(pull);
      });
    underWay.set(pull, mine);
  }

  function send({ key, pull, marker, body, ifThere }: Comment, listener: Listener = {}): void {
    // As it will stand there: what needs attention is put above it on its way.
    const whole = `${attention.line()}${body}`;
    const before = wanted.get(key);
    if (before?.body === whole) {
      if (before.at === undefined) before.listeners.push(listener);
      else listener.sent?.(before.at);
      return;
    }
    const mine: Wanted = { body: whole, listeners: [listener] };
    wanted.set(key, mine);
    follow(pull, async () => {
      if (wanted.get(key) !== mine) return;
      try {
        const isThere = ifThere !== true || (await forge.stickyUrl(pull, marker)) !== undefined;
        const { at = iso(clock.now()) } = isThere ? await forge.stickyComment(pull, marker, body) : {};
        mine.at = at;
        for (const { sent } of mine.listeners.splice(0)) sent?.(at);
      } catch (error) {
        log.warn({ pull, error: String(error) }, "the comment could not be brought up to date");
        // Forgotten, so that the next round wants it again.
        if (wanted.get(key) === mine) wanted.delete(key);
        for (const { failed } of mine.listeners.splice(0)) failed?.();
      }
    });
  }

  return { send, follow, settled: async () => void (await Promise.all(underWay.values())) };
}
