import { count } from "../../base/count.ts";
import type { AttentionReasons, WriteRefusals } from "../../reasons/attention.ts";
import { type Entries, entriesOf } from "./entry.ts";
import { bareBranches } from "./phrases.ts";

/** What stops a repository, and why GitHub does not take a write: with what a person does about it. */
export const ATTENTION: Entries<AttentionReasons & WriteRefusals> = entriesOf<AttentionReasons & WriteRefusals>()({
  JOURNAL_NOT_WRITTEN: {
    says: "Stagecoach cannot write its journal (branch {branch}), so no run begins or goes on: {because}",
    subject: "repository",
    means:
      "GitHub refuses every commit on the journal's branch. Nothing is done that is not recorded first, so every run of the repo stands still",
    todo: "do what the message names; Stagecoach tries again every few minutes, and goes on by itself",
  },
  JOURNAL_NOT_OURS: {
    says: "somebody else changed the journal, so every run waits: {because}",
    subject: "repository",
    means: "a commit on the journal's branch was not made by this App, or the branch was rewritten or deleted",
    todo: "look at that commit; `stagecoach journal accept` takes the journal as it stands. Plans and checks go on meanwhile",
  },
  JOURNAL_NOT_READ: {
    says: "Stagecoach cannot read its journal at the moment, so every run waits: {said}",
    subject: "repository",
    means: "the journal's branch could not be fetched or its commits could not be looked at",
    todo: "nothing, where GitHub is to blame; else what the message names",
  },
  RUN_NOT_READ: {
    says: "Stagecoach cannot read run {rollout} #{run} in its journal, so that run waits: {because}",
    subject: "repository",
    means:
      "a file of that run in the journal was written by a newer version of Stagecoach, or by hand. It is never written over; other runs go on",
    todo: "run the version that wrote it; or put the file back as it was and accept the journal (`stagecoach journal accept`)",
  },
  COMMENT_REFUSED: {
    says: "GitHub refuses Stagecoach's comment on #{number}: {because}",
    subject: "pull",
    means: "what that pull request shows of a plan or a run is out of date: GitHub refuses to take it",
    todo: "unlock the conversation, or give the App the permission that is named; Stagecoach tries again, less often each time",
  },
  CHECKS_NOT_ALLOWED: {
    says: "the base branch requires a check of Stagecoach's, and the App may not write checks (`checks: write`): pull requests wait for a check that never reports",
    subject: "repository",
    means: "a required check of Stagecoach's can never report",
    todo: "give the App `checks: write` and accept it for this installation, or take the check out of the required ones",
  },
  RULES_MISSING: {
    says: ({ bare }) =>
      `others may write to ${bareBranches(bare)}, where only Stagecoach should, so runs that merge by themselves (\`mode: Run\`) wait. They go on once an owner of the repository sets a ruleset`,
    subject: "repository",
    means:
      "no active ruleset keeps others from the journal's branch and from those of batches. Only rulesets count: what classic branch protection holds back, an App cannot see",
    todo: "set the ruleset that the issue has as a `gh api` call; or the operator writes `allowUnprotected` into the server's configuration. It is looked at again with every resync",
  },
  MIRROR_FULL: {
    says: "the server's copy of this repository is full ({mebibytes} MiB), so pull requests get no plan until there is room. Runs go on",
    subject: "repository",
    means:
      "the base with its history, the branches of runs and the heads of open pull requests take more room than `quota.repository` of the server's configuration",
    todo: "close pull requests that bring large files, or have the operator raise `quota.repository`; it is tried again every few minutes",
  },
  ROUNDS_GIVEN_UP: {
    says: "Stagecoach gave up looking at this repository after some minutes, {rounds} times in a row; it tries again, less often each time",
    subject: "repository",
    means:
      "something that Stagecoach asks, GitHub's API, Git or Argo CD, neither answers nor refuses; Stagecoach looks at what was under way again the next time",
    todo: "look at the server's log for what was asked last; githubstatus.com says whether GitHub knows of it",
  },
  SHOWN_BY_NOBODY: {
    says: ({ at }) =>
      `what is shown is as of ${stamp(at)}: the replica that looked after it is silent, and another takes over within seconds`,
    subject: "repository",
    means: "several replicas share the repositories, and the one that looked after this one has ended, or its machine stands still",
    todo: "nothing, if it is gone within half a minute; else look at whether all replicas see the App's installation",
  },
  SHOWN_WITHOUT_DATABASE: {
    says: ({ at }) =>
      `what is shown is as of ${stamp(at)}: PostgreSQL does not answer this replica, which begins and writes nothing meanwhile`,
    subject: "repository",
    means: "the replica whose page you look at cannot reach PostgreSQL. Others may; where none does, every run stands still",
    todo: "look at PostgreSQL, and at the way to it; everything goes on by itself",
  },
  SHOWN_UNREAD: {
    says: "this replica cannot read what another shows of it: {said}",
    subject: "repository",
    means: "replicas of two versions run side by side, or somebody else wrote to Stagecoach's tables in PostgreSQL",
    todo: "finish the upgrade; the other replicas show it",
  },
  REPOSITORY_SLOWED: {
    says: ({ owners, until }) =>
      `${owners} replicas, one after the other, ended while they looked at this repository, so the next look waits until ${stamp(until)}, or until somebody comments`,
    subject: "repository",
    means:
      "something in the repository, or in what Stagecoach asks for it, takes the process down or stops it for seconds. With each replica more the wait doubles, up to ten minutes; a look that ends ends it",
    todo: "look at the log for what the last of them said, and at its memory. A comment in the repository makes the next look come at once",
  },
  DELIVERIES_SET_ASIDE: {
    says: ({ webhooks }) => `${count(webhooks, "webhook")} of this repository could not be read, or no look after it ended well`,
    subject: "repository",
    means: "GitHub, or a proxy, sent what Stagecoach cannot read, or twenty looks in a row failed. It is kept for three days",
    todo: "look at the log for what could not be read. The repository is looked at all the same, with every resync",
  },
  SHOWN_TOO_LARGE: { says: "the run is so large that only the replica that looks after it shows it", subject: "run" },
  NOTHING_IS_DONE: {
    says: "nothing is done yet, and nothing merges: {because}. Stagecoach looks at this comment again once that is over: `/pause`, `/abort` and `/halt` count however late that is, other commands for 15 minutes",
    subject: "repository",
  },

  BRANCH_IN_THE_WAY: { says: "Git cannot have a branch {branch} beside a branch {by}: rename or delete {by}", subject: "repository" },
  RULES_FORBID: {
    says: "a rule of this repository ({rules}) forbids {branch}. In Settings, Rules, make the App a bypass actor of it, or take stagecoach/** and stagecoach-run/** out of its branches",
    subject: "repository",
  },
  RULES_REFUSE: {
    says: "a rule of this repository refuses it ({said}). In Settings, Rules, make the App a bypass actor of it, or take stagecoach/** and stagecoach-run/** out of its branches",
    subject: "repository",
  },
  PERMISSION_LACKING: {
    says: "the App lacks a permission[ ({needs})]: give it to the App and accept it for this installation; GitHub says: {said}",
    subject: "repository",
  },
  WRITE_REFUSED: { says: "GitHub says: {said}", subject: "repository" },
});

/** `2026-01-05 09:00:00 UTC` */
export function stamp(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
}
