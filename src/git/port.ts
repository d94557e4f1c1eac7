/** A bare mirror of one config repo: everything the product reads and writes in Git goes through it. No work tree. */
export interface Mirror {
  /** Fetches the named branches, or full refs (`refs/pull/7/head`), or all heads from the remote; prunes. */
  fetch(branches?: string[]): Promise<void>;
  /** Commit a branch of the remote points to as of the last fetch; undefined: no such branch. */
  head(branch: string): Promise<string | undefined>;
  /** Commit that a full ref (`refs/tags/v1`) means as of the last fetch of it, annotated tags resolved; undefined: no such ref. */
  resolve(ref: string): Promise<string | undefined>;
  /** Asks the remote now, without a fetch. */
  remoteHead(branch: string): Promise<string | undefined>;
  /** The same for several in one call, by branch; those that are not there are left out. */
  remoteHeads(branches: readonly string[]): Promise<Map<string, string>>;
  /** One `cat-file --batch` for all; a missing file is null. Symlinks and files over `maxBytes` (default 10 MiB) throw GitError. */
  readFiles(commit: string, paths: readonly string[], options?: { maxBytes?: number }): Promise<Map<string, string | null>>;
  /** Paths of files at a commit, below `prefix` where given. */
  listFiles(commit: string, prefix?: string): Promise<string[]>;
  /** Builds a commit without a work tree; null removes a file. `parent` undefined: an orphan. Idempotent: same input, same id. */
  commit(input: CommitInput): Promise<string>;
  /** All or nothing. `old` undefined: must not exist. `stale`: some ref was not at `old`; nothing was changed. */
  push(updates: readonly RefUpdate[]): Promise<"ok" | "stale">;
  isAncestor(ancestor: string, descendant: string): Promise<boolean | undefined>;
  /** First-parent commits after `from` up to `to`, oldest first. */
  firstParentLog(from: string | undefined, to: string, limit?: number): Promise<CommitInfo[]>;
  commitInfo(sha: string): Promise<CommitInfo | undefined>;
  changedPaths(from: string, to: string): Promise<string[]>;
  /** Tree that merging `head` into `base` would give, by `merge-tree --write-tree`; conflict: the paths. Result is a commit-ish usable in readFiles/listFiles. */
  mergeTree(base: string, head: string): Promise<{ tree: string } | { conflicts: string[] }>;
  close(): Promise<void>;
}

export interface CommitInput {
  parent: string | undefined;
  changes: ReadonlyMap<string, string | null>;
  message: string;
  author: { name: string; email: string };
  /** Epoch milliseconds. */
  at: number;
}

export interface RefUpdate {
  /** Full name: `refs/heads/x`. */
  ref: string;
  old: string | undefined;
  /** undefined: delete. */
  new: string | undefined;
}

export interface CommitInfo {
  sha: string;
  parents: string[];
  author: string;
  authorEmail: string;
  at: number;
  subject: string;
  body: string;
}

export class GitError extends Error {
  override name = "GitError";
  readonly kind: "NotFound" | "TooLarge" | "Symlink" | "Unauthorized" | "Unavailable" | "Invalid";
  constructor(kind: GitError["kind"], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}
