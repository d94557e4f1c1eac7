/**
 * The queue of one replica of several. PostgreSQL decides who looks after a repository, never when: rounds are begun by the queue of the process,
 * as where there is one. What has to outlive a process stands in tables: who owns what, when it wants to be looked at, which deliveries nobody
 * has looked at yet. Opened by the server.
 *
 * A round is begun only while the lease holds, and every write of it asks once more: see `membership.ts`, and `askFor`.
 */
import { NotOurs } from "../../outbound/asker.ts";
import { inProcessQueue } from "../in-process.ts";
import type { Delivery, SharedQueue, SharingOptions, SharingState, WakeRequest } from "../port.ts";
import { Beating } from "./beating.ts";
import { type Database, tellAll } from "./database.ts";
import { Deliveries } from "./deliveries.ts";
import { tidyDocuments } from "./documents.ts";
import { MACHINE, Membership, type Seen, type Time } from "./membership.ts";
import { Notes } from "./notes.ts";
import { Ownership, type Taken } from "./ownership.ts";
import { openPaces } from "./paces.ts";
import { Shown, TOLD_SHOWN } from "./shown.ts";

export interface PostgresOptions extends SharingOptions {
  database: Database;
  /** Of the directory of mirrors: the same after a restart on the same disk. */
  home: string;
  version: string;
  log: Record<"info" | "warn" | "error", (fields: object, message: string) => void>;
  /** A newer version has made of the schema what is not for this one. */
  onOutdated?: (error: Error) => void;
  time?: Time;
  /** The lease was renewed, and what came of it was done; `seenAt` is when others were looked at. */
  onWorked?: (seenAt: number) => void;
}

const TIDY_EVERY = 60;
/** A look that was asked for before it was taken here is made after all where that was so lately, and after what is due. */
const [ASKED_LATELY_MS, AFTER_MS] = [20_000, 1000];
const [TOLD_DELIVERIES, TOLD_FREE] = ["deliveries", "free"];

export class PostgresQueue implements SharedQueue {
  readonly board: Shown;
  readonly #options: PostgresOptions;
  readonly #numbers = { lost: 0, takeovers: 0, setAside: 0, beats: 0 };
  /** What is asked of repositories that nobody is known to look after yet. */
  readonly #asked = new Map<string, { request: WakeRequest; at: number | undefined }[]>();
  /** When a look was last asked for that another is to make, if it lives. */
  readonly #passedBy = new Map<string, number>();
  /** Slowed, and taken just now: what somebody had said before was heard by those who are gone. */
  readonly #slowed = new Set<string>();
  /** A round was due while the lease did not hold. */
  readonly #missed = new Set<string>();
  readonly #membership: Membership;
  readonly #ownership: Ownership;
  readonly #deliveries: Deliveries;
  readonly #notes: Notes;
  readonly #paces: ReturnType<typeof openPaces>;
  readonly #inner: ReturnType<typeof inProcessQueue>;
  readonly #heart: Beating;

