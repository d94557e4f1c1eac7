import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { maxSatisfying, validRange } from "semver";
import { fetchPack } from "../../../adapters/git/fetch-pack.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { type CatFile, openCatFile } from "../../github/git/cat-file.ts";
import { type TreeEntry as FolderEntry, readTree } from "../../github/git/trees.ts";
import { type BranchCommit, commitToBranch } from "./git-commit.ts";
import { GitProcessError, runGit } from "./git-process.ts";
import { askRefs, parseLocal, parseRefs } from "./remote-refs.ts";

export interface TreeEntry {
  type: "blob" | "tree" | "commit";
  oid: string;
}

interface GitSourceOptions {
  /** Where it is fetched from, over any protocol that git speaks. */
  url: string;
  token?: string | undefined;
  /** Other URLs under which files and Applications name it. */
  aliases?: string[];
  /** Where the folder of its clone goes; default: among the temporary ones. */
  directory?: string | undefined;
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
const MOST_FOLDERS = 5000;
const EVERYTHING = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];

/** Opens a bare clone of its own in a temporary directory; the first fetch fills it. */
export async function openGitSource(options: GitSourceOptions): Promise<GitSource> {
  const dir = await mkdtemp(join(options.directory ?? tmpdir(), "stagecoach-argocd-"));
  await runGit(["init", "--bare", "--quiet", "."], { cwd: dir });
  await appendFile(join(dir, "config"), CONFIG);
  return new GitSource(dir, options);
}

/** One repository as Argo CD's repo server sees it: a bare clone of its own. */
export class GitSource {
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
  readonly #cat: CatFile;
  readonly #folders = new BoundedMap<string, readonly FolderEntry[]>(MOST_FOLDERS);
  readonly #trees = new Map<string, Promise<ReadonlyMap<string, TreeEntry>>>();

  constructor(dir: string, { url, token, aliases = [] }: GitSourceOptions) {
    this.#dir = dir;
    this.#cat = openCatFile(dir);
    this.#url = url;
    this.#token = token;
    this.#names = new Set([url, ...aliases].map(normalRepoURL));
  }

  /** When the last fetch that succeeded began, by the caller's count of calls; 0: never. */
  get fetched(): boolean {
    return this.#isFetched;
  }

  /** Whether the repoURL of a source means this repository. */
  matches(repoURL: string): boolean {
    return this.#names.has(normalRepoURL(repoURL));
  }

  defaultBranch(): string {
    return this.#head;
  }

  /** Fetches; a fetch that began before the call does not count. Rejects with git's reason. */
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

  /** The commit that a branch, tag, `HEAD`, id or range of tags means as of the last fetch; undefined: none. */
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

  /** Every path at a commit. */
  tree(commit: string): Promise<ReadonlyMap<string, TreeEntry>> {
    const trees = this.#trees;
    const tree = trees.get(commit) ?? this.#treeOf(commit);
    trees.set(commit, tree);
    for (const old of trees.keys()) if (trees.size > 32) trees.delete(old);
    return tree;
  }

  async #treeOf(commit: string): Promise<ReadonlyMap<string, TreeEntry>> {
    const entries = new Map<string, TreeEntry>();
    await this.#addBelow(entries, `${commit}^{tree}`, "");
    return entries;
  }

  /** In the order of `ls-tree -r -t`. */
  async #addBelow(entries: Map<string, TreeEntry>, tree: string, folder: string): Promise<void> {
    for (const { mode, name, sha } of await this.#folder(tree)) {
      const path = folder === "" ? name : `${folder}/${name}`;
      const type = mode === "40000" ? "tree" : mode === "160000" ? "commit" : "blob";
      entries.set(path, { type, oid: sha });
      if (type === "tree") await this.#addBelow(entries, sha, path);
    }
  }

  /** One folder, by its id kept: a commit changes few of them. */
  async #folder(tree: string): Promise<readonly FolderEntry[]> {
    const entries = this.#folders.get(tree) ?? (await readTree(this.#cat, tree));
    if (entries === undefined) throw new GitProcessError(128, `git ls-tree: not a tree object: ${tree}`);
    if (/^[0-9a-f]+$/.test(tree)) this.#folders.set(tree, entries);
    return entries;
  }

  /** Texts of files at a commit; those that are not there are left out. */
  async read(commit: string, paths: readonly string[]): Promise<Map<string, string>> {
    const found = await Promise.all(paths.map((path) => this.#cat.contents(`${commit}:${path}`)));
    const texts = new Map<string, string>();
    for (const [index, path] of paths.entries()) if (found[index]?.type === "blob") texts.set(path, found[index].content.toString());
    return texts;
  }

  /** Whether a text stands in a file at or below a path. */
  async contains(commit: string, path: string, text: string): Promise<boolean> {
    try {
      await this.#git(["grep", "--quiet", "--fixed-strings", "-e", text, commit, "--", path === "" ? "." : path]);
      return true;
    } catch (error) {
      if (error instanceof GitProcessError && error.code === 1) return false;
      throw error;
    }
  }

  /** Commits onto a branch and pushes it, as the commit server of the source hydrator does. */
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
    this.#cat.close();
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
