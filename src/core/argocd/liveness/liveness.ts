/**
 * Is a change live and healthy in one Application? A pure decision on one read, by clauses that must all be met: see
 * docs/liveness.md for what each protects from. Health alone is never believed, because it lags: evidence older than the
 * change makes neither *live* nor *failing*.
 */
import { defined } from "../../base/defined.ts";
import type { Verdict } from "../../run/state/run.ts";
import type { Assessment } from "../../run/state/world.ts";
import { CLAUSES, isEarlier } from "./clauses/clauses.ts";
import { contextOf } from "./context.ts";
import { evidenceOf, evidenceOfNothing } from "./evidence.ts";
import { at, clockTime, second, short, some, timeOf } from "./moment.ts";
import { MOST_SKEW_MS, measuredAhead } from "./skew.ts";
import { CLAUSE_NAMES, type ClauseName, type Context, type Finding, type LivenessInput, type PartName } from "./types.ts";

export { equalIntent, normalRepo, plainServer } from "../same.ts";
export { CLAUSES } from "./clauses/clauses.ts";
export { healthIssuesOf } from "./health-issues.ts";
export { isFullSha } from "./moment.ts";
export {
  type Ancestry,
  type Change,
  CLAUSE_NAMES,
  type ClauseName,
  type Intended,
  type LivenessInput,
  type OwnerTrouble,
} from "./types.ts";

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
  context.firstSeenAt = firstSeen(context);
  const { worst, clause, lookAgainAt, wantsRefresh, wantsRead, good, bad } = judge(context, without);
  const verdict = worst?.verdict ?? "live";
  const sentence = (worst?.sentence ?? liveSentence(context)) + skew(context);
  return defined({
    verdict,
    clause,
    sentence,
    firstSeenAt: context.firstSeenAt === undefined ? undefined : timeOf(context.firstSeenAt),
    lookAgainAt: lookAgainAt === undefined ? undefined : timeOf(lookAgainAt),
    clockStopped: worst?.clockStopped === true ? true : undefined,
    changedBy: worst?.changedBy,
    held: input.held === undefined ? undefined : heldOf(input, good, bad),
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
  return name !== "settled" && name !== "confirmed";
}

function heldOf(input: LivenessInput, good: boolean, bad: boolean): NonNullable<LivenessInput["held"]> {
  const now = timeOf(input.now);
  return defined({
    goodSince: good ? (input.held?.goodSince ?? now) : undefined,
    badSince: bad ? (input.held?.badSince ?? now) : undefined,
  });
}

function lost(input: LivenessInput): Judged {
  const sentence = "There is no such Application.";
  const evidence = evidenceOfNothing(input, "exists", sentence);
  return { verdict: "lost", clause: "exists", sentence, wantsRefresh: false, evidence };
}

/** A comparison brings nothing while the spec itself is not there yet, or where one is asked for already. */
function mayRefresh(context: Context, verdict: Verdict): boolean {
  return verdict !== "lost" && context.specDiffers === undefined && !context.app.refreshRequested;
}

/** `reconciledAt` of the first read that showed the change: as told, else of the earlier read, else of this one. */
function firstSeen(context: Context): number | undefined {
  const { input, app, mergedAt } = context;
  const told = at(input.firstSeenAt);
  if (told !== undefined && second(told) >= second(mergedAt)) return told;
  if (!context.shows) return undefined;
  const earlier = input.previous;
  if (earlier !== undefined && isEarlier(earlier, app) && contextOf(input, earlier, input.now).shows)
    return at(earlier.status.reconciledAt);
  return at(app.status.reconciledAt);
}

function liveSentence(context: Context): string {
  const { app, now } = context;
  const seen = some(app.status.sync.revisions.map(short), 3);
  const since = at(app.status.health.lastTransitionTime);
  const healthy = `${app.status.health.status ?? "Healthy"}${since === undefined ? "" : ` since ${clockTime(since, now)}`}`;
  return `Live${seen === "" ? "" : ` at ${seen}`}, Synced and ${healthy}; compared at ${clockTime(at(app.status.reconciledAt) ?? now, now)}.`;
}

function skew({ app, now }: Context): string {
  const ahead = measuredAhead(app, now);
  if (ahead === 0) return "";
  const set = ahead > MOST_SKEW_MS ? " That is more than is made up for: set it." : "";
  return ` The cluster's clock is at least ${Math.ceil(ahead / 1000)}s ahead of ours.${set}`;
}
