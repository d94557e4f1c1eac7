import { defined } from "../../base/defined.ts";
import { matchesGlob } from "../../base/glob.ts";
import { iso, parseDuration } from "../../base/time.ts";
import { badWindow, type Window, windowsAt } from "../../spec/windows.ts";
import type { ApplicationView, SyncWindowsView } from "../views.ts";
import { type Fields, fields, list, own, word, words } from "./lenient.ts";

type WindowView = SyncWindowsView["windows"][number];

const MOST_WINDOWS = 200;

/** Decodes the windows of an AppProject, or of an answer about it; what is none is left out. */
export function decodeWindows(raw: unknown[]): WindowView[] {
  return raw.slice(0, MOST_WINDOWS).flatMap((item): WindowView[] => {
    const object = fields(item);
    const kind = word(object, "kind");
    const schedule = word(object, "schedule");
    if ((kind !== "allow" && kind !== "deny") || schedule === undefined) return [];
    const duration = word(object, "duration") ?? "";
    const manualSync = own(object, "manualSync") === true;
    return [defined({ kind, schedule, duration, timeZone: word(object, "timeZone"), manualSync })];
  });
}

/** The windows of an AppProject that concern an Application, as Argo CD picks them. */
export function windowsOfProject(project: unknown, application: ApplicationView): unknown[] {
  const spec = fields(own(fields(project), "spec"));
  return list(spec, "syncWindows")
    .slice(0, MOST_WINDOWS)
    .filter((raw) => concerns(fields(raw), application));
}

/** One list that fits is enough, unless the window says that each must. A window without lists concerns nothing. */
function concerns(window: Fields, { name, spec: { destination } }: ApplicationView): boolean {
  const tests: [string, (string | undefined)[]][] = [
    ["applications", [name]],
    ["namespaces", [destination.namespace]],
    ["clusters", [destination.name, destination.server]],
  ];
  const given = tests.filter(([key]) => list(window, key).length > 0);
  const fits = ([key, texts]: [string, (string | undefined)[]]) =>
    words(window, key).some((pattern) => texts.some((text) => text !== undefined && matchesGlob(pattern, "gobwas", text)));
  if (given.length === 0) return false;
  return own(window, "andOperator") === true ? given.every(fits) : given.some(fits);
}

/**
 * Whether an automated sync may run at `now`, and when it may next. A window that cannot be read counts as closed, as Argo CD
 * refuses to sync then. `open`: what Argo CD itself says. `zonesKnown: false`: the windows come without their time zones, so
 * that no time can be told.
 */
export function assessWindows(windows: WindowView[], now: number, says: { open?: boolean; zonesKnown?: boolean } = {}): SyncWindowsView {
  const usable: Window[] = [];
  let readable = true;
  for (const { schedule, duration, timeZone = "UTC", kind } of windows) {
    const durationMs = parseDuration(duration);
    if (durationMs === undefined || badWindow({ schedule, timeZone }) !== undefined) readable = false;
    else usable.push({ schedule, durationMs, timeZone, kind });
  }
  const answer = windowsAt(usable, now);
  const open = says.open ?? (readable && answer.open);
  // Where Argo CD sees it otherwise than these windows say, they are not the whole truth.
  const certain = readable && says.zonesKnown !== false && !open && !answer.open;
  return defined({ open, opensAt: certain && answer.changesAt !== undefined ? iso(answer.changesAt) : undefined, windows });
}
