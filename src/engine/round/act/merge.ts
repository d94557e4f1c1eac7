/** Sends the merge call of an intention that stands in the journal, once more looking whether it still may. Called by `act.ts`. */
import { epoch } from "../../../core/base/time.ts";
import { mergeText } from "../../../core/report/batch/batch-text.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { RemoteHeads } from "../../config-repo/remote-heads.ts";
import type { BatchPulls } from "../batch-pulls.ts";
import type { RepoContext } from "../context.ts";
import type { Decision } from "../decide.ts";
import type { MergeQueue } from "../merge-queue.ts";
import { type MoveBranches, movesBranches } from "./branch-moves.ts";

/**
 * An intention lapses 30 s after it was journalled, and another replica then acts on that. A merge is begun only while so
 * much of it is left that its own call ends before: that is sent within 4 s or not at all, and cut off 10 s after it was
 * sent. Counted in the wall's time since the round decided, because that is what sockets take.
 */
const INTENTION_BEGINS_BY_MS = 15_000;

/** `left`: it was not its time, and nothing failed: what is decided next is tried as if this never had been. */
export type Outcome = "done" | "failed" | "left";

interface Scope {
  run: Run;
  decision: Decision;
  /** Heads the round looked at, of the base branch and of the journal after it was recorded. */
  base: string;
  baseBranch: string;
  journalHead: string | undefined;
}

export interface MergeParts {
  remote: RemoteHeads;
  pulls: BatchPulls;
  queue: MergeQueue;
  moveBranches: MoveBranches;
}

type Context = Pick<RepoContext, "mirror" | "author" | "journal" | "journalBranch" | "repository" | "log" | "clock">;

export function openMerge(context: Context, { remote, pulls, queue, moveBranches }: MergeParts) {
  const { mirror, author, journal, journalBranch, repository, log, clock } = context;
  return async function merge(scope: Scope, batch: Batch, { pull, head }: { pull: number; head: string }): Promise<Outcome> {
    const { run, decision, journalHead, base, baseBranch } = scope;
    const named = { repository, rollout: run.rollout, run: run.number, batch: batch.number, pull };
    const leave = (why: string, outcome: Outcome): Outcome => {
      log.info({ ...named, head, why }, "a merge was not begun");
      return outcome;
    };
    // The intention is only worth something while no other replica has written since (docs/spec.md §9.13), and the guard's answer
    // only on the base it was given for (§9.4).
    const heads = await mirror.remoteHeads([baseBranch, journalBranch]);
    remote.expire();
    if (heads.get(journalBranch) !== journalHead || heads.get(baseBranch) !== base) return leave("a branch has moved", "done");
    // Another process may have recorded what was taken off the branch again: to this one nothing would have changed.
    if (!(await journal.isAnchored())) return leave("the journal is not above what is anchored", "done");
    const old = batch.intention === undefined ? Number.POSITIVE_INFINITY : decision.now - epoch(batch.intention.at);
    if (old + performance.now() - decision.decidedAt > INTENTION_BEGINS_BY_MS) return leave("the intention is too old", "left");
    // What was found out since the round decided counts, too.
    if (clock.ahead?.() !== undefined) return leave("the clock differs from GitHub's", "left");
    if (movesBranches(run)) {
      await moveBranches(batch, head);
      return "done";
    }
    const { method } = run.spec.delivery;
    const text = mergeText(run, batch, pull, author);
    const outcome = await queue.merge(batch.branch, { number: pull, head, base: baseBranch, method, ...text });
    if (outcome.kind === "merged" || outcome.kind === "queued") {
      pulls.refuse(batch.branch, head, undefined);
      log.info({ ...named, head, outcome: outcome.kind }, "a pull request was merged");
      return "done";
    }
    log.info({ ...named, outcome: outcome.kind, message: outcome.message }, "a merge was refused");
    const kind = outcome.kind === "human" ? "Human" : outcome.kind === "wait" ? "Wait" : "Retry";
    pulls.refuse(batch.branch, head, { kind, message: outcome.message, to: batch.intention?.at });
    return kind === "Retry" ? "failed" : "done";
  };
}
