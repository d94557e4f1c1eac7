import { ForgeError, type Pull } from "../../../adapters/forge/port.ts";
import { overWords } from "../../../core/report/batch/gate-check.ts";
import { parseBranch } from "../../../core/run/state/branch-name.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import type { GateChecks } from "../publish/gate-checks.ts";

/**
 * Looks at every open PR to the base, where somebody else may have opened, reopened or pushed one: those that are none of ours
 * get a green gate, and those of an attempt that is over, opened again, are closed again before somebody merges them.
 */
export async function watchOpenPulls(
  context: RepoContext,
  checks: GateChecks,
  runs: ReadonlyMap<string, Run>,
  baseBranch: string,
): Promise<void> {
  for (const pull of await context.forge.openPulls()) {
    try {
      const over = whyOver(pull, runs, context.repository);
      if (over === undefined && !isRunBranch(pull, context.repository)) {
        if (pull.base === baseBranch) await checks.putNotOurs(pull.head);
      } else if (over !== undefined) await closeAgain(context, checks, pull, over);
    } catch (error) {
      context.log.warn({ pull: pull.number, error: String(error) }, "an open pull request could not be looked at");
    }
  }
}

export function isRunBranch(pull: Pick<Pull, "branch" | "headRepository">, repository: string): boolean {
  return pull.headRepository?.toLowerCase() === repository.toLowerCase() && pull.branch.startsWith("stagecoach-run/");
}

/** Why a PR of one of our branches is not to be open; undefined: it is, or it is no PR of a batch we know. */
export function whyOver(pull: Pull, runs: ReadonlyMap<string, Run>, repository: string): string | undefined {
  if (!isRunBranch(pull, repository)) return undefined;
  const named = parseBranch(pull.branch);
  const run = named === undefined ? undefined : runs.get(named.rollout);
  if (named === undefined || run === undefined || named.run > run.number) return undefined;
  const what = `it belongs to run ${named.rollout} #${named.run}`;
  if (named.run < run.number) return `${what}, which is over`;
  const batch = run.batches.findLast(
    (one) => one.stage === named.stage - 1 && one.ofStage === named.batch && one.step?.index === named.step,
  );
  if (batch === undefined || named.attempt > batch.attempt) return undefined;
  if (named.attempt < batch.attempt) return `${what}, whose batch was built again as attempt ${batch.attempt}`;
  if (batch.phase !== "Closed") return undefined;
  return run.paused === undefined
    ? `${what}, whose batch is closed`
    : `${what}, which is paused: \`/resume\` on the release's pull request opens a new one`;
}

async function closeAgain(context: RepoContext, checks: GateChecks, pull: Pull, why: string): Promise<void> {
  const words = overWords(why);
  if (checks.reported(pull.head)?.title !== words.title) await checks.put(pull.head, words, "fenced");
  await closeWithBranch(context, pull);
  context.log.info({ pull: pull.number, why }, "a pull request of an attempt that is over was closed again");
}

/** Closes a PR and deletes its own branch: never that of a newer attempt, which is another PR's. */
export async function closeWithBranch(context: RepoContext, pull: Pick<Pull, "number" | "branch" | "headRepository">): Promise<void> {
  await context.forge.closePull(pull.number);
  if (!isRunBranch(pull, context.repository)) return;
  try {
    await context.forge.deleteBranch(pull.branch);
  } catch (error) {
    // Gone already, or kept by a rule: the closed PR is what counts.
    if (!(error instanceof ForgeError)) throw error;
  }
}
