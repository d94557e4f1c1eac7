/**
 * What waits to be sent to one destination: one at a time, each repository in its turn, so that a noisy one delays no other. Many of one
 * repository are one digest. What fails is tried again, less often each time. Called by `notifier.ts`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { errorText } from "../../core/base/error-text.ts";
import type { Clock } from "../../core/base/time.ts";
import { digestOf, type Notice, type RunCard } from "../../core/report/notify/notice.ts";
import { checkMayWrite } from "../outbound/asker.ts";
import { NotSent, type Sender, type Thread } from "./port.ts";

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 5 * 60_000;
/** Between two messages: Slack takes one a second in a channel. */
const SPACING_MS = 1000;

interface Warn {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface LineOptions {
  name: string;
  sender: Sender;
  clock: Clock;
  log: Warn;
  threadOf(notice: Notice): Thread | undefined;
  /** These are sent, or given up: resolves when that is kept. `instead`: what they are one message of from now on. */
  done(repository: string, notices: readonly Notice[], then: { thread?: Thread | undefined; instead?: Notice }): Promise<void>;
}

interface Update {
  card: RunCard;
  repository: string;
  thread: Thread;
}

export class Line {
  readonly #options: LineOptions;
  /** In the order of whose turn it is. */
  readonly #waiting = new Map<string, Notice[]>();
  readonly #updates = new Map<string, Update>();
  /** As whose a repository's are sent, and asked whether they are ours to send still: whoever gave them may say. */
  readonly #givers = new Map<string, ReturnType<typeof AsyncLocalStorage.snapshot>>();
  #working: Promise<void> | undefined;
  #callOff: (() => void) | undefined;
  #isClosed = false;
  #faults = 0;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  add(notice: Notice): void {
    const repository = notice.repository.toLowerCase();
    this.#waiting.set(repository, [...(this.#waiting.get(repository) ?? []), notice]);
    this.#givers.set(repository, AsyncLocalStorage.snapshot());
    this.#wake();
  }

  /** Of a run whose message is to be brought up to date. */
  show(key: string, update: Update): void {
    if (this.#options.sender.update === undefined) return;
    this.#updates.set(key, update);
    this.#givers.set(update.repository.toLowerCase(), AsyncLocalStorage.snapshot());
    this.#wake();
  }

  /** Sends nothing more of a repository; resolves when nothing of it is being sent. */
  async drop(repository: string): Promise<void> {
    this.#forget(repository);
    await this.#working;
    this.#forget(repository);
    this.#givers.delete(repository);
  }

  #forget(repository: string): void {
    this.#waiting.delete(repository);
    for (const [key, update] of this.#updates) if (update.repository.toLowerCase() === repository) this.#updates.delete(key);
  }

  /** Resolves when nothing is being sent. */
  async settled(): Promise<void> {
    await this.#working;
  }

  close(): void {
    this.#isClosed = true;
    this.#callOff?.();
  }

  #wake(): void {
    if (this.#isClosed || this.#working !== undefined || this.#callOff !== undefined) return;
    if (this.#waiting.size + this.#updates.size === 0) return;
    const work = this.#waiting.size > 0 ? this.#sendNext() : this.#updateNext();
    this.#working = work
      .catch((error: unknown) => this.#failed(error, {}))
      .then((waitMs) => {
        this.#working = undefined;
        this.#callOff = this.#options.clock.after(waitMs, () => {
          this.#callOff = undefined;
          this.#wake();
        });
      });
  }

  /** Gives how long to wait before the next. */
  async #sendNext(): Promise<number> {
    const [repository = "", notices = []] = this.#waiting.entries().next().value ?? [];
    this.#waiting.delete(repository);
    return await this.#as(repository, () => this.#sendFirst(repository, notices));
  }

  #as<T>(repository: string, work: () => T): T {
    const giver = this.#givers.get(repository.toLowerCase());
    return giver === undefined ? work() : giver(work);
  }

  async #sendFirst(repository: string, notices: readonly Notice[]): Promise<number> {
    const { name, sender, log, threadOf, done } = this.#options;
    const many = notices.length > sender.most ? digestOf(notices) : undefined;
    if (many !== undefined) await done(repository, notices, { instead: many });
    const notice = many ?? notices[0];
    if (notice === undefined) return 0;
    const left = many === undefined ? notices.slice(1) : [];
    try {
      checkMayWrite();
      const { thread } = await sender.send(notice, threadOf(notice));
      this.#faults = 0;
      log.info({ destination: name, repository, title: notice.title }, "a notification was sent");
      await done(repository, [notice], { thread });
      this.#putBack(repository, left);
      return SPACING_MS;
    } catch (error) {
      // Kept for whoever looks after the repository now, or for us once we may again.
      const isOver = error instanceof NotSent && !error.again;
      if (isOver) await done(repository, [notice], {});
      this.#putBack(repository, isOver ? left : [notice, ...left]);
      return this.#failed(error, { repository, title: notice.title, isOver });
    }
  }

  /** Others may have come meanwhile, behind these. */
  #putBack(repository: string, rest: readonly Notice[]): void {
    const all = [...rest, ...(this.#waiting.get(repository) ?? [])];
    this.#waiting.delete(repository);
    if (all.length > 0) this.#waiting.set(repository, all);
  }

  async #updateNext(): Promise<number> {
    const { sender } = this.#options;
    const [key = "", update] = this.#updates.entries().next().value ?? [];
    this.#updates.delete(key);
    if (update === undefined) return 0;
    try {
      await this.#as(update.repository, async () => {
        checkMayWrite();
        await sender.update?.(update.card, update.repository, update.thread);
      });
      return SPACING_MS;
    } catch (error) {
      const isOver = error instanceof NotSent && !error.again;
      if (!isOver && !this.#updates.has(key)) this.#updates.set(key, update);
      return this.#failed(error, { repository: update.repository, isOver });
    }
  }

  #failed(error: unknown, { isOver = false, ...of }: { repository?: string; title?: string; isOver?: boolean }): number {
    const { name, log } = this.#options;
    const fields = { destination: name, ...of, error: errorText(error) };
    if (isOver) {
      log.error(fields, "a notification was refused and is given up");
      return SPACING_MS;
    }
    this.#faults += 1;
    const retryMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#faults - 1));
    const waitMs = (error instanceof NotSent ? error.afterMs : undefined) ?? retryMs;
    log.warn({ ...fields, againInMs: waitMs }, "a notification could not be sent and will be tried again");
    return waitMs;
  }
}
