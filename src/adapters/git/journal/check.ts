/**
 * Whether the journal's branch is what we left. The journal decides what is merged, so a commit that somebody else made,
 * a branch that was rewritten or one that is gone stops everything. Ours is what is sealed with our key (`seal.ts`). Of foreign commits a
 * person may say that they stand: by a commit on top whose trailer names the head it was given for.
 */
import type { CommitFault, SealFault } from "../../../core/reasons/journal.ts";
import { type CommitInfo, GitError, type Mirror } from "../port.ts";
import { parseCommit, parseTrailers } from "../signing/commit-object.ts";
import type { Anchor, Anchored, Suspicion } from "./port.ts";
import type { Seal } from "./seal.ts";

export const APP_TRAILER = "Stagecoach-App";
export const ACCEPT_TRAILER = "Stagecoach-Accept";
export const RUN_TRAILER = "Stagecoach-Run";

/** Trailer value of an acceptance where there was no branch. */
export const NOTHING = "none";
/** The account our commits carry: `stagecoach[bot]`, with GitHub's no-reply address. */
export function authorOf(app: string): { name: string; email: string } {
  return { name: app, email: `${app}@users.noreply.github.com` };
}

/** How the commits of an account are looked at. */
interface Check {
  mirror: Pick<Mirror, "isAncestor" | "commitObject" | "rootOf">;
  app: string;
  seal: Seal;
  mayAccept?: MayAccept | undefined;
}

interface Sealing {
  mirror: Pick<Mirror, "commitObject">;
  seal: Seal;
}

/** Whether a person who may accept the journal brought this commit, which is not ours, to its branch. */
export type MayAccept = (commit: { sha: string }) => Promise<boolean>;

/** How much of a branch that nothing vouches for is looked through. */
const MOST_LOOKED_AT = 10_000;

/** A commit, and by its seal where in our history it stands. */
interface Stamped {
  commit: CommitInfo & { tree: string };
  seal: { sequence: number } | { fault: SealFault };
}

interface Looked {
  /** Of the newest commit that is sealed; 0: none is. */
  sequence: number;
  suspicion?: Suspicion | undefined;
}

/**
 * Looks at the commits since the newest one that we sealed: it vouches for everything below, for we record only on what was found to be ours.
 * A head that does not descend from the last one that this machine knew, and from the one that was anchored, was rewritten or put back;
 * no acceptance covers that.
 */
export async function checkBranch(check: Check, head: string | undefined, known: Heads): Promise<Looked> {
  const last = known.anchored?.head ?? known.seen;
  if (head === undefined) {
    const gone = last === undefined ? undefined : { commit: last, why: { code: "JOURNAL_GONE", commit: last } as const };
    return { sequence: 0, suspicion: gone };
  }
  const { unsealed, newest } = await untilSealed(check, head);
  const sequence = newest?.sequence ?? 0;
  const from = known.trusted === undefined ? -1 : unsealed.findIndex(({ commit }) => commit.sha === known.trusted);
  const [top] = from < 0 ? unsealed : unsealed.slice(0, from);
  const lost = await notBelow(check, head, known);
  if (lost !== undefined) return { sequence, suspicion: { commit: head, why: { code: "JOURNAL_REWRITTEN", head, commit: lost } } };
  if (top === undefined || (accepts(top.commit) && (await check.mayAccept?.(top.commit)) === true)) return { sequence };
  return { sequence, suspicion: suspicionOf(top, check.app) };
}

/** The commits above the newest sealed one, newest first, and that one. */
export async function untilSealed({ mirror, seal }: Sealing, head: string) {
  const unsealed: Stamped[] = [];
  for (let at: string | undefined = head; at !== undefined && unsealed.length < MOST_LOOKED_AT; ) {
    const stamped: Stamped = await stampedAt({ mirror, seal }, at);
    if ("sequence" in stamped.seal) return { unsealed, newest: { sha: at, sequence: stamped.seal.sequence } };
    unsealed.push(stamped);
    at = stamped.commit.parents[0];
  }
  return { unsealed, newest: undefined };
}

