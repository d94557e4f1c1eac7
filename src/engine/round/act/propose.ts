import { batchText } from "../../../core/report/batch/batch-text.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { World } from "../../../core/run/state/world.ts";
import type { RepoContext } from "../context.ts";
import type { GuardBatch } from "../guard/guard.ts";
import type { BatchCommits } from "./batch-commit.ts";
import { movesBranches } from "./branch-moves.ts";

/** The round it belongs to. */
interface ProposeScope {
  run: Run;
  /** Head of the base branch the round looked at. */
  base: string;
  baseBranch: string;
  /** Head of the journal after the round was recorded. */
  journalHead: string | undefined;
  /** By key, for windows that go by labels; absent: they cannot be read now. */
  clusters?: World["clusters"] | undefined;
}

/**
 * Opens the PR of a batch: branch, commit and PR, each found again where an earlier try has broken off, whoever of them made
 * it there. A PR is never opened on what we did not write. False: something is in the way, which the next round sees too.
 */
export type ProposeBatch = (scope: ProposeScope, batch: Batch) => Promise<boolean>;

type Context = Pick<RepoContext, "mirror" | "forge" | "writer" | "author" | "clock" | "log" | "journalBranch">;

export function openProposer(context: Context, commits: BatchCommits, guardBatch: GuardBatch): ProposeBatch {
  const { mirror, forge, writer, log, journalBranch } = context;

  async function propose({ run, base, baseBranch, journalHead, clusters }: ProposeScope, batch: Batch): Promise<boolean> {
    // There is nothing to open: that it was asked for is remembered, and losing that only has its pins read again.
    if (movesBranches(run)) return true;
    const commit = await commits.build(run, batch, base);
    const write = await commits.write(run, batch, base);
    if (commit === undefined || write === undefined) throw new Error(`${batch.branch}: its pins cannot be edited on ${base.slice(0, 12)}`);
    // docs/spec.md §9.4: what would delete is not even proposed. The next round sees the same answer and says it.
    if (!(await guardBatch(run, batch, { base, baseBranch, head: commit, unpushed: true })).ok) return false;
    const heads = await mirror.remoteHeads([batch.branch, journalBranch]);
    // Another process has gone on meanwhile: what it opened, merged or closed is looked at first, and nothing is opened beside it.
    if (heads.get(journalBranch) !== journalHead) return true;
    const { title, body } = batchText(run, batch, context.author, context.clock.now(), clusters);
    const fresh = { branch: batch.branch, base: baseBranch, title, body };
    if (heads.has(batch.branch)) return (await goOn(run, batch)) && (await openPull(fresh));
    if (writer?.propose !== undefined) {
      const made = await writer.propose({ from: base, ...write, ...fresh });
      if (made.kind === "proposed") return true;
      log.info({ branch: batch.branch, message: made.message }, "the branch of a batch was made by somebody at the same moment");
      if (made.pull !== undefined && !(await keep(run, batch, made.pull))) return false;
    } else {
      const isNew =
        writer === undefined
          ? (await mirror.push([{ ref: `refs/heads/${batch.branch}`, old: undefined, new: commit }])) === "ok"
          : (await writer.write({ branch: batch.branch, head: undefined, from: base, ...write })).kind === "written";
      if (isNew) return openPull(fresh);
    }
    return (await goOn(run, batch)) && (await openPull(fresh));
  }

  /** Another process of ours made the branch, and this PR is the batch's as well as its own would be; one on somebody's work is closed. */
  async function keep(run: Run, batch: Batch, { number, head }: { number: number; head: string }): Promise<boolean> {
    if ((await commits.judgeBranch(run, batch, head)) !== "foreign") return true;
    await forge.closePull(number);
    log.warn({ branch: batch.branch, head, pull: number }, "a pull request that was opened on somebody else's branch was closed");
    return false;
  }

  /** Makes the branch that is there hold the batch's commit, where that takes nothing of anybody else's along. */
  async function goOn(run: Run, batch: Batch): Promise<boolean> {
    const there = await mirror.remoteHead(batch.branch);
    if (there === undefined) return false;
    const holds = await commits.judgeBranch(run, batch, there);
    if (holds === "ours") return true;
    const write = holds === "bare" ? await commits.write(run, batch, there) : undefined;
    if (write !== undefined && writer !== undefined)
      return (await writer.write({ branch: batch.branch, head: there, ...write })).kind === "written";
    log.warn({ branch: batch.branch, head: there }, "branch of a batch was made by somebody else");
    return false;
  }

  /** Labels and reviewers follow once it is seen to be open. */
  async function openPull(fresh: { branch: string; base: string; title: string; body: string }): Promise<boolean> {
    await forge.createPull({ ...fresh, labels: [] });
    return true;
  }

  return propose;
}
