import type { BranchRules, CheckSeen, Forge, Pull, Review } from "../../../adapters/forge/port.ts";
import { GATE } from "../../../core/report/batch/gate-check.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { ObservedPull, PullNeed } from "../../../core/run/state/world.ts";
import type { Rules } from "../branch-rules.ts";

/** Asked for only where GitHub reports the PR as blocked: else it wants nothing. */
export async function observeNeeds(
  forge: Pick<Forge, "checksOf" | "reviews">,
  rules: Rules,
  run: Run,
  pull: Pull,
): Promise<Pick<ObservedPull, "needs" | "gate">> {
  if (pull.state !== "open" || pull.mergeable !== true || pull.mergeableState !== "blocked") return {};
  const wanted = await rules.of(pull.base);
  if (wanted === undefined) return { needs: [] };
  const checks = wanted.requiredChecks.length === 0 ? [] : await forge.checksOf(pull.head);
  const reviewed = wanted.approvals > 0 || wanted.codeOwners || wanted.lastPushApproval;
  const reviews = reviewed ? await forge.reviews(pull.number) : [];
  return needsOf(wanted, checks, reviews, pull, run.spec.delivery.method);
}

/** What these rules want that is not there. Our own gate is told apart: it is waited for by nobody but us. */
export function needsOf(
  rules: BranchRules,
  checks: readonly CheckSeen[],
  reviews: readonly Review[],
  pull: Pick<Pull, "author" | "head">,
  method: string,
): { needs: PullNeed[]; gate: ObservedPull["gate"] } {
  const needs: PullNeed[] = [];
  let gate: ObservedPull["gate"];
  for (const required of rules.requiredChecks) {
    const seen = checks.find((one) => one.name === required.context && (required.app === undefined || one.app === required.app));
    if (required.context === GATE) gate = gateOf(seen);
    else if (seen?.state !== "success" && seen?.state !== "neutral") needs.push(checkNeed(required.context, seen));
  }
  needs.push(...reviewNeeds(rules, reviews, pull.author));
  if (rules.methods !== undefined && !rules.methods.some((one) => one === method))
    needs.push({ kind: "method", method, allowed: rules.methods });
  // Who owns which file and whose commits are signed is GitHub's to know: named where nothing else explains the block.
  if (needs.length === 0 && (gate === undefined || gate === "passed")) {
    if (rules.codeOwners) needs.push({ kind: "codeOwners" });
    if (rules.signatures) needs.push({ kind: "signatures" });
  }
  return { needs, gate };
}

function gateOf(seen: CheckSeen | undefined): NonNullable<ObservedPull["gate"]> {
  if (seen === undefined) return "absent";
  return seen.state === "pending" ? "waiting" : seen.state === "failure" ? "failed" : "passed";
}

function checkNeed(name: string, seen: CheckSeen | undefined): PullNeed {
  if (seen === undefined) return { kind: "check", name, state: "silent" };
  const state = seen.state === "failure" ? "failed" : "pending";
  return { kind: "check", name, state, detail: seen.detail, url: seen.url };
}

/** The last word of each account counts; what an App or the PR's own author says never does. */
function reviewNeeds(rules: BranchRules, reviews: readonly Review[], author: string): PullNeed[] {
  const last = new Map<string, Review["state"]>();
  for (const review of reviews) {
    if (review.authorIsBot || review.author === author || review.state === "COMMENTED") continue;
    last.set(review.author, review.state);
  }
  const needs: PullNeed[] = [];
  const have = [...last.values()].filter((state) => state === "APPROVED").length;
  const against = [...last].filter(([, state]) => state === "CHANGES_REQUESTED").map(([login]) => login);
  if (have < rules.approvals) needs.push({ kind: "reviews", have, want: rules.approvals });
  if (against.length > 0 && rules.approvals > 0) needs.push({ kind: "changesRequested", by: against });
  if (rules.lastPushApproval && have === 0) needs.push({ kind: "lastPush" });
  return needs;
}
