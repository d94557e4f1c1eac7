import { parseTrailers } from "./commit-object.ts";
import type { CommitInfo, Mirror } from "./port.ts";

/**
 * Whether the journal's branch is what we left. The journal decides what is merged, so a commit that somebody else made,
 * a branch that was rewritten or one that is gone stops everything until a person has accepted it. Acceptance is a commit
 * of our own whose trailer names the head it was given for: everything below it is settled.
 */

export const APP_TRAILER = "Stagecoach-App";
export const ACCEPT_TRAILER = "Stagecoach-Accept";
export const RUN_TRAILER = "Stagecoach-Run";

/** Trailer value of an acceptance where there was no branch. */
export const NOTHING = "none";

export interface Suspicion {
  commit: string;
  why: string;
}

export interface Author {
  name: string;
  email: string;
}

/** The account our commits carry: `stagecoach[bot]`, with GitHub's no-reply address. */
export function authorOf(app: string): Author {
  return { name: app, email: `${app}@users.noreply.github.com` };
}

/**
 * Looks at every commit since `trusted`, or at the whole branch where nothing is trusted yet. `seen` is the last head this
 * machine knew: a head that does not descend from it was rewritten.
 */
export async function checkBranch(
  mirror: Pick<Mirror, "isAncestor" | "firstParentLog">,
  app: string,
  head: string | undefined,
  known: { trusted: string | undefined; seen: string | undefined },
): Promise<Suspicion | undefined> {
  const { trusted, seen } = known;
  if (head === undefined) {
    return seen === undefined ? undefined : { commit: seen, why: `the journal's branch is gone; its last commit was ${seen.slice(0, 12)}` };
  }
  const descends = seen === undefined || seen === head || (await mirror.isAncestor(seen, head)) === true;
  const log = await mirror.firstParentLog(descends ? trusted : undefined, head);
  for (const commit of log.toReversed()) {
    const reason = foreign(commit, app);
    if (reason !== undefined) return { commit: commit.sha, why: reason };
    if (accepts(commit) && (descends || (seen !== undefined && (await mirror.isAncestor(commit.sha, seen)) !== true))) return undefined;
  }
  if (descends || seen === undefined) return undefined;
  return { commit: head, why: `the journal was rewritten: ${head.slice(0, 12)} does not descend from ${seen.slice(0, 12)}` };
}

function accepts(commit: CommitInfo): boolean {
  const accepted = parseTrailers(commit.body)[ACCEPT_TRAILER];
  return accepted !== undefined && accepted === (commit.parents[0] ?? NOTHING);
}

function foreign(commit: CommitInfo, app: string): string | undefined {
  const short = commit.sha.slice(0, 12);
  const what = `commit ${short} ("${commit.subject.slice(0, 60)}")`;
  if (commit.parents.length > 1) return `${what} is a merge; the journal has none of its own`;
  const author = authorOf(app);
  if (commit.authorEmail !== author.email || commit.author !== author.name) {
    return `${what} is by ${commit.author} <${commit.authorEmail}>, not by ${app}`;
  }
  if (parseTrailers(commit.body)[APP_TRAILER] !== app) return `${what} has no trailer ${APP_TRAILER}: ${app}`;
  return undefined;
}
