import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { maxSatisfying, validRange } from "semver";
import { fetchPack } from "../../../adapters/git/fetch-pack.ts";
import { type BranchCommit, commitToBranch } from "./git-commit.ts";
import { GitProcessError, runGit } from "./git-process.ts";
import { askRefs, parseRefs } from "./remote-refs.ts";

export interface TreeEntry {
  type: "blob" | "tree" | "commit";
  oid: string;
}

/** One repository as Argo CD's repo server sees it. */
export interface GitSource {
  /** Whether the repoURL of a source means this repository. */
  matches(repoURL: string): boolean;
  /** Fetches; a fetch that began before the call does not count. Rejects with git's reason. */
  fetch(): Promise<void>;
  /** When the last fetch that succeeded began, by the caller's count of calls; 0: never. */
  readonly fetched: boolean;
  /** The commit that a branch, tag, `HEAD`, id or range of tags means as of the last fetch; undefined: none. */
  resolve(revision: string): Promise<string | undefined>;
  /** Every path at a commit. */
  tree(commit: string): Promise<ReadonlyMap<string, TreeEntry>>;
  /** Texts of files at a commit; those that are not there are left out. */
  read(commit: string, paths: readonly string[]): Promise<Map<string, string>>;
  /** Whether a text stands in a file at or below a path. */
  contains(commit: string, path: string, text: string): Promise<boolean>;
  defaultBranch(): string;
  /** Commits onto a branch and pushes it, as the commit server of the source hydrator does. Absent: this one is only read. */
  commit?(commit: BranchCommit): Promise<string>;
  close(): Promise<void>;
}

interface GitSourceOptions {
  /** Where it is fetched from, over any protocol that git speaks. */
  url: string;
  token?: string | undefined;
  /** Other URLs under which files and Applications name it. */
  aliases?: string[];
}

/** Host and path without scheme, user, port of ssh, `.git` and case, as Argo CD compares repositories. */
export function normalRepoURL(url: string): string {
  const scp = /^(?:[^@/]+@)?([^:/]+):(?!\/\/)(.+)$/.exec(url);
  const text = scp === null || url.includes("://") ? url : `ssh://${scp[1]}/${scp[2]}`;
  return text
    .trim()
    .toLowerCase()
    .replace(/^[a-z+]+:\/\//, "")
    .replace(/^[^@/]+@/, "")
    .replace(/(?<!\/)\/+$/, "")
    .replace(/\.git$/, "");
}

/** The first protocol lists the refs in the answer to the first request, the second needs one more; and nothing here lives long. */
const CONFIG = "[protocol]\n\tversion = 0\n[maintenance]\n\tauto = false\n";
const EVERYTHING = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];

/** Full name → commit, of what `for-each-ref` prints. */
function parseLocal(output: string): Map<string, string> {
  const lines = output.split("\n").filter(Boolean);
  return new Map(lines.map((line) => line.split(" ")).map(([name = "", oid = "", peeled = ""]) => [name, peeled || oid]));
}

function parseTree(output: Buffer): Map<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>();
  for (const line of output.toString().split("\0")) {
    const tab = line.indexOf("\t");
    if (tab < 0) continue;
    const [, type, oid = ""] = line.slice(0, tab).split(" ");
    entries.set(line.slice(tab + 1), { type: type as TreeEntry["type"], oid });
  }
  return entries;
}

/** Output of `cat-file --batch` for the paths asked for, in order. */
function parseBatch(output: Buffer, paths: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>();
  let at = 0;
  for (const path of paths) {
    const end = output.indexOf(10, at);
    const header = output.toString("utf8", at, end);
    at = end + 1;
    const match = /^[0-9a-f]+ (\w+) (\d+)$/.exec(header);
    if (match === null) continue;
    const size = Number(match[2]);
    if (match[1] === "blob") texts.set(path, output.toString("utf8", at, at + size));
    at += size + 1;
  }
  return texts;
}

/** Opens a bare clone of its own in a temporary directory; the first fetch fills it. */
export async function openGitSource(options: GitSourceOptions): Promise<GitSource> {
  const dir = await mkdtemp(join(tmpdir(), "stagecoach-argocd-"));
  await runGit(["init", "--bare", "--quiet", "."], { cwd: dir });
  await appendFile(join(dir, "config"), CONFIG);
  return new BareClone(dir, options);
}

class BareClone implements GitSource {
  readonly #dir: string;
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #names: ReadonlySet<string>;
  readonly #stop = new AbortController();
  #refs = new Map<string, string>();
  #head = "main";
  #isFetched = false;
  #running: Promise<void> | undefined;
  #queued: Promise<void> | undefined;
  /** Ids that are known to be commits: ten thousand Applications ask for the same few. */
  readonly #commits = new Set<string>();
  readonly #trees = new Map<string, Promise<ReadonlyMap<string, TreeEntry>>>();

  constructor(dir: string, { url, token, aliases = [] }: GitSourceOptions) {
    this.#dir = dir;
    this.#url = url;
    this.#token = token;
    this.#names = new Set([url, ...aliases].map(normalRepoURL));
  }

  get fetched(): boolean {
    return this.#isFetched;
  }

