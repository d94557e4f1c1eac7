import type { Evidence, Verdict } from "../rollout/run.ts";
import { iso } from "../rollout/time.ts";
import { quietSince } from "./clauses.ts";
import { BAD_CONDITIONS } from "./decode.ts";
import type { Change, Context, LivenessInput } from "./liveness-types.ts";
import { at } from "./moment.ts";

/** What the verdict was given on: every field and time that a clause looked at. */
export function evidenceOf(context: Context, verdict: Verdict, clause: string, sentence: string): Evidence {
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
  if (context.firstSeenAt !== undefined) {
    fields["firstSeenAt"] = iso(context.firstSeenAt);
    fields["quietSince"] = iso(quietSince(context));
  }
  if (input.previous !== undefined) fields["previousResourceVersion"] = input.previous.resourceVersion;
  const ahead = clockAhead(context);
  if (ahead > 0) fields["clockAheadSeconds"] = ahead;
  return { verdict, clause, sentence, readAt: iso(context.now), resourceVersion: app.resourceVersion, fields };
}

/** Of an Application that is not there. */
export function evidenceOfNothing(input: LivenessInput, clause: string, sentence: string): Evidence {
  return { verdict: "lost", clause, sentence, readAt: iso(input.now), fields: { ...changeFields(input.change), application: null } };
}

function changeFields(change: Change): Evidence["fields"] {
  const fields: Evidence["fields"] = { change: change.kind, mergedAt: change.mergedAt };
  if (change.kind === "revision") fields["revision"] = change.revision;
  if (change.kind !== "generator" && change.commit !== undefined) fields["commit"] = change.commit;
  return fields;
}

function joined(values: readonly string[]): string | null {
  if (values.length === 0) return null;
  return values.length === 1 ? (values[0] ?? null) : values.join(", ");
}

/** By how many whole seconds the cluster's clock is at least ahead of ours: it wrote a time that we have not reached. */
export function clockAhead({ app, now }: Context): number {
  const { reconciledAt, health, operation } = app.status;
  const latest = Math.max(at(reconciledAt) ?? 0, at(health.lastTransitionTime) ?? 0, at(operation?.finishedAt) ?? 0);
  return latest > now ? Math.ceil((latest - now) / 1000) : 0;
}
