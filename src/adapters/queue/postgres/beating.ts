/** Renews the lease once a second whatever else goes on, and lets the rest be done after it. Called by `queue.ts`. */
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { BEAT_MS, type Membership, type Seen, type Time } from "./membership.ts";
import { SchemaError } from "./migrate.ts";
import { reasonOf } from "./reason.ts";

interface BeatingOptions {
  membership: Membership;
  /** What has to be done of what was seen. */
  work(seen: Seen): Promise<void>;
  time: Time;
  log: Record<"info" | "warn" | "error", (fields: object, message: string) => void>;
  /** The lease had not held for so long. */
  onRegained(awayMs: number): void;
  onOutdated?: ((error: Error) => void) | undefined;
}

export function beating({ membership, work, time, log, onRegained, onOutdated }: BeatingOptions) {
  let seen: Seen | undefined;
  let disarm = (): void => undefined;
  let isStopped = false;
  /** Asked for while one was under way. */
  let isHurried = false;
  let beat: Promise<void> | undefined;
  let working: Promise<void> | undefined;
  let heldUntil = time.monotonic();
  let trouble: string | undefined;

  async function look(): Promise<void> {
    seen = await membership.beat();
    const awayMs = time.monotonic() - heldUntil;
    heldUntil = time.monotonic();
    if (trouble !== undefined) {
      log.info({ awayMs: Math.round(awayMs) }, "PostgreSQL answers again");
      trouble = undefined;
    }
    onRegained(awayMs);
  }

  /** What failed is done again after the next beat. */
  function doWork(): Promise<void> {
    if (working !== undefined || seen === undefined) return working ?? Promise.resolve();
    const now = seen;
    working = work(now)
      .catch(tellTrouble)
      .finally(() => {
        working = undefined;
        if (isStopped) return;
        // What was seen meanwhile waits for no other beat.
        if (seen !== now) void doWork();
        else if (isHurried && beat === undefined) void run();
      });
    return working;
  }

  function tellTrouble(error: unknown): void {
    if (error instanceof SchemaError) {
      log.error({ error: sentenceOf(error.reason) }, "this version cannot go on");
      onOutdated?.(error);
      return;
    }
    const words = sentenceOf(reasonOf(error));
    if (words !== trouble)
      log.warn({ error: words }, "PostgreSQL cannot be used just now: nothing is begun or written, and deliveries are turned away");
    trouble = words;
  }

  function arm(ms: number): void {
    disarm = time.after(ms, () => void run());
  }

  function run(): Promise<void> {
    disarm();
    if (isStopped) return Promise.resolve();
    if (beat === undefined) isHurried = false;
    const began = time.monotonic();
    beat ??= look()
      .then(() => void doWork(), tellTrouble)
      .finally(() => {
        beat = undefined;
        if (isStopped) return;
        arm(isHurried ? 0 : Math.max(0, BEAT_MS - (time.monotonic() - began)));
      });
    return beat;
  }

  return {
    seen: () => seen,
    /** Rejects where PostgreSQL cannot be used. */
    async start(): Promise<void> {
      // The first look makes what is there known, the next sees it.
      await work(await membership.beat());
      const first = await membership.beat();
      await work(first);
      seen = first;
      heldUntil = time.monotonic();
      arm(BEAT_MS);
    },
    /** Looks now, or once more after the look under way. */
    hurry(): void {
      if (isStopped || seen === undefined) return;
      if (beat !== undefined || working !== undefined) isHurried = true;
      else void run();
    },
    /** Resolves after the next look, and what was done of it. False: it is stopped, and none comes. */
    async next(): Promise<boolean> {
      await run();
      if (!isStopped) await doWork();
      return !isStopped;
    },
    async stop(): Promise<void> {
      isStopped = true;
      disarm();
      await beat;
      await working;
    },
  };
}
