import { iso, type Time } from "../../base/time.ts";

/** A fleet shares few times, and each is looked at by several clauses. */
const parsed = new Map<Time, number>();

/** Epoch milliseconds; undefined where there is no time. */
export function at(time: Time | undefined): number | undefined {
  if (time === undefined) return undefined;
  const known = parsed.get(time);
  if (known !== undefined) return known;
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) return undefined;
  if (parsed.size >= 10_000) parsed.clear();
  parsed.set(time, ms);
  return ms;
}

/** Kubernetes writes whole seconds: two times within one have no order. */
export function second(ms: number): number {
  return Math.floor(ms / 1000);
}

/** The last moment that a Date can hold: limits that somebody set to for ever end there. */
const END_OF_TIME = 8.64e15;

/** As `iso`, for any number: nothing that a resource or an option says may make it throw. */
export function timeOf(ms: number): Time {
  return iso(Math.min(Math.max(ms, 0), END_OF_TIME));
}

/** `10:00:05` in UTC, for sentences; of another day than `now`'s with the day, `2026-11-20 23:50:00`. */
export function clockTime(ms: number, now: number): string {
  const time = timeOf(ms);
  const clock = time.slice(-13, -5);
  const day = time.slice(0, -14);
  return day === timeOf(now).slice(0, -14) ? clock : `${day} ${clock}`;
}

/** The first of a list, and how many more there are. */
export function some(values: readonly string[], most: number): string {
  const more = values.length - most;
  return more <= 0 ? values.join(", ") : `${values.slice(0, most).join(", ")} and ${more} more`;
}

export function short(revision: string): string {
  return isFullSha(revision) ? revision.slice(0, 7) : revision.length > 60 ? `${revision.slice(0, 57)}…` : revision;
}

export function isFullSha(revision: string): boolean {
  return (revision.length === 40 || revision.length === 64) && /^[0-9a-f]+$/i.test(revision);
}
