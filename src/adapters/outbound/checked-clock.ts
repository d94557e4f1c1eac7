/**
 * The time by which everything is decided and journalled.
 *
 * It runs with a clock that only ever goes on, so that setting the machine's does nothing to a wait, and it is held against the `Date` of
 * what GitHub answers. At its first answer it takes GitHub's time: a process that has just begun has no other word than the machine's. Later
 * it follows GitHub where two answers in a row differ from it and the machine's clock is on GitHub's side, as after a suspended machine:
 * it says the same, or went on as far since they last agreed.
 * Anything else is a difference that is said and waited out: nothing merges until they agree. Made by `serve.ts`.
 */
import type { Clock } from "../../core/base/time.ts";

/** A difference that is let pass: clocks that are kept right are within a second, and an answer takes a while. */
const MOST_APART_MS = 10_000;

export interface CheckedClock extends Clock {
  readonly speed: number;
  ahead(): number | undefined;
  /** To be called when something is asked; then with the `Date` of the answer. */
  asking(): (date: string | null) => void;
}

interface CheckedClockOptions {
  /** What the machine says, where that is not the clock itself. */
  wall?: (() => number) | undefined;
  log?: { warn(fields: object, message: string): void } | undefined;
}

export function checkedClock(base: Clock & { readonly speed?: number }, { wall, log }: CheckedClockOptions = {}): CheckedClock {
  let offset = 0;
  let checked = false;
  let ahead: number | undefined;
  /** By how much the machine's clock was ahead of GitHub's when ours last agreed with it. */
  let wallAhead = 0;
  const now = () => base.now() + offset;

  function hear(told: number, askedAt: number): void {
    const apart = apartBy(told, askedAt + offset, now());
    const again = ahead !== undefined;
    ahead = apart === 0 ? undefined : apart;
    const first = !checked;
    checked = true;
    const github = now() - apart;
    const isNear = (time: number) => Math.abs(time - github) <= MOST_APART_MS;
    // One that was wrong before is as good a witness, by how far it went on.
    const isGitHubs = wall === undefined || isNear(wall()) || isNear(wall() - wallAhead);
    const isFollowed = apart !== 0 && (first || (again && isGitHubs));
    if (wall !== undefined && (apart === 0 || isFollowed)) wallAhead = wall() - github;
    if (apart === 0) return;
    const seconds = Math.round(apart / 1000);
    if (isFollowed) {
      offset -= apart;
      ahead = undefined;
      log?.warn({ seconds }, "the clock was ahead of GitHub's (behind, if negative) and was set by it");
    } else if (!again) log?.warn({ seconds }, "the clock is ahead of GitHub's (behind, if negative): nothing merges until they agree");
  }

  return {
    get speed() {
      return base.speed ?? 1;
    },
    now,
    after: (ms, wake) => base.after(ms, wake),
    ahead: () => ahead,
    asking() {
      const askedAt = base.now();
      return (date) => {
        const told = Date.parse(date ?? "");
        if (!Number.isNaN(told)) hear(told, askedAt);
      };
    },
  };
}

export function isChecked(clock: Clock): clock is CheckedClock {
  return "asking" in clock;
}

/** Milliseconds by which our clock is ahead at least: an answer is dated in whole seconds, at some moment between question and answer. */
function apartBy(told: number, askedAt: number, heardAt: number): number {
  const least = askedAt - (told + 999);
  const most = heardAt - told;
  if (least > MOST_APART_MS) return least;
  return most < -MOST_APART_MS ? most : 0;
}
