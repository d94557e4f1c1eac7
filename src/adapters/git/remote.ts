/** Talks to a mirror's remote: fetches and asks for refs; `push.ts` pushes. Called by `mirror.ts`, one fetch or push at a time. */
import { rm, stat } from "node:fs/promises";
import { checkMayWrite } from "../outbound/asker.ts";
import type { Breakers } from "../outbound/breaker.ts";
import type { Credentials } from "./git-env.ts";
import { GitFailure, gitError, isHostsFault } from "./git-errors.ts";
import { pipeGit } from "./git-process.ts";
import { lsRefs } from "./ls-refs.ts";
import { fullRef } from "./names.ts";
import { hasKnownFlaws, isWhole, keepWhole } from "./partial.ts";
import { GitError } from "./port.ts";
import { type GitResult, type Repository, type RunOptions, runGit } from "./run-git.ts";

/** As the mirror's own configuration calls it. */
export const REMOTE_NAME = "origin";
const REMOTE_LIMIT_MS = 5 * 60_000;
/** A lock this old was left by a process that was killed: no command of ours runs as long. */
const STALE_LOCK_MS = REMOTE_LIMIT_MS + 60_000;

/** How a remote is talked to. */
export interface RemoteOptions {
  /** Asked before every command that talks to the remote; a token may be minted anew each time. */
  credentials?: (() => Promise<Credentials> | undefined) | undefined;
  /** Which hosts are down, as all mirrors of a process know it. */
  breakers?: Breakers | undefined;
  log?: ((message: string, fields: Record<string, unknown>) => void) | undefined;
}

/** Where a mirror fetches from and pushes to. */
export interface Remote extends RemoteOptions {
  repository: Repository;
  /** Checked. */
  url: string;
}

/** Without the contents of files, where the remote can leave them out. */
export async function fetchBranches(remote: Remote, refs: readonly string[], options: readonly string[] = []): Promise<void> {
  const refspecs = refs.map((ref) => `+${ref}:${ref}`);
  const whole = isWhole(remote.repository);
  const left = whole ? "--no-filter" : "--filter=blob:none";
  const args = ["fetch", "--prune", "--no-tags", "--no-write-fetch-head", "--quiet", left, ...options, "--end-of-options", REMOTE_NAME];
  try {
    await ask(remote, "fetch from", [...args, ...refspecs], { partial: true });
  } catch (error) {
    if (!whole && hasKnownFlaws(error)) {
      keepWhole(remote.repository);
      return await fetchBranches(remote, refs, [...options, "--refetch"]);
    }
    // Named branches that are not there make git refuse the whole fetch: it names one, which is dropped here as prune would.
    const missing = error instanceof GitError ? /couldn't find remote ref (\S+)/.exec(error.message)?.[1] : undefined;
    if (missing === undefined || !refs.includes(missing)) throw error;
    await forget(remote.repository, missing);
    const rest = refs.filter((ref) => ref !== missing);
    if (rest.length > 0) await fetchBranches(remote, rest, options);
  }
}

/** Fetches the history that was left out. */
export async function deepen(remote: Remote, ref: string): Promise<void> {
  await fetchBranches(remote, [ref], ["--unshallow"]);
}

/** Fetches objects by their ids, however large they are. */
export async function fetchObjects(remote: Remote, ids: readonly string[]): Promise<void> {
  const options = ["--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--quiet", "--filter=blob:none"];
  await ask(remote, "fetch files from", ["fetch", ...options, "--end-of-options", REMOTE_NAME, ...ids], { partial: true });
}

/** Fetches one ref without files of more bytes than these. */
export async function fetchPartly(remote: Remote, ref: string, largest: number): Promise<void> {
  const options = ["--no-tags", "--no-write-fetch-head", "--quiet", `--filter=blob:limit=${largest}`];
  await ask(remote, "fetch from", ["fetch", ...options, "--end-of-options", REMOTE_NAME, `+${ref}:${ref}`]);
}

