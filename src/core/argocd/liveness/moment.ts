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

/** A time of a resource in UTC; undefined where there is none. */
export function inUtc(time: Time | undefined): Time | undefined {
  const ms = at(time);
  return ms === undefined ? undefined : timeOf(ms);
}

/** The day in UTC: of times on it only the clock is said. */
export function dayOf(ms: number): string {
  return timeOf(ms).slice(0, -14);
}

/** Lists the first of many, and how many more there are. */
export function listFirst(values: readonly string[], most: number): string {
  const more = values.length - most;
  return more <= 0 ? values.join(", ") : `${values.slice(0, most).join(", ")} and ${more} more`;
}

/** Shortens a revision that a reason holds: what anybody may write into an Application must not make it grow. */
export function boundRevision(revision: string): string {
  return isFullSha(revision) || revision.length <= 60 ? revision : `${revision.slice(0, 57)}…`;
}

/** Up to its first line break, at most 300 characters, without a final stop; undefined where that is nothing. */
export function firstLine(text: string): string | undefined {
  const line = (text.split(/[\r\n]/, 1)[0] ?? "").trim().replace(/(?<!\.)\.+$/, "");
  if (line === "") return undefined;
  return line.length <= 300 ? line : `${line.slice(0, 299)}…`;
}

export function isFullSha(revision: string): boolean {
  return (revision.length === 40 || revision.length === 64) && /^[0-9a-f]+$/i.test(revision);
}
