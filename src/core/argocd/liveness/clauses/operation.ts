import { livenessReason as reason } from "../../../reasons/liveness.ts";
import type { ApplicationView } from "../../views.ts";
import { at, dayOf, firstLine, inUtc, isFullSha, timeOf } from "../moment.ts";
import { afterGrace, MOST_SKEW_MS } from "../skew.ts";
import type { Change, Clause, Context, Finding, Observation, Parts } from "../types.ts";

type Operation = NonNullable<ApplicationView["status"]["operation"]>;

export const isInFlight = (state: Operation | undefined): boolean => state?.phase === "Running" || state?.phase === "Terminating";

/** 5. Asked for and not begun. */
const requested: Clause = ({ app }) =>
  app.operationRequested && !isInFlight(app.status.operation) ? { verdict: "pending", because: reason("SYNC_NOT_BEGUN") } : undefined;

/** 5. Nothing in flight. A phase nobody knows is in flight. */
const running: Clause = (context) => {
  const state = context.app.status.operation;
  if (state === undefined || ENDED.includes(state.phase) || isBetweenTries(state)) return undefined;
  if (state.phase === "Running" && /sync window/i.test(state.message ?? "")) {
    const { opensAt } = context.input.windows ?? {};
    const because = reason("SYNC_AWAITS_WINDOW", { message: firstLine(state.message ?? ""), opensAt });
    return { verdict: waits(context), because, lookAgainAt: at(opensAt) };
  }
  const phase = isInFlight(state) ? state.phase.toLowerCase() : state.phase;
  return { verdict: "pending", because: reason("OPERATION_GOES_ON", { phase, since: inUtc(state.startedAt), day: dayOf(context.now) }) };
};

const ENDED: readonly string[] = ["Succeeded", "Failed", "Error"];

const waits = ({ stale }: Context) => (stale ? "pending" : "waiting");

/** Between two tries Argo CD leaves the phase at Running, with the end of the try before in place. */
function isBetweenTries(state: Operation): boolean {
  return state.phase === "Running" && at(state.finishedAt) !== undefined && !/sync window/i.test(state.message ?? "");
}

/** 5. The pause between two tries looks like an operation that ended. */
const retry: Clause = (context) => {
  const state = context.app.status.operation;
  const finishedAt = at(state?.finishedAt);
  if (state === undefined || finishedAt === undefined || !isBetweenTries(state)) return undefined;
  const next = nextTry(state, finishedAt);
  const { now } = context;
  const { limit = -1 } = state.retry ?? {};
  const overdue = now > next + OVERDUE_MS;
  const because = reason("SYNC_RETRIES", {
    failedAt: timeOf(finishedAt),
    retry: Math.max(1, state.retryCount),
    of: limit < 0 ? undefined : limit,
    at: timeOf(next),
    overdue,
    message: state.message && firstLine(state.message),
    day: dayOf(now),
  });
  // Overdue, nothing is waited for any more: the deadlines of what does not come along run.
  if (overdue) return { verdict: "pending", because };
  return { verdict: waits(context), lookAgainAt: now < next ? next : next + OVERDUE_MS + 1, because };
};

/** Argo CD is busy, or its clock is behind: more is neither. */
const OVERDUE_MS = MOST_SKEW_MS;

/** Argo CD's own back-off: 5 s, doubled for each try that failed, so 10 s first, at most 3 minutes, unless the operation says otherwise. */
function nextTry({ retry: set, retryCount }: Operation, finishedAt: number): number {
  const wait = (set?.durationMs ?? 5000) * (set?.factor ?? 2) ** Math.max(1, retryCount);
  return finishedAt + Math.min(wait, set?.maxMs ?? 180_000);
}

/** 5. The last thing done for the change went well. No operation at all is fine, and one that is asked for anew ends this one's word. */
const failed: Clause = (context) => {
  const { operationRequested, status } = context.app;
  const state = status.operation;
  if (operationRequested) return undefined;
  return state?.phase === "Failed" || state?.phase === "Error" ? ended(context, state) : undefined;
};

/** 5. Until another sync, Argo CD goes on comparing with the manifests that somebody's own machine sent it: Git is not looked at. */
const local: Clause = (context) =>
  context.app.status.operation?.local === true ? { verdict: waits(context), because: reason("SYNC_LOCAL") } : undefined;