  constructor(options: PostgresOptions) {
    const { database, home, version, clock, log, time = MACHINE, onDelivery, onOutdated } = options;
    this.#options = options;
    const onKept = () => tellAll(database, TOLD_DELIVERIES);
    const membership = new Membership({ database, home, version, time, onTold: this.#told, onLost: this.#lost });
    const ownership = new Ownership({ database, membership, home, onTaken: this.#taken, onLeft: this.#left, onFree: this.#freed });
    const { id: me } = membership;
    this.#membership = membership;
    this.#ownership = ownership;
    this.#deliveries = new Deliveries({ database, log, time, me, owns: this.owns, onDelivery, onKept });
    this.#notes = new Notes(database, me);
    this.#paces = openPaces(database, time, () => (this.#heart.seen?.living.length ?? 1) <= 1);
    this.board = new Shown({ database, ownership, me, time, clock, log });
    this.#inner = inProcessQueue({ ...options, handler: this.#round });
    this.#heart = new Beating({ membership, work: this.#work, log, time, onRegained: this.#regained, onOutdated });
  }

  readonly start = async (): Promise<string[]> => {
    await this.#heart.start();
    const now = this.#options.clock.now();
    return this.#ownership.keys().filter((key) => !this.#inner.isIdle(key) && (this.#inner.next(key) ?? now) <= now);
  };

  /** After each beat, and whenever something was told. */
  readonly #work = async (seen: Seen): Promise<void> => {
    const { database, clock, log, onWorked } = this.#options;
    if (await this.#ownership.register()) return this.#heart.hurry();
    for (const one of seen.dead) {
      if (!(await this.#membership.bury(one))) continue;
      log.warn({ replica: one.id, repositories: one.owned }, "a replica is gone: what it looked after is free");
      this.#numbers.takeovers += one.owned;
      this.#heart.hurry();
    }
    await this.#ownership.mend(seen);
    await this.#ownership.take(seen);
    // Another has it, or is to take it.
    for (const repository of [...this.#asked.keys()].filter((key) => this.#ownership.isRegistered(key))) {
      this.#asked.delete(repository);
      this.#passedBy.set(repository, clock.now());
    }
    await this.#deliveries.fetch();
    this.#slowed.clear();
    await this.#deliveries.settle();
    await this.#notes.write();
    await this.#ownership.letGo(seen);
    this.board.beat(seen);
    if (this.leads() && ++this.#numbers.beats % TIDY_EVERY === 0) {
      this.#numbers.setAside = await this.#deliveries.tidy();
      await this.#ownership.tidy();
      await tidyDocuments(database);
      await this.#paces.tidy();
    }
    onWorked?.(seen.at);
  };

  readonly #round = async (repository: string, rollouts: ReadonlySet<string | null>, over: AbortSignal): Promise<void> => {
    if (!this.owns(repository)) return void this.#missed.add(repository);
    const heard = this.#deliveries.begin(repository);
    const checkOurs = this.fence(repository);
    if (this.#notes.isFirst(repository)) await this.#notes.begin(repository);
    try {
      await this.#options.handler(repository, rollouts, over);
      // Of what became another's meanwhile nobody knows how far it came.
      checkOurs();
    } catch (error) {
      // That it may be another's by now is no fault of its own.
      if (!this.owns(repository)) return void this.#missed.add(repository);
      heard.failed();
      this.#notes.wish(repository, 0);
      throw error;
    } finally {
      this.#notes.ended(repository);
    }
    this.#inner.slow(repository, 0);
    heard.ended();
    if (this.owns(repository)) this.#notes.wish(repository, this.#options.isBusy?.(repository) === true ? 0 : this.#inner.next(repository));
  };

  readonly #taken = ({ repository, dueAt, unended, slowMs }: Taken): void => {
    // Another may have written another.
    this.#notes.drop(repository);
    const now = this.#options.clock.now();
    if (slowMs > 0) {
      this.#inner.slow(repository, now + slowMs);
      this.#slowed.add(repository);
      const fields = { repository, owners: unended, forMs: slowMs };
      this.#options.log.error(fields, "one replica after the other ended while it looked at this repository: it is slowed");
    }
    if (dueAt !== undefined) this.#inner.wake({ repository, rollout: null }, Math.max(dueAt, now));
    if (now - (this.#passedBy.get(repository) ?? Number.NEGATIVE_INFINITY) < ASKED_LATELY_MS)
      this.#inner.wake({ repository, rollout: null }, now + AFTER_MS);
    this.#passedBy.delete(repository);
    for (const { request, at } of this.#asked.get(repository) ?? []) this.#inner.wake(request, at);
    this.#asked.delete(repository);
  };

  readonly #left = async (repository: string): Promise<number | undefined> => {
    const isIdle = this.#inner.isIdle(repository) && !this.#missed.has(repository) && this.#options.isBusy?.(repository) !== true;
    await this.#options.onLeft(repository);
    this.#drop(repository);
    this.board.handedOn();
    return isIdle ? undefined : 0;
  };

  #drop(repository: string): void {
    this.#inner.forget(repository);
    this.#deliveries.drop(repository);
    this.#missed.delete(repository);
    this.#notes.drop(repository);
  }

  readonly #lost = (): void => {
    const keys = this.#ownership.lose();
    this.#numbers.lost += 1;
    this.board.handedOn();
    this.#options.log.warn({ repositories: keys.length }, "this replica was taken for dead: others look after what it had");
    for (const key of keys) {
      this.#drop(key);
      this.#options.onLost(key, new NotOurs(key));
    }
  };

  readonly #regained = (awayMs: number): void => {
    for (const repository of this.#missed) if (this.owns(repository)) this.#inner.wake({ repository, rollout: null });
    this.#missed.clear();
    this.#options.onRegained?.(awayMs);
  };

  readonly #told = (payload: string): void => {
    if (payload === TOLD_SHOWN) this.board.told();
    if (payload === TOLD_DELIVERIES) this.#deliveries.told();
    if (payload === TOLD_FREE) this.#heart.hurry();
  };
  readonly #freed = (): void => tellAll(this.#options.database, TOLD_FREE);

  readonly owns = (repository: string): boolean => this.#ownership.owns(repository);
  readonly fence = (repository: string): (() => void) => this.#ownership.fence(repository);
  readonly keep = (delivery: Delivery): Promise<boolean> => this.#deliveries.keep(delivery);
  readonly depth = () => this.#inner.depth();
  readonly leads = (): boolean => this.#membership.holds() && this.#heart.seen?.living[0]?.id === this.#membership.id();
  readonly turnToWrite = (installation: number): Promise<number> => this.#paces.turn(installation);
  readonly waits = (repository: string): boolean => !this.#slowed.has(repository) && this.#inner.waits(repository);

  readonly sharing = (): SharingState => {
    const { living = [], free = 0, slow = 0 } = this.#heart.seen ?? {};
    const { setAside, lost, takeovers } = this.#numbers;
    const now = { holds: this.#membership.holds(), replicas: living.length, owned: this.#ownership.keys().length, free, slow };
    return { ...now, waiting: this.#deliveries.count(), setAside, lost, takeovers };
  };

  wake(request: WakeRequest, at?: number) {
    const { repository } = request;
    if (this.#slowed.has(repository)) return this.#inner.wake({ ...request, heard: false }, at);
    if (this.#ownership.keeps(repository)) return this.#inner.wake(request, at);
    if (this.#ownership.isKnown(repository)) return void this.#passedBy.set(repository, this.#options.clock.now());
    this.#asked.set(repository, [...(this.#asked.get(repository) ?? []), { request, at }]);
    this.#ownership.share([...this.#ownership.known(), repository]);
    this.#heart.hurry();
  }

  readonly idle = async (): Promise<void> => {
    while (this.#asked.size > 0 && (await this.#heart.next()));
    await this.#inner.idle();
  };

  forget(repository: string): void {
    this.#drop(repository);
    this.#asked.delete(repository);
    this.#passedBy.delete(repository);
    this.#ownership.forget(repository).catch(() => undefined);
  }

  share(repositories: readonly string[]): void {
    this.#ownership.share(repositories);
    for (const gone of [...this.#asked.keys(), ...this.#passedBy.keys()].filter((key) => !this.#ownership.isKnown(key))) {
      this.#asked.delete(gone);
      this.#passedBy.delete(gone);
    }
    this.#heart.hurry();
  }

  readonly close = (): Promise<void> => this.#inner.close();

  async leave({ isUnderWay = false } = {}): Promise<void> {
    const arrived = isUnderWay ? this.#membership.lapse() : undefined;
    await Promise.all([this.#heart.stop(), this.board.stop()]);
    await this.#deliveries.settle().catch(() => undefined);
    await this.#notes.leave();
    await arrived;
    await this.#membership.leave().then(this.#freed, () => undefined);
  }
}
