import type { BranchRules, CheckSeen, Forge, Pull, Review } from "../../../adapters/forge/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { iso, type Time } from "../../../core/base/time.ts";
import type { PullNeed } from "../../../core/reasons/gates.ts";
import { GATE } from "../../../core/report/batch/gate-check.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { ObservedPull } from "../../../core/run/state/world.ts";
import type { Commits } from "../../config-repo/commits.ts";
import type { RemoteHeads } from "../../config-repo/remote-heads.ts";
import type { BatchCommits } from "../act/batch-commit.ts";
import { branchesOf, movesBranches, movesOf } from "../act/branch-moves.ts";
import type { BatchPulls } from "../batch-pulls.ts";
import type { Rules } from "../branch-rules.ts";
import type { CheckRuns } from "../check-runs.ts";
import type { RepoContext } from "../context.ts";
import type { MergeQueue } from "../merge-queue.ts";
import type { BranchHeads } from "./branch-heads.ts";

/** GitHub computes `mergeable` within a moment of being asked: worth a short wait instead of a whole round. */
const MERGEABLE_WAITS_MS = [10, 100, 250];
const MOST_KEPT = 200;

/** Looks at what the forge shows of a batch's PR, or how the branches it moves stand. null: there is none for its branch. */
export type ObservePull = (run: Run, batch: Batch) => Promise<ObservedPull | null>;

interface Parts {
  commits: Commits;
  remote: RemoteHeads;
  heads: BranchHeads;
  batchCommits: BatchCommits;
  pulls: BatchPulls;
  queue: MergeQueue;
  rules: Rules;
  checkRuns: Pick<CheckRuns, "greenAt">;
}

type Context = Pick<RepoContext, "forge" | "mirror" | "clock" | "log" | "repository">;

export function openPullLooks(context: Context, parts: Parts): ObservePull {
  const looks = new PullLooks(context, parts);
  return (run, batch) => looks.observe(run, batch);
}

class PullLooks {
  readonly #context: Context;
  readonly #parts: Parts;
  /** Branch → an open PR before its turn, as it was at that reading of the remote. */
  readonly #ahead = new BoundedMap<string, { reading: number; pull: Pull }>(MOST_KEPT);

  constructor(context: Context, parts: Parts) {
    this.#context = context;
    this.#parts = parts;
  }

