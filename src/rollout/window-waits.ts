import { closedNow, type WindowSet } from "./gate-window.ts";
import { windowsAt } from "./windows.ts";

/** Changes of windows looked through before giving up: years of windows that last hours. */
const MOST_CHANGES = 3000;

/** A time from which every set of windows is open, and until when, at the earliest, it stays so. Epoch milliseconds. */
export interface Opening {
  at: number;
  /** Infinity: nothing closes them within a year. */
  until: number;
}

/** The first moment from `from` on at which every set is open. undefined: not within a year, or of a set that never opens. */
export function nextOpening(sets: readonly WindowSet[], from: number): Opening | undefined {
  let at = from;
  for (let changes = 0; changes < MOST_CHANGES; changes++) {
    const closed = closedNow(sets, at);
    if (closed === undefined) return { at, until: openUntil(sets, at) };
    if (closed.changesAt === undefined) return undefined;
    at = closed.changesAt;
  }
  return undefined;
}

function openUntil(sets: readonly WindowSet[], at: number): number {
  return Math.min(Number.POSITIVE_INFINITY, ...sets.map(({ windows }) => windowsAt(windows, at).changesAt ?? Number.POSITIVE_INFINITY));
}

/** For how long of a time that is past some set was closed. */
export function closedBetween(sets: readonly WindowSet[], from: number, to: number): number {
  let open = 0;
  let at = from;
  for (let changes = 0; changes < MOST_CHANGES && at < to; changes++) {
    const opening = nextOpening(sets, at);
    if (opening === undefined || opening.at >= to) break;
    at = Math.min(opening.until, to);
    open += at - opening.at;
  }
  return Math.max(0, to - from - open);
}

/** When work that begins at `from` is done, and how much of that is waiting for windows. */
export interface Projected {
  doneAt: number;
  waitedMs: number;
  /** Windows that do not open within a year are not waited for here. */
  opens: boolean;
}

/** So many pieces of work one after the other, each of which begins only while every set is open, and then goes on whatever closes. */
export function project(sets: readonly WindowSet[], from: number, pieces: number, eachMs: number): Projected {
  let at = from;
  let waitedMs = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (let piece = 0; piece < pieces; piece++) {
    if (at >= until) {
      const opening = nextOpening(sets, at);
      if (opening === undefined) return { doneAt: at + (pieces - piece) * eachMs, waitedMs, opens: false };
      waitedMs += opening.at - at;
      ({ at, until } = opening);
    }
    at += eachMs;
  }
  return { doneAt: at, waitedMs, opens: true };
}
