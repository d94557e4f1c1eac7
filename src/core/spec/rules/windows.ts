import type { z } from "zod";
import { parseDuration } from "../../base/time.ts";
import type { Finding } from "../../reasons/problem.ts";
import type { windowSchema } from "../schema-spec.ts";
import { neverTogether } from "../window-waits.ts";
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
  return [{ code: "WINDOW_NEVER_OPENS", kind: "Together", whose: apart, settings, path: ["spec", "windows"] }];
}

/** Schedules and time zones that cannot be read, and windows that never let anything through. */
export function checkWindows(windows: readonly z.output<typeof windowSchema>[], path: readonly (string | number)[]): Finding[] {
  const findings: Finding[] = [];
  for (const [i, window] of windows.entries()) {
    const bad = badWindow(window);
    if (bad !== undefined) findings.push({ code: "BAD_WINDOW", ...bad.why, path: [...path, i, bad.field] });
  }
  if (findings.length > 0 || windows.length === 0) return findings;
  const read = windows.map(({ schedule, duration, timeZone, kind }) => ({
    schedule,
    timeZone,
    kind,
    durationMs: parseDuration(duration) ?? 0,
  }));
  return everOpens(read, SOME_DAY) ? [] : [{ code: "WINDOW_NEVER_OPENS", kind: "Alone", path: [...path] }];
}
