/** Talks to a mirror's remote: fetches, asks for refs, and pushes all or nothing. Called by `mirror.ts`, one fetch or push at a time. */
import { rm, stat } from "node:fs/promises";
import { TAGS } from "../../core/base/ref-name.ts";
import { checkMayWrite } from "../outbound/asker.ts";
import type { Breakers } from "../outbound/breaker.ts";
import type { Credentials } from "./git-env.ts";
import { GitFailure, gitError, isHostsFault, remoteWords } from "./git-errors.ts";
import { pipeGit } from "./git-process.ts";
import { lsRefs } from "./ls-refs.ts";
import { fullRef, objectId } from "./names.ts";
import { hasKnownFlaws, isWhole, keepWhole } from "./partial.ts";
import { GitError, type RefUpdate } from "./port.ts";
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

/** All of the updates, or none. */
export async function pushRefs(remote: Remote, updates: readonly RefUpdate[], tries = 3): Promise<"ok" | "stale"> {
  if (updates.length === 0) return "ok";
  // Pushed to the remote by name: git then moves the mirror's own refs along, which saves a process.
  const leased = await withTagObjects(remote, updates);
  const result = await ask(remote, "push to", pushArguments(REMOTE_NAME, leased), { answers: [0, 1] });
  const verdict = judgePush(remote.url, updates, result);
  if (verdict !== "unsure") return verdict;
  const refs = await remoteCommits(
    remote,
    updates.map((update) => update.ref),
  );
  if (updates.some((update) => refs.get(update.ref) !== update.old)) return "stale";
  // Somebody held the remote's lock and has not moved the ref: theirs may have failed, so ours is tried again.
  if (tries > 1) return await pushRefs(remote, updates, tries - 1);
  throw new GitError(
    "Unavailable",
    `push to ${remote.url}: the remote's refs stay locked: ${remoteWords(result.stderr) || "no reason given"}`,
  );
}

/** An annotated tag is an object of its own, by which the remote tells whether it has moved: whoever asks knows the commit that it means. */
async function withTagObjects(remote: Remote, updates: readonly RefUpdate[]): Promise<readonly RefUpdate[]> {
  const tags = updates.filter(({ ref, old }) => old !== undefined && ref.startsWith(TAGS)).map(({ ref }) => fullRef(ref));
  if (tags.length === 0) return updates;
  const { stdout } = await ask(remote, "ask", [
    "ls-remote",
    "--quiet",
    "--end-of-options",
    remote.url,
    ...tags.flatMap((ref) => [ref, `${ref}^{}`]),
  ]);
  const there = new Map(stdout.split("\n").map((line) => line.split("\t").reverse() as [string, string]));
  return updates.map((update) =>
    there.get(`${update.ref}^{}`) === update.old ? { ...update, old: there.get(update.ref) ?? update.old } : update,
  );
}

async function ask(
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

/** Arguments of one atomic push that is refused unless every ref is at its `old`. */
function pushArguments(remote: string, updates: readonly RefUpdate[]): string[] {
  const leases: string[] = [];
  const refspecs: string[] = [];
  const seen = new Set<string>();
  for (const update of updates) {
    const ref = fullRef(update.ref);
    if (seen.has(ref)) throw new GitError("Invalid", `${ref} is in one push twice`);
    seen.add(ref);
    leases.push(`--force-with-lease=${ref}:${update.old === undefined ? "" : objectId(update.old)}`);
    refspecs.push(`${update.new === undefined ? "" : objectId(update.new)}:${ref}`);
  }
  return ["push", "--porcelain", "--atomic", "--no-verify", "--no-signed", ...leases, "--end-of-options", remote, ...refspecs];
}

/** What one ref came to: the flag and the words in brackets of `--porcelain`. */
interface RefOutcome {
  ref: string;
  flag: string;
  summary: string;
}

function outcomes(stdout: string): RefOutcome[] {
  const found: RefOutcome[] = [];
  for (const line of stdout.split("\n")) {
    const parts = line.split("\t");
    const [flag = "", refs = "", summary = ""] = parts;
    if (parts.length < 3 || flag.length !== 1) continue;
    found.push({ ref: refs.slice(refs.indexOf(":") + 1), flag, summary });
  }
  return found;
}

/** The remote's words for "somebody was faster", between our look at the refs and its own. */
const RACE = /failed to update ref|cannot lock ref|incorrect old value|reference already exists|fetch first|non-fast-forward/i;

/**
 * Whether a finished push went through. `unsure`: refused in a way a race and a fault both have; the refs must be looked
 * at. Rejects with GitError for everything else, a hook's or ruleset's refusal as `Invalid` with its own words.
 */
function judgePush(url: string, updates: readonly RefUpdate[], result: GitResult): "ok" | "stale" | "unsure" {
  const refs = outcomes(result.stdout);
  if (result.exitCode === 0) {
    // A ref that was at `new` already is "up to date" to git, whatever the lease says: somebody else put it there.
    const moved = updates.filter((update) => update.old !== update.new);
    const already = refs.filter((ref) => ref.flag === "=").map((ref) => ref.ref);
    return moved.length > 0 && moved.every((update) => already.includes(update.ref)) ? "stale" : "ok";
  }
  // Git keeps no branch below another: a fault that trying again does not mend.
  const inTheWay = /'refs\/\S+' exists; cannot create '\S+'/.exec(result.stderr)?.[0];
  if (inTheWay !== undefined) throw new GitError("Invalid", `push to ${url}: ${inTheWay}`);
  const rejected = refs.filter((ref) => ref.flag === "!");
  if (rejected.some((ref) => ref.summary.includes("stale info"))) return "stale";
  if (rejected.length > 0 && (RACE.test(result.stderr) || rejected.some((ref) => RACE.test(ref.summary)))) return "unsure";
  const named = rejected.filter((ref) => !/atomic (push|transaction) fail/i.test(ref.summary));
  const refused = (named.length > 0 ? named : rejected).find((ref) => ref.summary.includes("[remote rejected]"));
  if (refused === undefined) throw gitError(`push to ${url}`, new GitFailure(result.exitCode, result.stdout, result.stderr));
  const reason = /\((.*)\)/.exec(refused.summary)?.[1] ?? refused.summary;
  const words = remoteWords(result.stderr);
  throw new GitError("Invalid", `push to ${url}: the remote refused ${refused.ref} (${reason})${words === "" ? "" : `: ${words}`}`);
}
