import type { AnyReason } from "../base/reason.ts";
import type { Time } from "../base/time.ts";
import type { OverLimit } from "./problems/plan.ts";
import type { AnalysisRef, BatchRef, HookRef, PullRef, WindowOwner } from "./refs.ts";

/** One thing a rule of the base branch wants of a PR and does not have yet. */
export type PullNeed =
  /** A required check. silent: nothing of that name was ever reported for this head. */
  | { kind: "check"; name: string; state: "silent" | "pending" | "failed"; detail?: string | undefined; url?: string | undefined }
  | { kind: "reviews"; have: number; want: number }
  | { kind: "changesRequested"; by: string[] }
  | { kind: "codeOwners" }
  | { kind: "lastPush" }
  | { kind: "signatures" }
  | { kind: "method"; method: string; allowed: string[] };

/** One thing that stands against a merge, as GitHub's answer tells it. `core/run/gates/github-words.ts` reads it. */
export type MergeObstacle =
  | { kind: "check"; name: string; state: "silent" | "pending" | "failed" }
  | { kind: "checks"; some: number; of: number; failed: boolean }
  | { kind: "reviews"; want: number }
  | { kind: "codeOwner"; who?: string }
  | { kind: "deployment"; environment?: string }
  | { kind: "method"; method: string }
  /** Of a PR, in GitHub's word. */
  | { kind: "state"; state: string }
  | { kind: "lastPush" | "changesRequested" | "conversations" | "behind" | "codeScanning" | "draft" | "closed" | "conflict" | "gone" }
  | { kind: "signatures" | "linear" | "queue" | "pullRequest" | "workflows" | "permissions" | "protection" | "archive" }
  | { kind: "locked" | "ruleset" };

/** A window as it is written. */
interface WindowRef {
  schedule: string;
  durationMs: number;
  timeZone: string;
  kind: "allow" | "deny";
  /** Where it stands; `file`: where that is not said already. */
  at?: { path: string; file?: string | undefined } | undefined;
}

/** What GitHub wants changed, told from its words; named: what they name. */
export type GitHubChange = "mergeMethod" | "signatures" | "workflows" | "permissions" | "ruleset" | "protection" | "archive" | "named";

/** Rules that keep everybody from writing to a branch who may not pass them by, as GitHub calls them. */
export const WRITE_RULES = ["creation", "update", "deletion"] as const;

export type BranchRule = (typeof WRITE_RULES)[number];

/** A branch that only we are to write, and the rules that it lacks for that. */
export interface BareBranch {
  branch: string;
  lacks: readonly BranchRule[];
}

type None = Record<never, never>;

/** Why a batch is not merged now, and what is waited for: each code with its data. `core/report/reasons/gates.ts` says them. */
export interface GatesReasons {
  /** Its PR is open, and something of the run stands against merging it. */
  PULL_WAITS: { pull: PullRef; because: AnyReason };
  NOT_MERGED_YET: { pull: PullRef; because: AnyReason };
  /** Nothing merges in this round. */
  ROUND_HELD: { because: AnyReason };
  RUN_PAUSED: None;
  BATCH_BEFORE: { batch: BatchRef };
  /** Opened ahead, and every batch before it is settled. */
  STAGE_BEFORE: { stage: string };
  WINDOW_FULL: { clusters: string[]; most: number };
  PULL_UNSEEN: None;
  PULL_DRAFT: { pull: PullRef };
  PULL_CHANGED: { pull: PullRef; head: string; retargeted?: string | undefined };
  PULL_BUILT_AGAIN: { pull: PullRef; because: AnyReason };
  PULL_CLOSED_NEEDLESS: { pull: PullRef; because: AnyReason };
  WEIGHT_MISSED: { clusters: string[] };
  BASE_AT_RELEASE: None;
  BASE_CONFLICTS: None;
  BASE_MOVED: None;
  GUARD_PENDING: { pull: PullRef };
  GUARD_REFUSES: { pull: PullRef; because: AnyReason };
  CONFIRMED_ILL: { application: string; status: string };
  CONFIRMED_UNREADABLE: { application: string; because: AnyReason };
  CONFIRMED_READ_AGAIN: { pull: PullRef };

  SETTINGS_BROKEN: { because: AnyReason };
  /** Others may write to branches that are ours. */
  UNPROTECTED: { bare: readonly BareBranch[] };
  PROTECTION_UNREAD: None;
  /** Our clock is ahead of GitHub's, or behind it. */
  CLOCKS_DIFFER: { seconds: number; ahead: boolean };
  OTHERS_UNREAD: None;
  PLANE_UNSEEN: { clusters: string[]; because: AnyReason };
  /** No clusters: every one. */
  CLUSTERS_HALTED: { by: string; clusters: string[]; text: string };
  MERGE_NOT_TRIED: { pull: PullRef; because: AnyReason };
  HALTED_IN_QUEUE: { pull: PullRef };
  JITTER: { pull: PullRef };

  LIMITS_OTHERS_UNREAD: None;
  LIMITS_LABELS_UNREAD: None;
  LIMITS_FULL: { over: OverLimit; now: string[] };
  BATCH_TOO_LARGE: { over: OverLimit };
  BATCH_MERGES_ALONE: { over: OverLimit; now: string[] };
  BATCH_NEVER_FITS: { batch: BatchRef; over: OverLimit; clusters: string[] };

  /** How much of it may be in flight at once. */
  LIMIT_ALLOWS: { over: OverLimit };

  DEPENDENCIES_UNREAD: None;
  DEPENDENCY_MISSING: { cluster: string; rollout: string; because: AnyReason };
  VERSION_UNKNOWN: { run: number; phase: string };
  VERSION_OTHER: { there: string; wanted: string };
  VERSION_OLDER: { there: string; wanted: string };
  VERSION_INCOMPARABLE: { there: string; wanted: string };

