/**
 * What waits to be sent to one destination: one at a time, each repository in its turn, so that a noisy one delays no other. Many of one
 * repository are one digest. What fails is tried again, less often each time. Called by `notifier.ts`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
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

interface Line {
  add(notice: Notice): void;
  /** Of a run whose message is to be brought up to date. */
  show(key: string, update: { card: RunCard; repository: string; thread: Thread }): void;
  /** Sends nothing more of a repository; resolves when nothing of it is being sent. */
  drop(repository: string): Promise<void>;
  /** Resolves when nothing is being sent. */
  settled(): Promise<void>;
  close(): void;
}

export function openLine({ name, sender, clock, log, threadOf, done }: LineOptions): Line {
  /** In the order of whose turn it is. */
  const waiting = new Map<string, Notice[]>();
  const updates = new Map<string, Parameters<Line["show"]>[1]>();
  /** As whose a repository's are sent, and asked whether they are ours to send still: whoever gave them may say. */
  const givers = new Map<string, ReturnType<typeof AsyncLocalStorage.snapshot>>();
  let working: Promise<void> | undefined;
  let callOff: (() => void) | undefined;
  let isClosed = false;
  let faults = 0;

  function wake(): void {
    if (isClosed || working !== undefined || callOff !== undefined) return;
    const work = waiting.size > 0 ? sendNext : updates.size > 0 ? updateNext : undefined;
    if (work === undefined) return;
    working = work()
      .catch((error: unknown) => failed(error, {}))
      .then((waitMs) => {
        working = undefined;
        callOff = clock.after(waitMs, () => {
          callOff = undefined;
          wake();
        });
      });
  }

  /** Gives how long to wait before the next. */
  async function sendNext(): Promise<number> {
    const [repository = "", notices = []] = waiting.entries().next().value ?? [];
    waiting.delete(repository);
    return await as(repository, () => sendFirst(repository, notices));
  }

  function as<T>(repository: string, work: () => T): T {
    const giver = givers.get(repository.toLowerCase());
    return giver === undefined ? work() : giver(work);
  }

  async function sendFirst(repository: string, notices: readonly Notice[]): Promise<number> {
    const many = notices.length > sender.most ? digestOf(notices) : undefined;
    if (many !== undefined) await done(repository, notices, { instead: many });
    const notice = many ?? notices[0];
    if (notice === undefined) return 0;
    const left = many === undefined ? notices.slice(1) : [];
    const put = (rest: readonly Notice[]) => {
      // Others may have come meanwhile, behind these.
      const all = [...rest, ...(waiting.get(repository) ?? [])];
      waiting.delete(repository);
      if (all.length > 0) waiting.set(repository, all);
    };
    try {
      checkMayWrite();
      const { thread } = await sender.send(notice, threadOf(notice));
      faults = 0;
      log.info({ destination: name, repository, title: notice.title }, "a notification was sent");
      await done(repository, [notice], { thread });
      put(left);
      return SPACING_MS;
    } catch (error) {
      // Kept for whoever looks after the repository now, or for us once we may again.
      const isOver = error instanceof NotSent && !error.again;
      if (isOver) await done(repository, [notice], {});
      put(isOver ? left : [notice, ...left]);
      return failed(error, { repository, title: notice.title, isOver });
    }
  }

  async function updateNext(): Promise<number> {
    const [key = "", update] = updates.entries().next().value ?? [];
    updates.delete(key);
    if (update === undefined) return 0;
    try {
      await as(update.repository, async () => {
        checkMayWrite();
        await sender.update?.(update.card, update.repository, update.thread);
      });
      return SPACING_MS;
    } catch (error) {
      const isOver = error instanceof NotSent && !error.again;
      if (!isOver && !updates.has(key)) updates.set(key, update);
      return failed(error, { repository: update.repository, isOver });
    }
  }

  function failed(error: unknown, { isOver = false, ...of }: { repository?: string; title?: string; isOver?: boolean }): number {
    const fields = { destination: name, ...of, error: error instanceof Error ? error.message : String(error) };
    if (isOver) {
      log.error(fields, "a notification was refused and is given up");
      return SPACING_MS;
    }
    faults += 1;
    const waitMs = (error instanceof NotSent ? error.afterMs : undefined) ?? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (faults - 1));
    log.warn({ ...fields, againInMs: waitMs }, "a notification could not be sent and will be tried again");
    return waitMs;
  }

  return {
    add(notice) {
      const repository = notice.repository.toLowerCase();
      waiting.set(repository, [...(waiting.get(repository) ?? []), notice]);
      givers.set(repository, AsyncLocalStorage.snapshot());
      wake();
    },
    show(key, update) {
      if (sender.update === undefined) return;
      updates.set(key, update);
      givers.set(update.repository.toLowerCase(), AsyncLocalStorage.snapshot());
      wake();
    },
    async drop(repository) {
      const forget = (): void => {
        waiting.delete(repository);
        for (const [key, update] of updates) if (update.repository.toLowerCase() === repository) updates.delete(key);
      };
      forget();
      await working;
      forget();
      givers.delete(repository);
    },
    async settled() {
      await working;
    },
    close() {
      isClosed = true;
      callOff?.();
    },
  };
}
