import type { Clock } from "../../rollout/time.ts";
import type { Faults } from "./faults.ts";
import type { BareRepo } from "./git/bare-repo.ts";
import type { Webhooks } from "./webhooks.ts";

export interface User {
  login: string;
  id: number;
  type: "User" | "Bot" | "Organization";
}

export type Role = "none" | "read" | "triage" | "write" | "maintain" | "admin";
export type Level = "read" | "write";
/** GitHub's names: `contents`, `pull_requests`, `issues`, `checks`, `metadata` … */
export type Permissions = Record<string, Level>;

export interface App {
  id: number;
  slug: string;
  name: string;
  owner: User;
  /** The `…[bot]` account. */
  bot: User;
  /** PEM; what the App's JWT is checked with. */
  publicKey: string;
  permissions: Permissions;
  events: string[];
  createdAt: number;
}

export interface Installation {
  id: number;
  account: User;
  app: App;
  permissions: Permissions;
  suspended: boolean;
  createdAt: number;
}

/** Who a request comes from. */
export interface Actor {
  kind: "anonymous" | "user" | "installation" | "app";
  /** The account that acts; of an anonymous request a placeholder that owns nothing. */
  user: User;
  app?: App;
  installation?: Installation;
  /** Narrowed permissions of an installation token. */
  permissions?: Permissions;
  /** What requests are counted under. */
  limitKey: string;
}

export interface Protection {
  requiredChecks: string[];
  approvals: number;
  /** The head must contain the base. */
  strict: boolean;
  /** Merges go through a queue only. */
  mergeQueue: boolean;
  /** A ruleset's paragraphs; without a bypass every merge is refused with them. */
  rules: string[];
}

export interface Repo {
  id: number;
  owner: User;
  name: string;
  private: boolean;
  archived: boolean;
  defaultBranch: string;
  git: BareRepo;
  nextNumber: number;
  issues: Map<number, Issue>;
  comments: Map<number, IssueComment>;
  labels: Map<string, Label>;
  checks: Map<number, CheckRun>;
  collaborators: Map<string, { user: User; role: Role }>;
  protections: Map<string, Protection>;
  settings: { allowMerge: boolean; allowSquash: boolean; allowRebase: boolean; deleteBranchOnMerge: boolean };
  createdAt: number;
  pushedAt: number;
  /** Runs one change of refs after the other, as GitHub does per repository. */
  serial<T>(work: () => Promise<T>): Promise<T>;
}

export interface Label {
  id: number;
  name: string;
  color: string;
  description: string;
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
  assignees: User[];
  createdAt: number;
  updatedAt: number;
  closedAt?: number;
  closedBy?: User;
  pull?: Pull;
}

export interface Pull {
  id: number;
  draft: boolean;
  headRef: string;
  headSha: string;
  baseRef: string;
  baseSha: string;
  merged?: { at: number; by: User; sha: string };
  reviewers: User[];
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
}

export interface IssueComment {
  id: number;
  issue: number;
  body: string;
  user: User;
  via?: App;
  createdAt: number;
  updatedAt: number;
  reactions: Reaction[];
}

export const REACTIONS = ["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"] as const;

export interface Reaction {
  id: number;
  user: User;
  content: (typeof REACTIONS)[number];
  at: number;
}

export interface CheckRun {
  id: number;
  name: string;
  headSha: string;
  app: App;
  externalId: string | null;
  detailsUrl: string | null;
  status: "queued" | "in_progress" | "completed";
  conclusion: string | null;
  startedAt: number;
  completedAt?: number;
  output: { title: string | null; summary: string | null; text: string | null };
}

export interface World {
  clock: Clock;
  /** `http://127.0.0.1:PORT`: API, Git and pages alike. */
  origin: string;
  directory: string;
  users: Map<string, User>;
  repos: Map<string, Repo>;
  tokens: Map<string, { actor: Actor; expiresAt?: number }>;
  app: App;
  installations: Map<number, Installation>;
  limits: { perHour: number; used: Map<string, { count: number; reset: number }> };
  faults: Faults;
  hooks: Webhooks;
  nextId(): number;
}
