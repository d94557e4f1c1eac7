import type { CommitWriter } from "../../../adapters/git/port.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import type { RepoMemory } from "../memory.ts";
import { batchWrite, buildBatchCommit, judgeBranch } from "./batch-commit.ts";
import { batchText } from "./batch-text.ts";
import { movesBranches } from "./branch-moves.ts";

/** The round it belongs to. */
export interface ProposeScope {
  run: Run;
  /** Head of the base branch the round looked at. */
  base: string;
  baseBranch: string;
}

/**
 * Opens the PR of a batch: branch, commit and PR, each found again where an earlier try has broken off, whoever of them made
 * it there. A PR is never opened on what we did not write. False: something is in the way, which the next round sees too.
 */
export async function proposeBatch(context: RepoContext, memory: RepoMemory, scope: ProposeScope, batch: Batch): Promise<boolean> {
  const { run, base } = scope;
  // There is nothing to open: that it was asked for is remembered, and losing that only has its pins read again.
  if (movesBranches(run)) return true;
  const commit = await buildBatchCommit(context, memory, run, batch, base);
  // docs/spec.md §9.4: what would delete is not even proposed. The next round sees the same answer and says it.
  const guard = await memory.guardBatch(run, batch, { base, baseBranch: scope.baseBranch, head: commit });
  if (!guard.ok) return false;
  const { writer } = context;
  const { title, body } = batchText(context, run, batch);
  const fresh = { base: scope.baseBranch, title, body };
  if (writer?.propose !== undefined && (await context.mirror.remoteHead(batch.branch)) === undefined) {
    const write = await batchWrite(context, memory, run, batch, base);
    const made = await writer.propose({ branch: batch.branch, from: base, ...write, ...fresh });
    if (made.kind === "proposed") return true;
    context.log.info({ branch: batch.branch, message: made.message }, "the branch of a batch was made by somebody at the same moment");
  } else if (writer?.propose === undefined && (await pushNew(context, memory, writer, run, batch, base, commit))) {
    return openPull(context, batch, fresh);
  }
  return (await goOn(context, memory, writer, run, batch)) && (await openPull(context, batch, fresh));
}

/** False: there is such a branch already. */
async function pushNew(
  context: RepoContext,
  memory: RepoMemory,
  writer: CommitWriter | undefined,
  run: Run,
  batch: Batch,
  base: string,
  commit: string,
): Promise<boolean> {
  if (writer === undefined)
    return (await context.mirror.push([{ ref: `refs/heads/${batch.branch}`, old: undefined, new: commit }])) === "ok";
  const write = await batchWrite(context, memory, run, batch, base);
  return (await writer.write({ branch: batch.branch, head: undefined, from: base, ...write })).kind === "written";
}

/** Makes the branch that is there hold the batch's commit, where that takes nothing of anybody else's along. */
async function goOn(context: RepoContext, memory: RepoMemory, writer: CommitWriter | undefined, run: Run, batch: Batch): Promise<boolean> {
  const there = await context.mirror.remoteHead(batch.branch);
  if (there === undefined) return false;
  const holds = await judgeBranch(context, memory, run, batch, there, writer);
  if (holds === "ours") return true;
  if (holds === "bare" && writer !== undefined) {
    const write = await batchWrite(context, memory, run, batch, there);
    return (await writer.write({ branch: batch.branch, head: there, ...write })).kind === "written";
  }
  context.log.warn({ branch: batch.branch, head: there }, "branch of a batch was made by somebody else");
  return false;
}

/** Labels and reviewers follow once it is seen to be open (`dress.ts`). */
async function openPull(context: RepoContext, batch: Batch, fresh: { base: string; title: string; body: string }): Promise<boolean> {
  await context.forge.createPull({ branch: batch.branch, ...fresh, labels: [] });
  return true;
}
