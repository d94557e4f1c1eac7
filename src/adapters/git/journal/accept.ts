import { type CommitWriter, GitError, type Mirror } from "../port.ts";
import { ACCEPT_TRAILER, APP_TRAILER, NOTHING } from "./check.ts";
import { INDEX_FILE, parseIndex, printIndex } from "./index-file.ts";
import { JOURNAL_BRANCH, journalMessage } from "./journal.ts";
import { readTextsAt } from "./reader.ts";

interface AcceptOptions {
  mirror: Pick<Mirror, "remoteHead" | "fetch" | "readFiles">;
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
}

/**
 * Accepts the journal as it stands, whoever wrote it: a commit on top that names the head it is given for, and whom it is
 * given by. With the branch gone a new, empty one begins. Returns the commit. GitError `Invalid` where the head is another.
 */
export async function acceptJournal(options: AcceptOptions): Promise<string> {
  const { mirror, writer, by, at, branch = JOURNAL_BRANCH } = options;
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
  const written = await writer.write({ branch, head, changes, message: journalMessage(subject, trailers), at });
  if (written.kind === "stale") throw new GitError("Unavailable", "the journal moved while it was accepted; look at it again");
  return written.commit;
}
