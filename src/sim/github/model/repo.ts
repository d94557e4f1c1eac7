/** One repository with all that stands in it; its issues and pull requests point to repositories again, as a head in a fork does. */
import type { BareRepo } from "../git/bare-repo.ts";
import type { App, Role, Team, User } from "./account.ts";
import type { CheckRun, CheckSuite, Deployment, Status } from "./checks.ts";
import type { Edited, IssueComment, Label } from "./comment.ts";
import type { MergeQueue, Protection, Ruleset } from "./rules.ts";

export interface RepoSettings {
  allowMerge: boolean;
  allowSquash: boolean;
  allowRebase: boolean;
  allowAutoMerge: boolean;
  deleteBranchOnMerge: boolean;
}

interface Activity {
  id: number;
  ref: string;
  before: string;
  after: string;
  at: number;
  type: "push" | "force_push" | "branch_creation" | "branch_deletion" | "pr_merge";
  actor: User;
}

export interface Repo {
  id: number;
  owner: User;
  name: string;
  description: string | null;
  private: boolean;
  archived: boolean;
  defaultBranch: string;
  /** What it was forked from. */
  parent?: Repo;
  git: BareRepo;
  nextNumber: number;
  issues: Map<number, Issue>;
  comments: Map<number, IssueComment>;
  labels: Map<string, Label>;
  checks: Map<number, CheckRun>;
  suites: Map<number, CheckSuite>;
  statuses: Status[];
  deployments: Map<number, Deployment>;
  collaborators: Map<string, { user: User; role: Role }>;
  protections: Map<string, Protection>;
  rulesets: Map<number, Ruleset>;
  queues: Map<string, MergeQueue>;
  settings: RepoSettings;
  /** Moves of branches, the oldest first. */
  activities: Activity[];
  createdAt: number;
  pushedAt: number;
  /** Runs one change of refs after the other, as GitHub does per repository. */
  serial<T>(work: () => Promise<T>): Promise<T>;
}

/** An issue or, with `pull`, a pull request: GitHub numbers and stores both as one. */
export interface Issue {
  id: number;
  number: number;
  title: string;
  body: string | null;
  state: "open" | "closed";
  locked: boolean;
  user: User;
  via?: App;
  labels: string[];
  /** Who put on which label, oldest first. */
  labelled?: { label: string; by: User; at: number }[];
  /** Who pointed it from which branch at which, oldest first. `automatic`: the site did, since the branch was merged and deleted. */
  retargeted?: { from: string; to: string; by: User; at: number; automatic?: true }[];
  assignees: User[];
  createdAt: number;
  updatedAt: number;
  closedAt?: number;
  closedBy?: User;
  pull?: Pull;
}

interface Pull {
  id: number;
  draft: boolean;
  /** Where the head lives; null: the fork is gone. Absent: in the same repository. */
  headRepo?: Repo | null;
  headRef: string;
  headSha: string;
  /** Who pushed the head last. */
  pusher: User;
  baseRef: string;
  baseSha: string;
  merged?: { at: number; by: User; sha: string };
  reviewers: User[];
  teams: Team[];
  reviews: Review[];
  mergeability?: Mergeability;
  stats?: { base: string; head: string; commits: number; additions: number; deletions: number; files: number };
}

/** What GitHub's background job knows: void once the base or the head has moved. */
export interface Mergeability {
  base: string;
  head: string;
  /** Answers that are still null. */
  nullReads: number;
  /** What was worked out of checks and rules last, and when. */
  state?: { word: string; at: number };
  result: Promise<{ mergeable: boolean; testMerge?: string; behind: boolean }>;
}

export interface Review {
  id: number;
  user: User;
  byApp: boolean;
  state: "APPROVED" | "CHANGES_REQUESTED" | "COMMENTED" | "DISMISSED" | "PENDING";
  body: string;
  commit: string;
  at?: number;
  edited?: Edited;
}
