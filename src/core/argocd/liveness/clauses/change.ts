import { afterGrace, capital } from "../findings.ts";
import { at, clockTime, second } from "../moment.ts";
import { clockBehind, isNewer } from "../skew.ts";
import type { Clause, Context, Finding, Observation, Parts } from "../types.ts";

/** 1. It goes away: what it reports on the way says nothing. */
const deleted: Clause = ({ app }) =>
  app.deletionTimestamp === undefined
    ? undefined
    : { verdict: "lost", sentence: `The Application is being deleted since ${app.deletionTimestamp}.` };

/** 1. What owned it is gone: it is an orphan, or about to be deleted with its owner. */
const owner: Clause = ({ input }) => {
  const trouble = input.owner;
  if (trouble === undefined || trouble.state === "failing") return undefined;
  const is = trouble.state === "gone" ? "is gone" : "is being deleted";
  return { verdict: "lost", sentence: `Its ApplicationSet ${trouble.name} ${is}: nothing brings changes to it any more.` };
};

export const exists: Parts = { deleted, owner };

/** A field that cannot be read is taken for absent, and absent may be as good as well. */
const whole: Clause = ({ app }) =>
  app.unreadable === undefined ? undefined : { verdict: "pending", sentence: `It cannot be read: ${app.unreadable.join(", ")}.` };

export const readable: Parts = { whole };

/** 1. The spec in the cluster is the one the commit gives it: covers an ApplicationSet that lags, and edits by hand. */
const intended: Clause = ({ specDiffers, input }) => {
  if (specDiffers === undefined) return undefined;
  const why = input.owner?.state === "failing" ? `; its ApplicationSet ${input.owner.name} changes nothing: ${input.owner.why}` : "";
  return { verdict: "pending", sentence: `The change is not in the Application yet: ${specDiffers}${why}.` };
};

export const spec: Parts = { intended };

/** 2. Argo CD's own test whether status is about this spec at all. */
const comparedTo: Clause = (context) => {
  if (context.compared) return undefined;
  const { app } = context;
  const last = at(app.status.reconciledAt);
  const sentence =
    app.status.sync.comparedTo === undefined
      ? "Argo CD has not compared this Application yet"
      : `Argo CD's status is about an older spec (comparedTo is not the spec)${last === undefined ? "" : `, compared at ${clockTime(last, context.now)}`}`;
  return stale(context, sentence);
};

export const compared: Parts = { comparedTo };

/** Says what is stale, since when, and whether somebody has asked for a fresh look already. */
function stale({ app }: Context, why: string): Finding {
  const skips = app.skipReconcile === true ? "; its annotation argocd.argoproj.io/skip-reconcile keeps Argo CD from looking" : "";
  const asked = app.refreshRequested ? "; a refresh is asked for" : "";
  return { verdict: "pending", wantsRefresh: true, sentence: `Stale: ${why}${skips}${asked}.` };
}

/** The first change that shows in this way and not as it should. */
function firstObservedAs(...states: Observation["state"][]): (context: Context) => Observation | undefined {
  return ({ observations }) => observations.find((observation) => states.includes(observation.state));
}

const toAbsent = firstObservedAs("absent");
const toOlder = firstObservedAs("older");
const toUnknown = firstObservedAs("unknown");
const toUnresolved = firstObservedAs("unresolved");
const toChanged = firstObservedAs("changed");
const toFailed = firstObservedAs("failed");

const absent: Clause = (context) => said(toAbsent(context));

/** 3. What Argo CD has seen of Git does not contain the change. */
const older: Clause = (context) => said(toOlder(context), { wantsRefresh: true });

/** Our own mirror fetches in the meantime; nothing in Argo CD would tell us that it has. */
const unknown: Clause = (context) => said(toUnknown(context), { lookAgainAt: context.now + 5000 });

const unresolved: Clause = (context) => said(toUnresolved(context), { wantsRefresh: true });

/** Somebody has to say which of two changes holds; but a stale status may not even be about either. */
const changed: Clause = (context) => {
  const observation = toChanged(context);
  if (context.stale || observation?.by === undefined) return said(observation);
  return said(observation, { verdict: "waiting", changedBy: observation.by });
};

const hydration: Clause = (context) => {
  const observation = toFailed(context);
  if (observation === undefined) return undefined;
  return afterGrace(context, observation.since ?? context.now, `${capital(observation.why)}.`);
};

function said(observation: Observation | undefined, more: Partial<Finding> = {}): Finding | undefined {
  return observation === undefined ? undefined : { verdict: "pending", sentence: `${capital(observation.why)}.`, ...more };
}

export const revision: Parts = { absent, older, unknown, unresolved, changed, hydration };

const ever: Clause = (context) =>
  at(context.app.status.reconciledAt) === undefined ? stale(context, "Argo CD has never reconciled it") : undefined;

/** 6. Computed after the merge. */
const merge: Clause = (context) => {
  const reconciledAt = at(context.app.status.reconciledAt);
  if (reconciledAt === undefined) return undefined;
  if (isNewer(reconciledAt, context.mergedAt, context.observations)) return undefined;
  const behind = clockBehind(context);
  const why = `Argo CD last compared at ${clockTime(reconciledAt, context.now)}, the change was merged at ${clockTime(context.mergedAt, context.now)}`;
  return stale(context, behind === 0 ? why : `${why}; it has seen the merge, so its clock may be ${behind}s behind`);
};

/** 6. Computed after the last operation ended: the two loops of Argo CD write apart. */
const operation: Clause = (context) => {
  const reconciledAt = at(context.app.status.reconciledAt);
  const finishedAt = at(context.app.status.operation?.finishedAt);
  if (reconciledAt === undefined || finishedAt === undefined || second(reconciledAt) > second(finishedAt)) return undefined;
  return stale(
    context,
    `its operation ended at ${clockTime(finishedAt, context.now)}, Argo CD last compared at ${clockTime(reconciledAt, context.now)}, not later`,
  );
};

export const reconciled: Parts = { ever, merge, operation };
