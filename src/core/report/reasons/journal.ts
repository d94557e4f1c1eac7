import type { BreachReasons, Unconfirmed } from "../../reasons/breaches.ts";
import type { JournalReasons } from "../../reasons/journal.ts";
import { type Entries, entriesOf } from "./entry.ts";

/** Why a journal is not gone on with, or cannot be read: for the log, and for who looks at it from a terminal. */
export const JOURNAL = entriesOf<JournalReasons>()({
  JOURNAL_GONE: { says: "the journal's branch is gone; its last commit was {commit}" },
  JOURNAL_REWRITTEN: { says: "the journal was rewritten: {head} does not descend from {commit}" },
  JOURNAL_TAKEN_AWAY: { says: "the journal is gone, though pull request {pull} of run {rollout} #{run} is open" },
  JOURNAL_FOREIGN: { says: 'commit {commit} ("{subject}") {because}' },
  JOURNAL_FILE: { says: "{file}: {because}" },
  NOT_SIGNED: { says: "is not signed" },
  SIGNATURE_FAULT: {
    says: {
      fault: {
        NoSsh: "has a signature that no SSH key made",
        Damaged: "has a signature that is damaged",
        Newer: "has a signature of a newer kind",
        OtherKey: "is signed with another key",
        OtherUse: "has a signature that was not made for a commit",
        Mismatch: "has a signature that does not match its content",
      },
    },
  },
  SIGNATURE_KIND: { says: "has a signature of kind {word}, which this version does not know" },
  NOT_SEALED: { says: "carries no seal of this server's key" },
  SEAL_OF_OTHER_KEY: { says: "is sealed with a key ({key}) that this server does not know" },
  SEAL_NEWER: { says: "carries a seal of a newer version ({has}): run the version that wrote it, or a later one" },
  SEAL_BROKEN: { says: "carries a seal that was made for something else" },
  COMMIT_MERGES: { says: "is a merge commit, which Stagecoach never makes in the journal" },
  COMMIT_AUTHOR: { says: "is by {author} <{email}>, not by {app}" },
  COMMIT_NO_TRAILER: { says: "lacks the trailer {trailer}: {app}" },
  JOURNAL_NO_FILE: { says: { indexed: { true: "it is missing, though the index names this run", false: "it is missing" } } },
  JOURNAL_UNREADABLE: { says: "{said}" },
  JOURNAL_FORMAT: {
    says: "it has format {has}, and this version reads format {reads}: a newer version wrote it (run that one), or somebody edited it",
  },
  JOURNAL_FORMAT_OLD: {
    says: "it is of a version before 0.1.0, whose runs this one does not read: end them with that version, then delete the journal's branch",
  },
  JOURNAL_OTHER_RUN: { says: "it is of another run, {rollout} #{run}" },
  JOURNAL_TARGET: { says: "target {target} is not in the plan, and the journal lacks its application, cluster or edits" },
  JOURNAL_EVIDENCE: { says: "evidence file {shard} lacks {target}" },
  JOURNAL_OTHER_APP: { says: "this journal belongs to {owner}, not to {app}" },
});

/** How an invariant of a run would be violated: for those who look into a bug of ours. */
export const BREACHES: Entries<BreachReasons> = entriesOf<BreachReasons>()({
  WINDOW_OVERFULL: {
    says: ({ stage, clusters, most }) =>
      `stage "${stage}" has ${clusters.length} <clusters> in flight, and at most ${most} may be: ${clusters.join(", ")}`,
  },
  MERGE_OF_NO_BATCH: { says: "batch {number} is to be merged, and the run has no such batch" },
  MERGE_OVER_UNCONFIRMED: {
    says: ({ number, other, target, how }) => `batch ${number} merges although ${target} of batch ${other} ${unconfirmed(how)}`,
  },
  MERGE_WHILE_STOPPED: { says: "a batch is to be merged while the run is {phase}" },
  INTENTION_WHILE_STOPPED: { says: "batch {number} is to be merged while the run is {phase}" },
  MERGE_AHEAD: { says: "batch {number} is to be merged, before its turn" },
  TARGET_NOT_PLANNED: { says: "batch {number} has {target}, which is not in the plan" },
  PUT_BACK_OTHERWISE: { says: "batch {number} puts {target} back otherwise than it was changed" },
  EDITED_OTHERWISE: { says: "batch {number} edits {target} otherwise than planned" },
  WEIGHT_NOT_GROWN: { says: "batch {number} brings {target} to weight {weight}, and it was at {before} already" },
  RUN_IS_ANOTHER: { says: "the run became another one" },
  FROZEN_CHANGED: { says: "the plan, the resource or the release of the run changed" },
  JOINER_CHANGED: { says: "the record of how {cluster} joined was changed" },
  ENDED_GOES_ON: { says: "a run that was {phase} goes on" },
  ENDING_GOES_ON: { says: "a run that was to end goes on" },
  PULLS_OPEN_AT_ONCE: { says: "{count} pull requests of the run are open at once" },
  ENDED_WITH_OPEN: { says: "the run ended with batch {number} open" },
  CHECK_NOT_JOURNALLED: { says: "{effect} is to be done, and the journal does not have it under way" },
  SYNC_NOT_JOURNALLED: { says: "Argo CD is to be asked to sync {target}, which the journal does not have, or the run is paused" },
  ORDER_NOT_JOURNALLED: { says: "Argo Rollouts are to be steered for {command}, which the journal does not have" },
  PULL_NOT_JOURNALLED: { says: "a pull request is to be opened for batch {number}, which the journal does not have as Proposing" },
  MERGE_NOT_INTENDED: { says: "batch {number} is to be merged and the journal does not say so first" },
  MERGE_OF_OTHER_HEAD: { says: "batch {number} is to be merged at another head than intended" },
  MERGE_AFTER_LAPSE: { says: "batch {number} is to be merged after the time that the journal gave it" },
  COMMAND_OF_NOBODY: { says: "the run handled a command {command} that nobody gave" },
  COMMAND_NOT_PERMITTED: { says: '"{text}" of {by} was done with permission {permission}' },
  COMMAND_TWICE: { says: "the run handled a command twice" },
  END_AND_PHASE_DIFFER: { says: ({ phase, ended }) => `the run is ${phase} and ${ended ? "has no end" : "has an end"}` },
  NEXT_UNSAID: { by: "itself", says: "the run is {phase} and does not say what comes next" },
});

function unconfirmed(how: Unconfirmed): string {
  if (typeof how === "object") return "phase" in how ? `is ${how.phase}` : `counts as healthy, though it was found ${how.verdict}`;
  return {
    beyondBudget: "failed beyond the budget",
    unproven: "counts as healthy without evidence",
    unmerged: "counts as healthy though its batch has not merged",
    older: "counts as healthy by evidence older than its change",
  }[how];
}
