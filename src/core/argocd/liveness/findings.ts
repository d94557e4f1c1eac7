import { at } from "./moment.ts";
import type { Context, Finding } from "./types.ts";

/** Bad since `start`, and failing once its grace is over: by the cluster's times, and by our own clock where one keeps count. */
export function afterGrace(context: Context, start: number, sentence: string): Finding {
  const { input, now } = context;
  const ours = input.held === undefined ? 0 : (at(input.held.badSince) ?? now);
  const due = Math.max(start - context.aheadMs, ours) + input.graceMs;
  return { verdict: now >= due ? "failing" : "pending", sentence, lookAgainAt: due, bad: true };
}

/** What a person must know once auto-sync has given a revision up. */
export const USED_UP = " Argo CD does not try this revision again by itself: it wants a new commit, or a sync by hand.";

/** When to look again because of a window. */
export function windowOpens({ input }: Context): Pick<Finding, "lookAgainAt"> {
  const opensAt = at(input.windows?.opensAt);
  return opensAt === undefined ? {} : { lookAgainAt: opensAt };
}

/** Up to its first line break, at most 300 characters, without a final stop. */
export function firstLine(text: string): string {
  const end = text.search(/[\r\n]/);
  const line = (end < 0 ? text : text.slice(0, end)).trim().replace(/\.+$/, "");
  return line.length <= 300 ? line : `${line.slice(0, 299)}…`;
}

export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
