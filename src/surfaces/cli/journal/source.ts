/** The journal is read from a plain checkout, for every subcommand that shows a run or steers one. */
import { Command } from "commander";
import type { Index } from "../../../adapters/git/journal/index-file.ts";
import { JOURNAL_BRANCH } from "../../../adapters/git/journal/journal.ts";
import type { JournalReader } from "../../../adapters/git/journal/port.ts";
import { JournalFileError } from "../../../adapters/git/journal/read-run.ts";
import { openJournalReader } from "../../../adapters/git/journal/reader.ts";
import { GitError } from "../../../adapters/git/port.ts";
import type { GitReader } from "../../../adapters/git/reader.ts";
import type { History } from "../../../core/report/plan/duration.ts";
import { addStop } from "../../../core/report/reasons/phrases.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { parseRepoConfig } from "../../../core/spec/parse/config.ts";
import { freezesOf, SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import { type DurationsOf, openDurations } from "../../../engine/config-repo/history-durations.ts";
import { CommandError } from "../command.ts";
import { type CheckoutGit, openGit, openObjects } from "./checkout.ts";
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

/** Opens the journal of the checkout at `repo`, or of what GitHub has of `repository` now. */
async function openSource({ repo: dir, repository, branch = JOURNAL_BRANCH, fetch: asked }: SourceOptions): Promise<JournalSource> {
  const copy = repository === undefined ? undefined : await openCopy(repository);
  const repo = copy === undefined ? dir : copy.directory;
  const checkout = openGit(repo, copy?.env);
  const objects = await openObjects(checkout, repo);
  const remote = await checkout.remote();
  const called = repository ?? (remote === undefined ? folderName(repo) : `${remote} of ${folderName(repo)}`);
  const source = new JournalSource({ repo, copy, git: checkout.git, objects, remote, branch, called, mayAsk: asked !== false });
  if (asked === true || copy !== undefined) await source.fetch();
  else await source.refresh();
  return source;
}

interface Opened {
  /** The checkout, or the copy. */
  repo: string;
  copy: Awaited<ReturnType<typeof openCopy>> | undefined;
  git: CheckoutGit["git"];
  objects: Awaited<ReturnType<typeof openObjects>>;
  remote: string | undefined;
  branch: string;
  /** What people call it. */
  called: string;
  /** Whether the remote may be asked, unasked for. */
  mayAsk: boolean;
}

export class JournalSource {
  readonly #opened: Opened;
  readonly #journal: ReturnType<typeof openJournalReader>;
  readonly #durationsOf: DurationsOf;
  /** When the remote last said how the journal stands, and why it does not say it now. */
  #answered: number | undefined;
  #silent: string | undefined;
  /** Where the clone is; undefined: none is there. */
  readonly checkout: string | undefined;
  /** Everything else in the repository. */
  readonly reader: GitReader;
  readonly run: JournalReader["run"] = (...which) => this.#journal.run(...which);
  readonly runs: JournalReader["runs"] = (rollout) => this.#journal.runs(rollout);
  readonly log: JournalReader["log"] = (...which) => this.#journal.log(...which);
  /** The index, where there is a journal. */
  readonly known = (): Promise<Index | undefined> => this.#journal.index();
  readonly close: () => Promise<void>;

  constructor(opened: Opened) {
    const { repo, copy, objects } = opened;
    this.#opened = opened;
    this.checkout = copy === undefined ? repo : undefined;
    this.reader = objects.reader;
    this.close = objects.close;
    this.#durationsOf = openDurations(this.reader);
    this.#journal = openJournalReader(this.reader, () => this.head());
  }

  /** Asks the remote for the journal, with the person's own git configuration and credentials. */
  async fetch({ withinMs = ASKED_MS, unasked = false } = {}): Promise<void> {
    const { repo, copy, remote, branch, called, objects } = this.#opened;
    if (remote === undefined) throw new CommandError(2, `--fetch: ${folderName(repo)} has no remote`);
    const { env, hasToken } = copy ?? {};
    await fetchJournal({ directory: repo, remote, branch, called, env, hasToken }, { withinMs, unasked });
    markFetched(objects.repository.directory, branch);
    this.#answered = Date.now();
    this.#silent = undefined;
  }

  /** The same, where what is here will do if the remote does not answer. */
  async refresh(): Promise<void> {
    if (this.#opened.remote === undefined || !this.#opened.mayAsk) return;
    try {
      await this.fetch({ withinMs: UNASKED_MS, unasked: true });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      this.#silent = error.message;
    }
  }

  /** The commit that the journal's ref points to now. */
  async head(): Promise<string | undefined> {
    const { git, branch } = this.#opened;
    const out = await git.raw(["for-each-ref", "--format=%(refname)", `refs/heads/${branch}`, `refs/remotes/*/${branch}`]);
    return await newest(this.reader, out.split("\n").filter(Boolean));
  }

  /** As of when this is the journal; undefined: now, since nobody else has it. */
  async asOf(): Promise<AsOf | undefined> {
    const { remote, branch, objects } = this.#opened;
    if (remote === undefined) return undefined;
    const at = await this.head();
    const since =
      this.#answered ?? (at === undefined ? undefined : await knownSince(objects.repository.directory, branch, this.reader, at));
    return since === undefined
      ? undefined
      : { at: since, answered: this.#silent === undefined && this.#answered !== undefined, why: this.#silent };
  }

  /** The index; CommandError 1 where the checkout has no journal. */
  async index(): Promise<Index> {
    const index = await this.known();
    if (index !== undefined) return index;
    throw new CommandError(1, this.noJournal());
  }

  noJournal(): string {
    const { repo, branch, called } = this.#opened;
    return this.checkout === undefined ? noBranch(called, branch) : noJournal(repo, branch, this.#silent);
  }

  async fetchBase(): Promise<string | undefined> {
    const { repo, remote, branch, called, mayAsk } = this.#opened;
    if (remote === undefined || !mayAsk) return undefined;
    const ref = await fetchBase({ directory: repo, remote, branch, called }).catch(() => undefined);
    return ref === undefined ? undefined : await this.reader.refCommit(ref);
  }

  /** A run of a rollout, default its last one; CommandError 1 where there is none. */
  async runOf(name: string, wanted?: number): Promise<Run> {
    const { lastRun } = await entryOf(this, name);
    const found = await this.run(name, wanted ?? lastRun);
    if (found !== undefined) return found;
    throw new CommandError(1, `the journal has no run ${name} #${wanted ?? lastRun}; the last one is #${lastRun}`);
  }

  /** How long the runs before one took, and the freezes that the remote's default branch declares; where that cannot be read, nothing. */
  async history({ rollout, number }: Run): Promise<History> {
    const { remote } = this.#opened;
    const base = remote === undefined ? undefined : await this.reader.refCommit(`refs/remotes/${remote}/HEAD`).catch(() => undefined);
    const settings = base === undefined ? undefined : (await this.reader.readFiles(base, [SETTINGS_FILE])).get(SETTINGS_FILE);
    const freezes = freezesOf(parseRepoConfig(settings ?? null, SETTINGS_FILE).bounds.freezes);
    return { ...(await this.#durationsOf(await this.head(), rollout, number - 1, freezes)), freezes };
  }
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
