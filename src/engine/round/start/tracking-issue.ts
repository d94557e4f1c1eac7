import { createHash } from "node:crypto";
import type { Pull } from "../../../adapters/forge/port.ts";
import type { CommitInfo } from "../../../adapters/git/port.ts";
import type { Release } from "../../../core/plan/plan-types.ts";
import { trackingIssue } from "../../../core/report/run/tracking-issue.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import type { RepoMemory } from "../memory.ts";

/** By release: the issue it is steered by, so that a release that waits asks for it once. */
const known = new WeakMap<RepoMemory, Map<string, number>>();
/** Runs whose issue was closed by this process. */
const closed = new WeakMap<RepoMemory, Set<string>>();

/**
 * The issue that stands for the PR of a release that has none (docs/spec.md §9.7): comments on it steer the run, and the run's page
 * is a comment on it. One for each release, found again by its marker. undefined: it cannot be made, such as where issues
 * are switched off; the release goes its way without.
 */
export async function trackingIssueOf(
  context: RepoContext,
  memory: RepoMemory,
  rollout: string,
  release: Release,
  commit: CommitInfo,
): Promise<number | undefined> {
  const marker = `stagecoach:release:${rollout}:${idOf(release)}`;
  const kept = known.get(memory) ?? new Map<string, number>();
  known.set(memory, kept);
  const before = kept.get(marker);
  if (before !== undefined) return before;
  try {
    const { number } = await context.forge.stickyIssue(marker, { ...trackingIssue(rollout, release, commit), labels: [] });
    kept.set(marker, number);
    return number;
  } catch (error) {
    context.log.warn({ rollout, error: String(error) }, "a release without a pull request could not be given an issue");
    return undefined;
  }
}

/**
 * Closes the issue of a run that is over, after its last word was sent: a list of open issues is a list of what goes on. One
 * whose run has failed stays open, for `/retry`. Tried once by a process; it may be closed already, or be a PR.
 */
export function closeTrackingIssue(context: RepoContext, memory: RepoMemory, run: Run): void {
  const { forge, log } = context;
  const { pull } = run.trigger;
  if (pull === undefined || run.phase === "Failed" || forge.closeStickyIssue === undefined) return;
  const key = `${run.rollout} #${run.number}`;
  const done = closed.get(memory) ?? new Set<string>();
  closed.set(memory, done);
  if (done.size === done.add(key).size) return;
  const before = memory.publishing.get(pull) ?? Promise.resolve();
  const closing = before
    .then(() => forge.closeStickyIssue?.(pull))
    .catch((error: unknown) => log.warn({ issue: pull, error: String(error) }, "the issue of a release could not be closed"));
  memory.publishing.set(pull, closing);
  void closing.finally(() => {
    if (memory.publishing.get(pull) === closing) memory.publishing.delete(pull);
  });
}

/** Values may be long and hold anything: a marker is short. */
function idOf({ values, attempt }: Release): string {
  const text = JSON.stringify([Object.entries(values).sort(), attempt]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/**
 * The PR whose merge this commit is by its own words, where GitHub does not list it yet: `Title (#12)`, or `Merge pull
 * request #12 from …`. The words are only a hint; the PR itself must name the commit.
 */
export async function pullByWords(context: RepoContext, commit: CommitInfo, baseBranch: string): Promise<Pull | undefined> {
  const number = /\(#(\d{1,9})\)$/.exec(commit.subject)?.[1] ?? /^Merge pull request #(\d{1,9}) from /.exec(commit.subject)?.[1];
  if (number === undefined) return undefined;
  const pull = await context.forge.pull(Number(number));
  return pull?.state === "merged" && pull.mergeCommit === commit.sha && pull.base === baseBranch ? pull : undefined;
}
