import type { Time } from "../../core/base/time.ts";
import type { WriteRefusal } from "../../core/reasons/attention.ts";
import type { StageDeployment } from "../../core/report/run/stage-deployment.ts";
import type { Permission } from "../../core/spec/commands.ts";
import type { CommitPeople, Labelled, PullPeople } from "./people.ts";
import type { CheckReport, CheckSeen } from "./reports.ts";

export type { CheckReport, CheckSeen } from "./reports.ts";

/** One repository on a Git hosting service: only what the product uses. Adapters map every refusal to a closed union. */
export interface Forge {
  /** `owner/name`. */
  readonly repository: string;
  /** The account comments of ours carry, e.g. `stagecoach[bot]`. */
  identity(): Promise<{ login: string; id: number }>;
  /** The App's id, as a ruleset names it among its bypass actors. undefined: we are no App. Absent: this adapter does not know. */
  appId?(): Promise<number | undefined>;
  /** Of the account we act as. undefined: nothing was asked yet. Absent: this adapter does not know. */
  rate?(): RateSeen | undefined;
  repo(): Promise<{ defaultBranch: string; cloneUrl: string; archived: boolean }>;
  /** A token for Git over HTTPS, never logged, never in argv. `renew`: the last one was refused, though its time is not over. */
  gitCredentials(options?: { renew?: boolean }): Promise<{ username: string; password: string }>;

  /** The newest PR whose head is this branch of this repository, open or not. */
  findPull(branch: string): Promise<Pull | null>;
  pull(number: number): Promise<Pull | null>;
  /** Finds before it creates; a 422 `already exists` finds again. */
  createPull(input: { branch: string; base: string; title: string; body: string; labels: string[] }): Promise<Pull>;
  closePull(number: number): Promise<void>;
  /** Merges this head into this base, or says why not. GitHub takes the head as a condition and not the base: that is read right before. */
  mergePull(input: {
    number: number;
    head: string;
    base: string;
    method: "squash" | "merge" | "rebase";
    title: string;
    message: string;
  }): Promise<MergeOutcome>;
  deleteBranch(branch: string): Promise<void>;
  /** Merged or open PRs that contain this commit. */
  pullsOfCommit(sha: string): Promise<Pull[]>;
  /** Who made and pushed a commit. Absent: this adapter cannot tell. `holds`: whether a commit has this one below it, as more may have been pushed on top. */
  peopleOf?(commit: string, branch?: string, holds?: (head: string) => Promise<boolean | undefined>): Promise<CommitPeople>;
  /** Who made the commits of a PR and pushed them. Absent: this adapter cannot tell. */
  pullPeople?(pull: PullPushed): Promise<PullPeople>;
  /** Who put this label on a PR. undefined: GitHub does not say. Absent: this adapter cannot tell. */
  labelledBy?(pull: PullPushed, label: string): Promise<Labelled | undefined>;
  /** The commit that a tag or branch of any repository of this host means; null: none. hidden: that is not ours to see. Absent: this adapter cannot tell. */
  commitOf?(repository: string, revision: string): Promise<string | null | "hidden">;
  /** Who published the release of this tag; undefined: there is none. Absent: this adapter cannot tell. */
  releaseAuthor?(tag: string): Promise<string | undefined>;
  openPulls(): Promise<Pull[]>;
  changedFiles(number: number): Promise<string[]>;

  /** Oldest first; `since` as updated_at lower bound. */
  comments(pull: number, since?: Time): Promise<Comment[]>;
  /** What people wrote in the bodies of their submitted reviews, oldest first. Absent: this adapter cannot tell an edited one. */
  reviewBodies?(pull: number): Promise<Comment[]>;
  /**
   * Of comments and bodies of reviews, those that nobody has edited since they were written, and that say now what they said when they were read.
   * An edit within the second in which one was written counts.
   */
  unedited(comments: readonly Comment[]): Promise<readonly Comment[]>;
  /** True once for a PR that this process has just opened: whatever is written on it is still to come, and told by an event. */
  isBlank?(pull: number): boolean;
  /** The one comment of ours that carries `marker`, made or edited in place; nothing is sent where the body is the same. `at`: when it was last edited, by the host's clock. */
  stickyComment(pull: number, marker: string, body: string): Promise<{ id: number; url: string; at?: Time | undefined }>;
  /** Where the comment of ours that carries `marker` is read; undefined: there is none. */
  stickyUrl(pull: number, marker: string): Promise<string | undefined>;
  react(comment: number, reaction: Reaction): Promise<void>;
  /** Current permission of an account on this repository; never author_association. */
  permission(login: string): Promise<Permission>;
  /** Is this account in this team (slug of the repo's organisation) now. undefined: cannot be seen, e.g. `members: read` was not given. */
  inTeam(team: string, login: string): Promise<boolean | undefined>;
  /** Posts or completes the one check run of this name at this head; nothing is sent where it already says the same. */
  putCheck(check: CheckReport): Promise<void>;
  /** Check runs and statuses at a commit, the newest of each name. */
  checksOf(head: string): Promise<CheckSeen[]>;
  /** What the active rules of the base branch ask of a PR. */
  branchRules(branch: string): Promise<BranchRules>;
  /** Types of the active rules of rulesets on a branch, whether it exists or not: `update`, `deletion`. Absent: this adapter cannot tell. */
  rulesOn?(branch: string): Promise<readonly string[]>;
  /** Submitted reviews, oldest first. */
  reviews(number: number): Promise<Review[]>;
  /** By GraphQL, guarded by the head, as for a merge: a branch with a merge queue refuses the REST merge. */
  enqueuePull(number: number, head: string, base: string): Promise<MergeOutcome>;
  /** Takes a PR out of the queue; nothing where it is not in it. */
  dequeuePull(number: number): Promise<void>;
  /** The queue of a branch, first in line first. Absent: this adapter cannot see it. */
  mergeQueue?(branch: string): Promise<QueueEntry[]>;
  /** Labels and review requests, in one call; what is there already is left alone. */
  labelPull(number: number, asked: { labels: string[]; teams: string[]; users: string[] }): Promise<void>;
  /** The deployment of ours for this environment and task, made where there is none, and its newest status where it differs. */
  putDeployment(deployment: StageDeployment): Promise<void>;
  /** The one issue of ours that carries `marker`, made or edited in place; a closed one is opened again only with `reopen`. */
  stickyIssue(marker: string, issue: { title: string; body: string; labels: string[]; reopen?: true }): Promise<{ number: number }>;
  /** Closes that one with these last words. */
  settleIssue?(marker: string, words: { title: string; body: string }): Promise<void>;
  /** Closes this issue as done where it is one of ours that `stickyIssue` made; a PR, or anybody else's issue, is left alone. */
  closeStickyIssue?(number: number): Promise<void>;
}

