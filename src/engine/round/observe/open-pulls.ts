import { type Forge, ForgeError, type Pull } from "../../../adapters/forge/port.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { GATE, overWords } from "../../../core/report/batch/gate-check.ts";
import { parseBranch } from "../../../core/run/state/branch-name.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { BatchPulls } from "../batch-pulls.ts";
import type { Rules } from "../branch-rules.ts";
import type { RepoContext } from "../context.ts";
import type { GateChecks } from "../publish/gate-checks.ts";

/**
 * Looks at every open PR to the base, where somebody else may have opened, reopened or pushed one: those that are none of ours
 * get a green gate, and those of an attempt that is over, opened again, are closed again before somebody merges them. `held`: why no
 * run of the repo goes on now: then the gates of their PRs say so, and none is closed. `quiet`: nothing of the repo is ours, so that a
 * gate is shown only where it is required.
 */
export type WatchOpenPulls = (
  runs: ReadonlyMap<string, Run>,
  baseBranch: string,
  about?: { held?: AnyReason; quiet?: boolean },
) => Promise<void>;

export function openPullWatch(
  { forge, repository, log }: Pick<RepoContext, "forge" | "repository" | "log">,
  checks: GateChecks,
  rules: Pick<Rules, "of">,
): WatchOpenPulls {
  async function watch(
    pull: Pull,
    runs: ReadonlyMap<string, Run>,
    baseBranch: string,
    { held, quiet = false }: { held?: AnyReason; quiet?: boolean },
  ): Promise<void> {
    if (held !== undefined && isRunBranch(pull, repository)) {
      const words = overWords(held);
      if (checks.reported(pull.head)?.title !== words.title) await checks.put(pull.head, words, "fenced");
      return;
    }
    const over = whyOver(pull, runs, repository);
    if (over === undefined) {
      const isOther = !isRunBranch(pull, repository) && pull.base === baseBranch;
      if (isOther && (!quiet || (await isRequired(baseBranch)))) await checks.putNotOurs(pull.head);
      return;
    }
    const words = overWords(over);
    if (checks.reported(pull.head)?.title !== words.title) await checks.put(pull.head, words, "fenced");
    await closeWithBranch(forge, repository, pull);
    log.info({ pull: pull.number, why: over.code }, "a pull request of an attempt that is over was closed again");
  }

  async function isRequired(baseBranch: string): Promise<boolean> {
    return (await rules.of(baseBranch))?.requiredChecks.some(({ context }) => context === GATE) === true;
  }

  return async (runs, baseBranch, about = {}) => {
    for (const pull of await forge.openPulls()) {
      try {
        await watch(pull, runs, baseBranch, about);
      } catch (error) {
        log.warn({ pull: pull.number, error: String(error) }, "an open pull request could not be looked at");
      }
    }
  };
}

/** Whether a branch of this repo bears the name of a batch's. */
export function isRunBranch(pull: Pick<Pull, "branch" | "headRepository">, repository: string): boolean {
  return pull.headRepository?.toLowerCase() === repository.toLowerCase() && pull.branch.startsWith("stagecoach-run/");
}

/** The batch that a branch's name says. */
export function batchOf(run: Run, named: NonNullable<ReturnType<typeof parseBranch>>): Batch | undefined {
  return run.batches.findLast((one) => one.stage === named.stage - 1 && one.ofStage === named.batch && one.step?.index === named.step);
}

/** Why a PR of one of our branches is not to be open; undefined: it is, or it is no PR of a batch we know. */
export function whyOver(pull: Pull, runs: ReadonlyMap<string, Run>, repository: string): AnyReason | undefined {
  if (!isRunBranch(pull, repository)) return undefined;
  const named = parseBranch(pull.branch);
  const run = named && runs.get(named.rollout);
  if (named === undefined || run === undefined || named.run > run.number) return undefined;
  const of = { rollout: named.rollout, run: named.run };
  if (named.run < run.number) return engineReason("PULL_RUN_OVER", of);
  const batch = batchOf(run, named);
  if (batch === undefined || named.attempt > batch.attempt) return undefined;
  if (named.attempt < batch.attempt) return engineReason("PULL_ATTEMPT_OVER", { ...of, attempt: batch.attempt });
  if (batch.phase !== "Closed") return undefined;
  return engineReason(run.paused === undefined ? "PULL_BATCH_CLOSED" : "PULL_RUN_PAUSED", of);
}

/** Closes a PR and deletes its own branch: never that of a newer attempt, which is another PR's. */
async function closeWithBranch(
  forge: Pick<Forge, "closePull" | "deleteBranch">,
  repository: string,
  pull: Pick<Pull, "number" | "branch" | "headRepository">,
): Promise<void> {
  await forge.closePull(pull.number);
  if (!isRunBranch(pull, repository)) return;
  try {
    await forge.deleteBranch(pull.branch);
  } catch (error) {
    // Gone already, or kept by a rule: the closed PR is what counts.
    if (!(error instanceof ForgeError)) throw error;
  }
}

/** Closes the PR of a batch by its number. */
export async function closeOwn(forge: Forge, repository: string, pulls: Pick<BatchPulls, "byNumber">, pull: number): Promise<void> {
  // Nothing is open where branches are moved: it is withdrawn by being journalled as closing.
  const known = pull === 0 ? null : (pulls.byNumber(pull) ?? (await forge.pull(pull)));
  if (known !== null) await closeWithBranch(forge, repository, known);
}
