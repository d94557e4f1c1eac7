import type { AnyReason } from "../../../base/reason.ts";
import { livenessReason as reason } from "../../../reasons/liveness.ts";
import { committedSources } from "../../decode/source.ts";
import { pathsMissed } from "../../generate-paths.ts";
import { normalRepo } from "../../same.ts";
import { type IsBase, readersOf } from "../../source-files.ts";
import type { ApplicationView } from "../../views.ts";
import { at, dayOf, inUtc, second, timeOf } from "../moment.ts";
import { afterGrace, clockBehind, isNewer } from "../skew.ts";
import type { Clause, Context, Finding, Observation, Parts } from "../types.ts";

/** 1. It goes away: what it reports on the way says nothing. */
const deleted: Clause = ({ app }) =>
  app.deletionTimestamp === undefined
    ? undefined
    : { verdict: "lost", because: reason("APPLICATION_DELETED", { since: app.deletionTimestamp }) };

/** 1. What owned it is gone: it is an orphan, or about to be deleted with its owner. */
const owner: Clause = ({ input }) => {
  const trouble = input.owner;
  if (trouble === undefined || trouble.state === "failing") return undefined;
  return { verdict: "lost", because: reason("OWNER_ENDS", { name: trouble.name, state: trouble.state }) };
};

export const exists: Parts = { deleted, owner };

/** A field that cannot be read is taken for absent, and absent may be as good as well. */
const whole: Clause = ({ app }) =>
  app.unreadable && { verdict: "pending", because: reason("APPLICATION_UNREADABLE", { because: app.unreadable }) };

export const readable: Parts = { whole };

/** 1. The spec in the cluster is the one the commit gives it: covers an ApplicationSet that lags, and edits by hand. */
const intended: Clause = ({ specDiffers, input }) => {
  if (specDiffers === undefined) return undefined;
  const { name = "", because } = input.owner ?? {};
  const owner = because && { name, because };
  return { verdict: "pending", because: reason("CHANGE_NOT_IN_SPEC", { because: specDiffers, owner }) };
};

export const spec: Parts = { intended };

/** 2. Argo CD's own test whether status is about this spec at all. */
const comparedTo: Clause = (context) => {
  if (context.compared) return undefined;
  const { reconciledAt, sync } = context.app.status;
  if (sync.comparedTo === undefined) return stale(context, reason("NEVER_COMPARED"));
  return stale(context, reason("COMPARED_TO_OLDER_SPEC", { at: inUtc(reconciledAt), day: dayOf(context.now) }));
};

export const compared: Parts = { comparedTo };

/** Says what is stale, since when, and whether somebody has asked for a fresh look already. */
function stale({ app }: Context, because: AnyReason): Finding {
  const refreshAsked = app.refreshRequested || undefined;
  const stale = reason("STATUS_STALE", { because, skipped: app.skipReconcile, refreshAsked });
  return { verdict: "pending", wantsRefresh: true, because: stale };
}

/** A clause on the first change that shows in this way and not as it should. */
function observedAs(state: Observation["state"], more: (context: Context, seen: Observation) => Partial<Finding> = () => ({})): Clause {
  return (context) => {
    const seen = context.observations.find((observation) => observation.state === state);
    if (seen?.because === undefined) return undefined;
    return { verdict: "pending", because: reason("CHANGE_NOT_SEEN", { because: seen.because }), ...more(context, seen) };
  };
}

const absent = observedAs("absent");
/** 3. What Argo CD has seen of Git does not contain the change. */
const older = observedAs("older", () => ({ wantsRefresh: true }));
/** Our own mirror fetches in the meantime; nothing in Argo CD would tell us that it has. */
const unknown = observedAs("unknown", ({ now }) => ({ lookAgainAt: now + 5000 }));
const unresolved = observedAs("unresolved", () => ({ wantsRefresh: true }));
/** Somebody has to say which of two changes holds; but a stale status may not even be about either. */
const changed = observedAs("changed", ({ stale }, { by }) => (stale || by === undefined ? {} : { verdict: "waiting", changedBy: by }));

/** Two Applications of one branch: whose hydration it was nobody can tell. */
const unproven = observedAs("unproven");

