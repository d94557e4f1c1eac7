import { epoch } from "../../core/base/time.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { Effect } from "../../core/run/state/world.ts";
import type { Command } from "../../core/spec/commands.ts";
import { mergeText } from "./act/batch-text.ts";
import { moveBranches } from "./act/branch-act.ts";
import { movesBranches } from "./act/branch-moves.ts";
import { proposeBatch } from "./act/propose.ts";
import { stopAnalysis } from "./act-analysis.ts";
import { callHook } from "./act-hooks.ts";
import type { RepoContext } from "./context.ts";
import type { RepoMemory } from "./memory.ts";
import { closeWithBranch } from "./observe/open-pulls.ts";

/** What acting needs to know of the round it belongs to. */
export interface ActScope {
  run: Run;
  /** Head of the base branch the round looked at. */
  base: string;
  baseBranch: string;
  /** Head of the journal after the round was recorded. */
  journalHead: string | undefined;
  commands: readonly Command[];
  /** Wall milliseconds (performance.now) when the round decided. */
  decidedAt: number;
  /** The bot's time at that moment. */
  now: number;
}

/**
 * An intention lapses 30 s after it was journalled, and another replica then acts on that. A merge is begun only while so
 * much of it is left that its own call ends before: that is sent within 4 s or not at all, and cut off 10 s after it was
 * sent. Counted in the wall's time since the round decided, because that is what sockets take.
 */
const INTENTION_BEGINS_BY_MS = 15_000;

/**
 * Tries one effect. What came of it is observed in the next round; the answer only says whether something was done, or was
 * refused and should wait. Each may be tried twice, after a crash at any point of the first try.
 */
export async function act(context: RepoContext, memory: RepoMemory, scope: ActScope, effect: Effect): Promise<boolean> {
  switch (effect.kind) {
    case "Propose":
      return proposeBatch(context, memory, scope, batchOf(scope.run, effect.batch));
    case "Merge":
      return merge(context, memory, scope, batchOf(scope.run, effect.batch), effect);
    case "Close":
      await close(context, memory, effect.pull);
      return true;
    case "Refresh":
      memory.refresher.ask(effect.targets);
      return true;
    case "RolloutActions":
      return memory.actions.run(scope.run, effect.command);
    case "StartAnalysis":
      return memory.analyses.start(scope.run, effect.analysis);
    case "StopAnalysis":
      return stopAnalysis(context, effect.analysis);
    case "CallHook":
      return callHook(context, scope.run, effect.hook, effect.request);
    case "Answer": {
      const command = scope.commands.find((c) => c.id === effect.command);
      if (command !== undefined) await context.commands.answer(command, effect.outcome, sentenceOf(effect.message, scope.run), scope.run);
      return true;
    }
  }
}

function batchOf(run: Run, number: number): Batch {
  const batch = run.batches.find((b) => b.number === number);
  if (batch === undefined) throw new Error(`${run.rollout} #${run.number}: an effect names batch ${number}, which the run does not have`);
  return batch;
}

async function merge(
  context: RepoContext,
  memory: RepoMemory,
  scope: ActScope,
  batch: Batch,
  effect: { pull: number; head: string },
): Promise<boolean> {
  const { run } = scope;
  // The intention is only worth something while no other replica has written since (docs/spec.md §9.13), and the guard's answer
  // only on the base it was given for (§9.4).
  const heads = await context.mirror.remoteHeads([scope.baseBranch, context.journalBranch]);
  memory.remote.expire();
  if (heads.get(context.journalBranch) !== scope.journalHead || heads.get(scope.baseBranch) !== scope.base) return true;
  const old = batch.intention === undefined ? Number.POSITIVE_INFINITY : scope.now - epoch(batch.intention.at);
  if (old + performance.now() - scope.decidedAt > INTENTION_BEGINS_BY_MS) return false;
  if (movesBranches(run)) {
    await moveBranches(context, memory.commits, memory.pulls, batch, effect.head);
    return true;
  }
  const outcome = await memory.queue.merge(batch.branch, {
    number: effect.pull,
    head: effect.head,
    method: run.spec.delivery.method,
    ...mergeText(context, run, batch, effect.pull),
  });
  if (outcome.kind === "merged" || outcome.kind === "queued") {
    memory.pulls.refuse(batch.branch, effect.head, undefined);
    return true;
  }
  context.log.info({ pull: effect.pull, outcome: outcome.kind, message: outcome.message }, "merge was refused");
  const kind = outcome.kind === "human" ? "Human" : outcome.kind === "wait" ? "Wait" : "Retry";
  memory.pulls.refuse(batch.branch, effect.head, {
    kind,
    message: outcome.message,
    ...(batch.intention === undefined ? {} : { to: batch.intention.at }),
  });
  return kind !== "Retry";
}

async function close(context: RepoContext, memory: RepoMemory, pull: number): Promise<void> {
  // Nothing is open where branches are moved: it is withdrawn by being journalled as closing.
  if (pull === 0) return;
  const known = memory.pulls.byNumber(pull) ?? (await context.forge.pull(pull));
  if (known === null) return;
  await closeWithBranch(context, known);
}
