import type { AnyReason } from "../../base/reason.ts";
import { livenessReason as reason } from "../../reasons/liveness.ts";
import type { ApplicationView } from "../views.ts";
import { at, second } from "./moment.ts";
import type { Context, Finding, Observation } from "./types.ts";

/** A clock further off than this is broken: it is reported, and not made up for. */
export const MOST_SKEW_MS = 5 * 60_000;

/**
 * By how many milliseconds the cluster's clock is at least ahead of ours: it wrote a time that we had not reached when we
 * read it. 0 where no time tells.
 */
export function measuredAhead(app: ApplicationView, now: number): number {
  const { reconciledAt, health, operation } = app.status;
  const latest = Math.max(at(reconciledAt) ?? 0, at(health.lastTransitionTime) ?? 0, at(operation?.finishedAt) ?? 0);
  const readAt = Math.min(at(app.readAt) ?? now, now);
  return Math.max(0, latest - readAt);
}

/** What of it is made up for. Never more than it truly is, so nothing counts earlier than it was. */
export function correctedAhead(app: ApplicationView, now: number): number {
  const ahead = measuredAhead(app, now);
  return ahead <= MOST_SKEW_MS ? ahead : 0;
}

/** Both written in whole seconds: an equal one is enough only where the seen revision cannot come from before. */
export function isNewer(reconciledAt: number | undefined, mergedAt: number, observations: readonly Observation[]): boolean {
  if (reconciledAt === undefined) return false;
  const reconciled = second(reconciledAt);
  const merged = second(mergedAt);
  return reconciled > merged || (reconciled === merged && observations.every((observation) => observation.state === "proven"));
}

/**
 * By how many seconds it seems to be behind: a comparison that has seen the merge commit bears a time before the merge. Only
 * said, never made up for: a comparison later than the merge by every clock is waited for. 0 where nothing tells.
 */
export function clockBehind(context: Context): number {
  const { app, input, mergedAt, observations } = context;
  const reconciledAt = at(app.status.reconciledAt);
  if (reconciledAt === undefined || input.change.kind !== "commit" || observations[0]?.state !== "proven") return 0;
  const behind = second(mergedAt) - second(reconciledAt);
  return behind > 0 && behind * 1000 <= MOST_SKEW_MS ? behind : 0;
}

/** Something bad that is failing once its grace is over, by the cluster's times, and by our own clock where one keeps count. */
interface Bad {
  because: AnyReason;
  /** Epoch milliseconds: from when the grace counts. */
  start: number;
  /** Epoch milliseconds: since when it is so by its own word. A comparison that began later and says the same confirms it. */
  since?: number | undefined;
  /** No comparison will ever say it a second time. */
  alone?: boolean;
}

/**
 * One comparison may be bad for reasons that are over: a Git server that did not answer for a moment leaves an error that stays until
 * somebody asks again. So a second one has to say the same, and is asked for at half of the grace.
 */
export function afterGrace(context: Context, { because, start, since, alone = false }: Bad): Finding {
  const { input, now } = context;
  const ours = input.held === undefined ? 0 : (at(input.held.badSince) ?? now);
  const from = Math.max(start - context.aheadMs, ours);
  const due = from + input.graceMs;
  if (alone || isConfirmed(context, since)) return { verdict: now >= due ? "failing" : "pending", because, lookAgainAt: due, bad: true };
  const half = from + input.graceMs / 2;
  return {
    verdict: "pending",
    because: now >= due ? reason("FAILING_UNCONFIRMED", { because }) : because,
    lookAgainAt: now < half ? half : due,
    wantsRefresh: now >= half,
    bad: true,
  };
}

function isConfirmed({ app, input }: Context, since: number | undefined): boolean {
  const compared = at(app.status.reconciledAt);
  const first = at(input.held?.badCompared);
  if (compared === undefined) return false;
  return (since !== undefined && second(compared) > second(since)) || (first !== undefined && second(compared) > second(first));
}
