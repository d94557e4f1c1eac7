import type { Told } from "../../core/report/notify/events.ts";
import type { Notice, RunCard } from "../../core/report/notify/notice.ts";

/** What people were told of a repository: of each rollout, and which refused releases. */
export interface RepoTold {
  rollouts: Record<string, Told>;
  refused: string[];
}

export interface Telling {
  told: RepoTold;
  /** `to`: names of destinations. */
  notices: readonly { to: readonly string[]; notice: Notice }[];
  /** How runs stand, for messages that are kept up to date: by the key of their messages. */
  cards: ReadonlyMap<string, RunCard>;
}

/** Tells people. What was told is kept on disk, and sent in the background: nobody waits for it. */
export interface Notifier {
  /** undefined: nothing is known of the repository, as on a new disk. */
  told(repository: string): Promise<RepoTold | undefined>;
  /** Whether there is such a destination, and the repository may use it. */
  mayUse(repository: string, destination: string): boolean;
  tell(repository: string, telling: Telling): void;
  /** Another process tells people of it from now on: what waits is kept for it. Resolves when nothing of it is being sent. */
  leave(repository: string): Promise<void>;
  /** Resolves when nothing is being sent, or kept: what waits for another try is not waited for. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Where a run's message stands, so that it is kept up to date. */
export interface Thread {
  channel: string;
  ts: string;
}

/** Sends to one destination. */
export interface Sender {
  /** More messages than this are one digest. */
  most: number;
  /** Every call may be made twice. Throws NotSent. `thread`: what an earlier message of the same run came to. */
  send(notice: Notice, thread: Thread | undefined): Promise<{ thread?: Thread | undefined; answer: string }>;
  /** Absent: a message that was sent stays as it is. */
  update?(card: RunCard, repository: string, thread: Thread): Promise<void>;
}

/** `again`: it may go better another time. Its message holds no secret. */
export class NotSent extends Error {
  override name = "NotSent";
  readonly again: boolean;
  readonly afterMs: number | undefined;
  constructor(message: string, again: boolean, afterMs?: number) {
    super(message);
    this.again = again;
    this.afterMs = afterMs;
  }
}
