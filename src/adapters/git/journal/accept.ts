import { type CommitWriter, GitError, type Mirror } from "../port.ts";
import { parseCommit } from "../signing/commit-object.ts";
import { ACCEPT_TRAILER, APP_TRAILER, NOTHING, untilSealed } from "./check.ts";
import { journalMessage, sealedMessage } from "./commit-message.ts";
import { INDEX_FILE, parseIndex, printIndex } from "./index-file.ts";
import { JOURNAL_BRANCH } from "./journal.ts";
import { openNextTree } from "./next-tree.ts";
import { readTextsAt } from "./reader.ts";
import type { Seal } from "./seal.ts";

interface AcceptOptions {
  mirror: Pick<Mirror, "remoteHead" | "fetch" | "readFiles" | "commitObject" | "tree">;
  writer: CommitWriter;
  /** Default `stagecoach/journal`. */
  branch?: string;
  /** The account that owns the journal; default: the one its index names. */
  app?: string;
  /** Who accepts, for people. */
  by: string;
  at: number;
  /** The head that was looked at, as far as it was given; `none`: there is no branch. */
  head?: string;
  /** Whoever has the server's key seals. Absent: a person's, who has to have the right. */
  seal?: Seal | undefined;
}

/**
 * Accepts foreign commits as they stand: by a commit on top that names the head it is given for, and whom it is given by. It covers no
 * branch that was put back or rewritten. With the branch gone a new, empty one begins, for which a seal is needed. Returns the commit.
 * GitError `Invalid` where the head is another.
 */
export async function acceptJournal(options: AcceptOptions): Promise<string> {
  const { mirror, writer, by, at, seal, branch = JOURNAL_BRANCH } = options;
  const head = await mirror.remoteHead(branch);
  if (options.head !== undefined && !(head ?? NOTHING).startsWith(options.head)) {
    const there = head === undefined ? "there is no such branch" : `it is at ${head}`;
    throw new GitError("Invalid", `${branch} is not at ${options.head}: ${there}. Look at it again before you accept it`);
  }
  if (head !== undefined) await mirror.fetch([branch]);
  const text = head === undefined ? undefined : ((await readTextsAt(mirror, head)([INDEX_FILE])).get(INDEX_FILE) ?? undefined);
  const index = text === undefined ? undefined : parseIndex(text);
  const app = options.app ?? index?.app;
  if (app === undefined) throw new GitError("Invalid", "nothing says whose journal this is: name the App's account, as in stagecoach[bot]");
  const subject = head === undefined ? "journal accepted: it begins anew" : `journal accepted as of ${head.slice(0, 12)}`;
  const trailers = { "Stagecoach-Event": "accept", "Stagecoach-Actor": by, [ACCEPT_TRAILER]: head ?? NOTHING, [APP_TRAILER]: app };
  const changes = new Map([[INDEX_FILE, printIndex({ app, rollouts: index?.rollouts ?? new Map() })]]);
  const message =
    seal === undefined ? journalMessage(subject, trailers) : await sealed({ ...options, seal }, { head, changes, subject, trailers });
  const written = await writer.write({ branch, head, changes, message, at });
  if (written.kind === "stale") throw new GitError("Unavailable", "the journal moved while it was accepted; look at it again");
  return written.commit;
}

interface Unsealed {
  head: string | undefined;
  changes: ReadonlyMap<string, string>;
  subject: string;
  trailers: Record<string, string>;
}

/** A journal that begins anew is numbered by the time in seconds, which is above every number of one before it. */
async function sealed({ mirror, writer, seal, at }: AcceptOptions & { seal: Seal }, commit: Unsealed): Promise<string> {
  const { head, changes, subject, trailers } = commit;
  const object = head === undefined ? undefined : await mirror.commitObject(head);
  const before = head === undefined || object === undefined ? undefined : parseCommit(head, object).tree;
  const tree = await openNextTree(mirror)(before, changes, writer.kind !== "github");
  const newest = head === undefined ? undefined : (await untilSealed({ mirror, seal }, head)).newest;
  const sequence = head === undefined ? Math.floor(at / 1000) : (newest?.sequence ?? 0) + 1;
  return sealedMessage(seal, { sequence, parent: head, tree }, subject, trailers);
}
