/**
 * Whether the journal's branch is what we left. The journal decides what is merged, so a commit that somebody else made,
 * a branch that was rewritten or one that is gone stops everything until a person has accepted it. Acceptance is a commit
 * of our own whose trailer names the head it was given for: everything below it is settled.
 */
import type { CommitFault } from "../../../core/reasons/journal.ts";
import type { CommitInfo, CommitJudge, Mirror } from "../port.ts";
import { parseTrailers } from "../signing/commit-object.ts";
import type { Suspicion } from "./port.ts";

export const APP_TRAILER = "Stagecoach-App";
export const ACCEPT_TRAILER = "Stagecoach-Accept";
export const RUN_TRAILER = "Stagecoach-Run";

/** Trailer value of an acceptance where there was no branch. */
export const NOTHING = "none";

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
    return seen === undefined ? undefined : { commit: seen, why: { code: "JOURNAL_GONE", commit: seen } };
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
  return { commit: head, why: { code: "JOURNAL_REWRITTEN", head, commit: seen } };
}

/** Newest first. What stands in the commit itself is looked at before anybody is asked. */
async function firstForeign({ app, judge }: Check, commits: readonly CommitInfo[]): Promise<Suspicion | undefined> {
  const faults = new Map(commits.map((commit) => [commit.sha, faultOf(commit, app)]));
  const found = commits.find(({ sha }) => faults.get(sha) !== undefined);
  if (found !== undefined) return suspicionOf(found, faults.get(found.sha));
  const unsigned = (await judge?.foreign(commits)) ?? new Map<string, CommitFault>();
  const suspects = commits.filter(({ sha }) => unsigned.has(sha));
  const first = suspects.find(({ sha }) => !mayPass(unsigned.get(sha)));
  if (first !== undefined) return suspicionOf(first, unsigned.get(first.sha));
  const [unverified] = suspects;
  const passing = unverified && suspicionOf(unverified, unsigned.get(unverified.sha));
  return passing && { ...passing, passing: true };
}

/** GitHub's reasons that say nothing of the commit: its verification could not be reached, or gave no answer yet. */
const PASSING = new Set(["gpgverify_error", "gpgverify_unavailable", "ocsp_pending", "ocsp_error"]);

/** A commit that GitHub does not list yet was pushed a moment ago. */
function mayPass(fault: CommitFault | undefined): boolean {
  return fault?.code === "COMMIT_HIDDEN" || (fault?.code === "COMMIT_UNVERIFIED" && PASSING.has(fault.said));
}

function accepts(commit: CommitInfo): boolean {
  const accepted = parseTrailers(commit.body)[ACCEPT_TRAILER];
  return accepted !== undefined && accepted === (commit.parents[0] ?? NOTHING);
}

function suspicionOf({ sha, subject }: CommitInfo, because: CommitFault | undefined): Suspicion | undefined {
  return because && { commit: sha, why: { code: "JOURNAL_FOREIGN", commit: sha, subject: subject.slice(0, 60), because } };
}

/** What is wrong with a commit by itself; undefined: it says that it is ours. */
function faultOf({ parents, author, authorEmail: email, body }: CommitInfo, app: string): CommitFault | undefined {
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
