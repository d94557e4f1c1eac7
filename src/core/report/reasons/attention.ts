import type { AttentionReasons, WriteRefusals } from "../../reasons/attention.ts";
import { type Entries, entriesOf } from "./entry.ts";
import { bareBranches } from "./phrases.ts";

/** What stops a repository, and why GitHub does not take a write: with what a person does about it. */
export const ATTENTION: Entries<AttentionReasons & WriteRefusals> = entriesOf<AttentionReasons & WriteRefusals>()({
  JOURNAL_NOT_WRITTEN: {
    says: "the journal (branch {branch}) cannot be written, so no run begins or goes on: {because}",
    subject: "repository",
    means:
      "GitHub refuses every commit on the journal's branch. Nothing is done that is not recorded first, so every run of the repo stands still",
    todo: "do what the message names; it is tried again every few minutes, and goes on by itself",
  },
  JOURNAL_NOT_OURS: {
    says: "the journal was changed by somebody else, so every run stands still: {because}",
    subject: "repository",
    means: "a commit on the journal's branch was not made by this App, or the branch was rewritten or deleted",
    todo: "look at that commit; `stagecoach journal accept` takes the journal as it stands. Plans and checks go on meanwhile",
  },
  JOURNAL_NOT_READ: {
    says: "the journal cannot be read just now, so every run waits: {said}",
    subject: "repository",
    means: "the journal's branch could not be fetched or its commits could not be looked at",
    todo: "nothing, where GitHub is to blame; else what the message names",
  },
  COMMENT_REFUSED: {
    says: "GitHub takes no comment of Stagecoach on #{number}: {because}",
    subject: "pull",
    means: "what is shown of a plan or a run on that pull request is out of date, for GitHub refuses to have it written",
    todo: "unlock the conversation, or give the App the permission that is named; it is tried again, less often each time",
  },
  CHECKS_NOT_ALLOWED: {
    says: "the App may not write checks (`checks: write`), and a rule of the base branch requires one of Stagecoach's: pull requests wait for it",
    subject: "repository",
    means: "a required check of Stagecoach's can never report",
    todo: "give the App `checks: write` and accept it for this installation, or take the check out of the required ones",
  },
  RULES_MISSING: {
    says: ({ bare }) =>
      `runs that merge by themselves (\`mode: Run\`) wait: others may write to ${bareBranches(bare)}, which only Stagecoach is to write. An owner of the repository sets a ruleset, and they go on`,
    subject: "repository",
    means:
      "no active ruleset keeps others from the journal's branch and from those of batches. Only rulesets count: what classic branch protection holds back, an App cannot see",
    todo: "set the ruleset that the issue has as a `gh api` call; or the operator writes `allowUnprotected` into the server's configuration. It is looked at again with every resync",
  },
  MIRROR_FULL: {
    says: "the server's copy of this repository has used up its {mebibytes} MiB: pull requests get no plan until there is room. Runs go on",
    subject: "repository",
    means:
      "the base with its history, the branches of runs and the heads of open pull requests take more room than `quota.repository` of the server's configuration",
    todo: "close pull requests that bring large files, or have the operator raise `quota.repository`; it is tried again every few minutes",
  },
  ROUNDS_GIVEN_UP: {
    says: "looks at this repository do not end and are given up after some minutes ({rounds} in a row): it is tried again, less often each time",
    subject: "repository",
    means:
      "something that Stagecoach asks, GitHub's API, Git or Argo CD, neither answers nor refuses; what was under way is looked at anew the next time",
    todo: "look at the server's log for what was asked last; githubstatus.com says whether GitHub knows of it",
  },
  NOTHING_IS_DONE: {
    says: "nothing is done yet, and nothing merges: {because}. This is looked at again by itself once that is over: /pause, /abort and /halt however late that is, anything else if it was written no longer than 15 minutes before",
    subject: "repository",
  },

  BRANCH_IN_THE_WAY: {
    says: "Git keeps no branch {branch} beside a branch {by}: rename or delete {by}",
    subject: "repository",
  },
  RULES_FORBID: {
    says: "a rule of this repository ({rules}) forbids {branch}: make the App a bypass actor of it, or take stagecoach/** and stagecoach-run/** out of its branches (Settings, Rules)",
    subject: "repository",
  },
  RULES_REFUSE: {
    says: "a rule of this repository refuses it ({said}): make the App a bypass actor of it, or take stagecoach/** and stagecoach-run/** out of its branches (Settings, Rules)",
    subject: "repository",
  },
  PERMISSION_LACKING: {
    says: "the App lacks a permission[ ({needs})]: give it to the App and accept it for this installation; GitHub says: {said}",
    subject: "repository",
  },
  WRITE_REFUSED: { says: "GitHub says: {said}", subject: "repository" },
});
