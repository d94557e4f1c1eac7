import { afterAll, describe, expect, test } from "vitest";
import { manualClock } from "../../../../test/support/manual-clock.ts";
import { POSTGRES } from "../../../../test/support/postgres.ts";
import { NotOurs } from "../../outbound/asker.ts";
import type { Delivery, SharedQueue } from "../port.ts";
import { closeAll, databaseAt, freshDatabase, replica } from "../testing/open-queue.ts";
import type { PostgresOptions } from "./queue.ts";

const NAMES = Array.from({ length: 12 }, (_, n) => `o/${n}`);

/** A machine whose time all replicas share; one of them may be stopped, as by SIGSTOP, or cut off from PostgreSQL. */
function openMachines(url: string) {
  const clock = manualClock(1_000_000);
  const running = new Set<Machine>();

  interface Machine {
    queue: SharedQueue;
    rounds: string[];
    lost: string[];
    deliveries: Delivery[];
    worked: () => void;
    owned(): string[];
    stop(): void;
    wake(): void;
  }

  async function start(names: readonly string[], given: Partial<PostgresOptions> = {}): Promise<Machine> {
    let isStopped = false;
    /** What would have rung meanwhile. */
    const late: (() => void)[] = [];
    const time = {
      monotonic: clock.now,
      wall: clock.now,
      after: (ms: number, wake: () => void) => clock.after(ms, () => (isStopped ? void late.push(wake) : wake())),
    };
    const [rounds, lost, deliveries]: [string[], string[], Delivery[]] = [[], [], []];
    const machine: Machine = {
      ...{ rounds, lost, deliveries, worked: () => undefined },
      queue: replica(databaseAt(url), {
        ...{ clock, time, onWorked: () => machine.worked(), onLeft: async () => undefined },
        handler: async (repository) => void rounds.push(repository),
        onLost: (repository) => void lost.push(repository),
        onDelivery(delivery) {
          deliveries.push(delivery);
          if (delivery.repository !== undefined) machine.queue.wake({ repository: delivery.repository, rollout: null });
          return true;
        },
        ...given,
      }),
      owned: () => names.filter((name) => machine.queue.owns(name)),
      stop() {
        isStopped = true;
        running.delete(machine);
      },
      wake() {
        isStopped = false;
        running.add(machine);
        for (const ring of late.splice(0)) ring();
      },
    };
    machine.queue.share(names);
    await machine.queue.start();
    running.add(machine);
    return machine;
  }

  /** A second passes, and everybody who is there does what comes of it. */
  async function second(): Promise<void> {
    const done = [...running].map((machine) => new Promise<void>((resolve) => Object.assign(machine, { worked: resolve })));
    clock.advance(1000);
    await Promise.all(done);
  }

  /** Gives how many seconds have passed until then. */
  async function until(holds: () => boolean, most = 30): Promise<number> {
    for (let passed = 0; passed <= most; passed++) {
      if (holds()) return passed;
      await second();
    }
    throw new Error(`it did not come in ${most} s`);
  }
  return { start, second, until, clock };
}

describe.skipIf(POSTGRES === undefined)("replicas that share repositories", () => {
  afterAll(closeAll);

  test("have each of them once, and as many as each other once another has come", async () => {
    const { url } = await freshDatabase();
    const { start, until } = openMachines(url);
    const first = await start(NAMES);
    expect(first.owned()).toEqual(NAMES);
    const second = await start(NAMES);
    await until(() => second.owned().length === 6);
    const third = await start(NAMES);
    await until(() => third.owned().length === 4);
    const all = [first, second, third].flatMap((one) => one.owned());
    expect([all.length, new Set(all).size]).toEqual([12, 12]);
  });

  test("take over what one had that is gone, within ten seconds, and look at what was due there alone", async () => {
    const { url } = await freshDatabase();
    const { start, until, second: pass } = openMachines(url);
    const first = await start(NAMES, { isBusy: (repository) => repository === "o/3" });
    await first.queue.idle();
    await pass();
    const second = await start(NAMES);
    await until(() => second.owned().length === 6);
    second.rounds.length = 0;
    const had = first.owned();
    first.stop();
    const seconds = await until(() => second.owned().length === 12);
    expect(seconds).toBeLessThanOrEqual(9);
    await second.queue.idle();
    expect(second.rounds).toEqual(had.includes("o/3") ? ["o/3"] : []);
  });

  test("never both may write: one that was stopped finds its time over before anybody else has begun", async () => {
    const { url } = await freshDatabase();
    const { start, until, second: pass } = openMachines(url);
    const first = await start(NAMES);
    const fences = NAMES.map((name) => first.queue.fence(name));
    const second = await start(["o/other"]);
    first.stop();
    await pass();
    expect(() => fences[0]?.()).not.toThrow();
    for (let n = 0; n < 4; n++) {
      second.queue.share([...NAMES, "o/other"]);
      await pass();
      expect(NAMES.filter((name) => second.queue.owns(name))).toEqual([]);
    }
    // Its lease is over; another takes it for dead only after that.
    for (const fence of fences) expect(fence).toThrow(NotOurs);
    expect(first.owned()).toEqual([]);
    await until(() => NAMES.every((name) => second.queue.owns(name)));
    first.wake();
    await until(() => first.lost.length === 12);
    for (const fence of fences) expect(fence).toThrow(NotOurs);
  });

  test("one whose repository went and came back may not write with what it knew before", async () => {
    const { url } = await freshDatabase();
    const { start, until } = openMachines(url);
    const first = await start(["o/0"]);
    const before = first.queue.fence("o/0");
    const second = await start(["o/0"]);
    first.stop();
    await until(() => second.owned().length === 1);
    first.wake();
    second.stop();
    await until(() => first.owned().length === 1);
    expect(before).toThrow(NotOurs);
    expect(first.queue.fence("o/0")).not.toThrow();
  });

  test("an outage of PostgreSQL moves nothing: whoever had a repository has it afterwards", async () => {
    const { url } = await freshDatabase();
    const { start, until, clock } = openMachines(url);
    const [first, second] = [await start(NAMES), await start(NAMES)];
    await until(() => second.owned().length === 6);
    const before = [first.owned(), second.owned()];
    for (const one of [first, second]) one.stop();
    clock.advance(3_600_000);
    expect([first.owned(), second.owned()]).toEqual([[], []]);
    for (const one of [second, first]) one.wake();
    await until(() => first.owned().length + second.owned().length === 12);
    expect([[first.owned(), second.owned()], first.lost, second.lost]).toEqual([before, [], []]);
  });

  test("one that comes back to its mirrors has the same repositories again", async () => {
    const { url } = await freshDatabase();
    const { start, until, second: pass } = openMachines(url);
    const first = await start(NAMES);
    const second = await start(NAMES, { home: "its-own-disk" });
    await until(() => second.owned().length === 6);
    const had = second.owned();
    second.stop();
    await second.queue.leave();
    await until(() => first.owned().length === 12);
    await pass();
    const again = await start(NAMES, { home: "its-own-disk" });
    await until(() => again.owned().length === 6);
    expect(again.owned()).toEqual(had);
  });
});
