import type { Pull } from "../forge/port.ts";
import { planComment, problemsComment } from "../report/plan-comment.ts";
import { releaseName } from "../report/words.ts";
import type { RepoContext } from "./context.ts";
import { makePlan } from "./make-plan.ts";
import type { RepoMemory } from "./memory.ts";
import { isRolloutFile, type Project, REPO_CONFIG, readProject } from "./project.ts";
import { stickyMarker } from "./publish.ts";
import { readRelease, releaseFiles } from "./release.ts";
import { releaseAt, sameRelease } from "./releases.ts";

/**
 * Open release PRs: each keeps one comment with what merging it would do. A PR is a release PR of a rollout when the
 * tree that merging it would produce asks for another release than the base does.
 */
export async function publishPlans(context: RepoContext, memory: RepoMemory, baseBranch: string): Promise<void> {
  const base = await context.mirror.head(baseBranch);
  if (base === undefined) return;
  const atBase = await readProject(memory.snapshot(base));
  const watched = new Set(atBase.rollouts.flatMap((rollout) => [rollout.file, ...releaseFiles(rollout)]));
  for (const pull of await context.forge.openPulls()) {
    if (pull.base !== baseBranch || pull.branch.startsWith("stagecoach-run/")) continue;
    try {
      if (await publishPlan(context, memory, base, baseBranch, atBase, watched, pull)) await answerBeforeRun(context, pull.number);
    } catch (error) {
      context.log.warn({ pull: pull.number, error: String(error) }, "the plan of a pull request could not be made");
    }
  }
}

/** Its plan is fresh now: whoever asked for it by `/plan` is told, and whoever gave a command that needs a run, that there is none. */
async function answerBeforeRun({ commands }: RepoContext, pull: number): Promise<void> {
  for (const command of (await commands.beforeRun?.(pull)) ?? []) await commands.answer(command, "done", "the plan is fresh");
}

/** False: it is no release PR. */
async function publishPlan(
  context: RepoContext,
  memory: RepoMemory,
  base: string,
  baseBranch: string,
  atBase: Project,
  watched: ReadonlySet<string>,
  pull: Pull,
): Promise<boolean> {
  const files = await context.forge.changedFiles(pull.number);
  if (!files.some((file) => watched.has(file) || isRolloutFile(file) || file === REPO_CONFIG)) return false;
  await context.mirror.fetch([`refs/pull/${pull.number}/head`]);
  const merged = await context.mirror.mergeTree(base, pull.head);
  if ("conflicts" in merged) return false;
  const snapshot = memory.snapshot(merged.tree);
  const project = await readProject(snapshot);
  const errors = project.problems.filter((problem) => problem.severity === "error");
  if (errors.length > 0) {
    await context.forge.stickyComment(pull.number, "stagecoach:refused", problemsComment(errors));
    return true;
  }
  let asks = false;
  for (const rollout of project.rollouts) {
    const asked = await snapshot.with((sync) => readRelease(rollout, (path) => sync.read(path)));
    if (!asked.ok) continue;
    const before = await releaseAt(context, memory, rollout.name, base);
    const known = atBase.rollouts.some((other) => other.name === rollout.name);
    if (!known || (before !== undefined && sameRelease(before, asked.release))) continue;
    asks = true;
    const made = await makePlan(context, rollout, asked.release, snapshot, baseBranch);
    const body = made.ok
      ? planComment(rollout, made.plan, before === undefined ? undefined : releaseName(before.values))
      : problemsComment(made.problems);
    await context.forge.stickyComment(pull.number, stickyMarker(rollout.name), body);
  }
  return asks;
}