/** How much of the hour's calls is left, as the last answer said. */
export interface RateSeen {
  limit: number;
  remaining: number;
  /** Epoch milliseconds. */
  resetAt: number;
}

export interface BranchRules {
  requiredChecks: { context: string; app?: number }[];
  /** A PR must be up to date with its base before it merges. */
  strict: boolean;
  approvals: number;
  codeOwners: boolean;
  lastPushApproval: boolean;
  mergeQueue: boolean;
  signatures: boolean;
  /** Absent: all of them. */
  methods?: ("squash" | "merge" | "rebase")[];
}

export interface Review {
  author: string;
  authorIsBot: boolean;
  state: "APPROVED" | "CHANGES_REQUESTED" | "COMMENTED" | "DISMISSED";
  head: string;
  at: Time;
}

/** A PR on its way through a merge queue. */
export interface QueueEntry {
  pull: number;
  /** GitHub's word: `QUEUED`, `AWAITING_CHECKS`, `MERGEABLE`, `UNMERGEABLE`, `LOCKED`. */
  state: string;
  /** From 1. */
  position: number;
  /** The commit of its merge group, once it is built: what the required checks run on. */
  head?: string;
}

export type Reaction = "eyes" | "rocket" | "confused";

export interface Pull {
  number: number;
  url: string;
  title: string;
  body: string;
  state: "open" | "closed" | "merged";
  draft: boolean;
  branch: string;
  /** `owner/name` the head lives in; null where the fork is gone. */
  headRepository: string | null;
  head: string;
  base: string;
  author: string;
  authorIsBot: boolean;
  /** null: not computed yet. */
  mergeable: boolean | null;
  mergeableState: string;
  createdAt: Time;
  mergedAt?: Time;
  mergedBy?: string;
  mergeCommit?: string;
  closedBy?: string;
  labels: string[];
}

/** What is to be known of a pull request to ask who pushed it. */
export type PullPushed = Pick<Pull, "number" | "branch" | "headRepository" | "head" | "createdAt" | "mergedAt">;

/** `review`: the body of one. Ids of reviews are their own, and nobody can react to them by REST. */
export interface Comment {
  id: number;
  /** Its name in GraphQL. */
  node?: string;
  review?: true;
  author: string;
  authorIsBot: boolean;
  /** Made by our own App. */
  ours: boolean;
  body: string;
  createdAt: Time;
  updatedAt: Time;
}

/** Facts github.md 2.2. `retry`: transient, try again soon. `wait`: something else has to happen first. `human`: a person has to change something. */
export type MergeOutcome =
  | { kind: "merged"; commit: string }
  /** It is in the merge queue; the merge is observed later. */
  | { kind: "queued"; message: string }
  /** This branch merges through its queue only. */
  | { kind: "queueOnly"; message: string }
  | { kind: "headMoved"; message: string }
  | { kind: "conflict"; message: string }
  | { kind: "retry"; message: string }
  | { kind: "wait"; message: string }
  | { kind: "human"; message: string };

/** What the outside answered, classed by what happens next. */
export class ForgeError extends Error {
  override name = "ForgeError";
  readonly kind: "NotFound" | "Forbidden" | "Unauthorized" | "Conflict" | "Invalid" | "RateLimited" | "Unavailable";
  readonly status: number;
  /** Epoch milliseconds before which trying again is useless; only with RateLimited. */
  readonly retryAt: number | undefined;
  /** What stands in the way of a write, where the adapter found out more than GitHub's answer says. */
  readonly because: WriteRefusal | undefined;
  constructor(
    kind: ForgeError["kind"],
    status: number,
    message: string,
    options: { cause?: unknown; retryAt?: number | undefined; because?: WriteRefusal | undefined } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.status = status;
    this.retryAt = options.retryAt;
    this.because = options.because;
  }
}
