/** When windows and freezes of the simulated world are open: the same each day, in UTC. */
import type { ModelWindow } from "../generate/scenario.ts";

const MINUTE = 60_000;
const DAY_MINUTES = 24 * 60;

/** By the time of the day, in UTC. */
export function isOpenAt(windows: readonly ModelWindow[], now: number): boolean {
  const isOn = ({ fromMinute, forMinutes }: ModelWindow) => {
    const since = (((now - fromMinute * 60_000) % 86_400_000) + 86_400_000) % 86_400_000;
    return since < forMinutes * 60_000;
  };
  if (windows.some((window) => window.kind === "deny" && isOn(window))) return false;
  const allows = windows.filter((window) => window.kind === "allow");
  return allows.length === 0 || allows.some(isOn);
}

/** By the minute, within a day: they are the same each day. */
export function firstOpening(sets: readonly (readonly ModelWindow[])[], now: number): number | undefined {
  const isOpen = (at: number) => sets.every((windows) => isOpenAt(windows, at));
  if (isOpen(now)) return now;
  const from = Math.floor(now / MINUTE) + 1;
  for (let minute = from; minute <= from + DAY_MINUTES; minute++) if (isOpen(minute * MINUTE)) return minute * MINUTE;
  return undefined;
}
