/** What no webhook told is found all the same: installations, repositories and failed deliveries, every few minutes. */
import type { ProbotOctokit } from "probot";
import { whyUnreached } from "../../../adapters/forge/github/errors.ts";
import type { SharedQueue } from "../../../adapters/queue/port.ts";
import type { Clock } from "../../../core/base/time.ts";
import type { Log } from "../../../engine/round/context.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { listInstalledRepos } from "../tenancy/installed-repos.ts";
import type { Repos } from "../tenancy/repos.ts";
import { suspectAll } from "./on-event.ts";
import { openSweeper } from "./sweeper.ts";

interface ResyncOptions {
  octokit(installationId?: number): Promise<ProbotOctokit>;
  repos: Repos;
  queue: Pick<SharedQueue, "forget" | "share" | "leads">;
  wake(repository: string): void;
  clock: Clock;
  log: Log;
  metrics?: Metrics;
  /** Of the clock. */
  everyMs: number;
}

/** Between looks for a GitHub that is away: who does not know yet what the App is installed on takes nothing over. */
const [FIRST_AGAIN_MS, LAST_AGAIN_MS] = [1000, 4000];

/** Finds, without being told, what no webhook told. */
export class Resync {
  readonly #options: ResyncOptions;
  readonly #sweep: ReturnType<typeof openSweeper>;
  /** Asks which repos the App is installed on; several calls at once share one answer. */
  readonly rediscover = coalesce(() => this.#list());
  #unseenTries = 0;
  #isWaiting = false;
  #stopped = false;
  #callOffList = (): void => undefined;
  #callOff = (): void => undefined;

  constructor(options: ResyncOptions) {
    this.#options = options;
    this.#sweep = openSweeper({ app: () => options.octokit(), clock: options.clock, log: options.log });
  }

  /** A start waits for GitHub. */
  isWaiting(): boolean {
    return this.#isWaiting;
  }

  /**
   * As `now`, at a start: waits for a GitHub that is away. Rejects for what no waiting puts right, and once nobody waits any more (`stopping`).
   */
  async first(stopping: AbortSignal = new AbortController().signal): Promise<void> {
    const { clock, log } = this.#options;
    for (let tries = 0; ; tries++)
      try {
        stopping.throwIfAborted();
        await Promise.race([this.now(), untilAborted(stopping)]);
        this.#isWaiting = false;
        return;
      } catch (error) {
        if (stopping.aborted || !isAway(error)) throw error;
        this.#isWaiting = true;
        const againInMs = Math.min(LAST_AGAIN_MS, FIRST_AGAIN_MS * 2 ** tries);
        log.warn({ error: whyUnreached(error) ?? describeError(error), againInMs }, "GitHub does not answer: the start waits for it");
        await Promise.race([new Promise<void>((resolve) => void clock.after(againInMs, resolve)), untilAborted(stopping)]);
      }
  }

  /** From now on by itself, until it is stopped. */
  start(): void {
    if (this.#stopped) return;
    this.#callOff = this.#options.clock.after(this.#options.everyMs, () => {
      if (this.#stopped) return;
      this.now()
        .catch(this.#warn("resync failed"))
        .finally(() => this.start());
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#callOff();
    this.#callOffList();
  }

  /** As `now`, where nobody waits for it. */
  soon(): void {
    void this.now().catch(this.#warn("resync failed"));
  }

  /** Looks at everything now, and asks for failed deliveries again. */
  async now(): Promise<void> {
    const { repos, wake, queue, metrics } = this.#options;
    await this.rediscover();
    for (const served of repos.opened()) suspectAll(served);
    for (const key of repos.keys()) wake(key);
    // Deliveries are the App's own: one process asks for them.
    if (!queue.leads()) return;
    // The repos were looked through, which finds what the deliveries would have told: that GitHub cannot list them stops nothing.
    const failed = this.#warn("failed deliveries could not be listed; the next look does");
    await this.#sweep().then((count) => metrics?.resent(count), failed);
  }

  /** As `rediscover`, where nobody waits for it. */
  rediscoverSoon(): void {
    void this.rediscover().catch((error: unknown) => {
      this.#warn("installations could not be listed")(error);
      this.#listAgain(true);
    });
  }

  async #list(): Promise<void> {
    const { octokit, repos, queue, wake, log } = this.#options;
    const before = repos.keys();
    const found = await listInstalledRepos(octokit, log);
    const fresh = repos.apply(found);
    this.#listAgain(found.unseen.size > 0);
    for (const key of before) if (!repos.has(key)) queue.forget(key);
    queue.share(repos.keys());
    for (const key of fresh) wake(key);
  }

  /** Who does not know its repositories takes none of them over. */
  #listAgain(isWanted: boolean): void {
    const { clock, everyMs } = this.#options;
    this.#callOffList();
    if (!isWanted) this.#unseenTries = 0;
    else if (!this.#stopped) {
      const inMs = Math.min(everyMs, FIRST_AGAIN_MS * 2 ** this.#unseenTries++);
      this.#callOffList = clock.after(inMs, () => this.rediscoverSoon());
    }
  }

  #warn(message: string): (error: unknown) => void {
    return (error) => this.#options.log.warn({ error: describeError(error) }, message);
  }
}

/** Nobody answers, or answers that they cannot just now. */
function isAway(error: unknown): boolean {
  const { status = 0 } = error as { status?: number };
  return whyUnreached(error) !== undefined || status === 429 || status >= 500;
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

export function describeError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** `work` as often as needed and never twice at once: who asks while it runs shares the one run that follows. */
export function coalesce(work: () => Promise<void>): { (): Promise<void> /** When nothing runs or waits. */; settled(): Promise<void> } {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function run(): Promise<void> {
    const mine = work().finally(() => {
      if (running === mine) running = undefined;
    });
    running = mine;
    return mine;
  }

  function ask(): Promise<void> {
    if (running === undefined) return run();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return run();
      });
    return next;
  }

  async function settled(): Promise<void> {
    while (running !== undefined || next !== undefined) await (next ?? running)?.catch(() => undefined);
  }
  return Object.assign(ask, { settled });
}