/** Forgets heads of pull requests other than these; git's own housekeeping then drops what nothing else needs. */
export async function forgetPulls(repository: Repository, open: ReadonlySet<number>): Promise<void> {
  const { stdout } = await runGit(repository, ["for-each-ref", "--format=%(refname)", "refs/pull/"]);
  const gone = stdout.split("\n").filter((ref) => ref !== "" && !open.has(Number(ref.split("/")[2])));
  if (gone.length > 0) await pipeGit(repository, ["update-ref", "--stdin"], [gone.map((ref) => `delete ${ref}\n`).join("")]);
}

export async function remoteBelow(remote: Remote, prefixes: readonly string[]): Promise<Map<string, string>> {
  const folders = prefixes.map((prefix) => fullRef(`${prefix.replace(/(?<!\/)\/+$/, "")}/x`).slice(0, -1));
  const patterns = folders.map((folder) => `${folder}*`);
  const found = await listed(remote, folders, patterns);
  return new Map([...found].filter(([ref]) => folders.some((folder) => ref.startsWith(folder))));
}

/** Of full refs, those that are there. */
export async function remoteCommits(remote: Remote, refs: readonly string[]): Promise<Map<string, string>> {
  const wanted = new Set(refs.map(fullRef));
  const patterns = [...wanted].flatMap((ref) => (ref.startsWith("refs/tags/") ? [ref, `${ref}^{}`] : [ref]));
  const found = await listed(remote, [...wanted], patterns);
  return new Map([...found].filter(([ref]) => wanted.has(ref)));
}

/** May hold more: a pattern of git's matches the end of a name, and a remote may take no heed of prefixes. */
async function listed(remote: Remote, prefixes: readonly string[], patterns: readonly string[]): Promise<Map<string, string>> {
  return await talk(remote, { doing: "ask", command: "ls-refs" }, async (credentials) => {
    const { url, repository } = remote;
    const answer = await lsRefs({ url, credentials, prefixes, closing: repository.closing });
    if (answer !== undefined) return answer;
    const args = ["ls-remote", "--quiet", "--end-of-options", url, ...patterns];
    const { stdout } = await runGit(repository, args, { remote: url, credentials, limitMs: REMOTE_LIMIT_MS });
    // Peeled tags come as a line of their own after the tag's: they win.
    const lines = stdout.split("\n").map((line) => line.split("\t"));
    return new Map(lines.flatMap(([sha, ref]) => (sha && ref ? [[ref.replace(/\^\{\}$/, ""), sha] as [string, string]] : [])));
  });
}

export async function ask(
  remote: Remote,
  doing: string,
  args: readonly string[],
  more: Pick<RunOptions, "answers" | "partial"> = {},
): Promise<GitResult> {
  const { repository, url } = remote;
  return await talk(remote, { doing, command: args[0] ?? "" }, (credentials) => {
    const run = () => runGit(repository, args, { ...more, remote: url, credentials, limitMs: REMOTE_LIMIT_MS });
    return run().catch(async (error: unknown) => {
      if (await removedStaleLock(error)) return await run();
      throw error;
    });
  });
}

/** One talk with the remote: with credentials where there are any, not at all while its host is down, and a line in the log. */
export async function talk<T>(
  { url, log, breakers, ...remote }: Remote,
  { doing, command }: { doing: string; command: string },
  work: (credentials: Credentials | undefined) => Promise<T>,
): Promise<T> {
  const credentials = url.startsWith("http") ? await remote.credentials?.() : undefined;
  if (command === "push") checkMayWrite();
  const started = performance.now();
  const send = () => work(credentials);
  try {
    const to = { host: `${hostOf(url)} Git`, asker: url };
    return await (breakers?.through(to, send, (came) => "error" in came && isHostsFault(came.error)) ?? send());
  } catch (error) {
    throw gitError(`${doing} ${url}`, error);
  } finally {
    log?.("git", { command, ms: Math.round(performance.now() - started) });
  }
}

const hostOf = (url: string) => URL.parse(url)?.host ?? url;

/** Forgets a branch that the remote no longer has. */
async function forget(repository: Repository, ref: string): Promise<void> {
  try {
    await pipeGit(repository, ["update-ref", "--stdin"], [`delete ${ref}\n`]);
  } catch (error) {
    throw gitError(`forget ${ref}`, error);
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
