/** Says when several sets of windows are open together: those of a rollout, of the repo's settings and of the server. */
import { BoundedMap } from "../base/bounded.ts";
import type { WindowOwner } from "../reasons/refs.ts";
import { everOpens, isOpen, type Window, windowsAt } from "./windows.ts";

/** A window with its place in the file that says it; `file`: where `where` does not name it. */
export type PlacedWindow = Window & { at?: { path: string; file?: string | undefined } | undefined };

/** Windows that are judged together, and who says them. */
export interface WindowSet {
  windows: readonly PlacedWindow[];
  where: WindowOwner;
}

/** The first set that is closed at a moment, by which window, and when it alone opens; undefined: all are open. */
export function closedNow(
  sets: readonly WindowSet[],
  now: number,
): { where: WindowOwner; by: PlacedWindow | undefined; changesAt: number | undefined } | undefined {
  for (const { windows, where } of sets) {
    if (isOpen(windows, now)) continue;
    const { changesAt, by } = windowsAt(windows, now);
    return { where, by, changesAt };
  }
  return undefined;
}

/** Of the sets, those that by themselves do not open within a year: whose they are. */
export function neverOpening(sets: readonly WindowSet[], now: number): WindowOwner[] {
  return sets.filter(({ windows }) => !everOpens(windows, now)).map(({ where }) => where);
}

/** Changes of windows looked through before giving up: years of windows that last hours. */
const MOST_CHANGES = 3000;

/** A time from which every set of windows is open, and until when, at the earliest, it stays so. Epoch milliseconds. */
interface Opening {
  at: number;
  /** Infinity: nothing closes them within a year. */
  until: number;
}

/** How far ahead a common opening is looked for; windows go by the calendar, so what is never open together in a year never is. */
const HORIZON_MS = 366 * 86_400_000;

/** They change so often that they were looked through only until `lookedUntil`: whether they open after that is not known. */
interface GivenUp {
  lookedUntil: number;
}

/**
 * The first moment from `from` on at which every set is open. undefined: not within a year, or of a set that never opens. What is not known
 * is not said to be never.
 */
export function nextOpening(sets: readonly WindowSet[], from: number): Opening | GivenUp | undefined {
  let at = from;
  for (let changes = 0; changes < MOST_CHANGES && at - from <= HORIZON_MS; changes++) {
    const closed = closedNow(sets, at);
    if (closed === undefined) return { at, until: openUntil(sets, at) };
    if (closed.changesAt === undefined) return undefined;
    at = closed.changesAt;
  }
  return at - from <= HORIZON_MS ? { lookedUntil: at } : undefined;
}

/** What was looked for lately, from a moment on. */
interface Looked {
  from: number;
  opening: Opening | GivenUp | undefined;
}

const LOOKED = new BoundedMap<string, Looked>(500);
/** For how long windows that were found never to be open together, or not to be known, are not looked through again. */
const NEVER_MS = 86_400_000;

/** As `nextOpening`, for who asks again and again while it waits. */
export function nextOpenAt(sets: readonly WindowSet[], now: number): Opening | GivenUp | undefined {
  const key = JSON.stringify(sets.map(({ windows }) => windows.map((one) => [one.schedule, one.durationMs, one.timeZone, one.kind])));
  const known = LOOKED.get(key);
  if (known !== undefined && known.from <= now && now < holdsUntil(known)) return known.opening;
  const opening = nextOpening(sets, now);
  LOOKED.set(key, { from: now, opening });
  return opening;
}

function holdsUntil({ from, opening }: Looked): number {
  if (opening === undefined) return from + NEVER_MS;
  return "at" in opening ? opening.at : Math.min(from + NEVER_MS, opening.lookedUntil);
}

/** Each set opens by itself, and never all at one moment: whose they are. undefined: they do meet, or may, or one of them never opens at all. */
export function neverTogether(sets: readonly WindowSet[], now: number): WindowOwner[] | undefined {
  const some = sets.filter(({ windows }) => windows.length > 0);
  if (some.length < 2 || some.some(({ windows }) => !everOpens(windows, now)) || nextOpenAt(some, now) !== undefined) return undefined;
  return some.map(({ where }) => where);
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
    if (opening === undefined || !("at" in opening) || opening.at >= to) break;
    at = Math.min(opening.until, to);
    open += at - opening.at;
  }
  return Math.max(0, to - from - open);
}

/** When work that begins at `from` is done, and how much of that is waiting for windows. */
interface Projected {
  doneAt: number;
  waitedMs: number;
  /** False: windows that do not open within a year, or of which nobody knows when, are not waited for here. */
  opens: boolean;
}

/** Work that begins only while every one of its sets is open. */
export interface Piece {
  sets: readonly WindowSet[];
  ms: number;
}

/** Projects pieces of work one after the other, each of which begins only while its own sets are open. Once begun it goes on whatever closes. */
export function projectAll(pieces: readonly Piece[], from: number): Projected {
  let at = from;
  let waitedMs = 0;
  let opens = true;
  for (let next = 0; next < pieces.length; ) {
    const { sets, ms } = pieces[next] as Piece;
    let alike = 1;
    while (pieces[next + alike]?.sets === sets && pieces[next + alike]?.ms === ms) alike++;
    const done = project(sets, at, alike, ms);
    at = done.doneAt;
    waitedMs += done.waitedMs;
    opens &&= done.opens;
    next += alike;
  }
  return { doneAt: at, waitedMs, opens };
}

/** Projects pieces of work one after the other, each of which begins only while every set is open. Once begun it goes on whatever closes. */
export function project(sets: readonly WindowSet[], from: number, pieces: number, eachMs: number): Projected {
  let at = from;
  let waitedMs = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (let piece = 0; piece < pieces; piece++) {
    if (at >= until) {
      const opening = nextOpening(sets, at);
      if (opening === undefined || !("at" in opening)) return { doneAt: at + (pieces - piece) * eachMs, waitedMs, opens: false };
      waitedMs += opening.at - at;
      ({ at, until } = opening);
    }
    at += eachMs;
  }
  return { doneAt: at, waitedMs, opens: true };
}
