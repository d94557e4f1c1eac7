/** The journal is asked for at its remote, within a bounded time; what git says to that is told in words that help. Called by `source.ts`. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { GitReader } from "../../../adapters/git/reader.ts";
import { redact } from "../../../core/base/error-text.ts";
import { shortAge } from "../../../core/report/tree/tree-marks.ts";
import { CommandError } from "../command.ts";
import { plain } from "../print.ts";
import { withProgress } from "../progress.ts";

/** Where nobody asked for it: a remote that hangs must not hold up what the clone knows. */
export const UNASKED_MS = 10_000;
export const ASKED_MS = 120_000;
/** Each try takes a whole exchange with the remote, in which others end theirs. */
const MOST_FETCHES = 5;

interface Place {
  /** A checkout or bare repository. */
  directory: string;
  remote: string;
  branch: string;
  /** What people call it. */
  called: string;
  /** All that git gets of the environment; undefined: the person's own. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Whether a token of the person's went with it; undefined: git has credentials of its own. */
  hasToken?: boolean | undefined;
}

interface Asking {
  withinMs: number;
  /** Nobody is prompted for anything. */
  unasked: boolean;
}

/** Throws CommandError: 1 where the remote has no such branch, 3 where it could not be asked. */
export async function fetchJournal(place: Place, asking: Asking): Promise<void> {
  const { remote, branch, called } = place;
  await fetchRef(place, asking, `+refs/heads/${branch}:refs/remotes/${remote}/${branch}`, `asking ${called} for the journal`);
}

/** Fetches the remote's default branch, and gives the ref it is at then, which is none that people look at. */
export async function fetchBase(place: Place): Promise<string> {
  const ref = "refs/stagecoach/base";
  await fetchRef(place, { withinMs: UNASKED_MS, unasked: true }, `+HEAD:${ref}`, `asking ${place.called} for its rollouts`);
  return ref;
}

