import type { Clock } from "../../../core/base/time.ts";
import type { Webhooks } from "../deliver/webhooks.ts";
import type { BareRepo } from "../git/bare-repo.ts";
import type { Faults } from "../http/faults.ts";
import type { CheckRun, CheckSuite, Deployment, Status } from "./checks.ts";
import type { Issue, IssueComment, Label } from "./issue.ts";
import type { MergeQueue, Protection, Ruleset } from "./rules.ts";

export * from "./checks.ts";
export * from "./issue.ts";
export * from "./rules.ts";

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
  /** Where its webhooks go; none: they are only recorded. */
  hook?: { url: string; secret: string } | undefined;
}

export interface Installation {
  id: number;
  account: User;
  app: App;
  permissions: Permissions;
  /** Ids of the chosen repositories. */
  repositories: "all" | Set<number>;
  /** Since when. */
  suspended: number | undefined;
  createdAt: number;
}

export interface Team {
  id: number;
  organization: User;
  slug: string;
  name: string;
  members: Map<number, "member" | "maintainer">;
}

/** A key that commits are signed with. */
export interface SigningKey {
  id: number;
  user: User;
  title: string;
  /** `ssh-ed25519 AAAA…`, without its comment. */
  key: string;
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
  /** Narrowed repositories of an installation token, by id. */
  repositories?: ReadonlySet<number>;
  /** What requests are counted under. */
  limitKey: string;
}

export interface RepoSettings {
  allowMerge: boolean;
  allowSquash: boolean;
  allowRebase: boolean;
  allowAutoMerge: boolean;
  deleteBranchOnMerge: boolean;
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
  createdAt: number;
  pushedAt: number;
  /** Runs one change of refs after the other, as GitHub does per repository. */
  serial<T>(work: () => Promise<T>): Promise<T>;
}

/** One request and its answer, for whoever checks them. Bodies are parsed JSON; undefined: none. */
export interface Exchange {
  method: string;
  path: string;
  /** Login of who asked; undefined: nobody known. */
  actor: string | undefined;
  /** `/repos/:owner/:repo/pulls`; undefined: no route took it. */
  route: string | undefined;
  requestBody: unknown;
  status: number;
  headers: Readonly<Record<string, string>>;
  body: unknown;
}

export interface World {
  clock: Clock;
  /** `http://127.0.0.1:PORT`: API, Git and pages alike. */
  origin: string;
  directory: string;
  /** The program that speaks Git over HTTP: started itself, it takes one process less than by `git http-backend`. */
  backend: string;
  users: Map<string, User>;
  repos: Map<string, Repo>;
  /** Former full names, in lower case, of repositories that were renamed. */
  moved: Map<string, Repo>;
  /** `org/slug` → team. */
  teams: Map<string, Team>;
  /** Organisation's id → its members' ids. */
  members: Map<number, Set<number>>;
  signingKeys: SigningKey[];
  tokens: Map<string, { actor: Actor; expiresAt?: number }>;
  app: App;
  apps: Map<number, App>;
  installations: Map<number, Installation>;
  /** Manifests on their way to become an App, by code. */
  manifests: Map<string, { manifest: Record<string, unknown>; owner: User; at: number }>;
  limits: Limits;
  faults: Faults;
  hooks: Webhooks;
  /** Says `check_suite.requested` of every commit pushed, as GitHub does to Apps that may write checks. */
  asksForSuites: boolean;
  onExchange?: ((exchange: Exchange) => void) | undefined;
  nextId(): number;
}

export interface Limits {
  perHour: number;
  /** Of an installation's token, in milliseconds. */
  tokenLifetime: number;
  used: Map<string, { count: number; reset: number }>;
  /** GitHub's secondary limits: 900 points and 80 content writes a minute, 500 an hour. Off by default. */
  secondary: boolean;
  /** What each caller has spent lately. */
  spent: Map<string, { at: number; points: number; content: boolean }[]>;
}
