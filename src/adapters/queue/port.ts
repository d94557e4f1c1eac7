/** Which run to look at again, and when. A request never carries the event: the handler reads the truth anew. */
export interface Queue {
  /**
   * Asks for a look at a run (`rollout`), or at everything of the repo (`null`), not before `at` (epoch ms; default now).
   * Requests for the same run collapse into one, at the earliest time asked for.
   */
  wake(request: WakeRequest, at?: number): void;
  /** Resolves when nothing is due or being worked on. Requests for later do not count. */
  idle(): Promise<void>;
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
  /** Somebody said something: it is listened to once though the repo's last round was given up. */
  heard?: boolean | undefined;
}

/**
 * Looks at these runs of one repo. Must not throw for what it can put right by itself; what it throws is logged and tried again later.
 * Once `over` is aborted the round is given up: whatever is left of it must do nothing more, for the next one may begin.
 */
export type QueueHandler = (repository: string, rollouts: ReadonlySet<string | null>, over: AbortSignal) => Promise<void>;

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
