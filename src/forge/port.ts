import type { Time } from "../rollout/time.ts";
import type { Permission } from "../rollout/world.ts";

/** One repository on a Git hosting service: only what the product uses. Adapters map every refusal to a closed union. */
export interface Forge {
  /** `owner/name`. */
  readonly repository: string;
  /** The account comments of ours carry, e.g. `stagecoach[bot]`. */
  identity(): Promise<{ login: string; id: number }>;
  repo(): Promise<{ defaultBranch: string; cloneUrl: string; archived: boolean }>;
  /** A token for Git over HTTPS, never logged, never in argv. `renew`: the last one was refused, though its time is not over. */
  gitCredentials(options?: { renew?: boolean }): Promise<{ username: string; password: string }>;

  /** The newest PR whose head is this branch of this repository, open or not. */
  findPull(branch: string): Promise<Pull | null>;
  pull(number: number): Promise<Pull | null>;
  /** Finds before it creates; a 422 `already exists` finds again. */
  createPull(input: { branch: string; base: string; title: string; body: string; labels: string[] }): Promise<Pull>;
  updatePull(number: number, change: { title?: string; body?: string }): Promise<void>;
  closePull(number: number): Promise<void>;
  mergePull(input: {
    number: number;
    head: string;
    method: "squash" | "merge" | "rebase";
    title: string;
    message: string;
  }): Promise<MergeOutcome>;
  deleteBranch(branch: string): Promise<void>;
  /** Merged or open PRs that contain this commit. */
  pullsOfCommit(sha: string): Promise<Pull[]>;
  openPulls(): Promise<Pull[]>;
  changedFiles(number: number): Promise<string[]>;

  /** Oldest first; `since` as updated_at lower bound. */
  comments(pull: number, since?: Time): Promise<Comment[]>;
  /** The one comment of ours that carries `marker`, made or edited in place; nothing is sent where the body is the same. */
  stickyComment(pull: number, marker: string, body: string): Promise<{ id: number; url: string }>;
  react(comment: number, reaction: Reaction): Promise<void>;
  /** Current permission of an account on this repository; never author_association. */
  permission(login: string): Promise<Permission>;
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

export interface Comment {
  id: number;
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
  constructor(kind: ForgeError["kind"], status: number, message: string, options: { cause?: unknown; retryAt?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.status = status;
    this.retryAt = options.retryAt;
  }
}
