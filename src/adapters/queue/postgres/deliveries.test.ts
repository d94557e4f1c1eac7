import { afterAll, describe, expect, test } from "vitest";
import { manualClock } from "../../../../test/support/manual-clock.ts";
import { POSTGRES, startPostgres } from "../../../../test/support/postgres.ts";
import type { Delivery } from "../port.ts";
import { openMachines } from "../testing/machines.ts";
import { closeAll, databaseAt, freshDatabase, replica } from "../testing/open-queue.ts";
import type { Database } from "./database.ts";
import { prepareSchema } from "./migrate.ts";

const delivery = (guid: string, repository: string | undefined = "o/0"): Delivery => ({ guid, repository, event: { name: "push" } });

async function kept(database: Database): Promise<string[]> {
  const rows = await database.query<{ guid: string; done: boolean; aside: boolean }>(
    "select guid, done_at is not null as done, set_aside_at is not null as aside from stagecoach.deliveries order by seq",
  );
  return rows.map(({ guid, done, aside }) => `${guid} ${done ? "done" : aside ? "set aside" : "waits"}`);
}

describe.skipIf(POSTGRES === undefined)("a delivery that is kept", () => {
  afterAll(closeAll);

  test("is taken once, whichever replica it comes to, and is done once a round that began after it has ended well", async () => {
    const { url, database } = await freshDatabase();
    const { start, second, until } = openMachines(url);
    const fails = { once: true };
    const rounds: string[] = [];
    const first = await start(["o/0"], {
      async handler(repository) {
        rounds.push(repository);
        if (rounds.length === 2 && fails.once) throw new Error("GitHub is down");
      },
    });
    await first.queue.idle();
    const other = await start(["o/0"]);
    expect(await other.queue.keep(delivery("a"))).toBe(true);
    expect(await other.queue.keep(delivery("a"))).toBe(false);
    expect(await first.queue.keep(delivery("a"))).toBe(false);
    await until(() => first.deliveries.length > 0);
    await first.queue.idle();
    expect([rounds.length, await kept(database)]).toEqual([2, ["a waits"]]);
    await second();
    await first.queue.idle();
    await second();
    expect([rounds.length, first.deliveries.length, await kept(database)]).toEqual([3, 1, ["a done"]]);
  });

  test("is told to whoever looks after its repository, and nobody renews a lease for it", async () => {
    const { url, database } = await freshDatabase();
    // A second never passes.
    const after = (ms: number, wake: () => void) => {
      if (ms < 1000) setImmediate(wake);
      return () => undefined;
    };
    const time = { monotonic: () => 0, wall: () => 0, after };
    const heard = Promise.withResolvers<Delivery>();
    const rest = { time, clock: manualClock(), handler: async () => undefined, onLeft: async () => undefined, onLost: () => undefined };
    const open = async (onDelivery: (one: Delivery) => boolean) => {
      const queue = replica(databaseAt(url), { ...rest, onDelivery });
      queue.share(["o/0"]);
      await queue.start();
      return queue;
    };
    await open((one) => {
      heard.resolve(one);
      return true;
    });
    const other = await open(() => true);
    const beats = () => database.query("select beats from stagecoach.replicas order by joined");
    const before = await beats();
    await other.keep(delivery("a"));
    expect(await heard.promise).toEqual(delivery("a"));
    expect(await beats()).toEqual(before);
  });

  test("is found by whoever takes its repository over, though nobody told it", async () => {
    const { url, database } = await freshDatabase();
    const { start, until, second } = openMachines(url);
    const first = await start(["o/0"], { handler: () => new Promise<void>(() => undefined) });
    expect(await first.queue.keep(delivery("a"))).toBe(true);
    const other = await start(["o/0"]);
    first.stop();
    await until(() => other.deliveries.length > 0);
    await other.queue.idle();
    await second();
    expect([other.deliveries.map(({ guid }) => guid), await kept(database)]).toEqual([["a"], ["a done"]]);
  });

  test("waits though a round has ended of one that had lost its repository meanwhile", async () => {
    const { url, database } = await freshDatabase();
    const { start, until, second } = openMachines(url);
    const gate = Promise.withResolvers<void>();
    let rounds = 0;
    const first = await start(["o/0"], { handler: async () => (++rounds === 2 ? await gate.promise : undefined) });
    await first.queue.idle();
    await first.queue.keep(delivery("a"));
    const other = await start(["o/0"], { handler: () => new Promise<void>(() => undefined) });
    first.stop();
    await until(() => other.deliveries.length > 0);
    first.wake();
    await until(() => first.lost.length > 0);
    gate.resolve();
    for (let n = 0; n < 2; n++) await second();
    expect([rounds, await kept(database)]).toEqual([2, ["a waits"]]);
  });

  test("of no repository alone is told to every replica, once", async () => {
    const { url } = await freshDatabase();
    const { start, second } = openMachines(url);
    const [first, other] = [await start(["o/0"]), await start(["o/0"])];
    await first.queue.keep({ ...delivery("i"), repository: undefined });
    for (let n = 0; n < 3; n++) await second();
    expect([first, other].map(({ deliveries }) => deliveries.map(({ guid }) => guid))).toEqual([["i"], ["i"]]);
  });

  test("that cannot be read is set aside, and holds no other up", async () => {
    const { url, database } = await freshDatabase();
    const { start, second, until } = openMachines(url);
    const heard: string[] = [];
    const first = await start(["o/0"], {
      onDelivery({ guid }) {
        if (guid === "poison") throw new TypeError("nothing to read");
        heard.push(guid);
        return false;
      },
    });
    await Promise.all([first.queue.keep(delivery("poison")), first.queue.keep(delivery("b"))]);
    await second();
    await second();
    expect([heard, await kept(database)]).toEqual([["b"], ["poison set aside", "b done"]]);
    const standing = () => first.queue.board?.standingOf("o/0").find(({ code }) => code === "DELIVERIES_SET_ASIDE");
    await until(() => standing() !== undefined, 200);
    expect(standing()).toMatchObject({ webhooks: 1 });
  });

  test("that a newer version wrote says that all of its repository is to be looked at", async () => {
    const { url, database } = await freshDatabase();
    const { start, until } = openMachines(url);
    const first = await start(["o/0"]);
    await database.query("insert into stagecoach.deliveries (guid, repository, version, event) values ('n', 'o/0', 99, '{\"x\":1}')");
    await until(() => first.deliveries.length > 0);
    expect(first.deliveries).toEqual([{ guid: "n", repository: "o/0", event: undefined }]);
  });

  test("comes in thousands at once, and none is lost", async () => {
    const { url, database } = await freshDatabase();
    const { start, until } = openMachines(url);
    const [first, other] = [await start(["o/0"]), await start(["o/0"])];
    const all = Array.from({ length: 3000 }, (_, n) => delivery(`d${n}`));
    const fresh = await Promise.all(all.flatMap((one) => [first.queue.keep(one), other.queue.keep(one)]));
    expect(fresh.filter(Boolean)).toHaveLength(3000);
    await until(() => new Set(first.deliveries.map(({ guid }) => guid)).size === 3000, 60);
    await until(() => first.queue.sharing()?.waiting === 0);
    expect((await kept(database)).length).toBe(3000);
  });

  test("is turned away before Probot says that all is well, though it waits behind others", async () => {
    const { url } = await freshDatabase();
    const { start, clock } = openMachines(url);
    const database = databaseAt(url);
    const hangs: Database = {
      ...database,
      query: (text, values) =>
        text.includes("into stagecoach.deliveries") ? new Promise<never>(() => undefined) : database.query(text, values),
    };
    const first = await start(["o/0"], { database: hangs });
    const both = Promise.allSettled([first.queue.keep(delivery("a")), first.queue.keep(delivery("b"))]);
    clock.advance(8000);
    expect(await both).toMatchObject([{ reason: { status: 503 } }, { reason: { status: 503 } }]);
  });

  test("is turned away with 503 while PostgreSQL is away, nothing goes on meanwhile, and all goes on once it is back", async () => {
    const server = await startPostgres();
    try {
      const { url } = await server.database();
      await prepareSchema(databaseAt(url));
      const { start, clock } = openMachines(url);
      const regained: number[] = [];
      const back = Promise.withResolvers<void>();
      const first = await start(["o/0"], {
        onRegained(awayMs) {
          regained.push(awayMs);
          if (awayMs > 3_000_000) back.resolve();
        },
      });
      await first.queue.idle();
      const fence = first.queue.fence("o/0");
      await server.stop("SIGKILL");
      await expect(first.queue.keep(delivery("a"))).rejects.toMatchObject({ status: 503 });
      clock.advance(3_600_000);
      expect(fence).toThrow();
      const before = first.rounds.length;
      first.queue.wake({ repository: "o/0", rollout: null });
      await first.queue.idle();
      expect(first.rounds.length).toBe(before);
      await server.start();
      const ring = setInterval(() => clock.advance(1000), 20);
      await back.promise.finally(() => clearInterval(ring));
      await expect(first.queue.keep(delivery("a"))).resolves.toBe(true);
      expect(fence).not.toThrow();
    } finally {
      await closeAll();
      server.remove();
    }
  });
});
