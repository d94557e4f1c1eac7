/**
 * The heads of the remote as last asked for: what everybody who looks after a repo shares.
 *
 * Between words of the remote a round works with these; a merge asks anew right before it. Whoever hears or does something
 * that may have moved them says so, and the next round asks.
 */
import type { RepoContext } from "../round/context.ts";
import { isRolloutFile, ROLLOUTS_FOLDER } from "./project.ts";

/** A word of the remote that got lost delays a round by this much at the most. */
const ASK_EVERY_MS = 60_000;

export interface Heads {
  /** Counts the times they were asked for. */
  readonly reading: number;
  /** The branch whose head the base is. */
  readonly branch: string | undefined;
  readonly base: string | undefined;
  readonly journal: string | undefined;
}

export interface RemoteHeads {
  readonly last: Heads;
  /** Something was heard since they were asked for that may have moved them, and the pull requests of others with them. */
  readonly hasNews: boolean;
  /** They are to be asked for, whether by news or by what we did or could not see ourselves. */
  readonly needsFetch: boolean;
  hear(): void;
  /** Nobody else's pull request is in question. */
  expire(): void;
  /** We have recorded. */
  moveJournal(head: string | undefined): void;
  /** Asks for them where they may have moved, with the base fetched. */
  read(baseBranch: string): Promise<Heads>;
}

export function openRemoteHeads({ mirror, clock, journalBranch }: Pick<RepoContext, "mirror" | "clock" | "journalBranch">): RemoteHeads {
  let last: Heads = { reading: 0, branch: undefined, base: undefined, journal: undefined };
  let askedAt = 0;
  let hasNews = true;
  let isExpired = false;

  async function read(baseBranch: string): Promise<Heads> {
    const now = clock.now();
    if (!hasNews && !isExpired && now - askedAt < ASK_EVERY_MS) return last;
    // Cleared before asking: what is heard meanwhile counts for the next round.
    hasNews = false;
    isExpired = false;
    try {
      const heads = await mirror.remoteHeads([baseBranch, journalBranch]);
      const base = heads.get(baseBranch);
      const journal = heads.get(journalBranch);
      // A process that has just begun may find its mirror up to date.
      if (base !== last.base && base !== (await mirror.head(baseBranch)))
        await mirror.fetch([baseBranch], { shallow: journal === undefined });
      if (base !== last.base || journal !== last.journal) await deepenOurs(baseBranch, journal);
      const found = { branch: baseBranch, base: await mirror.head(baseBranch), journal };
      askedAt = now;
      last = { ...found, reading: last.reading + 1 };
      return last;
    } catch (error) {
      hasNews = true;
      throw error;
    }
  }

  /** A repo in which nothing is ours is fetched without its history; that of one with a rollout or a journal is needed. */
  async function deepenOurs(baseBranch: string, journal: string | undefined): Promise<void> {
    if (!(await mirror.isShallow())) return;
    const base = await mirror.head(baseBranch);
    const files = base === undefined || journal !== undefined ? [] : await mirror.listFiles(base, ROLLOUTS_FOLDER);
    if (journal !== undefined || files.some(isRolloutFile)) await mirror.deepen(baseBranch);
  }

  return {
    get last() {
      return last;
    },
    get hasNews() {
      return hasNews;
    },
    get needsFetch() {
      return hasNews || isExpired;
    },
    hear() {
      hasNews = true;
    },
    expire() {
      isExpired = true;
    },
    moveJournal(journal) {
      last = { ...last, journal };
    },
    read,
  };
}
