/**
 * Says when batches may merge by windows of time, as Argo CD's sync windows decide. What is asked of a schedule is remembered, since runs ask
 * each second.
 */
import { Cron } from "croner";
import type { z } from "zod";
import { BoundedMap } from "../base/bounded.ts";
import type { Selector } from "../base/selector.ts";
import { parseDuration } from "../base/time.ts";
import type { ProblemData } from "../reasons/problems/problem.ts";
import { scheduleFault } from "./schedule-fault.ts";
import type { windowSchema } from "./schema-common.ts";

/** When batches may merge, or may not. Times in epoch milliseconds. */
export interface Window {
  /** Cron, five fields: `0 9 * * 1-5`. Its moments are the window's beginnings. */
  schedule: string;
  durationMs: number;
  /** IANA name; `UTC` where the resource says none. */
  timeZone: string;
  kind: "allow" | "deny";
}

/** A window that binds some clusters or stages only; absent: all. */
export interface ScopedWindow extends Window {
  selector?: Selector | undefined;
  stages?: readonly string[] | undefined;
}

interface WindowAnswer<W extends Window> {
  open: boolean;
  /** When open: until when, at the earliest, it stays so. When closed: when it opens. Absent: not within a year, or for ever. */
  changesAt: number | undefined;
  /** The window that decides: the deny that is on, or the next allow. */
  by: W | undefined;
}

/** Returns a window as the schema has it with its duration read, which the schema has checked. */
export function toWindow({ schedule, duration, timeZone, kind }: z.output<typeof windowSchema>): Window {
  return { schedule, durationMs: parseDuration(duration) ?? 0, timeZone, kind };
}

/** How far ahead a change is looked for; past it a set of windows is said never to open. */
const HORIZON_MS = 366 * 86_400_000;
/** Jumps taken before giving up: enough for a year of windows that last hours. */
const MOST_JUMPS = 3000;

/**
 * Whether batches may merge at `now`. As Argo CD's sync windows decide: no windows, open; a deny that is on closes; where
 * there are allows, one of them must be on. A window lasts its duration in elapsed time, so the night the clocks change
 * it ends an hour earlier or later on the wall.
 */
export function windowsAt<W extends Window>(windows: readonly W[], now: number): WindowAnswer<W> {
  const allows = windows.filter((window) => window.kind === "allow");
  const denies = windows.filter((window) => window.kind === "deny");
  const open = isOpen(windows, now);
  const by = open ? undefined : decidingWindow(allows, denies, now);
  const jump = (at: number) => (open ? mayClose(allows, denies, at) : mayOpen(allows, denies, at));
  let at = jump(now);
  for (let jumps = 0; jumps < MOST_JUMPS && at - now <= HORIZON_MS; jumps++) {
    if (isOpen(windows, at) !== open) return { open, changesAt: at, by };
    at = jump(at);
  }
  return { open, changesAt: undefined, by };
}

/** The first half of what `windowsAt` says, without looking ahead. */
export function isOpen(windows: readonly Window[], at: number): boolean {
  let isAllowed: boolean | undefined;
  for (const window of windows) {
    if (window.kind === "allow") isAllowed ||= isOn(window, at);
    else if (isOn(window, at)) return false;
  }
  return isAllowed ?? true;
}

/** The next moment after `at`, while open, at which it may close: nothing closes before. Infinity: nothing does. */
function mayClose(allows: readonly Window[], denies: readonly Window[], at: number): number {
  const ends = endsOf(allows, at);
  return Math.min(...denies.map((deny) => nextBeginning(deny, at)), ends.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...ends));
}

/** The next moment after `at`, while closed, at which it may open: nothing opens before. Infinity: nothing does. */
function mayOpen(allows: readonly Window[], denies: readonly Window[], at: number): number {
  const ends = endsOf(denies, at);
  return ends.length > 0 ? Math.max(...ends) : Math.min(...allows.map((allow) => nextBeginning(allow, at)));
}

