import type { NoData, ReasonsOf } from "../base/reason.ts";

/** Why a commit on the journal's branch is not taken for ours. */
interface CommitFaults {
  NOT_SIGNED: NoData;
  /** `Damaged`, `Newer`, …: what is wrong with a signature of SSH. */
  SIGNATURE_FAULT: { fault: "NoSsh" | "Damaged" | "Newer" | "OtherKey" | "OtherUse" | "Mismatch" };
  SIGNATURE_KIND: { word: string };
  COMMIT_MERGES: NoData;
  COMMIT_AUTHOR: { author: string; email: string; app: string };
  COMMIT_NO_TRAILER: { trailer: string; app: string };
}

/** Why the seal of a commit on the journal's branch is not ours. */
interface SealFaults {
  NOT_SEALED: NoData;
  SEAL_OF_OTHER_KEY: { key: string };
  SEAL_NEWER: { has: string };
  /** It was made for something else: another repository, another place in the history, other files. */
  SEAL_BROKEN: NoData;
}

export type SealFault = ReasonsOf<SealFaults>;

export type CommitFault = ReasonsOf<CommitFaults>;

/** Why a file of the journal cannot be used. */
interface JournalFileFaults {
  JOURNAL_NO_FILE: { indexed: boolean };
  JOURNAL_UNREADABLE: { said: string };
  JOURNAL_FORMAT: { has: string; reads: number };
  JOURNAL_FORMAT_OLD: NoData;
  JOURNAL_OTHER_RUN: { rollout: string; run: number };
  JOURNAL_TARGET: { target: string };
  JOURNAL_EVIDENCE: { target: string; shard: number };
  JOURNAL_OTHER_APP: { owner: string; app: string };
}

export type JournalFileFault = ReasonsOf<JournalFileFaults>;

/** Why the journal stops the runs of a repository. */
export interface JournalReasons extends CommitFaults, SealFaults, JournalFileFaults {
  JOURNAL_GONE: { commit: string };
  JOURNAL_REWRITTEN: { head: string; commit: string };
  /** A PR of a run is open, and there is no journal. */
  JOURNAL_TAKEN_AWAY: { pull: number; rollout: string; run: number };
  JOURNAL_FOREIGN: { commit: string; subject: string; because: CommitFault | SealFault };
  JOURNAL_FILE: { file: string; because: JournalFileFault };
}

export type JournalReason = ReasonsOf<JournalReasons>;
