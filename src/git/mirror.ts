import { existsSync, mkdirSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { buildCommit } from "./fast-import.ts";
import type { Credentials } from "./git-env.ts";
import { GitFailure, gitError, remoteWords } from "./git-errors.ts";
import { pipeGit } from "./git-process.ts";
import { branchRef, fullRef, objectId, remoteUrl } from "./names.ts";
import { GitError, type Mirror, type RefUpdate } from "./port.ts";
import { judgePush, pushArguments } from "./push.ts";
import { openReader } from "./reader.ts";
import { type GitResult, type Repository, type RunOptions, runGit } from "./run-git.ts";
import { serial } from "./serial.ts";

export interface MirrorOptions {
  /** Made where it is not there. Belongs to one process at a time. */
  directory: string;
  /** http or https, without credentials in it. */
  url: string;
  /** Asked before every command that talks to the remote; a token may be minted anew each time. */
  credentials?: () => Promise<Credentials> | undefined;
  /** Lets `url` be a path or `file://`. */
  allowFile?: boolean;
  log?: (message: string, fields: Record<string, unknown>) => void;
}

const REMOTE = "origin";
/** Never fetched and never pushed. */
const NOTES = "refs/stagecoach/notes";
const REMOTE_LIMIT_MS = 5 * 60_000;
/** A lock this old was left by a process that was killed: no command of ours runs as long. */
const STALE_LOCK_MS = REMOTE_LIMIT_MS + 60_000;

/** Opens (and where need be makes) the bare mirror. Nothing is fetched yet. */
export async function openMirror(options: MirrorOptions): Promise<Mirror> {
  const { log } = options;
  const url = remoteUrl(options.url, options.allowFile === true);
  const closing = new AbortController();
  const repository: Repository = { directory: resolve(options.directory), allowFile: options.allowFile === true, closing: closing.signal };
  await makeBare(repository, url);
  const reader = openReader(repository);
  // git's own ref locks make concurrent fetches and pushes of one mirror fail, not wait.
  const serially = serial();

  async function remote(doing: string, args: readonly string[], more: Pick<RunOptions, "answers"> = {}): Promise<GitResult> {
    const credentials = url.startsWith("http") ? await options.credentials?.() : undefined;
    const run = () => runGit(repository, args, { ...more, remote: url, credentials, limitMs: REMOTE_LIMIT_MS });
    const started = performance.now();
    try {
      return await run().catch(async (error) => {
        if (await removedStaleLock(error)) return await run();
        throw error;
      });
    } catch (error) {
      throw gitError(`${doing} ${url}`, error);
    } finally {
      log?.("git", { command: args[0], ms: Math.round(performance.now() - started) });
    }
  }

  async function fetchBranches(refs: readonly string[]): Promise<void> {
    const refspecs = refs.map((ref) => `+${ref}:${ref}`);
    const args = ["fetch", "--prune", "--no-tags", "--no-write-fetch-head", "--quiet", "--end-of-options", url];
    try {
      await remote("fetch from", [...args, ...refspecs]);
    } catch (error) {
      // Named branches that are not there make git refuse the whole fetch: it names one, which is dropped here as prune would.
      const missing = error instanceof GitError ? /couldn't find remote ref (\S+)/.exec(error.message)?.[1] : undefined;
      if (missing === undefined || !refs.includes(missing)) throw error;
      await forget(repository, missing);
      const rest = refs.filter((ref) => ref !== missing);
      if (rest.length > 0) await fetchBranches(rest);
    }
  }

  async function remoteRefs(refs: readonly string[]): Promise<Map<string, string>> {
    const { stdout } = await remote("ask", ["ls-remote", "--refs", "--quiet", "--end-of-options", url, ...refs]);
    const lines = stdout.split("\n").map((line) => line.split("\t"));
    return new Map(lines.flatMap(([sha, ref]) => (sha && ref ? [[ref, sha] as [string, string]] : [])));
  }

  /** Peeled tags come as a line of their own after the tag's: they win. */
  async function remoteBelow(prefixes: readonly string[]): Promise<Map<string, string>> {
    const patterns = prefixes.map((prefix) => `${fullRef(`${prefix.replace(/\/+$/, "")}/x`).slice(0, -1)}*`);
    const { stdout } = await remote("ask", ["ls-remote", "--quiet", "--end-of-options", url, ...patterns]);
    const refs = new Map<string, string>();
    for (const line of stdout.split("\n")) {
      const [sha, ref] = line.split("\t");
      if (sha && ref) refs.set(ref.replace(/\^\{\}$/, ""), sha);
    }
    return refs;
  }

  async function push(updates: readonly RefUpdate[], tries = 3): Promise<"ok" | "stale"> {
    if (updates.length === 0) return "ok";
    // Pushed to the remote by name: git then moves the mirror's own refs along, which saves a process.
    const result = await remote("push to", pushArguments(REMOTE, updates), { answers: [0, 1] });
    const verdict = judgePush(url, updates, result);
    if (verdict !== "unsure") return verdict;
    const refs = await remoteRefs(updates.map((update) => update.ref));
    if (updates.some((update) => refs.get(update.ref) !== update.old)) return "stale";
    // Somebody held the remote's lock and has not moved the ref: theirs may have failed, so ours is tried again.
    if (tries > 1) return await push(updates, tries - 1);
    throw new GitError("Unavailable", `push to ${url}: the remote's refs stay locked: ${remoteWords(result.stderr) || "no reason given"}`);
  }

  const { trees: _trees, refCommit, ...reads } = reader;
  return {
    ...reads,
    fetch: (branches) =>
      serially(() =>
        fetchBranches(
          branches === undefined ? ["refs/heads/*"] : branches.map((name) => (name.startsWith("refs/") ? fullRef(name) : branchRef(name))),
        ),
      ),
    head: async (branch) => await refCommit(branchRef(branch)),
    resolve: async (ref) => await refCommit(fullRef(ref)),
    remoteHead: async (branch) => (await remoteRefs([branchRef(branch)])).get(branchRef(branch)),
    remoteBelow,
    async remoteHeads(branches) {
      const refs = await remoteRefs(branches.map(branchRef));
      return new Map([...refs].map(([ref, sha]) => [ref.slice("refs/heads/".length), sha]));
    },
    commit: (input) => buildCommit(repository, reader.trees, input),
    push: (updates) => serially(() => push(updates)),
    note: (name, commit) => noteRef(repository, fullRef(`${NOTES}/${name}`), objectId(commit)),
    noted: async (name) => await refCommit(fullRef(`${NOTES}/${name}`)),
    async close() {
      await reader.close();
      closing.abort();
    },
  };
}

async function makeBare(repository: Repository, url: string): Promise<void> {
  const { directory } = repository;
  mkdirSync(directory, { recursive: true });
  try {
    if (!existsSync(join(directory, "HEAD"))) {
      await runGit(repository, ["init", "--bare", "--quiet", "--template=", "--initial-branch=stagecoach-none"]);
    }
    await runGit(repository, ["config", `remote.${REMOTE}.url`, url]);
    await runGit(repository, ["config", `remote.${REMOTE}.fetch`, "+refs/heads/*:refs/heads/*"]);
  } catch (error) {
    throw gitError(`make a mirror in ${directory}`, error);
  }
}

/** Forgets a branch that the remote no longer has. */
async function forget(repository: Repository, ref: string): Promise<void> {
  try {
    await pipeGit(repository, ["update-ref", "--stdin"], [`delete ${ref}\n`]);
  } catch (error) {
    throw gitError(`forget ${ref}`, error);
  }
}

async function noteRef(repository: Repository, ref: string, commit: string): Promise<void> {
  try {
    await pipeGit(repository, ["update-ref", "--stdin"], [`update ${ref} ${commit}\n`]);
  } catch (error) {
    throw gitError(`note ${ref}`, error);
  }
}

async function removedStaleLock(error: unknown): Promise<boolean> {
  const path = error instanceof GitFailure ? /Unable to create '(.+\.lock)': File exists/.exec(error.stderr)?.[1] : undefined;
  if (path === undefined) return false;
  const age = await stat(path).then(
    (found) => Date.now() - found.mtimeMs,
    () => 0,
  );
  if (age < STALE_LOCK_MS) return false;
  await rm(path, { force: true });
  return true;
}
