/** Reads what one head of the journal holds; what has the text of before keeps the objects of before. */
import { GitError, type Mirror } from "../port.ts";
import { parseCommit } from "../signing/commit-object.ts";
import { INDEX_FILE, type Index, parseIndex } from "./index-file.ts";
import { readLastRuns } from "./last-runs.ts";
import type { JournalState, Suspicion } from "./port.ts";
import type { RunFiles } from "./print-run.ts";
import { JournalFileError } from "./read-run.ts";
import { readTextsAt } from "./reader.ts";

/** What one head holds, with the texts it was read from. */
export interface Loaded {
  state: JournalState;
  /** Of the newest sealed commit. */
  sequence: number;
  /** The root tree of the head. */
  tree: string | undefined;
  index: Index | undefined;
  indexText: string | undefined;
  /** By `ROLLOUT#NUMBER`: every run read or written here, not only the last ones. */
  runs: ReadonlyMap<string, RunFiles>;
}

/** What stands at `head`. Files with the text of before give the objects of before. */
export async function load(
  mirror: Mirror,
  app: string,
  head: string | undefined,
  before: Loaded | undefined,
): Promise<Omit<Loaded, "sequence">> {
  if (head === undefined) {
    const state = { head, index: new Map(), runs: new Map(), broken: new Map() };
    return { state, tree: undefined, index: undefined, indexText: undefined, runs: new Map() };
  }
  const tree = await treeOf(mirror, head);
  const read = readTextsAt(mirror, head);
  const indexText = (await read([INDEX_FILE])).get(INDEX_FILE) ?? undefined;
  let index: Index;
  try {
    index = before?.index !== undefined && before.indexText === indexText ? before.index : parseIndex(indexText);
    if (index.app !== app) throw new JournalFileError(INDEX_FILE, { code: "JOURNAL_OTHER_APP", owner: index.app, app });
  } catch (error) {
    if (!(error instanceof JournalFileError)) throw error;
    const tampered: Suspicion = { commit: head, why: { code: "JOURNAL_FILE", file: error.file, because: error.reason } };
    const state = { head, index: new Map(), runs: new Map(), broken: new Map(), tampered };
    return { state, tree, index: undefined, indexText, runs: new Map() };
  }
  const { files, runs, broken } = await readLastRuns(read, index.rollouts, before?.runs);
  return { state: { head, index: index.rollouts, runs, broken }, tree, index, indexText, runs: files };
}

async function treeOf(mirror: Pick<Mirror, "commitObject">, commit: string): Promise<string> {
  const object = await mirror.commitObject(commit);
  if (object === undefined) throw new GitError("NotFound", `no commit ${commit} of the journal in the mirror`);
  return parseCommit(commit, object).tree;
}