  matches(repoURL: string): boolean {
    return this.#names.has(normalRepoURL(repoURL));
  }

  defaultBranch(): string {
    return this.#head;
  }

  fetch(): Promise<void> {
    if (this.#running === undefined) return this.#fetchOnce();
    this.#queued ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#queued = undefined;
        return this.#running ?? this.#fetchOnce();
      });
    return this.#queued;
  }

  async resolve(revision: string): Promise<string | undefined> {
    const refs = this.#refs;
    const name = revision === "" || revision === "HEAD" ? `refs/heads/${this.#head}` : revision;
    const known = refs.get(name) ?? refs.get(`refs/heads/${name}`) ?? refs.get(`refs/tags/${name}`);
    if (known !== undefined) return known;
    if (/^[0-9a-f]{7,40}$/.test(name)) return await this.#commitOf(name);
    if (validRange(name) === null) return undefined;
    const tags = [...refs.keys()].filter((ref) => ref.startsWith("refs/tags/")).map((ref) => ref.slice("refs/tags/".length));
    const best = maxSatisfying(tags, name);
    return best === null ? undefined : refs.get(`refs/tags/${best}`);
  }

  tree(commit: string): Promise<ReadonlyMap<string, TreeEntry>> {
    const trees = this.#trees;
    const tree = trees.get(commit) ?? this.#git(["ls-tree", "-r", "-t", "-z", commit]).then(parseTree);
    trees.set(commit, tree);
    for (const old of trees.keys()) if (trees.size > 32) trees.delete(old);
    return tree;
  }

  async read(commit: string, paths: readonly string[]): Promise<Map<string, string>> {
    if (paths.length === 0) return new Map();
    const safe = paths.filter((path) => !path.includes("\n"));
    return parseBatch(await this.#git(["cat-file", "--batch"], safe.map((path) => `${commit}:${path}\n`).join("")), safe);
  }

  async contains(commit: string, path: string, text: string): Promise<boolean> {
    try {
      await this.#git(["grep", "--quiet", "--fixed-strings", "-e", text, commit, "--", path === "" ? "." : path]);
      return true;
    } catch (error) {
      if (error instanceof GitProcessError && error.code === 1) return false;
      throw error;
    }
  }

  async commit(commit: BranchCommit): Promise<string> {
    const branch = `refs/heads/${commit.branch}`;
    const made = await commitToBranch(this.#dir, this.#url, commit, this.#refs.get(branch), this.#token);
    this.#refs.set(branch, made);
    this.#commits.add(made);
    return made;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await (this.#queued ?? this.#running)?.catch(() => undefined);
    await rm(this.#dir, { recursive: true, force: true });
  }

  #git(args: string[], input?: string): Promise<Buffer> {
    const signal = args[0] === "fetch" || args[0] === "ls-remote" ? this.#stop.signal : undefined;
    return runGit(args, { cwd: this.#dir, signal, token: this.#token, input });
  }

  #fetchOnce(): Promise<void> {
    this.#running = this.#fetchNow().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** As its repo server does: the refs are listed, and fetched where one means a commit that is not here yet. */
  async #fetchNow(): Promise<void> {
    const asked = { url: this.#url, token: this.#token, signal: this.#stop.signal };
    const listed = (await askRefs(asked)) ?? parseRefs((await this.#git(["ls-remote", "--symref", this.#url])).toString());
    const wants = [...listed.refs.values()].filter((commit) => !this.#commits.has(commit));
    if (this.#isFetched && wants.length > 0 && (await this.#fetchNew(wants))) {
      for (const commit of wants) this.#commits.add(commit);
    } else if (!this.#isFetched || wants.length > 0) {
      await this.#git(["fetch", "--quiet", "--prune", "--force", "--no-tags", this.#url, ...EVERYTHING]);
      // What was fetched, which may be newer than what was listed.
      listed.refs = parseLocal((await this.#git(["for-each-ref", "--format=%(refname) %(objectname) %(*objectname)"])).toString());
      for (const commit of listed.refs.values()) this.#commits.add(commit);
    }
    this.#head = listed.head ?? this.#head;
    this.#refs = listed.refs;
    this.#isFetched = true;
  }

  /** A few commits more need no fetch of git's: refs are looked up in what was listed. */
  async #fetchNew(wants: readonly string[]): Promise<boolean> {
    if (!/^https?:/.test(this.#url)) return false;
    const closing = this.#stop.signal;
    const credentials = this.#token === undefined ? undefined : { username: "x-access-token", password: this.#token };
    const haves = [...this.#refs.values()];
    const repository = { directory: this.#dir, allowFile: false, closing };
    return await fetchPack({ url: this.#url, credentials, closing }, repository, { wants, haves }).catch(() => false);
  }

  async #commitOf(id: string): Promise<string | undefined> {
    if (this.#commits.has(id)) return id;
    try {
      const commit = (await this.#git(["rev-parse", "--verify", "--quiet", `${id}^{commit}`])).toString().trim();
      this.#commits.add(commit);
      return commit;
    } catch (error) {
      if (error instanceof GitProcessError) return undefined;
      throw error;
    }
  }
}
