import { Cron } from "croner";
import { parseDuration } from "../../../core/base/time.ts";
import type { Store } from "../../kubernetes/store.ts";
import type { Application } from "../types.ts";
import { send } from "./answers.ts";
import { applicationOf, type Call } from "./parts.ts";
import { glob } from "./rbac.ts";

/** A window of an AppProject, as it stands there. */
export interface SyncWindow {
  kind: "allow" | "deny";
  schedule: string;
  duration: string;
  timeZone?: string;
  manualSync?: boolean;
  andOperator?: boolean;
  /** A sync that runs when the window ends, or begins to deny, goes on. */
  syncOverrun?: boolean;
  applications?: string[];
  namespaces?: string[];
  clusters?: string[];
}

/** Those of the Application's project that concern it. */
export function windowsOf(store: Store, own: string, app: Application): SyncWindow[] {
  const project = store.get("appprojects", own, app.spec.project);
  const windows = (project?.["spec"] as { syncWindows?: SyncWindow[] } | undefined)?.syncWindows ?? [];
  const { destination } = app.spec;
  return windows.filter(({ applications = [], namespaces = [], clusters = [], andOperator = false }) => {
    const told: boolean[] = [];
    const any = (patterns: string[], texts: (string | undefined)[]) =>
      patterns.some((pattern) => texts.some((text) => text !== undefined && text !== "" && glob(pattern, text)));
    if (applications.length > 0) told.push(any(applications, [app.metadata.name]));
    if (namespaces.length > 0) told.push(any(namespaces, [destination.namespace]));
    if (clusters.length > 0) told.push(any(clusters, [destination.name, destination.server]));
    if (told.length === 0) return false;
    return andOperator ? told.every((fits) => fits) : told.some((fits) => fits);
  });
}

/** Whether one is active, as Argo CD asks: the next beginning after a duration ago lies in the past. */
function isActive({ schedule, duration, timeZone = "UTC" }: SyncWindow, now: number): boolean {
  const from = now - (parseDuration(duration) ?? 0);
  const next = new Cron(schedule, { timezone: timeZone, mode: "5-part" }).nextRun(new Date(from));
  return next !== null && next.getTime() < now;
}

/** Whether a sync may run: `manual` ones pass a window that lets them. */
export function canSync(windows: readonly SyncWindow[], now: number, manual: boolean): boolean {
  const active = windows.filter((window) => isActive(window, now));
  const passes = (some: readonly SyncWindow[]) => manual && some.every(({ manualSync }) => manualSync === true);
  const denies = active.filter(({ kind }) => kind === "deny");
  if (denies.length > 0) return passes(denies);
  const allows = windows.filter(({ kind }) => kind === "allow");
  if (allows.length === 0 || active.some(({ kind }) => kind === "allow")) return true;
  return passes(allows);
}

/** Whether a sync that runs already may go on: where it could begin, and where each window that stops it lets it run over. */
export function canGoOn(windows: readonly SyncWindow[], now: number, manual: boolean): boolean {
  if (canSync(windows, now, manual)) return true;
  const denies = windows.filter((window) => window.kind === "deny" && isActive(window, now));
  const concerned = denies.length > 0 ? denies : windows.filter(({ kind }) => kind === "allow");
  return concerned.every(({ syncOverrun }) => syncOverrun === true);
}

/** Without time zones and lists: the answer never has them. */
function shownWindow({ kind, schedule, duration, manualSync = false }: SyncWindow): Record<string, unknown> {
  return { kind, schedule, duration, manualSync };
}

export function getSyncWindows(call: Call): void {
  const [name = ""] = call.names;
  const windows = windowsOf(call.store, call.namespace, applicationOf(call, name, "get"));
  const now = call.clock.now();
  send(call.response, 200, {
    assignedWindows: windows.map(shownWindow),
    activeWindows: windows.filter((window) => isActive(window, now)).map(shownWindow),
    canSync: canSync(windows, now, true),
  });
}
