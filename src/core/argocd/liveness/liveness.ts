/**
 * Is a change live and healthy in one Application? A pure decision on one read, by clauses that must all be met: see
 * docs/liveness.md for what each protects from. Health alone is never believed, because it lags: evidence older than the
 * change makes neither *live* nor *failing*.
 */
import { defined } from "../../base/defined.ts";
import type { AnyReason } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import { livenessReason as reason } from "../../reasons/liveness.ts";
import type { Verdict } from "../../run/state/run.ts";
import type { Assessment } from "../../run/state/world.ts";
import { BAD_CONDITIONS } from "../decode/status.ts";
import type { ApplicationView, ClusterView } from "../views.ts";
import { CLAUSES, isEarlier } from "./clauses/clauses.ts";
import { contextOf } from "./context.ts";
import { changeFields, evidenceOf } from "./evidence.ts";
import { at, boundRevision, dayOf, inUtc, second, timeOf } from "./moment.ts";
import { shownRevisions } from "./shown-revisions.ts";
import { MOST_SKEW_MS, measuredAhead } from "./skew.ts";
import { CLAUSE_NAMES, type ClauseName, type Context, type Finding, type LivenessInput, type PartName } from "./types.ts";

const ORDER: Record<Verdict, number> = { lost: 0, failing: 1, waiting: 2, pending: 3, live: 4 };

/** `wantsRead`: only a read by name is missing for *live*, see `LivenessInput.kept`. */
type Judged = Assessment & { wantsRead?: true };

/**
 * The verdict on `input.application`, the clause that is not met (`all` where it is live) and the evidence.
 * `without`: leaves one clause or one part of it out, so that a test can show what passes wrongly without it. Never throws.
 */
export function assess(input: LivenessInput, { without }: { without?: ClauseName | PartName } = {}): Judged {
  if (input.application === undefined) return lost(input);
  const context = contextOf(input, input.application, input.now);
  context.firstSeenAt = firstSeen(context, input.firstSeenAt);
  context.firstComparedAt = firstSeen(context, input.firstComparedAt);
  const { worst, clause, lookAgainAt, wantsRefresh, wantsRead, good, bad } = judge(context, without);
  const verdict = worst?.verdict ?? "live";
  const sentence = withSkew(worst?.because ?? liveReason(context), context);
  return defined({
    verdict,
    clause,
    sentence,
    firstSeenAt: context.firstSeenAt === undefined ? undefined : timeOf(context.firstSeenAt),
    firstComparedAt: context.firstComparedAt === undefined ? undefined : timeOf(context.firstComparedAt),
    lookAgainAt: lookAgainAt === undefined ? undefined : timeOf(lookAgainAt),
    clockStopped: worst?.clockStopped === true ? true : undefined,
    changedBy: worst?.changedBy,
    shows: shownRevisions(context),
    held: input.held === undefined ? undefined : heldOf(context, good, bad),
    wantsRefresh: wantsRefresh && mayRefresh(context, verdict),
    wantsRead,
    evidence: evidenceOf(context, verdict, clause, sentence),
  });
}

interface Judgement {
  /** undefined: every clause is met. */
  worst: Finding | undefined;
  clause: ClauseName | "all";
  lookAgainAt: number | undefined;
  wantsRefresh: boolean;
  wantsRead: true | undefined;
  /** Every clause that one read can meet is met. */
  good: boolean;
  /** Something counts as failing once its grace is over. */
  bad: boolean;
}

function judge(context: Context, without: string | undefined): Judgement {
  const all: Judgement = {
    worst: undefined,
    clause: "all",
    lookAgainAt: undefined,
    wantsRefresh: false,
    wantsRead: undefined,
    good: true,
    bad: false,
  };
  for (const name of CLAUSE_NAMES) {
    // What is not well has nothing to settle.
    if (name === without || (!all.good && !isOfOneRead(name))) continue;
    const parts = CLAUSES[name];
    for (const part in parts) {
      if (without !== undefined && without === `${name}/${part}`) continue;
      const finding = parts[part]?.(context);
      if (finding !== undefined) add(all, name, finding, context.now);
    }
  }
  return all;
}

function add(all: Judgement, name: ClauseName, finding: Finding, now: number): void {
  all.wantsRefresh ||= finding.wantsRefresh === true;
  if (finding.wantsRead === true) all.wantsRead = true;
  all.bad ||= finding.bad === true;
  if (isOfOneRead(name)) all.good = false;
  const again = finding.lookAgainAt;
  if (again !== undefined && again > now && (all.lookAgainAt === undefined || again < all.lookAgainAt)) all.lookAgainAt = again;
  if (all.worst !== undefined && ORDER[finding.verdict] >= ORDER[all.worst.verdict]) return;
  all.worst = finding;
  all.clause = name;
}

