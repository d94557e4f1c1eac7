import type { JournalReasons } from "../../reasons/journal.ts";
import { entriesOf } from "./entry.ts";

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
  SEAL_BROKEN: { says: "carries a seal that was made for something else" },
  COMMIT_MERGES: { says: "is a merge commit, which Stagecoach never makes in the journal" },
  COMMIT_AUTHOR: { says: "is by {author} <{email}>, not by {app}" },
  COMMIT_NO_TRAILER: { says: "lacks the trailer {trailer}: {app}" },
  JOURNAL_NO_FILE: { says: { indexed: { true: "it is missing, though the index names this run", false: "it is missing" } } },
  JOURNAL_UNREADABLE: { says: "{said}" },
  JOURNAL_FORMAT: { says: "it has format {has}, and this version reads format {reads}: a newer version wrote it, or somebody edited it" },
  JOURNAL_FORMAT_OLD: {
    says: "it is of a version before 0.1.0, whose runs this one does not read: end them with that version, then delete the journal's branch",
  },
  JOURNAL_OTHER_RUN: { says: "it is of another run, {rollout} #{run}" },
  JOURNAL_TARGET: { says: "target {target} is not in the plan, and the journal lacks its application, cluster or edits" },
  JOURNAL_EVIDENCE: { says: "evidence file {shard} lacks {target}" },
  JOURNAL_OTHER_APP: { says: "this journal belongs to {owner}, not to {app}" },
});