export const operation: Parts = { requested, running, retry, failed, local };

function ended(context: Context, state: Operation): Finding | undefined {
  const { ours, early, finishedAt } = triedWhat(context, state);
  if (ours === "no" || (early && finishedAt !== undefined && finishedAt < context.mergedAt - MOST_SKEW_MS)) return undefined;
  const known = ours !== "unknown" && !early;
  const spent = context.app.spec.automated && known;
  const because = reason("SYNC_FAILED", { phase: state.phase, message: firstLine(state.message ?? ""), spent });
  if (!known || context.stale || context.specDiffers !== undefined || context.firstSeenAt === undefined)
    return { verdict: "pending", because };
  return afterGrace(context, { because, start: Math.max(finishedAt ?? context.firstSeenAt, context.firstSeenAt), since: finishedAt });
}

/** Whether what an operation did, or does, is known to be of the change. */
export function isOfChange(context: Context, state: Operation): boolean {
  const { ours, early } = triedWhat(context, state);
  return (ours === "yes" || ours === "fits") && !early;
}

function triedWhat(context: Context, state: Operation): { ours: Answer; early: boolean; finishedAt: number | undefined } {
  const finishedAt = at(state.finishedAt) ?? at(state.startedAt);
  const ours = isOurs(context, state);
  // What tried a commit that contains the merge cannot have ended before it, whatever the cluster's clock says. A tag or a chart's
  // version may have been tried days before (back at it after a rollback, or there already): of that the clock must do.
  return { ours, early: ours !== "yes" && finishedAt !== undefined && finishedAt < context.mergedAt, finishedAt };
}

/** yes: not before the change. fits: it was for what is there now, which may have been there before the change, too. */
type Answer = "yes" | "no" | "fits" | "unknown";

/** Whether what a failed operation tried contains the change. */
function isOurs(context: Context, state: Operation): Answer {
  if (state.ofSpec === false) return "no";
  if (context.app.spec.sourceHydrator !== undefined) return isHydrated(context, state);
  const tried = state.appliedRevisions.length > 0 ? state.appliedRevisions : state.requestedRevisions;
  const answers = new Set<Answer>();
  for (const [i, observation] of context.observations.entries()) {
    const change = i === 0 ? context.input.change : context.input.also?.[i - 1];
    if (change === undefined || change.kind === "generator") continue;
    for (const index of observation.sources) {
      const revision = tried[index] ?? "";
      if (revision !== "") answers.add(triedChange(context, change, observation, revision, context.app.status.sync.revisions[index]));
    }
  }
  if (answers.has("no")) return "no";
  if (answers.has("unknown")) return "unknown";
  if (answers.has("yes")) return "yes";
  if (answers.has("fits")) return "fits";
  if (state.ofSpec === true && context.input.change.kind !== "commit") return "fits";
  // Without a revision it was for the head of the moment it began.
  const startedAt = at(state.startedAt);
  return startedAt !== undefined && context.firstSeenAt !== undefined && startedAt >= context.firstSeenAt ? "yes" : "unknown";
}

/** Which dry commit an older hydrated one was made from nobody tells, and one that changes nothing here has none of its own. */
function isHydrated({ app, shows }: Context, { appliedRevisions: [applied], requestedRevisions: [asked] }: Operation): Answer {
  return shows && (applied ?? asked ?? "") === app.status.sync.revisions[0] ? "fits" : "unknown";
}

function triedChange(
  context: Context,
  change: Exclude<Change, { kind: "generator" }>,
  observation: Observation,
  tried: string,
  seen: string | undefined,
): Answer {
  const shown = observation.state === "proven" || observation.state === "shown";
  // A revision is older than the commit that pins it; a commit is the merge, or follows it.
  const same = change.kind === "revision" ? "fits" : "yes";
  if (shown && tried === seen) return same;
  if (change.kind === "revision" && tried === change.revision) return same;
  // The spec names the change and Argo CD resolved it to `seen`: whatever else was tried is something else.
  if (change.commit === undefined) return shown ? "no" : "unknown";
  if (tried.toLowerCase() === change.commit.toLowerCase()) return same;
  const ancestry = isFullSha(tried) ? (context.input.ancestry?.(tried, change.commit) ?? "unknown") : "unknown";
  return ancestry === "contains" ? same : ancestry === "missing" ? "no" : "unknown";
}
