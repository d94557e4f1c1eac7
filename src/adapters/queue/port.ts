import type { Clock } from "../../core/base/time.ts";

/** Which run to look at again, and when. A request never carries the event: the handler reads the truth anew. */
export interface Queue {
  /**
   * Asks for a look at a run (`rollout`), or at everything of the repo (`null`), not before `at` (epoch ms; default now).
   * Requests for the same run collapse into one, at the earliest time asked for.
   */
  wake(request: WakeRequest, at?: number): void;
  /** Resolves when nothing is due or being worked on. Requests for later do not count. */
  idle(): Promise<void>;
  /** Its last round was given up, or owners end in its rounds, or one takes long: whatever is asked waits, but for what is heard. */
  waits(repository: string): boolean;
  /** How much waits. */
  depth(): QueueDepth;
  /** Drops what is asked for this repo; the look under way goes on. */
  forget(repository: string): void;
  /** Takes nothing new and waits for the work under way. */
  close(): Promise<void>;
}

export interface QueueDepth {
  /** Repos that are due, and have no place yet. */
  due: number;
  /** Repos that are being looked at. */
  running: number;
  /** How long the first of those due has waited, in milliseconds. */
  longestMs: number;
}

export interface WakeRequest {
  /** `owner/name`. One repo's runs are looked at one round at a time. */
  repository: string;
  rollout: string | null;
  /** Somebody who may said something: it is listened to once though the repo waits. */
  heard?: boolean | undefined;
}

/**
 * Looks at these runs of one repo. Must not throw for what it can put right by itself; what it throws is logged and tried again later.
 * Once `over` is aborted the round is given up: whatever is left of it must do nothing more, for the next one may begin.
 */
type QueueHandler = (repository: string, rollouts: ReadonlySet<string | null>, over: AbortSignal) => Promise<void>;

/** A round took longer than any may, and was given up. */
export class RoundOverdue extends Error {
  override name = "RoundOverdue";
  constructor(afterMs: number) {
    super(`the round had not ended after ${afterMs / 1000} s`);
  }
}

/** How long rounds may take, in milliseconds. */
export interface RoundLimits {
  /** From then on others have its place. */
  placeMs: number;
  /** Then it is given up. More than any one call to the outside may take. */
  roundMs: number;
  /** Rounds under way at once, with those that have left their place. */
  most: number;
}

export interface QueueOptions {
  clock: Clock;
  handler: QueueHandler;
  /** How many repos at once, but for those whose round takes long. */
  concurrency?: number;
  limits?: RoundLimits;
  /** Measures how long a round takes; default: as the clock does. */
  after?: Clock["after"];
  onError?: (error: unknown, repository: string, retryInMs: number) => void;
  /** A round takes long. */
  onLong?: (repository: string) => void;
}

/** What a delivery says, to be kept until it was looked at. */
export interface Delivery {
  guid: string;
  /** undefined: of no repository alone. Every replica is told of it. */
  repository: string | undefined;
  /** Plain data. undefined where a newer version wrote what this one does not know: all of the repository is to be looked at. */
  event: unknown;
}

/** What whoever shares repositories with others has to do for them. */
export interface SharingOptions extends QueueOptions {
  /** Says where to look, and wakes. False: there is nothing to look at. */
  onDelivery(delivery: Delivery): boolean;
  /** Another will look after it: resolves when nothing of it goes on here. */
  onLeft(repository: string): Promise<void>;
  /** Another may look after it already: whatever goes on here can do nothing more. */
  onLost(repository: string, why: Error): void;
  /** The lease holds, and had not for so long: deliveries may have been turned away meanwhile. Told at each renewal. */
  onRegained?: (awayMs: number) => void;
  /** Something goes on there that no time is set for: whoever takes it over looks at once. */
  isBusy?: (repository: string) => boolean;
}

/** A queue whose repositories are looked after by one process each, of one or of several. */
export interface SharedQueue extends Queue {
  /** Resolves once it is known what is looked after here first, with those that are looked at now. */
  start(): Promise<string[]>;
  /** These are there to be looked after, all of them and no others. */
  share(repositories: readonly string[]): void;
  /** Whether it is looked after here, and nobody else can. */
  owns(repository: string): boolean;
  /** What is asked before anything is sent for it: throws once another may look after it. */
  fence(repository: string): () => void;
  /** Keeps a delivery until it was looked at. False: it came before. Rejects where it could not be kept. */
  keep(delivery: Delivery): boolean | Promise<boolean>;
  /** Of all processes this one does what only one should. */
  leads(): boolean;
  /** Lets others have what is looked after here; after `close`. Where rounds are still under way, once what they had sent has arrived. */
  leave(how?: { isUnderWay?: boolean }): Promise<void>;
  /** What others should see of it; a way to PostgreSQL. undefined: there is no other. */
  sharing(): SharingState | undefined;
  /** What others see of what is looked after here, and the other way round. Absent: there are no others. */
  board?: ShownBoard;
  /** Takes an installation's next turn to write to GitHub. Gives the milliseconds until then. Absent: there are no others. */
  turnToWrite?(installation: number): Promise<number>;
}

/** What each process shows of its repositories to the others: bytes by repository and part, of which a queue knows nothing but their size. */
export interface ShownBoard {
  /** Of one part, in bytes. */
  largest: number;
  /** Puts these parts in the place of those before, and takes away those that are not among `all`. False: it is another's by now. */
  write(repository: string, format: number, parts: ReadonlyMap<string, Uint8Array>, all: readonly string[]): Promise<boolean>;
  /** Told what others have written since, and with nothing where what `standingOf` says is not as before. */
  onRead(listener: (parts: readonly ShownPart[]) => Promise<void>): void;
  /** Somebody looks: resolves once what was written before is told, or cannot be. */
  look(): Promise<void>;
  /** Nothing: what is shown of it is as of now, and all that came was looked at. */
  standingOf(repository: string): readonly ShownStanding[];
}

export interface ShownPart {
  repository: string;
  part: string;
  /** Of whoever wrote it. */
  format: number;
  /** undefined: it is larger than any may be. */
  content: Uint8Array | undefined;
}

/** What is to be said of it besides what is shown; times are by the clock of all. */
export type ShownStanding =
  /** It may be from before; at: since when. */
  | { code: "SHOWN_BY_NOBODY" | "SHOWN_WITHOUT_DATABASE"; at: number }
  /** Whoever has it waits until then: so many owners in a row were gone before they had looked at it to the end. */
  | { code: "REPOSITORY_SLOWED"; owners: number; until: number }
  | { code: "DELIVERIES_SET_ASIDE"; webhooks: number };

/** How the repositories are shared just now. */
export interface SharingState {
  /** Nobody else can have what is looked after here. */
  holds: boolean;
  replicas: number;
  /** Looked after here. */
  owned: number;
  /** Known, and looked after by nobody. */
  free: number;
  /** Of all: whoever has them waits, for their owners were gone one after the other. */
  slow: number;
  /** Deliveries that are kept, and were not looked at yet; of those looked after here. */
  waiting: number;
  /** Deliveries that could not be looked at again and again. */
  setAside: number;
  /** How often this process found that it had been taken for dead, and that it took over what another had. */
  lost: number;
  takeovers: number;
}