async function fetchRef(place: Place, { withinMs, unasked }: Asking, refspec: string, doing: string): Promise<void> {
  const { directory, remote, env } = place;
  const args = ["-C", directory, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--end-of-options", remote, refspec];
  const given = { ...(env ?? process.env), ...(unasked && askNobody(env ?? process.env)) };
  const options = { env: given, timeout: withinMs, killSignal: "SIGKILL" as const, maxBuffer: 1 << 20 };
  try {
    await withProgress(doing, async () => await fetchBesideOthers(async () => await promisify(execFile)("git", args, options)));
  } catch (error) {
    throw told(error as { stderr?: string; killed?: boolean; message: string }, place, withinMs);
  }
}

/** Several commands of a person share a clone: whoever finds the ref moved or held by another's fetch, asks again. */
async function fetchBesideOthers(fetch: () => Promise<unknown>): Promise<void> {
  for (let left = MOST_FETCHES - 1; ; left -= 1) {
    try {
      await fetch();
      return;
    } catch (error) {
      if (left === 0 || !/cannot lock ref/.test((error as { stderr?: string }).stderr ?? "")) throw error;
    }
  }
}

/** A prompt for a password would wait for somebody who did not ask for it. */
function askNobody(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const chosen = env["GIT_SSH_COMMAND"] ?? env["GIT_SSH"];
  return { GIT_TERMINAL_PROMPT: "0", ...(chosen === undefined && { GIT_SSH_COMMAND: "ssh -o BatchMode=yes" }) };
}

function told(error: { stderr?: string; killed?: boolean; message: string }, { branch, called, hasToken }: Place, withinMs: number) {
  const text = error.stderr ?? "";
  const line = text.split("\n").find((one) => /^(?:fatal|error|remote):/.test(one)) ?? text.split("\n")[0] ?? "";
  const why = plain(redact(line === "" ? error.message : line));
  if (/couldn't find remote ref/.test(text)) return new CommandError(1, noBranch(called, branch));
  if (error.killed === true) return new CommandError(3, `${called} did not answer within ${Math.round(withinMs / 1000)} s`);
  if (/could not read (?:Username|Password)|terminal prompts disabled/i.test(text) && hasToken !== true) {
    const how = hasToken === undefined ? "git has no credentials for it" : "gh auth login, or set GH_TOKEN";
    return new CommandError(3, `${called} wants to know who you are, and there is no token: ${how}`);
  }
  if (/authentication failed|invalid (?:username|credentials)|\b401\b|could not read Username/i.test(text))
    return new CommandError(3, `${called} does not take the token: it is wrong, or has expired (${why})`);
  if (/\b429\b|rate limit/i.test(text))
    return new CommandError(3, `${called} takes no more requests for now: try again in a few minutes (${why})`);
  if (/\b403\b|permission .*denied|access denied|Write access/i.test(text))
    return new CommandError(3, `the token may not read ${called}: it needs Contents: read there (${why})`);
  if (/repository .*not found|does not (?:exist|appear)/i.test(text)) {
    const who = hasToken === false ? "nobody without a token can see it: gh auth login, or set GH_TOKEN" : "your token cannot see it";
    return new CommandError(3, `${called} is not there, or ${hasToken === undefined ? "you cannot see it" : who} (${why})`);
  }
  return new CommandError(3, `${called} could not be asked: ${why}`);
}

export function noBranch(called: string, branch: string): string {
  const made = `the bot makes the branch ${branch} when the first run begins`;
  return `${called} has no runs yet: ${made}. If it has begun one, its journal has another name (--branch)`;
}

/** A fetch that fails empties FETCH_HEAD, so when the journal was last fetched is kept beside it. */
const MARK = "STAGECOACH_FETCHED";

export function markFetched(gitDirectory: string, branch: string): void {
  try {
    writeFileSync(join(gitDirectory, MARK), `'${branch}'\n`);
  } catch {
    // A clone that may not be written shows the age of the journal's newest commit.
  }
}

/** As of when the clone knows the journal, in epoch milliseconds: the last fetch that brought it, or the newest commit it has of it. */
export async function knownSince(gitDirectory: string, branch: string, reader: GitReader, head: string): Promise<number | undefined> {
  const times = [MARK, "FETCH_HEAD"].map((name) => {
    const file = join(gitDirectory, name);
    try {
      return readFileSync(file, "utf8").includes(`'${branch}'`) ? statSync(file).mtimeMs : 0;
    } catch {
      return 0;
    }
  });
  const last = Math.max(...times);
  return last > 0 ? last : (await reader.commitInfo(head))?.at;
}

/** How old what is shown may be. `answered`: the remote was asked just now, or since. */
export interface AsOf {
  at: number;
  answered: boolean;
  /** Why the remote does not answer. */
  why?: string | undefined;
}

/** `as of 12 s ago`; with why it is no newer, where that is so. */
export function ageText({ at, why }: AsOf, now: number): string {
  const old = now - at < 1000 ? "as of now" : `as of ${shortAge(now - at)} ago`;
  return why === undefined ? old : `${old}: ${why}`;
}

/** What people call a folder: `.` is no name. */
export function folderName(repo: string): string {
  return /^\.*\/?$/.test(repo) ? basename(resolve(repo)) : repo;
}

/** A repository in which no run ever began: what it has, and what would come next. */
export function noJournal(repo: string, branch: string, silent: string | undefined): string {
  const folder = join(resolve(repo), "rollouts");
  const has = existsSync(folder) && readdirSync(folder).some((file) => /\.ya?ml$/.test(file));
  const next = has
    ? `It has rollouts: stagecoach lint checks them, and the bot makes the branch ${branch} when the first run begins`
    : "It has no rollouts either: stagecoach init proposes some, and the tutorial shows how they run";
  // That the remote has no such branch is no news.
  const unheard = silent === undefined || /has no runs yet/.test(silent) ? "" : `. What its remote has is not known: ${silent}`;
  return `no run has begun in ${repo === "." ? "this repository" : repo}. ${next}${unheard}`;
}