/** The next try comes two minutes later, and no comparison says it again. */
const hydration = observedAs("failed", (context, { since, because }) =>
  because === undefined
    ? {}
    : afterGrace(context, { because: reason("CHANGE_NOT_SEEN", { because }), start: since ?? context.now, alone: true }),
);

/** Argo CD gives the manifests it has the new revision's name: revision, Synced and Healthy prove nothing then. */
const rendered: Clause = ({ input: { edited }, app }) => {
  if (edited === undefined) return undefined;
  const sources = committedSources(app.spec);
  const isBase: IsBase = (source) => normalRepo(source.repoURL) === normalRepo(edited.repoURL);
  const files = edited.files.filter((file) => edited.given?.madeFrom?.has(file) !== true || readersOf(sources, file, isBase).length > 0);
  // As it stands in the cluster, and as Git gave it with the change: what was renamed once stays so, whatever it says now.
  for (const annotation of [app.generatePaths, edited.given?.generatePaths]) {
    const missed = pathsMissed({ annotation, sources, files, isBase });
    if (missed !== undefined) return { verdict: "waiting", because: reason("CHANGE_NOT_RENDERED", { ...missed }) };
  }
  return undefined;
};

export const revision: Parts = { rendered, absent, older, unknown, unresolved, changed, unproven, hydration };

const ever: Clause = (context) =>
  at(context.app.status.reconciledAt) === undefined ? stale(context, reason("NEVER_RECONCILED")) : undefined;

/** 6. Computed after the merge. */
const merge: Clause = (context) => {
  const reconciledAt = at(context.app.status.reconciledAt);
  if (reconciledAt === undefined) return undefined;
  if (isNewer(reconciledAt, context.mergedAt, context.observations)) return undefined;
  const times = { at: timeOf(reconciledAt), mergedAt: timeOf(context.mergedAt), day: dayOf(context.now) };
  return stale(context, reason("COMPARED_BEFORE_MERGE", { ...times, behindSeconds: clockBehind(context) || undefined }));
};

/** 6. Computed after the last operation ended: the two loops of Argo CD write apart. */
const operation: Clause = (context) => {
  const reconciledAt = at(context.app.status.reconciledAt);
  const finishedAt = at(context.app.status.operation?.finishedAt);
  if (reconciledAt === undefined || finishedAt === undefined || second(reconciledAt) > second(finishedAt)) return undefined;
  const times = { at: timeOf(reconciledAt), endedAt: timeOf(finishedAt), day: dayOf(context.now) };
  return stale(context, reason("COMPARED_BEFORE_END", times));
};

/**
 * 6. Files that another source reads by `$ref` are looked up in a call of their own, beside the one that shows the revision: the first
 * comparison that shows it may have been made with the files of before. Both times are the cluster's own: whose clock is ahead does not matter.
 */
const reference: Clause = (context) => {
  const { app, firstComparedAt, shows } = context;
  const reconciledAt = at(app.status.reconciledAt);
  if (!shows || reconciledAt === undefined || firstComparedAt === undefined || !isReference(context)) return undefined;
  if (second(reconciledAt) > second(firstComparedAt) || isSecond(app, reconciledAt)) return undefined;
  return {
    verdict: "pending",
    wantsRefresh: true,
    because: reason("REFERENCE_COMPARED_ONCE", { at: timeOf(reconciledAt), day: dayOf(context.now) }),
  };
};

/** What was synced at the very revisions that are seen had been compared before; this comparison began after that sync. */
function isSecond({ status }: ApplicationView, reconciledAt: number): boolean {
  const { operation, sync } = status;
  const startedAt = at(operation?.startedAt);
  if (operation?.phase !== "Succeeded" || startedAt === undefined || sync.revisions.length === 0) return false;
  return operation.appliedRevisions.join() === sync.revisions.join() && second(reconciledAt) > second(startedAt);
}

/** Whether the change comes by a source that others refer to. A revision that the spec names is the same in either call. */
function isReference({ app, observations, input }: Context): boolean {
  return observations.some(({ sources }, index) => {
    const change = index === 0 ? input.change : input.also?.[index - 1];
    return change?.kind === "commit" && sources.some((source) => app.spec.sources[source]?.ref !== undefined);
  });
}

export const reconciled: Parts = { ever, merge, operation, reference };
