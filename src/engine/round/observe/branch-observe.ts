import { iso } from "../../../core/base/time.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { ObservedPull } from "../../../core/run/state/world.ts";
import { branchesOf, movesOf } from "../act/branch-moves.ts";
import type { RepoContext } from "../context.ts";
import type { RepoMemory } from "../memory.ts";

/**
 * The branches of a batch as the core looks at a PR: open until every one of them is at the release commit, merged from
 * then on. Whether they can be moved is the guard's to say. null: not put forward yet, or withdrawn.
 *
 * It counts as merged at the time of the journalled intention: the push came after it, and that Argo CD has seen the release
 * commit on the branch proves the change whatever the clocks say.
 */
export async function observeMove(context: RepoContext, memory: RepoMemory, run: Run, batch: Batch): Promise<ObservedPull | null> {
  if (batch.phase === "Proposing" && !memory.pulls.isProposed(batch.branch)) return null;
  const heads = await memory.heads.of(branchesOf(batch).map(({ branch }) => branch));
  const moves = await movesOf(memory.commits, batch, heads);
  const [first] = moves;
  if (first === undefined) return null;
  const head = first.to;
  // After our push somebody may have committed on top; without an intention a branch that is past was so before.
  const done = moves.every(({ stands }) => stands === "there" || (batch.intention !== undefined && stands === "past"));
  if (!done && batch.closing !== undefined) return null;
  const refusal = memory.pulls.refusalOf(batch.branch, head);
  const merged = done
    ? await mergedPart(
        context,
        run,
        batch,
        head,
        moves.every(({ stands }) => stands === "there"),
      )
    : {};
  return {
    number: 0,
    url: "",
    state: done ? "merged" : "open",
    draft: false,
    head,
    headIsOurs: true,
    mergeable: "yes",
    ...(refusal === undefined ? {} : { refusal }),
    openedAt: batch.since,
    ...merged,
  };
}

async function mergedPart(
  context: RepoContext,
  run: Run,
  batch: Batch,
  commit: string,
  exact: boolean,
): Promise<Required<Pick<ObservedPull, "merged">>> {
  const { intention } = batch;
  if (intention === undefined)
    return { merged: { commit, at: iso(context.clock.now()), by: `somebody outside ${run.rollout} #${run.number}`, byUs: false, exact } };
  const us = await context.forge.identity();
  return { merged: { commit, at: intention.at, by: us.login, byUs: true, exact } };
}