  APPROVAL_WANTED: {
    stage: string;
    teams: string[];
    want: number;
    have: string[];
    lapsed: { by: string; because: AnyReason }[];
    /** Who approved it before what the stage holds changed. */
    outdated: string[];
    /** Reviews could not be read. */
    unread: boolean;
    /** Commits of the release that nobody can be held to have made: one person more is wanted. */
    unlinked?: string[];
    /** Who reviewed the release's pull request, where that is of use. */
    reviewed?: string[];
  };
  APPROVER_RELEASED: { by: string };
  APPROVER_MERGED: { by: string };
  APPROVER_TEAMS_UNSEEN: { by: string; teams: string[] };
  APPROVER_IN_NO_TEAM: { by: string; teams: string[] };

  WINDOW_SHUT: { window?: WindowRef | undefined; where: WindowOwner };
  /** A window is shut, and which of them bind the batch goes by labels. */
  WINDOW_LABELS_UNREAD: None;
  WINDOWS_NEVER_OPEN: { where: WindowOwner[] };
  WINDOWS_NEVER_TOGETHER: { where: WindowOwner[] };

  PULL_MANUAL: { pull: PullRef };
  MODE_MERGES_NOT: { pull: PullRef; mode: string };
  PULL_QUEUED: { pull: PullRef; place: number; state: string };
  PULL_MERGING: { pull: PullRef };
  HEAD_MOVED: None;
  MERGE_BEGINS: { pull: PullRef; head: string };
  MERGEABLE_UNKNOWN: { pull: PullRef };
  GATE_UNSEEN: { pull: PullRef };
  /** GitHub's rules could not be read. */
  GITHUB_BLOCKS: { pull: PullRef };
  /** silent: its checks that never reported have been silent for too long. */
  GITHUB_WANTS: { pull: PullRef; needs: PullNeed[]; silent: boolean };
  /** No obstacles: GitHub's words are none of those that are known. */
  GITHUB_ANSWERED: { pull: PullRef; obstacles: MergeObstacle[]; message: string };

  ANALYSIS_UNREAD: None;
  ANALYSIS_BAD: { analysis: AnalysisRef; because: AnyReason };
  ANALYSIS_RUNNING: { analysis: AnalysisRef; because: AnyReason; more: number };
  ANALYSIS_BEGUN: None;
  ANALYSIS_BEGINS: { analysis: AnalysisRef; attempt: number };
  ANALYSIS_ARGUMENT: { name: string; because: AnyReason };
  ANALYSIS_ARGUMENT_MISSING: { name: string; variable: string; cluster?: string | undefined };
  WAITS_ENDED: { by: string };
  BAKE_IS_OVER: None;
  STAGE_IS_DONE: None;
  HOOK_BAD: { hook: HookRef; because: AnyReason };
  HOOK_HOLDS_STAGE: { hook: HookRef; because: AnyReason };
  HOOK_UNCLEAR: { hook: HookRef; because: AnyReason };
  HOOK_AWAITED: { hook: HookRef };

  PR_GATE_RUN_ENDED: { phase: string; because: AnyReason };
  PR_GATE_CLOSING: { pull: PullRef; because: AnyReason };

  NEXT_JUDGED_AGAIN: None;
  NEXT_LOOKED_AGAIN: None;
  NEXT_READ: None;
  NEXT_COMMAND: None;
  NEXT_MERGES: None;
  NEXT_MERGED: None;
  NEXT_MERGE_ENDS: None;
  NEXT_PULL_READY: { pull: PullRef };
  NEXT_PULL_CLOSED: None;
  NEXT_BUILT_SMALLER: None;
  NEXT_GUARD: None;
  NEXT_WELL: None;
  NEXT_SETTINGS: None;
  NEXT_PROTECTED: None;
  NEXT_CLOCKS_AGREE: None;
  NEXT_PLANE: { clusters: string[] };
  NEXT_HALT_LIFTED: None;
  NEXT_HALT_ENDS: None;
  NEXT_OTHERS_CONFIRMED: None;
  NEXT_LIMIT_RAISED: { setting: OverLimit["setting"] };
  NEXT_DEPENDENCY: { rollout: string };
  /** released: accounts that may not approve; empty: nobody is excluded, and `author` is what the commit says. */
  /** `teams`, `left`: whose members may, and how many more of them have to; absent in journals of before. */
  NEXT_APPROVED: { pull: PullRef; teams?: string[]; left?: number; released: string[]; author: string; merger?: string | undefined };
  /** `timeZone`: of the window that is shut, where it is not UTC. */
  NEXT_WINDOW: { opens?: { at: Time; timeZone: string } | undefined };
  NEXT_WINDOWS_CHANGED: { where: WindowOwner[]; all: boolean };
  NEXT_PERSON_MERGES: { pull: PullRef; promote: boolean };
  NEXT_QUEUE: None;
  NEXT_GITHUB_ANSWERS: None;
  NEXT_GATE_SEEN: None;
  NEXT_GITHUB_RULES: None;
  NEXT_CHECK_REPORTS: { check: string };
  NEXT_CHECK_PASSES: None;
  NEXT_CHECKS_DONE: None;
  NEXT_RULE_CHANGED: None;
  NEXT_REVIEWED: None;
  NEXT_TRIED_AGAIN: None;
  NEXT_ANALYSIS_ENDS: None;
  NEXT_HOOK_ASKED: None;
  NEXT_HOOK_ANSWERS: None;

  ASK_GUARD: None;
  ASK_GITHUB_CHANGE: { change: GitHubChange };
  ASK_RAISE_LIMIT: { setting: OverLimit["setting"] };
}
