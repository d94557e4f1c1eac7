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

export class Beating {
  readonly #options: BeatingOptions;
  #seen: Seen | undefined;
  #disarm = (): void => undefined;
  #isStopped = false;
  /** Asked for while one was under way. */
  #isHurried = false;
  #beat: Promise<void> | undefined;
  #working: Promise<void> | undefined;
  #heldUntil: number;
  #trouble: string | undefined;

  constructor(options: BeatingOptions) {
    this.#options = options;
    this.#heldUntil = options.time.monotonic();
  }

  get seen(): Seen | undefined {
    return this.#seen;
  }

  /** Rejects where PostgreSQL cannot be used. */
  async start(): Promise<void> {
    const { membership, work, time } = this.#options;
    // The first look makes what is there known, the next sees it.
    await work(await membership.beat());
    const first = await membership.beat();
    await work(first);
    this.#seen = first;
    this.#heldUntil = time.monotonic();
    this.#arm(BEAT_MS);
  }

  /** Looks now, or once more after the look under way. */
  hurry(): void {
    if (this.#isStopped || this.#seen === undefined) return;
    if (this.#beat !== undefined || this.#working !== undefined) this.#isHurried = true;
    else void this.#run();
  }

  /** Resolves after the next look, and what was done of it. False: it is stopped, and none comes. */
  async next(): Promise<boolean> {
    await this.#run();
    if (!this.#isStopped) await this.#work();
    return !this.#isStopped;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#disarm();
    await this.#beat;
    await this.#working;
  }

  #arm(ms: number): void {
    this.#disarm = this.#options.time.after(ms, () => void this.#run());
  }

  #run(): Promise<void> {
    const { time } = this.#options;
    this.#disarm();
    if (this.#isStopped) return Promise.resolve();
    if (this.#beat === undefined) this.#isHurried = false;
    const began = time.monotonic();
    this.#beat ??= this.#look()
      .then(
        () => void this.#work(),
        (error) => this.#tellTrouble(error),
      )
      .finally(() => {
        this.#beat = undefined;
        if (this.#isStopped) return;
        this.#arm(this.#isHurried ? 0 : Math.max(0, BEAT_MS - (time.monotonic() - began)));
      });
    return this.#beat;
  }

  async #look(): Promise<void> {
    const { membership, time, log, onRegained } = this.#options;
    this.#seen = await membership.beat();
    const awayMs = time.monotonic() - this.#heldUntil;
    this.#heldUntil = time.monotonic();
    if (this.#trouble !== undefined) {
      log.info({ awayMs: Math.round(awayMs) }, "PostgreSQL answers again");
      this.#trouble = undefined;
    }
    onRegained(awayMs);
  }

  /** What failed is done again after the next beat. */
  #work(): Promise<void> {
    if (this.#working !== undefined || this.#seen === undefined) return this.#working ?? Promise.resolve();
    const now = this.#seen;
    this.#working = this.#options
      .work(now)
      .catch((error) => this.#tellTrouble(error))
      .finally(() => {
        this.#working = undefined;
        if (this.#isStopped) return;
        // What was seen meanwhile waits for no other beat.
        if (this.#seen !== now) void this.#work();
        else if (this.#isHurried && this.#beat === undefined) void this.#run();
      });
    return this.#working;
  }

  #tellTrouble(error: unknown): void {
    const { log, onOutdated } = this.#options;
    if (error instanceof SchemaError) {
      log.error({ error: sentenceOf(error.reason) }, "this version cannot go on");
      onOutdated?.(error);
      return;
    }
    const words = sentenceOf(reasonOf(error));
    if (words !== this.#trouble)
      log.warn({ error: words }, "PostgreSQL cannot be used just now: nothing is begun or written, and deliveries are turned away");
    this.#trouble = words;
  }
}
