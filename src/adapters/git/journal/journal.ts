/**
 * The journal of a repository: every run, on a branch of its own. It is written before anything is done, by one writer at a time, and read
 * only while every commit on it is ours.
 */
import type { Run } from "../../../core/run/state/run.ts";
import { openLocalWriter } from "../local-writer.ts";
import { type CommitWriter, GitError, type Mirror } from "../port.ts";
import { serial } from "../serial.ts";
import { authorOf, checkBranch, type Heads, type MayAccept, NOTHING, openTrust } from "./check.ts";
import { sealedMessage, trailersOf } from "./commit-message.ts";
import { INDEX_FILE, mergeIndex, printIndex } from "./index-file.ts";
import { type Loaded, load } from "./load.ts";
import { type NextTree, openNextTree } from "./next-tree.ts";
import type { Anchor, Journal, JournalChange, JournalReader, JournalState, Suspicion, Trace } from "./port.ts";
import { printRun, type RunFiles } from "./print-run.ts";
import { readRun } from "./read-run.ts";
import { openJournalReader, readTextsAt } from "./reader.ts";
import { rolloutDirectory, runName } from "./run-paths.ts";
import type { Seal } from "./seal.ts";

interface JournalOptions {
  mirror: Mirror;
  /** Default `stagecoach/journal`. */
  branch?: string;
  /** The account that owns the journal and makes its commits: `stagecoach[bot]`. */
  app: string;
  /** Runs of a rollout kept in the tree; older ones stay in the history. Default 50. Asked at each record: settings may change. */
  keep?: number | (() => number | undefined);
  /** Tells our commits from all others. */
  seal: Seal;
  /** Default: unsigned commits, pushed from the mirror. */
  writer?: CommitWriter | undefined;
  /** Who may say that foreign commits stand. Absent: nobody. */
  mayAccept?: MayAccept | undefined;
  /** Keeps the newest head where writers of the repository cannot touch it. Absent: this machine alone remembers it. */
  anchor?: Anchor | undefined;
  /** Asked where there is no journal and none was ever seen: an open PR of a run, which shows that there has been one. */
  traces?: () => Promise<Trace | undefined>;
}

export const JOURNAL_BRANCH = "stagecoach/journal";

function keepOf(keep: JournalOptions["keep"]): number {
  return (typeof keep === "function" ? keep() : keep) ?? 50;
}

/**
 * Opens the journal of a repository. Two replicas may have it open: whoever pushes second is told `lost`, and nothing of
 * its change is there. A crash between building the commit and pushing it leaves nothing; one after the push is found by
 * the next `read`.
 */
export function openJournal(options: JournalOptions): Journal & JournalReader {
  const own = new OwnJournal(options);
  return {
    ...openJournalReader(options.mirror, () => own.readable()),
    read: (remote) => own.read(remote),
    record: (change) => own.record(change),
    head: () => own.head(),
    anchor: () => own.anchor(),
    isAnchored: () => own.isAnchored(),
  };
}

class OwnJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #branch: string;
  readonly #writer: CommitWriter;
  readonly #trust: ReturnType<typeof openTrust>;
  readonly #nextTree: NextTree;
  readonly #serially = serial();
  #loaded: Loaded | undefined;

  constructor(options: JournalOptions) {
    const { mirror, branch = JOURNAL_BRANCH, app, anchor, writer } = options;
    this.#options = options;
    this.#branch = branch;
    this.#writer = writer ?? openLocalWriter({ mirror, author: authorOf(app) });
    this.#trust = openTrust(mirror, branch, anchor);
    this.#nextTree = openNextTree(mirror);
  }

  head(): string | undefined {
    return this.#loaded?.state.head;
  }

  /** The head of what may be read by others, which is here then. */
  async readable(): Promise<string | undefined> {
    return (await this.#have(this.head())) ?? (await this.#options.mirror.head(this.#branch));
  }

  /** What was written here is fetched once somebody reads it: the next record needs only what it says. */
  async #have(head: string | undefined): Promise<string | undefined> {
    const { mirror } = this.#options;
    if (head !== undefined && (await mirror.commitInfo(head)) === undefined) await mirror.fetch([this.#branch]);
    return head;
  }

  read(remote?: { head: string | undefined }): Promise<JournalState> {
    return this.#serially(async () => (await this.#read(remote)).state);
  }

  async #read(known?: { head: string | undefined }): Promise<Loaded> {
    const { mirror, app } = this.#options;
    await this.#trust.begin();
    const remote = known === undefined ? await mirror.remoteHead(this.#branch) : known.head;
    const last = this.#loaded;
    if (last !== undefined && last.state.head === remote && last.state.tampered === undefined) return last;
    await this.#have(remote);
    const before = this.#trust.heads();
    const { sequence, suspicion: found } = await checkBranch(this.#options, remote, before);
    // What the caller saw may be older than what is anchored by now.
    if (found?.why.code === "JOURNAL_REWRITTEN" && known !== undefined) return await this.#read();
    const suspicion = found ?? (await traced(this.#options, remote, before));
    const next: Loaded = { ...(await load(mirror, app, remote, last)), sequence };
    if (suspicion !== undefined) next.state = { ...next.state, tampered: suspicion };
    if (next.state.tampered === undefined) await this.#trust.keep(remote, sequence);
    this.#loaded = next;
    return next;
  }

  record(change: JournalChange): Promise<"recorded" | "lost"> {
    return this.#serially(() => this.#record(change));
  }

  async #record(change: JournalChange): Promise<"recorded" | "lost"> {
    const { mirror, app, seal, keep } = this.#options;
    const before = this.#loaded ?? (await this.#read());
    const { tampered, head } = before.state;
    if (tampered !== undefined)
      throw new GitError("Invalid", `nothing is recorded while the journal is not accepted: ${tampered.why.code}`);
    const preparing = { mirror, app, keep: keepOf(keep), have: (at: string | undefined) => this.#have(at) };
    const { changes, next } = await prepare(preparing, before, change);
    if (changes.size === 0) return "recorded";
    const tree = await this.#treeAfter(before, changes);
    const sequence = before.sequence + 1;
    const message = sealedMessage(seal, { sequence, parent: head, tree }, change.subject, trailersOf(change, app));
    const written = await this.#writer.write({ branch: this.#branch, head, changes, message, at: change.at, ownFiles: true });
    if (written.kind === "stale") return "lost";
    this.#loaded = { ...next, sequence, tree, state: { ...next.state, head: written.commit } };
    await this.#trust.keep(written.commit, sequence);
    return "recorded";
  }

  async #treeAfter({ tree, state }: Loaded, changes: Parameters<NextTree>[1]): Promise<string> {
    const work = () => this.#nextTree(tree, changes, this.#writer.kind !== "github");
    return await work().catch(async (error: unknown) => {
      if (!(error instanceof GitError) || error.kind !== "NotFound") throw error;
      await this.#have(state.head);
      return await work();
    });
  }

  isAnchored(): Promise<boolean> {
    return this.#serially(async () => {
      await this.#trust.compare();
      const { anchored } = this.#trust.heads();
      const head = this.head();
      if (anchored === undefined || anchored.head === head) return true;
      await this.#have(head);
      const isBelow = head !== undefined && (await this.#options.mirror.isAncestor(anchored.head, head)) === true;
      // Looked at as if for the first time, with what is known now.
      if (!isBelow) this.#loaded = undefined;
      return isBelow;
    });
  }

  async anchor(): Promise<void> {
    const last = this.#loaded;
    if (last?.state.head === undefined || last.state.tampered !== undefined) return;
    await this.#options.anchor?.write({ sequence: last.sequence, head: last.state.head });
  }
}

/** No branch, and nothing of one on this machine: a new repository, or one whose journal somebody took away. */
async function traced({ traces }: JournalOptions, remote: string | undefined, { seen }: Heads): Promise<Suspicion | undefined> {
  const trace = remote === undefined && seen === undefined ? await traces?.() : undefined;
  return trace === undefined ? undefined : { commit: NOTHING, why: { code: "JOURNAL_TAKEN_AWAY", ...trace } };
}

interface Preparing {
  mirror: Mirror;
  app: string;
  /** Runs. */
  keep: number;
  /** Fetches a head that is not here yet, and returns it. */
  have(head: string | undefined): Promise<string | undefined>;
}

/** The files that differ from those of before, and what will stand once they are pushed. */
async function prepare(preparing: Preparing, before: Loaded, change: JournalChange) {
  const { app } = preparing;
  const changes = new Map<string, string | null>();
  const runs = new Map(before.runs);
  const last = new Map(before.state.runs);
  const broken = new Map(before.state.broken);
  const rollouts = mergeIndex(before.state.index, change.index, change.runs);
  for (const run of change.runs) {
    const name = runName(run.rollout, run.number);
    const prior = before.runs.get(name) ?? (await readOlder(preparing, before, run));
    const printed = printRun(run, prior);
    for (const [path, text] of printed.files) if (prior?.files.get(path) !== text) changes.set(path, text);
    for (const path of prior?.files.keys() ?? []) if (!printed.files.has(path)) changes.set(path, null);
    if (prior === undefined) for (const path of await folded(preparing, before.state.head, run)) changes.set(path, null);
    runs.set(name, printed);
    if (rollouts.get(run.rollout)?.lastRun === run.number) {
      last.set(run.rollout, run);
      broken.delete(run.rollout);
    }
  }
  const indexText = printIndex({ app, rollouts });
  if (indexText !== before.indexText) changes.set(INDEX_FILE, indexText);
  for (const name of runs.keys()) {
    const [rollout = "", number = ""] = name.split("#");
    if (Number(number) < (rollouts.get(rollout)?.lastRun ?? 0) - 1) runs.delete(name);
  }
  const state: JournalState = { head: before.state.head, index: rollouts, runs: last, broken };
  return { changes, next: { state, index: { app, rollouts }, indexText, runs } };
}

/** A run that is not the last one and is written again (superseded, say): its files are those at the head. */
async function readOlder({ mirror, have }: Preparing, before: Loaded, run: Run): Promise<RunFiles | undefined> {
  const { head, index } = before.state;
  if (head === undefined || run.number > (index.get(run.rollout)?.lastRun ?? 0)) return undefined;
  const broken = before.state.broken.get(run.rollout);
  if (broken?.run === run.number)
    throw new GitError("Invalid", `${run.rollout} #${run.number} cannot be written over: ${broken.file}: ${JSON.stringify(broken.why)}`);
  await have(head);
  return await readRun(readTextsAt(mirror, head), run.rollout, run.number);
}

/** Files of runs that a new one pushes out of the tree. */
async function folded({ mirror, keep, have }: Preparing, head: string | undefined, run: Run): Promise<string[]> {
  if (head === undefined || run.number <= keep) return [];
  await have(head);
  const paths = await mirror.listFiles(head, rolloutDirectory(run.rollout));
  return paths.filter((path) => Number(path.split("/")[2]) <= run.number - keep);
}
