import { type AnyReason, type NoData, type ReasonsOf, reasonsOf } from "../base/reason.ts";
import type { Time } from "../base/time.ts";
import type { BareBranch } from "./gates.ts";
import type { JournalReason } from "./journal.ts";

/** Why GitHub does not take a write of ours. */
export interface WriteRefusals {
  /** Git keeps no branch below another, and `by` is there. */
  BRANCH_IN_THE_WAY: { branch: string; by: string };
  /** rules: GitHub's names of those in force on the branch, where its answer named none. */
  RULES_FORBID: { branch: string; rules: readonly string[] };
  RULES_REFUSE: { said: string };
  /** needs: as GitHub names it, `issues=write`; undefined: it did not. */
  PERMISSION_LACKING: { needs: string | undefined; said: string };
  WRITE_REFUSED: { said: string };
}

export type WriteRefusal = ReasonsOf<WriteRefusals>;

export const writeRefusal = reasonsOf<WriteRefusals>();

/** What stops a repository or a part of it, until somebody does something. It stands in one issue, and above every comment of ours. */
export interface AttentionReasons {
  JOURNAL_NOT_WRITTEN: { branch: string; because: WriteRefusal };
  JOURNAL_NOT_OURS: { because: JournalReason };
  JOURNAL_NOT_READ: { said: string };
  /** It stops alone. */
  RUN_NOT_READ: { rollout: string; run: number; because: AnyReason };
  /** number: of the PR or issue. */
  COMMENT_REFUSED: { number: number; because: WriteRefusal };
  CHECKS_NOT_ALLOWED: NoData;
  /** Of the journal's branch and of those of batches: a run with `mode: Run` waits for it. */
  RULES_MISSING: { bare: readonly BareBranch[]; repository: string; journalBranch: string; appId?: number | undefined };
  /** Heads of pull requests are not fetched any more. */
  MIRROR_FULL: { mebibytes: number };
  /** rounds: in a row. */
  ROUNDS_GIVEN_UP: { rounds: number };
  /** Of several replicas none is known to look after it. at: since when. */
  SHOWN_BY_NOBODY: { at: Time };
  /** PostgreSQL has not answered the replica that shows it. */
  SHOWN_WITHOUT_DATABASE: { at: Time };
  /** The replica that looks after it writes what this one cannot read. */
  SHOWN_UNREAD: { said: string };
  SHOWN_TOO_LARGE: NoData;
  /** owners: replicas in a row that ended in the midst of a look at it. */
  REPOSITORY_SLOWED: { owners: number; until: Time };
  DELIVERIES_SET_ASIDE: { webhooks: number };
  /** To whoever gives a command meanwhile: it waits. */
  NOTHING_IS_DONE: { because: AnyReason };
}

export type AttentionReason = ReasonsOf<AttentionReasons>;

export const attentionReason = reasonsOf<AttentionReasons>();
