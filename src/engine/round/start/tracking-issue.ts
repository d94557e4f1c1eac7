import { createHash } from "node:crypto";
import type { Forge, Pull } from "../../../adapters/forge/port.ts";
import type { CommitInfo } from "../../../adapters/git/port.ts";
import { BoundedMap, BoundedSet } from "../../../core/base/bounded.ts";
import type { Release } from "../../../core/plan/plan-types.ts";
import { trackingIssue } from "../../../core/report/run/release-notice.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import type { Comments } from "../publish/send-comment.ts";

/**
 * The issues that stand for the PRs of releases that have none (docs/spec.md §9.7): comments on one steer the run, and the run's page
 * is a comment on it.
 */
export interface TrackingIssues {
  /**
   * The issue of a release, found again by its marker. undefined: it cannot be made, such as where issues are switched off; the release
   * goes its way without.
   */
  of(rollout: string, release: Release, commit: CommitInfo): Promise<number | undefined>;
  /**
   * Closes the issue of a run that is over, after its last word was sent: a list of open issues is a list of what goes on. One
   * whose run has failed stays open, for `/retry`. Tried once by a process; it may be closed already, or be a PR.
   */
  close(run: Run): void;
}

const MOST_KEPT = 1000;

export function openTrackingIssues({ forge, log }: Pick<RepoContext, "forge" | "log">, comments: Comments): TrackingIssues {
  const known = new BoundedMap<string, number>(MOST_KEPT);
  const closed = new BoundedSet<string>(MOST_KEPT);
  return {
    async of(rollout, release, commit) {
      const marker = `stagecoach:release:${rollout}:${idOf(release)}`;
      const before = known.get(marker);
      if (before !== undefined) return before;
      try {
        const { number } = await forge.stickyIssue(marker, { ...trackingIssue(rollout, release, commit), labels: [] });
        known.set(marker, number);
        return number;
      } catch (error) {
        log.warn({ rollout, error: String(error) }, "a release without a pull request could not be given an issue");
        return undefined;
      }
    },
    close(run) {
      const { pull } = run.trigger;
      const key = `${run.rollout} #${run.number}`;
      if (pull === undefined || run.phase === "Failed" || forge.closeStickyIssue === undefined || closed.has(key)) return;
      closed.add(key);
      comments.follow(pull, async () => {
        try {
          await forge.closeStickyIssue?.(pull);
        } catch (error) {
          log.warn({ issue: pull, error: String(error) }, "the issue of a release could not be closed");
        }
      });
    },
  };
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
export async function pullByWords(forge: Pick<Forge, "pull">, commit: CommitInfo, baseBranch: string): Promise<Pull | undefined> {
  const number = /\(#(\d{1,9})\)$/.exec(commit.subject)?.[1] ?? /^Merge pull request #(\d{1,9}) from /.exec(commit.subject)?.[1];
  if (number === undefined) return undefined;
  const pull = await forge.pull(Number(number));
  return pull?.state === "merged" && pull.mergeCommit === commit.sha && pull.base === baseBranch ? pull : undefined;
}
