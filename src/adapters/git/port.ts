import type { CommitFault } from "../../core/reasons/journal.ts";

/** A bare mirror of one config repo: everything the product reads and writes in Git goes through it. No work tree. */
export interface Mirror {
  /** Fetches the named branches, or full refs (`refs/pull/7/head`), or all heads from the remote; prunes. */
  fetch(branches?: string[], options?: FetchOptions): Promise<void>;
  /** Whether the history is left out; `deepen` fetches it. */
  isShallow(): Promise<boolean>;
  deepen(branch: string): Promise<void>;
  /**
   * Fetches the head of a pull request from a fork, without large files, into a place of its own. `tooLarge`: it has more bytes than a head
   * may; `full`: than the repository has left. Nothing of it is kept then. `most`: so many bytes may be.
   */
  fetchFork(pull: number): Promise<{ kind: "fetched" | "tooLarge" | "full"; most: number }>;
  /** Forgets what was fetched of pull requests other than these. */
  keepPulls(open: ReadonlySet<number>): Promise<void>;
  /** Bytes that heads of pull requests may still take, of so many for the repository. */
  room(): Promise<{ left: number; most: number }>;
  /** Commit a branch of the remote points to as of the last fetch; undefined: no such branch. */
  head(branch: string): Promise<string | undefined>;
  /** Commit that a full ref (`refs/tags/v1`) means as of the last fetch of it, annotated tags resolved; undefined: no such ref. */
  resolve(ref: string): Promise<string | undefined>;
  /** Asks the remote now, without a fetch. */
  remoteHead(branch: string): Promise<string | undefined>;
  /** The same for several in one call, by branch; those that are not there are left out. */
  remoteHeads(branches: readonly string[]): Promise<Map<string, string>>;
  /**
   * Asks the remote now for all refs below these (`refs/tags/`, `refs/heads/gh-readonly-queue/main/`), in one call, without a
   * fetch: full name → the object it points to, an annotated tag's commit.
   */
  remoteBelow(prefixes: readonly string[]): Promise<Map<string, string>>;
  /** Asks the remote now, without a fetch, which commits these full refs mean, annotated tags resolved; those that are not there are left out. */
  remoteCommits(refs: readonly string[]): Promise<Map<string, string>>;
  /** One `cat-file --batch` for all; a missing file is null, and of a path that ends in a slash it is what stands in that directory, as `core/base/folder.ts` prints it. Symlinks and files over `maxBytes` (default 10 MiB) throw GitError. */
  readFiles(commit: string, paths: readonly string[], options?: { maxBytes?: number }): Promise<Map<string, string | null>>;
  /** Brings the contents of these files here, in as few requests as there can be, where the mirror has not got them yet. */
  bring?(commit: string, paths: readonly string[]): Promise<void>;
  /** Paths of plain files at a commit, below `prefix` where given; with `kind` link those of symbolic links. */
  listFiles(commit: string, prefix?: string, kind?: "file" | "link"): Promise<string[]>;
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
  /** A commit as it lies in the object store, signature and all; undefined: not here. */
  commitObject(sha: string): Promise<Buffer | undefined>;
  /** The entries of a tree object by name, with modes as git spells them (`40000`: a directory). GitError `NotFound`: not here. */
  tree(id: string): Promise<ReadonlyMap<string, { mode: string; id: string }>>;
  /** The commit without parents that first parents lead to; undefined: not all of the history is here. */
  rootOf(commit: string): Promise<string | undefined>;
  /** Commits without parents below this one, by whatever parent, fifty at most; undefined: not all of the history is here. */
  rootsOf(commit: string): Promise<string[] | undefined>;
  /** Modes of files at a commit as git spells them (`100755`); those that are not there are left out. */
  modes(commit: string, paths: readonly string[]): Promise<Map<string, string>>;
  /** Notes a commit under a name, on this machine only, fetched or not: the next process that opens the mirror finds it. */
  note(name: string, commit: string): Promise<void>;
  noted(name: string): Promise<string | undefined>;
  close(): Promise<void>;
}

interface FetchOptions {
  /** Only the newest commit, as long as there is no history here. */
  shallow?: boolean;
}

/** How many bytes a mirror may hold. */
export interface MirrorLimits {
  /** Of the whole: no head of a pull request is fetched beyond it. The base, the journal and the branches of runs always are. */
  repository: number;
  /** Of the head of a pull request from a fork. */
  forkHead: number;
  /** Of one file of it: larger ones are left out. */
  forkFile: number;
}

/**
 * Writes commits of ours to the remote. Two writers of one branch exclude each other by `head`: who comes second is told
 * `stale` and has changed nothing. After `written` the mirror has the commit, unless it is of a branch of our own files.
 */
export interface CommitWriter {
  /** `github`: signed by GitHub for our App. `ssh`: signed here with a key. `unsigned`: trusted by name only. */
  readonly kind: "github" | "ssh" | "unsigned";
  write(input: WriteInput): Promise<WriteOutcome>;
  /** The same on a branch that is made for it, and the PR, in one request. Absent: this writer opens no PRs. */
  propose?(input: ProposeInput): Promise<ProposeOutcome>;
}

export interface WriteInput {
  /** Short name: `stagecoach/journal`. */
  branch: string;
  /** Commit the branch is at; undefined: it is not there, and is made. */
  head: string | undefined;
  /** Where a branch that is made begins; undefined with `head` undefined: an orphan. */
  from?: string;
  changes: Changes;
  message: string;
  /** Epoch milliseconds. GitHub takes the time it is told at. */
  at: number;
  /** The branch holds plain files of ours alone: nobody needs their modes before, or has to have the commit in the mirror after. */
  ownFiles?: boolean;
}

/** Path → new text; null removes a plain file. */
export type Changes = ReadonlyMap<string, string | null | ObjectChange>;

/** What lies in the repository already, put at a path as it is: a directory whole. `id` null: whatever stands there goes. */
export interface ObjectChange {
  /** As git spells it: `40000` of a directory. */
  mode: string;
  id: string | null;
}

export type WriteOutcome = { kind: "written"; commit: string } | { kind: "stale" };

export interface ProposeInput extends Omit<WriteInput, "head" | "from" | "ownFiles"> {
  from: string;
  base: string;
  title: string;
  body: string;
}

/** `taken`: somebody else was there at the same moment. `pull`: the PR that this opened on what they made, as it was then. */
export type ProposeOutcome =
  | { kind: "proposed"; commit: string; pull: number }
  | { kind: "taken"; message: string; pull?: { number: number; head: string } };

/** Tells commits of ours from others' by their signatures. */
export interface CommitJudge {
  /** Of commits, newest first and each the parent of the one before: sha → why it is not ours. Those left out are. */
  foreign(commits: readonly CommitInfo[]): Promise<ReadonlyMap<string, CommitFault>>;
}

export interface CommitInput {
  parent: string | undefined;
  changes: Changes;
  message: string;
  author: { name: string; email: string };
  /** Epoch milliseconds. */
  at: number;
  /** Given what is signed, gives the armoured signature. */
  sign?: (payload: Buffer) => string;
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
  /** TooLarge: of the file, where it is one that is known. */
  readonly bytes: number | undefined;
  constructor(kind: GitError["kind"], message: string, options?: { cause?: unknown; bytes?: number | undefined }) {
    super(message, options);
    this.kind = kind;
    this.bytes = options?.bytes;
  }
}
