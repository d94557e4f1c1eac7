import type { z } from "zod";
import type { Finding } from "../../base/problem.ts";
import { parseDuration } from "../../base/time.ts";
import type { windowSchema } from "../schema-spec.ts";
import { neverTogether, neverWords } from "../window-waits.ts";
import { badWindow, everOpens, type Window } from "../windows.ts";

/** Any moment does: a set of windows that repeats by the calendar opens within a year of it, or never. */
const SOME_DAY = Date.UTC(2026, 0, 1);

/** Windows of a rollout and freezes of the settings that open each by themselves and never at one moment. */
export function checkTogether(windows: readonly Window[], freezes: readonly Window[], settings: string): Finding[] {
  const sets = [
    { windows, where: "the rollout" },
    { windows: freezes, where: settings },
  ];
  const apart = neverTogether(sets, SOME_DAY);
  if (apart === undefined) return [];
  const hint = `check the days of windows against freezes of ${settings}`;
  return [{ code: "WINDOW_NEVER_OPENS", message: `nothing would ever merge: ${neverWords(apart)}`, hint, path: ["spec", "windows"] }];
}

/** Schedules and time zones that cannot be read, and windows that never let anything through. */
export function checkWindows(windows: readonly z.output<typeof windowSchema>[], path: readonly (string | number)[]): Finding[] {
  const findings: Finding[] = [];
  for (const [i, window] of windows.entries()) {
    const bad = badWindow(window);
    if (bad === undefined) continue;
    const hint = bad.field === "schedule" ? "such as `0 9 * * 1-5`: nine o'clock from Monday to Friday" : "such as Europe/Rome or UTC";
    findings.push({ code: "BAD_WINDOW", message: bad.why, hint, path: [...path, i, bad.field] });
  }
  if (findings.length > 0 || windows.length === 0) return findings;
  const read = windows.map(({ schedule, duration, timeZone, kind }) => ({
    schedule,
    timeZone,
    kind,
    durationMs: parseDuration(duration) ?? 0,
  }));
  if (everOpens(read, SOME_DAY)) return [];
  const hint = "check the days of `allow`, and whether a `deny` covers them all";
  return [
    { code: "WINDOW_NEVER_OPENS", message: "these windows do not open within a year: nothing would ever merge", hint, path: [...path] },
  ];
}