  async observe(run: Run, batch: Batch): Promise<ObservedPull | null> {
    if (movesBranches(run)) return this.#observeMove(run, batch);
    const { forge, repository } = this.#context;
    const { pulls, remote, queue, batchCommits, checkRuns } = this.#parts;
    const found = await withMergeable(forge, await this.#pullOf(batch));
    if (found === null || found.headRepository?.toLowerCase() !== repository.toLowerCase()) return null;
    pulls.see(batch.branch, found);
    const { reading } = remote.last;
    if (batch.ahead === true && found.state === "open" && found.mergeable !== null) this.#ahead.set(batch.branch, { reading, pull: found });
    const place = queue.placeOf(batch, found.number, found.head);
    if (place === null && found.state === "open") await queue.learnWhyLeft(batch, found.number, found.head);
    // A PR that somebody pointed at another branch is no longer the one we opened.
    const retargeted = found.base !== remote.last.branch;
    return {
      number: found.number,
      url: found.url,
      state: found.state,
      draft: found.draft,
      head: found.head,
      headIsOurs: !retargeted && (await batchCommits.isOurs(run, batch, found.head)),
      retargeted: retargeted ? found.base : undefined,
      mergeable: mergeability(found),
      refusal: pulls.refusalOf(batch.branch, found.head),
      ...(await this.#needsOf(run, found)),
      greenAt: timeOf(checkRuns.greenAt(found.head)),
      queue: place,
      openedAt: found.createdAt,
      merged: await this.#mergeOf(batch, found),
      closedBy: found.closedBy,
      closedByUs: found.state === "closed" && found.closedBy === (await forge.identity()).login,
    };
  }

  /**
   * By its number where it is known: half the calls, and nobody else's PR of the same branch is taken for it. Before its turn it is read
   * anew only where the remote was heard of: its merge reads it right before, and names the head that was seen. One that is being closed is
   * closed again by every round that does not see it closed.
   */
  async #pullOf(batch: Batch): Promise<Pull | null> {
    const { forge } = this.#context;
    if (batch.pull === undefined) return forge.findPull(batch.branch);
    const kept = batch.ahead === true && batch.closing === undefined ? this.#ahead.get(batch.branch) : undefined;
    if (kept?.reading === this.#parts.remote.last.reading) return kept.pull;
    const known = await forge.pull(batch.pull.number);
    return known?.branch === batch.branch ? known : forge.findPull(batch.branch);
  }

  /**
   * Asked for only where GitHub reports the PR as blocked: else it wants nothing. What cannot be read leaves the PR blocked for a reason not
   * known; it never holds the run's other looks.
   */
  async #needsOf(run: Run, pull: Pull): Promise<Pick<ObservedPull, "needs" | "gate">> {
    const { forge, log } = this.#context;
    if (pull.state !== "open" || pull.mergeable !== true || pull.mergeableState !== "blocked") return {};
    try {
      const wanted = await this.#parts.rules.of(pull.base);
      if (wanted === undefined) return { needs: [] };
      const checks = wanted.requiredChecks.length === 0 ? [] : await forge.checksOf(pull.head);
      const reviewed = wanted.approvals > 0 || wanted.codeOwners || wanted.lastPushApproval;
      const reviews = reviewed ? await forge.reviews(pull.number) : [];
      return needsOf(wanted, checks, reviews, pull, run.spec.delivery.method);
    } catch (error) {
      log.warn({ pull: pull.number, error: String(error) }, "what GitHub wants of a pull request could not be read");
      return {};
    }
  }

  async #mergeOf(batch: Batch, { state, base, mergeCommit, mergedAt, mergedBy }: Pull): Promise<ObservedPull["merged"]> {
    const { remote, batchCommits } = this.#parts;
    if (state !== "merged" || mergeCommit === undefined || mergedAt === undefined) return undefined;
    // Merged into another branch its commit is not ours to have, and never the one that was meant.
    const isElsewhere = base !== remote.last.branch;
    if (!isElsewhere && (await this.#context.mirror.commitInfo(mergeCommit)) === undefined) {
      // Merged after this round fetched the base: judged in the next one, never taken for a commit that is not exact.
      remote.expire();
      return undefined;
    }
    const byUs = mergedBy === (await this.#context.forge.identity()).login;
    const exact = !isElsewhere && (await batchCommits.isExactMerge(batch, mergeCommit));
    return { commit: mergeCommit, at: mergedAt, by: mergedBy ?? "unknown", byUs, exact };
  }

  /**
   * The branches of a batch as the core looks at a PR: open until every one of them is at the release commit, merged from
   * then on. Whether they can be moved is the guard's to say. null: not put forward yet, or withdrawn.
   */
  async #observeMove(run: Run, batch: Batch): Promise<ObservedPull | null> {
    const { pulls, commits, heads } = this.#parts;
    if (batch.phase === "Proposing" && !pulls.isProposed(batch.branch)) return null;
    const moves = await movesOf(commits, batch, await heads(branchesOf(batch).map(({ branch }) => branch)));
    const head = moves[0]?.to;
    if (head === undefined) return null;
    // After our push somebody may have committed on top; without an intention a branch that is past was so before.
    const done = moves.every(({ stands }) => stands === "there" || (batch.intention !== undefined && stands === "past"));
    if (!done && batch.closing !== undefined) return null;
    const exact = moves.every(({ stands }) => stands === "there");
    return {
      number: 0,
      url: "",
      state: done ? "merged" : "open",
      draft: false,
      head,
      headIsOurs: true,
      mergeable: "yes",
      refusal: pulls.refusalOf(batch.branch, head),
      openedAt: batch.since,
      merged: done ? await this.#moveOf(run, batch, head, exact) : undefined,
    };
  }

  /**
   * It counts as merged at the time of the journalled intention: the push came after it, and that Argo CD has seen the release
   * commit on the branch proves the change whatever the clocks say.
   */
  async #moveOf(run: Run, { intention }: Batch, commit: string, exact: boolean): Promise<NonNullable<ObservedPull["merged"]>> {
    if (intention === undefined)
      return { commit, at: iso(this.#context.clock.now()), by: `somebody outside ${run.rollout} #${run.number}`, byUs: false, exact };
    return { commit, at: intention.at, by: (await this.#context.forge.identity()).login, byUs: true, exact };
  }
}

async function withMergeable(forge: Pick<Forge, "pull">, found: Pull | null): Promise<Pull | null> {
  let pull = found;
  for (const wait of MERGEABLE_WAITS_MS) {
    // A listing never carries `mergeable`: only asking for the one PR starts GitHub's computation.
    if (pull === null || pull.state !== "open" || pull.mergeable !== null) return pull;
    pull = (await forge.pull(pull.number)) ?? pull;
    if (pull.mergeable === null) await new Promise((resolve) => setTimeout(resolve, wait));
  }
  return pull;
}

function timeOf(ms: number | undefined): Time | undefined {
  return ms === undefined ? undefined : iso(ms);
}

function mergeability(pull: Pull): ObservedPull["mergeable"] {
  if (pull.mergeable === null) return "unknown";
  if (!pull.mergeable || pull.mergeableState === "dirty") return "conflict";
  if (pull.mergeableState === "behind") return "behind";
  if (pull.mergeableState === "blocked") return "blocked";
  return "yes";
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
