import type { AnyReason } from "../../base/reason.ts";
import type { Evidence, Verdict } from "../../run/state/run.ts";
import { BAD_CONDITIONS } from "../decode/status.ts";
import { MOST_KEPT } from "../decode/unwell.ts";
import { quietSince } from "./clauses/clauses.ts";
import { isOfChange } from "./clauses/operation.ts";
import { listFirst, timeOf } from "./moment.ts";
import { clockBehind, measuredAhead } from "./skew.ts";
import type { Change, Context } from "./types.ts";

/** What the verdict was given on: every field and time that a clause looked at. */
export function evidenceOf(context: Context, verdict: Verdict, clause: string, sentence: AnyReason): Evidence {
  const { app, input } = context;
  const { sync, health, operation, conditions } = app.status;
  const fields: Evidence["fields"] = {
    ...changeFields(input.change),
    uid: app.uid,
    specRevision: joined(app.spec.sources.map((source) => source.targetRevision ?? "HEAD")),
    syncStatus: sync.status ?? null,
    seenRevision: joined(sync.revisions),
    comparedToIsSpec: context.compared,
    reconciledAt: app.status.reconciledAt ?? null,
    health: health.status ?? null,
    healthSince: health.lastTransitionTime ?? null,
    operation: operation?.phase ?? (app.operationRequested ? "Requested" : null),
    clusterConnection: input.cluster?.connection?.status ?? "not observable",
    automated: app.spec.automated,
    receivedAt: app.readAt,
  };
  if (operation !== undefined) {
    fields["operationStartedAt"] = operation.startedAt ?? null;
    fields["operationFinishedAt"] = operation.finishedAt ?? null;
    fields["operationRevision"] = joined(operation.appliedRevisions.length > 0 ? operation.appliedRevisions : operation.requestedRevisions);
  }
  const bad = conditions.filter((condition) => BAD_CONDITIONS.has(condition.type)).map((condition) => condition.type);
  if (bad.length > 0) fields["conditions"] = joined(bad);
  const unwell = verdict === "live" ? [] : unwellOf(context);
  if (unwell.length > 0) fields["unwell"] = unwell.join("; ");
  if (context.firstSeenAt !== undefined) {
    fields["firstSeenAt"] = timeOf(context.firstSeenAt);
    fields["quietSince"] = timeOf(quietSince(context));
  }
  if (input.previous !== undefined) fields["previousResourceVersion"] = input.previous.resourceVersion;
  addSurroundings(fields, context);
  return { verdict, clause, sentence, readAt: timeOf(context.now), resourceVersion: app.resourceVersion, fields };
}

/**
 * The worst resources first, of the change alone: a sync that failed may be of an earlier revision, whose result stands until another begins,
 * and what is Degraded while the change is not there is not so by it.
 */
function unwellOf(context: Context): string[] {
  const { operation, degraded = [] } = context.app.status;
  const failed = operation?.failed !== undefined && isOfChange(context, operation) ? operation.failed : [];
  return [...failed, ...(context.shows ? degraded : [])].slice(0, MOST_KEPT);
}

/** What is not of the Application itself: clocks, windows, our own count. */
function addSurroundings(fields: Evidence["fields"], context: Context): void {
  const { app, input, now } = context;
  const ahead = Math.ceil(measuredAhead(app, now) / 1000);
  if (ahead > 0) fields["clockAheadSeconds"] = ahead;
  const behind = clockBehind(context);
  if (behind > 0) fields["clockBehindSeconds"] = behind;
  if (app.refreshRequested) fields["refreshRequested"] = true;
  if (input.windows !== undefined) fields["syncWindow"] = input.windows.open ? "open" : `closed until ${input.windows.opensAt ?? "?"}`;
  const { at: answered = "cannot be asked", failed, unclear } = app.clusterAnswer ?? {};
  fields["clusterAnsweredAt"] = failed !== undefined ? null : unclear === undefined ? answered : `cannot be asked: ${cut(unclear)}`;
  const content = context.content;
  if (content !== undefined) fields["objects"] = content === "asked" ? content : "failed" in content ? "cannot be read" : content.proof;
  if (app.askedAt !== undefined) fields["askedAt"] = app.askedAt;
  if (input.held?.goodSince !== undefined) fields["goodSince"] = input.held.goodSince;
}

export function changeFields(change: Change): Evidence["fields"] {
  const fields: Evidence["fields"] = { change: change.kind, mergedAt: change.mergedAt };
  if (change.kind === "revision") fields["revision"] = change.revision;
  if (change.kind !== "generator" && change.commit !== undefined) fields["commit"] = change.commit;
  return fields;
}

/** Evidence is kept: what anybody may write into an Application must not make it grow. */
function joined(values: readonly string[]): string | null {
  return values.length === 0 ? null : listFirst(values.map(cut), MOST_JOINED);
}

const MOST_JOINED = 20;
const LONGEST = 200;

function cut(value: string): string {
  return value.length <= LONGEST ? value : `${value.slice(0, LONGEST - 1)}…`;
}