async function stampedAt({ mirror, seal }: Sealing, sha: string): Promise<Stamped> {
  const object = await mirror.commitObject(sha);
  if (object === undefined) throw new GitError("NotFound", `no commit ${sha} of the journal in the mirror`);
  const commit = parseCommit(sha, object);
  const { tree, body, parents } = commit;
  // What a second parent brings in is not below a seal.
  if (parents.length > 1) return { commit, seal: { fault: { code: "NOT_SEALED" } } };
  return { commit, seal: seal.check({ parent: parents[0], tree, trailers: parseTrailers(body) }) };
}

/** What was known of the branch, and is not below its head. A journal that was begun anew with our key stands above all before. */
async function notBelow(check: Check, head: string, { seen, sequence, anchored }: Heads): Promise<string | undefined> {
  const { mirror } = check;
  for (const last of new Set([seen, anchored?.head])) {
    if (last === undefined || last === head || (await mirror.isAncestor(last, head)) === true) continue;
    const first = await mirror.rootOf(head);
    if (first === undefined) return last;
    const root = await stampedAt(check, first);
    const since = last === anchored?.head ? anchored.sequence : (sequence ?? (await sequenceOf(check, last)));
    if (!accepts(root.commit) || !("sequence" in root.seal) || root.seal.sequence <= since) return last;
  }
  return undefined;
}

/** Of the last head that an earlier process saw. What GitHub makes for us is fetched late: nothing stands above what is not here. */
async function sequenceOf(check: Check, commit: string): Promise<number> {
  if ((await check.mirror.commitObject(commit)) === undefined) return Number.POSITIVE_INFINITY;
  return (await untilSealed(check, commit)).newest?.sequence ?? 0;
}

function accepts(commit: CommitInfo): boolean {
  const accepted = parseTrailers(commit.body)[ACCEPT_TRAILER];
  return accepted !== undefined && accepted === (commit.parents[0] ?? NOTHING);
}

function suspicionOf({ commit, seal }: Stamped, app: string): Suspicion {
  const { sha, subject } = commit;
  const because = faultOf(commit, app) ?? ("fault" in seal ? seal.fault : ({ code: "NOT_SEALED" } as const));
  return { commit: sha, why: { code: "JOURNAL_FOREIGN", commit: sha, subject: subject.slice(0, 60), because } };
}

/** What is wrong with a commit by its own words; undefined: it says that it is ours. */
export function faultOf({ parents, author, authorEmail: email, body }: CommitInfo, app: string): CommitFault | undefined {
  if (parents.length > 1) return { code: "COMMIT_MERGES" };
  // GitHub puts the account's number before its name.
  if (email.replace(/^\d+\+/, "") !== authorOf(app).email || author !== app) return { code: "COMMIT_AUTHOR", author, email, app };
  if (parseTrailers(body)[APP_TRAILER] !== app) return { code: "COMMIT_NO_TRAILER", trailer: APP_TRAILER, app };
  return undefined;
}

/** Where the mirror notes the last head that was found to be ours. */
function noteOf(branch: string): string {
  return `trusted/${branch}`;
}

export interface Heads {
  /** The last that was checked and found ours. */
  trusted: string | undefined;
  seen: string | undefined;
  /** Of the one that was seen, where this process saw it. */
  sequence?: number | undefined;
  /** What no writer of the repository can take back. */
  anchored?: Anchored | undefined;
}

/** Which head is known to be ours. What an earlier process found to be is not looked at again. */
export function openTrust(mirror: Pick<Mirror, "noted" | "head" | "note">, branch: string, anchor: Anchor | undefined) {
  let heads: Heads | undefined;
  return {
    async begin(): Promise<void> {
      if (heads === undefined) {
        const trusted = await mirror.noted(noteOf(branch));
        heads = { trusted, seen: trusted ?? (await mirror.head(branch)) };
      }
      if (heads.anchored === undefined) heads.anchored = await anchor?.read();
    },
    heads: (): Heads => heads ?? { trusted: undefined, seen: undefined },
    async keep(head: string | undefined, sequence: number): Promise<void> {
      heads = { ...heads, trusted: head, seen: head, sequence };
      if (head !== undefined) await mirror.note(noteOf(branch), head);
    },
    /** Asks anew what is anchored. */
    async compare(): Promise<void> {
      if (heads !== undefined) heads = { ...heads, anchored: await anchor?.read({ afresh: true }) };
    },
  };
}
