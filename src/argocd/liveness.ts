/**
 * Is a change live and healthy in one Application? A pure decision on one read, by clauses that must all be met: see
 * docs/liveness.md for what each protects from. Health alone is never believed, because it lags: evidence older than the
 * change makes neither *live* nor *failing*.
 */
import type { Verdict } from "../rollout/run.ts";
import { iso } from "../rollout/time.ts";
import type { Assessment } from "../rollout/world.ts";
import { CLAUSES, isEarlier } from "./clauses.ts";
import { contextOf } from "./context.ts";
import { clockAhead, evidenceOf, evidenceOfNothing } from "./evidence.ts";
import { CLAUSE_NAMES, type ClauseName, type Context, type Finding, type LivenessInput } from "./liveness-types.ts";
import { at, clockTime, second, short } from "./moment.ts";

export { CLAUSES, isEarlier } from "./clauses.ts";
export { type Ancestry, type Change, CLAUSE_NAMES, type ClauseName, type Intended, type LivenessInput } from "./liveness-types.ts";
export { equalDestination, equalSources, normalRepo } from "./same.ts";

const ORDER: Record<Verdict, number> = { lost: 0, failing: 1, waiting: 2, pending: 3, live: 4 };

/**
 * The verdict on `input.application`, the clause that is not met (`all` where it is live) and the evidence.
 * `without`: leaves one clause out, so that a test can show what passes wrongly without it. Never throws.
 */
export function assess(input: LivenessInput, { without }: { without?: ClauseName } = {}): Assessment {
  if (input.application === undefined) return lost(input);
  const context = contextOf(input, input.application, input.now);
  context.firstSeenAt = firstSeen(context);
  let clause: ClauseName | "all" = "all";
  let worst: Finding | undefined;
  let lookAgainAt: number | undefined;
  let wantsRefresh = false;
  for (const name of CLAUSE_NAMES) {
    if (name === without) continue;
    const finding = CLAUSES[name](context);
    if (finding === undefined) continue;
    wantsRefresh ||= finding.wantsRefresh === true;
    const again = finding.lookAgainAt;
    if (again !== undefined && again > input.now && (lookAgainAt === undefined || again < lookAgainAt)) lookAgainAt = again;
    if (worst !== undefined && ORDER[finding.verdict] >= ORDER[worst.verdict]) continue;
    worst = finding;
    clause = name;
  }
  const verdict = worst?.verdict ?? "live";
  const sentence = (worst?.sentence ?? liveSentence(context)) + skew(context);
  return {
    verdict,
    clause,
    sentence,
    ...(context.firstSeenAt === undefined ? {} : { firstSeenAt: iso(context.firstSeenAt) }),
    ...(lookAgainAt === undefined ? {} : { lookAgainAt: iso(lookAgainAt) }),
    wantsRefresh: wantsRefresh && mayRefresh(context, verdict),
    evidence: evidenceOf(context, verdict, clause, sentence),
  };
}

function lost(input: LivenessInput): Assessment {
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
  const { app } = context;
  const seen = app.status.sync.revisions.map(short).join(", ");
  const since = at(app.status.health.lastTransitionTime);
  const healthy = `${app.status.health.status ?? "Healthy"}${since === undefined ? "" : ` since ${clockTime(since)}`}`;
  return `Live${seen === "" ? "" : ` at ${seen}`}, Synced and ${healthy}; compared at ${clockTime(at(app.status.reconciledAt) ?? context.now)}.`;
}

function skew(context: Context): string {
  const ahead = clockAhead(context);
  return ahead === 0 ? "" : ` The cluster's clock is at least ${ahead}s ahead of ours.`;
}
