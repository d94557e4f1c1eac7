/** The journal is read from a plain checkout, for every subcommand that shows a run or steers one. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { simpleGit } from "simple-git";
import type { Index } from "../../../adapters/git/journal/index-file.ts";
import { JOURNAL_BRANCH } from "../../../adapters/git/journal/journal.ts";
import type { JournalReader } from "../../../adapters/git/journal/port.ts";
import { JournalFileError } from "../../../adapters/git/journal/read-run.ts";
import { openJournalReader } from "../../../adapters/git/journal/reader.ts";
import { GitError } from "../../../adapters/git/port.ts";
import { type GitReader, openReader } from "../../../adapters/git/reader.ts";
import { CommandError } from "../command.ts";

/** The journal as a plain checkout has it: read from its own refs, with nothing but git there. */
export interface JournalSource extends JournalReader {
  /** The index; CommandError 1 where the checkout has no journal. */
  index(): Promise<Index>;
  /** Everything else in the repository. */
  reader: GitReader;
  /** Commit the journal's ref points to now. */
  head(): Promise<string | undefined>;
  /** Asks the remote for the journal, with the person's own git configuration and credentials. */
  fetch(): Promise<void>;
  close(): Promise<void>;
}

export interface SourceOptions {
  repo: string;
  branch?: string;
  fetch?: boolean;
}

/** Opens the journal of the checkout (or bare repository) at `repo`. CommandError 2 where that is none. */
async function openSource(options: SourceOptions): Promise<JournalSource> {
  const { branch = JOURNAL_BRANCH } = options;
  const directory = resolve(options.repo);
  if (!existsSync(directory)) throw new CommandError(2, `--repo ${options.repo}: there is no such directory`);
  const git = simpleGit({ baseDir: directory });
  const found = await git.raw(["rev-parse", "--absolute-git-dir"]).catch(() => undefined);
  if (found === undefined) throw new CommandError(2, `--repo ${options.repo} is no Git repository`);
  const closing = new AbortController();
  const reader = openReader({ directory: found.trim(), allowFile: false, closing: closing.signal });

  async function refs(): Promise<string[]> {
    const out = await git.raw(["for-each-ref", "--format=%(refname)", `refs/heads/${branch}`, `refs/remotes/*/${branch}`]);
    return out.split("\n").filter(Boolean);
  }

  async function fetch(): Promise<void> {
    const remotes = (await git.raw(["remote"])).split("\n").filter(Boolean);
    const remote = remotes.includes("origin") ? "origin" : remotes[0];
    if (remote === undefined) throw new CommandError(2, `--fetch: ${options.repo} has no remote`);
    const refspec = `+refs/heads/${branch}:refs/remotes/${remote}/${branch}`;
    try {
      await git.raw(["fetch", "--quiet", "--no-tags", "--end-of-options", remote, refspec]);
    } catch (error) {
      const why = error instanceof Error ? (error.message.trim().split("\n")[0] ?? "") : String(error);
      if (/couldn't find remote ref/.test(why)) {
        throw new CommandError(
          1,
          `${remote} of ${options.repo} has no branch ${branch}: no run has begun there, or its journal has another name (--branch)`,
        );
      }
      throw new CommandError(3, `fetch of ${branch} from ${remote}: ${why}`);
    }
  }

  const head = async () => await newest(reader, await refs());
  if (options.fetch === true) await fetch();
  const journal = openJournalReader(reader, head);
  return {
    ...journal,
    reader,
    head,
    fetch,
    async index() {
      const index = await journal.index();
      if (index === undefined) throw new CommandError(1, `${options.repo} has no branch ${branch}; --fetch asks its remote for it`);
      return index;
    },
    async close() {
      await reader.close();
      closing.abort();
    },
  };
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

/** Runs a command on the journal and closes it; what Git or a broken file says becomes the command's error. */
export async function withSource(options: SourceOptions, work: (source: JournalSource) => Promise<number>): Promise<number> {
  const source = await openSource(options);
  try {
    return await work(source);
  } catch (error) {
    if (error instanceof JournalFileError) throw new CommandError(1, `the journal's ${error.file} cannot be read: ${error.message}`);
    if (error instanceof GitError) throw new CommandError(error.kind === "Invalid" ? 2 : 3, error.message);
    throw error;
  } finally {
    await source.close();
  }
}

/** The rollout's entry; CommandError 1 naming those there are. */
export function entryOf(index: Index, name: string): { lastRun: number } {
  const entry = index.rollouts.get(name);
  if (entry !== undefined && entry.lastRun > 0) return entry;
  const names = [...index.rollouts].filter(([, { lastRun }]) => lastRun > 0).map(([rollout]) => rollout);
  const known = names.length === 0 ? "it has no runs at all" : `it has ${names.slice(0, 10).join(", ")}`;
  throw new CommandError(1, `the journal has no run of "${name}"; ${known}`);
}

/** Columns, as wide as they need to be. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

/** Text of the journal for a terminal: nothing in it may move the cursor. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
}
