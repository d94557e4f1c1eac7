/**
 * The queue of one replica of several. PostgreSQL decides who looks after a repository, never when: rounds are begun by the queue of the process,
 * as where there is one. What has to outlive a process stands in tables: who owns what, when it wants to be looked at, which deliveries nobody
 * has looked at yet. Opened by the server.
 *
 * A round is begun only while the lease holds, and every write of it asks once more: see `membership.ts`, and `askFor`.
 */
import { NotOurs } from "../../outbound/asker.ts";
import { inProcessQueue } from "../in-process.ts";
import type { SharedQueue, SharingOptions, SharingState, WakeRequest } from "../port.ts";
import { beating } from "./beating.ts";
import { CHANNEL, type Database } from "./database.ts";
import { openDeliveries } from "./deliveries.ts";
import { tidyDocuments } from "./documents.ts";
import { openMarks } from "./marks.ts";
import { MACHINE, openMembership, type Seen, type Time } from "./membership.ts";
import { openOwnership, type Taken } from "./ownership.ts";
import { openPaces } from "./paces.ts";
import { openShown, TOLD_SHOWN } from "./shown.ts";
import { openWishes } from "./wishes.ts";

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

export function postgresQueue(options: PostgresOptions): SharedQueue {
  const { database, home, version, clock, log, time = MACHINE, onWorked } = options;
  const numbers = { lost: 0, takeovers: 0, setAside: 0, beats: 0 };
  /** What is asked of repositories that nobody is known to look after yet. */
  const asked = new Map<string, { request: WakeRequest; at: number | undefined }[]>();
  /** When a look was last asked for that another is to make, if it lives. */
  const passedBy = new Map<string, number>();
  /** Slowed, and taken just now: what somebody had said before was heard by those who are gone. */
  const slowed = new Set<string>();
  /** A round was due while the lease did not hold. */
  const missed = new Set<string>();

  const membership = openMembership({ database, home, version, time, onTold, onLost });
  const me = membership.id;
  const ownership = openOwnership({ database, membership, home, onTaken: taken, onLeft: left, onFree: () => tellAll(database, TOLD_FREE) });
  const heard = { owns: ownership.owns, onDelivery: options.onDelivery, onKept: () => tellAll(database, TOLD_DELIVERIES) };
  const deliveries = openDeliveries({ database, log, time, me, ...heard });
  const [wishes, marks] = [openWishes(database, me), openMarks(database, me)];
  const paces = openPaces(database, time, () => (heart.seen()?.living.length ?? 1) <= 1);
  const shown = openShown({ database, ownership, me, time, clock, log });
  const inner = inProcessQueue({ ...options, handler: round });
  const heart = beating({ membership, work, log, time, onRegained: regained, onOutdated: options.onOutdated });

  /** After each beat, and whenever something was told. */
  async function work(seen: Seen): Promise<void> {
    if (await ownership.register()) return heart.hurry();
    for (const one of seen.dead) {
      if (!(await membership.bury(one))) continue;
      log.warn({ replica: one.id, repositories: one.owned }, "a replica is gone: what it looked after is free");
      numbers.takeovers += one.owned;
      heart.hurry();
    }
    await ownership.mend(seen);
    await ownership.take(seen);
    // Another has it, or is to take it.
    for (const repository of [...asked.keys()].filter(ownership.isRegistered)) {
      asked.delete(repository);
      passedBy.set(repository, clock.now());
    }
    await deliveries.fetch();
    slowed.clear();
    await deliveries.settle();
    await wishes.write();
    await marks.write();
    await ownership.letGo(seen);
    shown.beat(seen);
    if (leads() && ++numbers.beats % TIDY_EVERY === 0) {
      numbers.setAside = await deliveries.tidy();
      await ownership.tidy();
      await tidyDocuments(database);
      await paces.tidy();
    }
    onWorked?.(seen.at);
  }

  async function round(repository: string, rollouts: ReadonlySet<string | null>, over: AbortSignal): Promise<void> {
    if (!ownership.owns(repository)) return void missed.add(repository);
    const heard = deliveries.begin(repository);
    const checkOurs = ownership.fence(repository);
    if (marks.isFirst(repository)) await marks.begin(repository);
    try {
      await options.handler(repository, rollouts, over);
      // Of what became another's meanwhile nobody knows how far it came.
      checkOurs();
    } catch (error) {
      // That it may be another's by now is no fault of its own.
      if (!ownership.owns(repository)) return void missed.add(repository);
      heard.failed();
      wishes.note(repository, 0);
      throw error;
    } finally {
      marks.ended(repository);
    }
    inner.slow(repository, 0);
    heard.ended();
    if (ownership.owns(repository)) wishes.note(repository, options.isBusy?.(repository) === true ? 0 : inner.next(repository));
  }

  function taken({ repository, dueAt, unended, slowMs }: Taken): void {
    // Another may have written another.
    wishes.drop(repository);
    const now = clock.now();
    if (slowMs > 0) {
      inner.slow(repository, now + slowMs);
      slowed.add(repository);
      const fields = { repository, owners: unended, forMs: slowMs };
      log.error(fields, "one replica after the other ended while it looked at this repository: it is slowed");
    }
    if (dueAt !== undefined) inner.wake({ repository, rollout: null }, Math.max(dueAt, now));
    if (now - (passedBy.get(repository) ?? Number.NEGATIVE_INFINITY) < ASKED_LATELY_MS)
      inner.wake({ repository, rollout: null }, now + AFTER_MS);
    passedBy.delete(repository);
    for (const { request, at } of asked.get(repository) ?? []) inner.wake(request, at);
    asked.delete(repository);
  }

  async function left(repository: string): Promise<number | undefined> {
    const isIdle = inner.isIdle(repository) && !missed.has(repository) && options.isBusy?.(repository) !== true;
    await options.onLeft(repository);
    drop(repository);
    shown.handedOn();
    return isIdle ? undefined : 0;
  }

  function drop(repository: string): void {
    inner.forget(repository);
    deliveries.drop(repository);
    missed.delete(repository);
    wishes.drop(repository);
    marks.drop(repository);
  }

  function onLost(): void {
    const keys = ownership.lose();
    numbers.lost += 1;
    wishes.dropAll();
    marks.dropAll();
    shown.handedOn();
    log.warn({ repositories: keys.length }, "this replica was taken for dead: others look after what it had");
    for (const key of keys) {
      drop(key);
      options.onLost(key, new NotOurs(key));
    }
  }

  function regained(awayMs: number): void {
    for (const repository of missed) if (ownership.owns(repository)) inner.wake({ repository, rollout: null });
    missed.clear();
    options.onRegained?.(awayMs);
  }

  function onTold(payload: string): void {
    if (payload === TOLD_SHOWN) shown.told();
    if (payload === TOLD_DELIVERIES) deliveries.told();
    if (payload === TOLD_FREE) heart.hurry();
  }

  const leads = (): boolean => membership.holds() && heart.seen()?.living[0]?.id === membership.id();

  function sharing(): SharingState {
    const { living = [], free = 0, slow = 0 } = heart.seen() ?? {};
    const { setAside, lost, takeovers } = numbers;
    const now = { holds: membership.holds(), replicas: living.length, owned: ownership.keys().length, free, slow };
    return { ...now, waiting: deliveries.count(), setAside, lost, takeovers };
  }

  return {
    async start() {
      await heart.start();
      const now = clock.now();
      return ownership.keys().filter((key) => !inner.isIdle(key) && (inner.next(key) ?? now) <= now);
    },
    wake(request, at) {
      const { repository } = request;
      if (slowed.has(repository)) return inner.wake({ ...request, heard: false }, at);
      if (ownership.keeps(repository)) return inner.wake(request, at);
      if (ownership.isKnown(repository)) return void passedBy.set(repository, clock.now());
      asked.set(repository, [...(asked.get(repository) ?? []), { request, at }]);
      ownership.share([...ownership.known(), repository]);
      heart.hurry();
    },
    async idle() {
      while (asked.size > 0 && (await heart.next()));
      await inner.idle();
    },
    forget(repository) {
      drop(repository);
      asked.delete(repository);
      passedBy.delete(repository);
      ownership.forget(repository).catch(() => undefined);
    },
    share(repositories) {
      ownership.share(repositories);
      for (const gone of [...asked.keys(), ...passedBy.keys()].filter((key) => !ownership.isKnown(key))) {
        asked.delete(gone);
        passedBy.delete(gone);
      }
      heart.hurry();
    },
    ...{ owns: ownership.owns, fence: ownership.fence, keep: deliveries.keep, depth: inner.depth, close: inner.close },
    ...{ leads, sharing, board: shown.board, turnToWrite: paces.turn, waits: (one) => !slowed.has(one) && inner.waits(one) },
    async leave({ isUnderWay = false } = {}) {
      const arrived = isUnderWay ? membership.lapse() : undefined;
      await Promise.all([heart.stop(), shown.stop()]);
      await deliveries.settle().catch(() => undefined);
      await wishes.write().catch(() => undefined);
      marks.endAll();
      await marks.write().catch(() => undefined);
      await arrived;
      await membership.leave().then(
        () => tellAll(database, TOLD_FREE),
        () => undefined,
      );
    },
  };
}

/** That nobody is told is made up for by the next beat of those who were not. */
function tellAll(database: Database, what: string): void {
  database.query("select pg_notify($1, $2)", [CHANNEL, what]).catch(() => undefined);
}
