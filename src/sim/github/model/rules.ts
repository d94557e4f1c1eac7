import type { Actor } from "./account.ts";

/** Rules of branches, as GitHub's rulesets say them. Times are minutes where the name says so. */
export interface Ruleset {
  id: number;
  name: string;
  source: "Repository" | "Organization";
  enforcement: "active" | "evaluate" | "disabled";
  /** `~DEFAULT_BRANCH`, `~ALL`, `refs/heads/release-*`. */
  include: string[];
  exclude: string[];
  bypass: BypassActor[];
  rules: Rule[];
}

export interface BypassActor {
  type: "Integration" | "RepositoryRole" | "Team" | "OrganizationAdmin" | "User";
  /** App, team, user, or role (2 maintain, 4 write, 5 admin); OrganizationAdmin has 1. */
  id: number;
  /** `pull_request`: only when a pull request is merged. `exempt`: the rules are not run at all. */
  mode: "always" | "pull_request" | "exempt";
}

export type MergeMethod = "merge" | "squash" | "rebase";

export type Rule =
  | { type: "creation" | "deletion" | "update" | "non_fast_forward" | "required_signatures" | "required_linear_history" }
  | { type: "pull_request"; parameters: PullRule }
  | { type: "required_status_checks"; parameters: ChecksRule }
  | { type: "required_deployments"; parameters: { required_deployment_environments: string[] } }
  | { type: "merge_queue"; parameters: QueueRule };

export interface PullRule {
  required_approving_review_count: number;
  dismiss_stale_reviews_on_push: boolean;
  require_code_owner_review: boolean;
  require_last_push_approval: boolean;
  required_review_thread_resolution: boolean;
  allowed_merge_methods?: MergeMethod[];
}

interface ChecksRule {
  strict_required_status_checks_policy: boolean;
  do_not_enforce_on_create?: boolean;
  required_status_checks: { context: string; integration_id?: number }[];
}

interface QueueRule {
  check_response_timeout_minutes: number;
  grouping_strategy: "ALLGREEN" | "HEADGREEN";
  max_entries_to_build: number;
  max_entries_to_merge: number;
  merge_method: "MERGE" | "SQUASH" | "REBASE";
  min_entries_to_merge: number;
  min_entries_to_merge_wait_minutes: number;
}

/** The classic protection of one branch. */
export interface Protection {
  requiredChecks: string[];
  approvals: number;
  /** The head must contain the base. */
  strict: boolean;
  /** Merges go through a queue only. */
  mergeQueue: boolean;
  codeOwners: boolean;
  lastPushApproval: boolean;
  dismissStale: boolean;
  signatures: boolean;
  /** Administrators are held to it, too. */
  admins: boolean;
  /** Logins, and slugs of teams and Apps, that may push and merge; absent: all who may write. */
  pushers?: string[];
  /** A ruleset's paragraphs; without a bypass every merge is refused with them. */
  rules: string[];
}

/** What stands in a branch's merge queue. */
export interface MergeQueue {
  id: number;
  branch: string;
  entries: QueueEntry[];
}

export interface QueueEntry {
  id: number;
  /** Of the pull request. */
  number: number;
  enqueuer: Actor;
  at: number;
  jump: boolean;
  state: "QUEUED" | "AWAITING_CHECKS" | "MERGEABLE" | "UNMERGEABLE" | "LOCKED";
  /** The temporary branch and its commit, once they are made: checks are judged there. */
  group?: { ref: string; base: string; head: string; stop(): void };
}
