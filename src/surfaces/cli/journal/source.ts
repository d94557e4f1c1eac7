/** The journal is read from a plain checkout, for every subcommand that shows a run or steers one. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { type SimpleGit, simpleGit } from "simple-git";
import type { Index } from "../../../adapters/git/journal/index-file.ts";
import { JOURNAL_BRANCH } from "../../../adapters/git/journal/journal.ts";
import { JournalFileError } from "../../../adapters/git/journal/read-run.ts";
import { openJournalReader } from "../../../adapters/git/journal/reader.ts";
import { GitError } from "../../../adapters/git/port.ts";
import { type GitReader, openReader } from "../../../adapters/git/reader.ts";
import type { History } from "../../../core/report/plan/duration.ts";
import { addStop } from "../../../core/report/reasons/phrases.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { parseRepoConfig } from "../../../core/spec/parse/parse.ts";
import { freezesOf, SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import { openDurations } from "../../../engine/config-repo/history-durations.ts";
import { CommandError } from "../command.ts";
import { openCopy } from "./copy.ts";
import {
  ASKED_MS,
  type AsOf,
  ageText,
  fetchBase,
  fetchJournal,
  folderName,
  knownSince,
  markFetched,
  noBranch,
  noJournal,
  UNASKED_MS,
} from "./fetch.ts";
import { entryOf } from "./known-rollouts.ts";

export interface SourceOptions {
  repo: string;
  /** `OWNER/NAME` or a URL: the journal is fetched from GitHub, and no checkout is needed. */
  repository?: string | undefined;
  branch?: string | undefined;
  /** Absent: the remote is asked, and where it does not answer what the clone has is shown, with its age. */
  fetch?: boolean | undefined;
}

/** Begins a command on the journal: where it is, and whether it is fetched first. */
export function journalCommand(name: string, description: string): Command {
  return new Command(`stagecoach ${name}`)
    .description(description)
    .option("--repo <dir>", "checkout of the config repo", ".")
    .option("-R, --repository <owner/name>", "the config repo on GitHub, instead of a checkout of it")
    .option("--branch <name>", "the journal's branch", JOURNAL_BRANCH)
    .option("--fetch", "end with an error where the remote does not answer, instead of showing what the clone has")
    .option("--no-fetch", "ask no remote: show what the clone has");
}

/** Git in a checkout (or bare repository), and its remote: `origin`, or the first there is. */
export interface CheckoutGit {
  git: SimpleGit;
  remote(): Promise<string | undefined>;
}

/** simple-git's guard lets through what was chosen here: the token comes as configuration in the environment. */
function guardedBy(env: Readonly<Record<string, string>>) {
  return { allowEnvironment: Object.keys(env).filter((name) => name.startsWith("GIT_")), unsafe: { allowUnsafeConfigEnvCount: true } };
}

/** `env`: all that git gets of the environment; undefined: the person's own. */
export function openGit(repo: string, env?: Readonly<Record<string, string>>): CheckoutGit {
  const directory = resolve(repo);
  if (!existsSync(directory)) throw new CommandError(2, `--repo ${repo}: there is no such directory`);
  const git = env === undefined ? simpleGit({ baseDir: directory }) : simpleGit({ baseDir: directory, ...guardedBy(env) }).env(env);
  return {
    git,
    async remote() {
      const remotes = (await git.raw(["remote"]).catch(() => "")).split("\n").filter(Boolean);
      return remotes.includes("origin") ? "origin" : remotes[0];
    },
  };
}

/** The objects of such a checkout, read with nothing but git there. CommandError 2 where it is none. */
export async function openObjects({ git }: CheckoutGit, repo: string) {
  const found = await git.raw(["rev-parse", "--absolute-git-dir"]).catch(() => undefined);
  if (found === undefined)
    throw new CommandError(
      2,
      repo === "."
        ? "this is no clone of a config repo: go into one, or give --repo DIR or -R OWNER/NAME"
        : `--repo ${repo} is no Git repository`,
    );
  const closing = new AbortController();
  const repository = { directory: found.trim(), allowFile: false, closing: closing.signal };
  const reader = openReader(repository);
  async function close(): Promise<void> {
    await reader.close();
    closing.abort();
  }
  return { repository, reader, close };
}

export type JournalSource = Awaited<ReturnType<typeof openSource>>;

