import type { Time } from "../../base/time.ts";

/**
 * What started a run. `pull`: the release PR, or the issue that stands for it where there was none; absent: neither could be made. `accounts`: of
 * a release without a PR, those that GitHub knows to have brought it in, none of whom may approve; empty: it knows none, and `author` is
 * what its commit says, which anybody may have typed. Absent: `author` opened the PR.
 */
export interface Trigger {
  commit: string;
  pull?: number | undefined;
  author: string;
  at: Time;
  accounts?: string[] | undefined;
  /** Who merged the release PR. */
  merger?: string | undefined;
  /** Commits of the release that nobody can be held to have made. */
  unlinked?: string[] | undefined;
  /** Who approved the release PR as it was merged. Asked only where there are such commits. */
  reviewers?: string[] | undefined;
  /** When the release PR was opened, by GitHub's clock. */
  openedAt?: Time | undefined;
  refusedAt?: Time | undefined;
}