/** When those that are on at `at` end. */
function endsOf(windows: readonly Window[], at: number): number[] {
  return windows.filter((window) => isOn(window, at)).map((window) => (gapAt(window, at).from ?? at) + window.durationMs);
}

function nextBeginning(window: Window, at: number): number {
  return gapAt(window, at).to ?? Number.POSITIVE_INFINITY;
}

/** Whether there is a moment within a year of `now` at which these windows are open. */
export function everOpens(windows: readonly Window[], now: number): boolean {
  const { open, changesAt } = windowsAt(windows, now);
  return open || changesAt !== undefined;
}

/** Why a schedule or a time zone cannot be used; undefined: both are fine. */
export function badWindow(window: Pick<Window, "schedule" | "timeZone">): ProblemData<"BAD_WINDOW"> | undefined {
  try {
    new Intl.DateTimeFormat("en", { timeZone: window.timeZone });
  } catch {
    return { fault: "Zone", zone: window.timeZone };
  }
  const fields = window.schedule.trim().split(/\s+/);
  if (fields.length !== 5) return { fault: "Fields" };
  try {
    cronOf(window);
  } catch {
    return scheduleFault(fields) ?? { fault: "Schedule" };
  }
  return undefined;
}

function decidingWindow<W extends Window>(allows: readonly W[], denies: readonly W[], at: number): W | undefined {
  return denies.find((window) => isOn(window, at)) ?? allows.toSorted((a, b) => nextBeginning(a, at) - nextBeginning(b, at))[0];
}

/** On from a beginning, that moment included, until its duration is over, that moment not. Of several that overlap the latest ends last. */
function isOn(window: Window, at: number): boolean {
  const { from } = gapAt(window, at);
  return from !== undefined && at < from + window.durationMs;
}

/** Two beginnings that follow each other; absent: there is none before, or after. */
interface Gap {
  from: number | undefined;
  to: number | undefined;
}

/** The beginnings around a moment: the last that is not after it, and the next. */
function gapAt(window: Pick<Window, "schedule" | "timeZone">, at: number): Gap {
  const { cron, gaps } = cronOf(window);
  const place = placeOf(gaps, at);
  const known = gaps[place - 1];
  if (known !== undefined && (known.to === undefined || at < known.to)) return known;
  const made = gapAfter(cron, known?.to, at) ?? {
    from: cron.previousRuns(1, new Date(at + 1))[0]?.getTime(),
    to: cron.nextRun(new Date(at))?.getTime(),
  };
  gaps.splice(place, 0, made);
  // The end that is farther from what was just asked.
  if (gaps.length > MOST_GAPS) place < gaps.length / 2 ? gaps.pop() : gaps.shift();
  return made;
}

/** To look back costs many times what looking ahead does: the gap from the end of the one before is tried first. */
function gapAfter(cron: Cron, from: number | undefined, at: number): Gap | undefined {
  if (from === undefined) return undefined;
  const to = cron.nextRun(new Date(from))?.getTime();
  return to === undefined || at < to ? { from, to } : undefined;
}

/** How many of them begin at a moment or before it. */
function placeOf(gaps: readonly Gap[], at: number): number {
  let low = 0;
  let high = gaps.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const from = gaps[middle]?.from;
    if (from === undefined || from <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What was asked lately of a schedule: a run asks each second of the same day, and of days of which none opens a year of them. */
interface Asked {
  cron: Cron;
  /** In their order; none overlaps another. */
  gaps: Gap[];
}

const ASKED = new BoundedMap<string, Asked>(500);
/** More than the days that are looked ahead. */
const MOST_GAPS = 400;

/** Reading a schedule costs more than asking it, and asking more than knowing: those asked lately are kept. */
function cronOf({ schedule, timeZone }: Pick<Window, "schedule" | "timeZone">): Asked {
  const key = `${timeZone} ${schedule}`;
  const known = ASKED.get(key);
  if (known !== undefined) return known;
  const made: Asked = { cron: new Cron(schedule, { timezone: timeZone, mode: "5-part" }), gaps: [] };
  ASKED.set(key, made);
  return made;
}
