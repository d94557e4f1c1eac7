/**
 * Which events a run shows, by ids that are the same whoever looks and however often: what was told is known by them. Called after each
 * round; whoever keeps `Told` tells each event once.
 */
import { z } from "zod";
import { causesOf } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import { haltsOn } from "../../run/state/halts.ts";
import { type Batch, isEnded, type Run } from "../../run/state/run.ts";
import { NOTIFY_EVENTS } from "../../spec/notifications.ts";
import type { RefusedModel } from "../model/refused.ts";
import { sinceOf, waitsOn } from "../model/waits-on.ts";

export const notifyEvent = z.object({
  event: z.enum(NOTIFY_EVENTS),
  /** Of one happening: `payments/12/needs-you/2026-…`. */
  id: z.string().max(500),
  at: z.string().max(40),
  /** Absent: it happened in none. */
  stage: z.string().max(300).optional(),
});

export type NotifyEvent = z.output<typeof notifyEvent>;

/** What was told of a rollout: the ids of its last events, and what a later event is the end of. */
export const toldSchema = z.object({
  ids: z.array(z.string().max(500)).max(10_000),
  paused: z.string().max(40).optional(),
  ended: z.string().max(40).optional(),
});

export type Told = z.output<typeof toldSchema>;

/** Of what the run does not show any more. */
const MOST_IDS = 100;

/** The events of a run that were not told, the oldest first, and what is told once these are. */
export function untold(told: Told | undefined, run: Run, now: number): { events: NotifyEvent[]; told: Told } {
  const before = told?.ids ?? [];
  const known = new Set(before);
  const shown = [...eventsOf(run, now), ...resumed(told, run)];
  const events = shown.filter(({ id }) => !known.has(id));
  const ids = new Set(shown.map(({ id }) => id));
  const next: Told = { ids: [...before.filter((id) => !ids.has(id)).slice(-MOST_IDS), ...ids] };
  if (run.paused !== undefined) next.paused = run.paused.at;
  if (run.endedAt !== undefined) next.ended = run.endedAt;
  return { events: events.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)), told: next };
}

/** Those that the run shows by itself, told or not. */
function eventsOf(run: Run, now: number): NotifyEvent[] {
  return [
    eventOf(run, "run.started", run.startedAt),
    ...run.batches.flatMap((batch) => failedBatch(run, batch)),
    ...pauseOf(run),
    ...waitOf(run),
    ...freezesOf(run, now),
    ...endOf(run),
  ];
}

function eventOf(run: Run, event: NotifyEvent["event"], at: Time, what = at, stage?: number): NotifyEvent {
  const name = stage === undefined ? undefined : run.plan.stages[stage]?.name;
  const id = `${run.rollout}/${run.number}/${event}/${what}`.slice(0, 500);
  return name === undefined ? { event, id, at } : { event, id, at, stage: name };
}

/** One for all that fails of a batch; after `/retry` another. */
function failedBatch(run: Run, { number, stage, targets }: Batch): NotifyEvent[] {
  const failed = targets.filter(({ phase, excused }) => phase === "Failed" && excused !== true);
  if (failed.length === 0) return [];
  const tried = targets.map(({ retriedAt = "" }) => retriedAt).reduce((a, b) => (a > b ? a : b), "");
  const at = failed.map(({ since }) => since).reduce((a, b) => (a < b ? a : b));
  return [eventOf(run, "failed", at, `batch-${number}${tried}`, stage)];
}

function pauseOf(run: Run): NotifyEvent[] {
  const { paused, stage } = run;
  if (paused === undefined || paused.kind === "Command" || run.ending !== undefined || isEnded(run)) return [];
  const isCheck = paused.kind === "Failure" && !run.batches.some((batch) => batch.stage === stage && failedBatch(run, batch).length > 0);
  return [
    ...(isCheck ? [eventOf(run, "failed", paused.at, `pause-${paused.at}`, stage)] : []),
    eventOf(run, "needs-you", paused.at, paused.at, stage),
  ];
}

/** It goes on once a person has approved, merged or answered. */
function waitOf(run: Run): NotifyEvent[] {
  const { phase, why, next, stage } = run;
  if ((phase !== "Progressing" && phase !== "RollingBack") || run.ending !== undefined) return [];
  if (waitsOn(why, next)?.kind !== "person") return [];
  const since = sinceOf(run);
  return [eventOf(run, "needs-you", since, `${causesOf(why)[0]?.code ?? ""}-${since}`, stage)];
}

/** A window of `kind: deny` by when it ends, and each `/halt`. */
function freezesOf(run: Run, now: number): NotifyEvent[] {
  if (isEnded(run)) return [];
  const shut = causesOf(run.why).find(({ code }) => code === "WINDOW_SHUT");
  const window = shut?.["window"] as { kind?: unknown } | undefined;
  const frozen = window?.kind === "deny" ? [eventOf(run, "freeze", sinceOf(run), `until-${run.next?.eta ?? ""}`, run.stage)] : [];
  const halts = haltsOn(run, now).map(({ at }): NotifyEvent => ({ event: "freeze", id: `${run.rollout}/freeze/${at}`, at }));
  return [...frozen, ...halts];
}

function endOf(run: Run): NotifyEvent[] {
  const { phase, endedAt } = run;
  if (endedAt === undefined) return [];
  return [
    ...(phase === "Failed" ? [eventOf(run, "failed", endedAt, `end-${endedAt}`)] : []),
    ...(phase === "RolledBack" ? [eventOf(run, "rolled-back", endedAt)] : []),
    eventOf(run, "ended", endedAt),
  ];
}

/** A pause that was told is over, or an end that `/retry` took back. */
function resumed(told: Told | undefined, run: Run): NotifyEvent[] {
  if (isEnded(run) || run.ending !== undefined || run.paused !== undefined) return [];
  const over = told?.ended ?? told?.paused;
  const isOurs = over !== undefined && told?.ids.some((id) => id === eventOf(run, "run.started", run.startedAt).id) === true;
  return isOurs ? [eventOf(run, "resumed", run.since, over, run.stage)] : [];
}

/** Of a release that was merged and started no run: one, whatever else turns out to be wrong with it. */
export function refusedEvent({ rollout = "", pull, release = "", since = "" }: RefusedModel): NotifyEvent {
  return { event: "refused", id: `${rollout}/refused/${pull ?? ""}/${release}`.slice(0, 500), at: since };
}
