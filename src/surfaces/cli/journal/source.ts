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
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { CommandError } from "../command.ts";
import { openCopy } from "./copy.ts";

export interface SourceOptions {
  repo: string;
  /** `OWNER/NAME` or a URL: the journal is fetched from GitHub, and no checkout is needed. */
  repository?: string | undefined;
  branch?: string | undefined;
  fetch?: boolean | undefined;
}

/** Begins a command on the journal: where it is, and whether it is fetched first. */
export function journalCommand(name: string, description: string, fetch = "fetch the journal first"): Command {
  return new Command(`stagecoach ${name}`)
    .description(description)
    .option("--repo <dir>", "checkout of the config repo", ".")
    .option("-R, --repository <owner/name>", "the config repo on GitHub, instead of a checkout of it")
    .option("--branch <name>", "the journal's branch", JOURNAL_BRANCH)
    .option("--fetch", fetch);
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
  if (found === undefined) throw new CommandError(2, `--repo ${repo} is no Git repository`);
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

/** Opens the journal of the checkout at `repo`, read from its own refs, or of what GitHub has of `repository` now. */
async function openSource({ repo: dir, repository, branch = JOURNAL_BRANCH, fetch: first = repository !== undefined }: SourceOptions) {
  const copy = repository === undefined ? undefined : await openCopy(repository);
  const repo = copy === undefined ? dir : copy.directory;
  const checkout = openGit(repo, copy?.env);
  const { git } = checkout;
  const { reader, close } = await openObjects(checkout, repo);

  /** Asks the remote for the journal, with the person's own git configuration and credentials. */
  async function fetch(): Promise<void> {
    const remote = await checkout.remote();
    if (remote === undefined) throw new CommandError(2, `--fetch: ${repo} has no remote`);
    const refspec = `+refs/heads/${branch}:refs/remotes/${remote}/${branch}`;
    await git.raw(["fetch", "--quiet", "--no-tags", "--end-of-options", remote, refspec]).catch((error: unknown) => {
      const why = firstLine(error);
      if (!/couldn't find remote ref/.test(why)) throw new CommandError(3, `fetch of ${branch} from ${repository ?? remote}: ${why}`);
      const hint = "no run has begun there, or its journal has another name (--branch)";
      throw new CommandError(1, `${repository ?? `${remote} of ${repo}`} has no branch ${branch}: ${hint}`);
    });
  }

  /** The commit that the journal's ref points to now. */
  async function head(): Promise<string | undefined> {
    const out = await git.raw(["for-each-ref", "--format=%(refname)", `refs/heads/${branch}`, `refs/remotes/*/${branch}`]);
    return await newest(reader, out.split("\n").filter(Boolean));
  }

  if (first === true) await fetch();
  const journal = openJournalReader(reader, head);
  return {
    ...journal,
    /** Everything else in the repository. */
    reader,
    head,
    fetch,
    /** The index; CommandError 1 where the checkout has no journal. */
    async index(): Promise<Index> {
      const index = await journal.index();
      if (index === undefined) throw new CommandError(1, `${repo} has no branch ${branch}; --fetch asks its remote for it`);
      return index;
    },
    /** A run of a rollout, default its last one; CommandError 1 where there is none. */
    async runOf(name: string, wanted?: number): Promise<Run> {
      const { lastRun } = entryOf(await this.index(), name);
      const found = await journal.run(name, wanted ?? lastRun);
      if (found !== undefined) return found;
      throw new CommandError(1, `the journal has no run ${name} #${wanted ?? lastRun}; the last one is #${lastRun}`);
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

const NOT_CHECKED = "As the journal says; its seals were not checked, for which the server's key is needed (stagecoach journal show).\n";

/** Runs a command on the journal and closes it; what Git or a broken file says becomes the command's error. */
export async function withSource<T>(
  options: SourceOptions,
  work: (source: JournalSource) => Promise<T>,
  { sealed = false }: { sealed?: boolean } = {},
): Promise<T> {
  const source = await openSource(options);
  try {
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

/** The rollout's entry; CommandError 1 naming those there are. */
export function entryOf(index: Index, name: string): { lastRun: number } {
  const entry = index.rollouts.get(name);
  if (entry !== undefined && entry.lastRun > 0) return entry;
  const names = [...index.rollouts].filter(([, { lastRun }]) => lastRun > 0).map(([rollout]) => rollout);
  const known = names.length === 0 ? "it has no runs at all" : `it has ${names.slice(0, 10).join(", ")}`;
  throw new CommandError(1, `the journal has no run of "${name}"; ${known}`);
}

/** `42` or `#42`. */
export function runNumber(text: string): number {
  const found = /^#?([1-9]\d{0,8})$/.exec(text)?.[1];
  if (found === undefined) throw new CommandError(2, `"${text}" is no number of a run`);
  return Number(found);
}
