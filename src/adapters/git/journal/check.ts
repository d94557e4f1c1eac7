/**
 * Whether the journal's branch is what we left. The journal decides what is merged, so a commit that somebody else made,
 * a branch that was rewritten or one that is gone stops everything until a person has accepted it. Acceptance is a commit
 * of our own whose trailer names the head it was given for: everything below it is settled.
 */
import type { CommitInfo, CommitJudge, Mirror } from "../port.ts";
import { parseTrailers } from "../signing/commit-object.ts";

export const APP_TRAILER = "Stagecoach-App";
export const ACCEPT_TRAILER = "Stagecoach-Accept";
export const RUN_TRAILER = "Stagecoach-Run";

/** Trailer value of an acceptance where there was no branch. */
export const NOTHING = "none";

export interface Suspicion {
  commit: string;
  why: string;
}

interface Author {
  name: string;
  email: string;
}

/** The account our commits carry: `stagecoach[bot]`, with GitHub's no-reply address. */
export function authorOf(app: string): Author {
  return { name: app, email: `${app}@users.noreply.github.com` };
}

/** How the commits of an account are looked at. */
interface Check {
  mirror: Pick<Mirror, "isAncestor" | "firstParentLog">;
  app: string;
  /** Who tells ours by their signatures. Absent: by author and trailer alone. */
  judge?: CommitJudge | undefined;
}

/**
 * Looks at every commit since `trusted`, or at the whole branch where nothing is trusted yet. `seen` is the last head this
 * machine knew: a head that does not descend from it was rewritten.
 */
export async function checkBranch(
  check: Check,
  head: string | undefined,
  known: { trusted: string | undefined; seen: string | undefined },
): Promise<Suspicion | undefined> {
  const { mirror } = check;
  const { trusted, seen } = known;
  if (head === undefined) {
    return seen === undefined ? undefined : { commit: seen, why: `the journal's branch is gone; its last commit was ${seen.slice(0, 12)}` };
  }
  const descends = seen === undefined || seen === head || (await mirror.isAncestor(seen, head)) === true;
  const log = (await mirror.firstParentLog(descends ? trusted : undefined, head)).toReversed();
  const covers = async (commit: CommitInfo) =>
    accepts(commit) && (descends || (seen !== undefined && (await mirror.isAncestor(commit.sha, seen)) !== true));
  let end = 0;
  while (end < log.length && !(await covers(log[end] as CommitInfo))) end += 1;
  const accepted = log[end];
  const suspicion = await firstForeign(check, log.slice(0, end + 1));
  if (suspicion !== undefined) {
    const byPerson = suspicion.commit === accepted?.sha && (await check.judge?.mayAccept?.(accepted)) === true;
    return byPerson ? undefined : suspicion;
  }
  if (accepted !== undefined || descends || seen === undefined) return undefined;
  return { commit: head, why: `the journal was rewritten: ${head.slice(0, 12)} does not descend from ${seen.slice(0, 12)}` };
}

/** Newest first. What stands in the commit itself is looked at before anybody is asked. */
async function firstForeign({ app, judge }: Check, commits: readonly CommitInfo[]): Promise<Suspicion | undefined> {
  for (const commit of commits) {
    const reason = foreign(commit, app);
    if (reason !== undefined) return { commit: commit.sha, why: reason };
  }
  const unsigned = (await judge?.foreign(commits)) ?? new Map<string, string>();
  for (const commit of commits) {
    const reason = unsigned.get(commit.sha);
    if (reason !== undefined) return { commit: commit.sha, why: `${named(commit)}: ${reason}` };
  }
  return undefined;
}

function accepts(commit: CommitInfo): boolean {
  const accepted = parseTrailers(commit.body)[ACCEPT_TRAILER];
  return accepted !== undefined && accepted === (commit.parents[0] ?? NOTHING);
}

function named(commit: CommitInfo): string {
  return `commit ${commit.sha.slice(0, 12)} ("${commit.subject.slice(0, 60)}")`;
}

function foreign(commit: CommitInfo, app: string): string | undefined {
  const what = named(commit);
  if (commit.parents.length > 1) return `${what} is a merge; the journal has none of its own`;
  // GitHub puts the account's number before its name.
  const email = commit.authorEmail.replace(/^\d+\+/, "");
  if (email !== authorOf(app).email || commit.author !== app) {
    return `${what} is by ${commit.author} <${commit.authorEmail}>, not by ${app}`;
  }
  if (parseTrailers(commit.body)[APP_TRAILER] !== app) return `${what} has no trailer ${APP_TRAILER}: ${app}`;
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
}

/** Which head is known to be ours. What an earlier process found to be is not looked at again. */
export function openTrust(mirror: Pick<Mirror, "noted" | "head" | "note">, branch: string) {
  let heads: Heads | undefined;
  return {
    async begin(): Promise<void> {
      if (heads !== undefined) return;
      const trusted = await mirror.noted(noteOf(branch));
      heads = { trusted, seen: trusted ?? (await mirror.head(branch)) };
    },
    heads: (): Heads => heads ?? { trusted: undefined, seen: undefined },
    async keep(head: string | undefined): Promise<void> {
      heads = { trusted: head, seen: head };
      if (head !== undefined) await mirror.note(noteOf(branch), head);
    },
  };
}
