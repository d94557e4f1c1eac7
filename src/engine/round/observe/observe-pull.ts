import type { Pull } from "../../../adapters/forge/port.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { ObservedPull } from "../../../core/run/state/world.ts";
import { isBatchCommit, isExactMerge } from "../act/batch-commit.ts";
import { movesBranches } from "../act/branch-moves.ts";
import type { RepoContext } from "../context.ts";
import type { RepoMemory } from "../memory.ts";
import { observeMove } from "./branch-observe.ts";
import { observeNeeds } from "./pull-needs.ts";

/** GitHub computes `mergeable` within a moment of being asked: worth a short wait instead of a whole round. */
const MERGEABLE_WAITS_MS = [10, 100, 250];

/** What the forge shows of a batch's PR, or how the branches it moves stand. null: there is none for its branch. */
export async function observePull(context: RepoContext, memory: RepoMemory, run: Run, batch: Batch): Promise<ObservedPull | null> {
  if (movesBranches(run)) return observeMove(context, memory, run, batch);
  const found = await withMergeable(context, await pullOf(context, batch));
  if (found === null || found.headRepository?.toLowerCase() !== context.repository.toLowerCase()) return null;
  memory.pulls.see(batch.branch, found);
  const queue = memory.queue.placeOf(batch, found.number, found.head);
  if (queue === null && found.state === "open") await memory.queue.learnWhyLeft(batch, found.number, found.head);
  const refusal = memory.pulls.refusalOf(batch.branch, found.head);
  // A PR that somebody pointed at another branch is no longer the one we opened.
  const retargeted = found.base !== memory.remote.last.branch;
  return {
    number: found.number,
    url: found.url,
    state: found.state,
    draft: found.draft,
    head: found.head,
    headIsOurs: !retargeted && (await isBatchCommit(context, memory, run, batch, found.head)),
    ...(retargeted ? { retargeted: found.base } : {}),
    mergeable: mergeability(found),
    ...(found.mergeableState === "blocked"
      ? { blockedBy: "GitHub reports the pull request as blocked: a required review or check is missing" }
      : {}),
    ...(refusal === undefined ? {} : { refusal }),
    ...(await needs(context, memory, run, found)),
    ...(queue === undefined ? {} : { queue }),
    openedAt: found.createdAt,
    ...(await mergedPart(context, memory, batch, found)),
    ...(found.closedBy === undefined ? {} : { closedBy: found.closedBy }),
  };
}

/** By its number where it is known: half the calls, and nobody else's PR of the same branch is taken for it. */
async function pullOf(context: RepoContext, batch: Batch): Promise<Pull | null> {
  if (batch.pull === undefined) return context.forge.findPull(batch.branch);
  const known = await context.forge.pull(batch.pull.number);
  return known?.branch === batch.branch ? known : context.forge.findPull(batch.branch);
}

/** What cannot be read leaves the PR blocked for a reason not known; it never holds the run's other looks. */
async function needs(context: RepoContext, memory: RepoMemory, run: Run, pull: Pull): Promise<Pick<ObservedPull, "needs" | "gate">> {
  try {
    return await observeNeeds(context, memory.rules, run, pull);
  } catch (error) {
    context.log.warn({ pull: pull.number, error: String(error) }, "what GitHub wants of a pull request could not be read");
    return {};
  }
}

async function withMergeable(context: RepoContext, found: Pull | null): Promise<Pull | null> {
  let pull = found;
  for (const wait of MERGEABLE_WAITS_MS) {
    // A listing never carries `mergeable`: only asking for the one PR starts GitHub's computation.
    if (pull === null || pull.state !== "open" || pull.mergeable !== null) return pull;
    pull = (await context.forge.pull(pull.number)) ?? pull;
    if (pull.mergeable === null) await new Promise((resolve) => setTimeout(resolve, wait));
  }
  return pull;
}

function mergeability(pull: Pull): ObservedPull["mergeable"] {
  if (pull.mergeable === null) return "unknown";
  if (!pull.mergeable || pull.mergeableState === "dirty") return "conflict";
  if (pull.mergeableState === "behind") return "behind";
  if (pull.mergeableState === "blocked") return "blocked";
  return "yes";
}

async function mergedPart(context: RepoContext, memory: RepoMemory, batch: Batch, pull: Pull): Promise<Pick<ObservedPull, "merged">> {
  if (pull.state !== "merged" || pull.mergeCommit === undefined || pull.mergedAt === undefined) return {};
  if ((await context.mirror.commitInfo(pull.mergeCommit)) === undefined) {
    // Merged after this round fetched the base: judged in the next one, never taken for a commit that is not exact.
    memory.remote.expire();
    return {};
  }
  const us = await context.forge.identity();
  const by = pull.mergedBy ?? "unknown";
  const exact = await isExactMerge(context, memory, batch, pull.mergeCommit);
  return { merged: { commit: pull.mergeCommit, at: pull.mergedAt, by, byUs: by === us.login, exact } };
}