/** Opens the journal of the checkout at `repo`, or of what GitHub has of `repository` now. */
async function openSource({ repo: dir, repository, branch = JOURNAL_BRANCH, fetch: asked }: SourceOptions) {
  const copy = repository === undefined ? undefined : await openCopy(repository);
  const repo = copy === undefined ? dir : copy.directory;
  const checkout = openGit(repo, copy?.env);
  const { git } = checkout;
  const { reader, close, repository: objects } = await openObjects(checkout, repo);
  const remote = await checkout.remote();
  const called = repository ?? (remote === undefined ? folderName(repo) : `${remote} of ${folderName(repo)}`);
  /** When the remote last said how the journal stands, and why it does not say it now. */
  let answered: number | undefined;
  let silent: string | undefined;

  /** Asks the remote for the journal, with the person's own git configuration and credentials. */
  async function fetch({ withinMs = ASKED_MS, unasked = false } = {}): Promise<void> {
    if (remote === undefined) throw new CommandError(2, `--fetch: ${folderName(repo)} has no remote`);
    const { env, hasToken } = copy ?? {};
    await fetchJournal({ directory: repo, remote, branch, called, env, hasToken }, { withinMs, unasked });
    markFetched(objects.directory, branch);
    answered = Date.now();
    silent = undefined;
  }

  /** The same, where what is here will do if the remote does not answer. */
  async function refresh(): Promise<void> {
    if (remote === undefined || asked === false) return;
    try {
      await fetch({ withinMs: UNASKED_MS, unasked: true });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      silent = error.message;
    }
  }

  /** The commit that the journal's ref points to now. */
  async function head(): Promise<string | undefined> {
    const out = await git.raw(["for-each-ref", "--format=%(refname)", `refs/heads/${branch}`, `refs/remotes/*/${branch}`]);
    return await newest(reader, out.split("\n").filter(Boolean));
  }

  if (asked === true || copy !== undefined) await fetch();
  else await refresh();
  const journal = openJournalReader(reader, head);
  const durationsOf = openDurations(reader);
  return {
    ...journal,
    branch,
    /** Where the clone is; undefined: none is there. */
    checkout: copy === undefined ? dir : undefined,
    /** Everything else in the repository. */
    reader,
    head,
    fetch,
    refresh,
    /** As of when this is the journal; undefined: now, since nobody else has it. */
    async asOf(): Promise<AsOf | undefined> {
      if (remote === undefined) return undefined;
      const at = await head();
      const since = answered ?? (at === undefined ? undefined : await knownSince(objects.directory, branch, reader, at));
      return since === undefined ? undefined : { at: since, answered: silent === undefined && answered !== undefined, why: silent };
    },
    /** The index, where there is a journal. */
    known: journal.index,
    /** The index; CommandError 1 where the checkout has no journal. */
    async index(): Promise<Index> {
      const index = await journal.index();
      if (index !== undefined) return index;
      throw new CommandError(1, this.noJournal());
    },
    noJournal: () => (copy === undefined ? noJournal(repo, branch, silent) : noBranch(called, branch)),
    async fetchBase(): Promise<string | undefined> {
      if (remote === undefined || asked === false) return undefined;
      const ref = await fetchBase({ directory: repo, remote, branch, called }).catch(() => undefined);
      return ref === undefined ? undefined : await reader.refCommit(ref);
    },
    /** A run of a rollout, default its last one; CommandError 1 where there is none. */
    async runOf(name: string, wanted?: number): Promise<Run> {
      const { lastRun } = await entryOf(this, name);
      const found = await journal.run(name, wanted ?? lastRun);
      if (found !== undefined) return found;
      throw new CommandError(1, `the journal has no run ${name} #${wanted ?? lastRun}; the last one is #${lastRun}`);
    },
    /** How long the runs before one took, and the freezes that the remote's default branch declares; where that cannot be read, nothing. */
    async history({ rollout, number }: Run): Promise<History> {
      const base = remote === undefined ? undefined : await reader.refCommit(`refs/remotes/${remote}/HEAD`).catch(() => undefined);
      const settings = base === undefined ? undefined : (await reader.readFiles(base, [SETTINGS_FILE])).get(SETTINGS_FILE);
      const freezes = freezesOf(parseRepoConfig(settings ?? null, SETTINGS_FILE).bounds.freezes);
      return { ...(await durationsOf(await head(), rollout, number - 1, freezes)), freezes };
    },
    close,
  };
}

export function firstLine(error: unknown): string {
  return error instanceof Error ? (error.message.trim().split("\n")[0] ?? "") : String(error);
}

/** A local branch and several remotes may all have the journal: the one that contains the others is meant, a remote's before a local one. */
async function newest(reader: GitReader, refs: readonly string[]): Promise<string | undefined> {
  let best: string | undefined;
  for (const ref of refs) {
    const commit = await reader.refCommit(ref);
    if (commit === undefined || commit === best) continue;
    if (best === undefined || (await reader.isAncestor(commit, best)) !== true) best = commit;
  }
  return best;
}

const NOT_CHECKED =
  "As the journal says. Whether the server wrote all of it was not checked, which needs the server's key (stagecoach journal show).\n";

/** Runs a command on the journal and closes it; what Git or a broken file says becomes the command's error. */
export async function withSource<T>(
  options: SourceOptions,
  work: (source: JournalSource) => Promise<T>,
  { sealed = false }: { sealed?: boolean } = {},
): Promise<T> {
  const source = await openSource(options);
  try {
    const asOf = await source.asOf();
    if (asOf !== undefined && !asOf.answered) process.stderr.write(`${addStop(ageText(asOf, Date.now()).replace(/^as/, "As"))}\n`);
    const done = await work(source);
    // For people alone: what is read by a program has its own field or none.
    if (!sealed && process.stderr.isTTY) process.stderr.write(NOT_CHECKED);
    return done;
  } catch (error) {
    throw asCommandError(error, 2);
  } finally {
    await source.close();
  }
}

/** What Git, or a file of the journal, says, as the command's error. `refused`: the exit code where Git was asked for what cannot be. */
export function asCommandError(error: unknown, refused: 1 | 2): unknown {
  if (error instanceof JournalFileError)
    return new CommandError(1, `the journal's ${error.file} cannot be read: ${sentenceOf(error.reason)}`);
  return error instanceof GitError ? new CommandError(error.kind === "Invalid" ? refused : 3, error.message) : error;
}

/** `42` or `#42`. */
export function runNumber(text: string): number {
  const found = /^#?([1-9]\d{0,8})$/.exec(text)?.[1];
  if (found === undefined) throw new CommandError(2, `"${text}" is no number of a run`);
  return Number(found);
}
