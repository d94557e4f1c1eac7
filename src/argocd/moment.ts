import type { Time } from "../rollout/time.ts";

/** Epoch milliseconds; undefined where there is no time. */
export function at(time: Time | undefined): number | undefined {
  if (time === undefined) return undefined;
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Kubernetes writes whole seconds: two times within one have no order. */
export function second(ms: number): number {
  return Math.floor(ms / 1000);
}

/** `10:00:05` in UTC, for sentences. */
export function clockTime(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

export function short(revision: string): string {
  return isFullSha(revision) ? revision.slice(0, 7) : revision.length > 60 ? `${revision.slice(0, 57)}…` : revision;
}

export function isFullSha(revision: string): boolean {
  return (revision.length === 40 || revision.length === 64) && /^[0-9a-f]+$/i.test(revision);
}