function isOfOneRead(name: ClauseName): boolean {
  return name !== "content" && name !== "settled" && name !== "confirmed";
}

function heldOf({ input: { held, ...input }, app }: Context, good: boolean, bad: boolean): NonNullable<LivenessInput["held"]> {
  const now = timeOf(input.now);
  return defined({
    goodSince: good ? (held?.goodSince ?? now) : undefined,
    badSince: bad ? (held?.badSince ?? now) : undefined,
    badCompared: bad ? (held?.badSince === undefined ? app.status.reconciledAt : held.badCompared) : undefined,
  });
}

function lost(input: LivenessInput): Judged {
  const told = { verdict: "lost", clause: "exists", sentence: reason("NO_APPLICATION") } as const;
  const fields = { ...changeFields(input.change), application: null };
  return { ...told, wantsRefresh: false, evidence: { ...told, readAt: timeOf(input.now), fields } };
}

/** A comparison brings nothing while the spec itself is not there yet, or where one is asked for already. */
function mayRefresh(context: Context, verdict: Verdict): boolean {
  return verdict !== "lost" && context.specDiffers === undefined && !context.app.refreshRequested;
}

/** `reconciledAt` of the first read that showed the change: as told, else of the earlier read, else of this one. */
function firstSeen(context: Context, toldAt: Time | undefined): number | undefined {
  const { input, app, mergedAt } = context;
  const told = at(toldAt);
  if (told !== undefined && second(told) >= second(mergedAt)) return told;
  if (!context.shows) return undefined;
  const earlier = input.previous;
  if (earlier !== undefined && isEarlier(earlier, app) && contextOf(input, earlier, input.now).shows)
    return at(earlier.status.reconciledAt);
  return at(app.status.reconciledAt);
}

function liveReason({ app, input, now, content }: Context): AnyReason {
  const { sync, health, reconciledAt } = app.status;
  return reason("CHANGE_LIVE", {
    seen: sync.revisions.slice(0, MOST_SHOWN).map(boundRevision),
    more: Math.max(0, sync.revisions.length - MOST_SHOWN),
    health: health.status ?? "Healthy",
    since: inUtc(health.lastTransitionTime),
    comparedAt: inUtc(reconciledAt) ?? timeOf(now),
    cluster: input.kept === undefined ? undefined : answeredAt(app),
    objects: objectsOf(content),
    day: dayOf(now),
  });
}

function objectsOf(content: Context["content"]): "shown" | "untold" | "unread" | undefined {
  if (content === undefined || content === "asked") return undefined;
  if ("failed" in content) return "unread";
  return content.proof === "unknown" ? "untold" : "shown";
}

/** An answer that tells nothing of the cluster is no sign of life, and none that is missing. */
function answeredAt({ clusterAnswer }: ApplicationView): Time | "unasked" {
  return (clusterAnswer?.unclear === undefined ? inUtc(clusterAnswer?.at) : undefined) ?? "unasked";
}

const MOST_SHOWN = 3;

function withSkew(because: AnyReason, { app, now }: Context): AnyReason {
  const ahead = measuredAhead(app, now);
  if (ahead === 0) return because;
  return reason("CLOCK_AHEAD", { because, seconds: Math.ceil(ahead / 1000), broken: ahead > MOST_SKEW_MS });
}

/** Healths that are a health issue. Progressing and Suspended are not: both are on the way to somewhere. */
const UNHEALTHY: readonly string[] = ["Missing", "Degraded", "Unknown"];

/**
 * What is wrong with an Application, whatever changed last: its health, types of bad conditions, or words of our own, which the report
 * says. Compared before and after a change by `baseline: Tolerate`.
 */
export function healthIssuesOf(application: ApplicationView | undefined, cluster?: ClusterView): string[] {
  if (application === undefined) return ["NoApplication"];
  const { health, sync, operation, conditions } = application.status;
  const found = new Set<string>();
  if (application.deletionTimestamp !== undefined) found.add("BeingDeleted");
  if (cluster?.connection?.status === "Failed") found.add("ClusterUnreachable");
  if (health.status !== undefined && UNHEALTHY.includes(health.status)) found.add(health.status);
  if (sync.status === "Unknown") found.add("SyncUnknown");
  for (const { type } of conditions) if (BAD_CONDITIONS.has(type)) found.add(type);
  if (operation?.phase === "Failed" || operation?.phase === "Error") found.add("OperationFailed");
  if (neverInSync(application)) found.add("NeverInSync");
  return [...found];
}

/** argo-cd#19771: its last sync succeeded at the very revision that it is OutOfSync with. */
function neverInSync({ status, operationRequested }: ApplicationView): boolean {
  const { sync, operation } = status;
  if (sync.status !== "OutOfSync" || operation?.phase !== "Succeeded" || operationRequested) return false;
  return operation.appliedRevisions.length > 0 && operation.appliedRevisions.join() === sync.revisions.join();
}
