/**
 * What is known of commits of the config repo: their files, and answers that can never change, since commits do not.
 *
 * Made once for a repo. All of it may be lost at any moment: what is asked again is found out again. Nothing here is fetched;
 * what the mirror does not have is `undefined` and is not kept.
 */
import type { Cell } from "../../adapters/cell/port.ts";
import type { CommitInfo, Mirror } from "../../adapters/git/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { foldersAbove } from "../../core/base/clean-path.ts";
import { type Snapshot, snapshotCache } from "./snapshot.ts";

const MOST_FACTS = 10_000;
const MOST_COMMITS = 1000;
const MOST_SCANS = 50;

export interface Commits {
  readonly mirror: Mirror;
  snapshot(id: string): Snapshot;
  /** Answers a question about things that never change, and asks it once. */
  fact(question: string, ask: () => Promise<boolean>): Promise<boolean>;
  /** The answer where the question was asked before. */
  known(question: string): boolean | undefined;
  /** Notes an answer that will never be another. */
  note(question: string, answer: boolean): void;
  /** Says whether one commit contains another. undefined: the mirror does not have both. */
  contains(commit: string, part: string): Promise<boolean | undefined>;
  /** The same, where it was asked before. */
  knownToContain(commit: string, part: string): boolean | undefined;
  /** The same of the base of a round: one question a move of the base, however many commits are asked about. */
  isInHistory(commit: string, base: string): Promise<boolean | undefined>;
  /** Finds the latest first-parent commit after `from` up to `base` that changed a file, or something in a folder (`env/`); undefined: none did. */
  lastTouchAfter(from: string, base: string, file: string): Promise<CommitInfo | undefined>;
}

/** `cell`: reads and renders there what of commits takes long. Absent: all is done at once. */
export function openCommits(mirror: Mirror, cell?: Cell): Commits {
  const facts = new BoundedMap<string, boolean>(MOST_FACTS);
  const bases: Bases = { current: undefined, former: undefined };

  async function fact(question: string, ask: () => Promise<boolean>): Promise<boolean> {
    const answer = facts.get(question) ?? (await ask());
    facts.set(question, answer);
    return answer;
  }

  async function contains(commit: string, part: string): Promise<boolean | undefined> {
    if (commit === part) return true;
    const known = facts.get(`${part} in ${commit}`);
    if (known !== undefined) return known;
    const answer = await mirror.isAncestor(part, commit);
    // A commit that is unknown today may be fetched tomorrow.
    if (answer !== undefined) facts.set(`${part} in ${commit}`, answer);
    return answer;
  }

  const commits: Commits = {
    mirror,
    snapshot: snapshotCache(mirror, cell),
    fact,
    known: (question) => facts.get(question),
    note: (question, answer) => void facts.set(question, answer),
    contains,
    knownToContain: (commit, part) => (commit === part ? true : facts.get(`${part} in ${commit}`)),
    isInHistory: (commit, base) => isInHistory(commits, bases, commit, base),
    lastTouchAfter: openScans(mirror),
  };
  return commits;
}

/** The base that was asked about last, and the one before it. */
interface Bases {
  current: string | undefined;
  former: string | undefined;
}

/** What is in the history of a base is in that of every base that contains the former. */
async function isInHistory(commits: Commits, bases: Bases, commit: string, base: string): Promise<boolean | undefined> {
  if (bases.current !== base) Object.assign(bases, { current: base, former: bases.current });
  const { former } = bases;
  const isNew = commits.knownToContain(base, commit) === undefined;
  if (isNew && former !== undefined && commits.knownToContain(former, commit) === true && (await commits.contains(base, former)) === true)
    commits.note(`${commit} in ${base}`, true);
  return commits.contains(base, commit);
}

/** What changed each file last, between two commits of the base. */
interface Scanned {
  /** As far as was looked. */
  to: string;
  byFile: Map<string, CommitInfo>;
}

/** Each commit is compared with its predecessor once, for all files and rounds; a base set back is looked at anew. */
function openScans(mirror: Mirror): Commits["lastTouchAfter"] {
  const scans = new BoundedMap<string, Scanned>(MOST_SCANS);
  return async (from, base, file) => {
    const known = scans.get(from);
    if (known?.to === base) return known.byFile.get(file);
    const goesOn = known !== undefined && (await mirror.isAncestor(known.to, base)) === true;
    const scanned = await scan(mirror, goesOn ? known : { to: from, byFile: new Map() }, base);
    scans.set(from, scanned);
    return scanned.byFile.get(file);
  };
}

async function scan(mirror: Mirror, { to, byFile }: Scanned, base: string): Promise<Scanned> {
  const touched = new Map(byFile);
  let previous = to;
  for (const commit of await mirror.firstParentLog(to, base, MOST_COMMITS)) {
    for (const path of await mirror.changedPaths(previous, commit.sha))
      for (const place of [path, ...foldersAbove(path).map((folder) => `${folder}/`)]) touched.set(place, commit);
    previous = commit.sha;
  }
  return { to: previous, byFile: touched };
}
