import { afterAll, describe, expect, test } from "vitest";
import { POSTGRES, postgres } from "../../../../test/support/postgres.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { NotOurs } from "../../outbound/asker.ts";
import { openMachines, SAID } from "../testing/machines.ts";
import { closeAll, databaseAt, freshDatabase } from "../testing/open-queue.ts";
import { type Database, DatabaseError } from "./database.ts";
import { openDocuments } from "./documents.ts";
import { MOST_UNENDED } from "./ownership.ts";

/** Its answer to one statement does not arrive; whether it was carried out is another matter. */
function losing(database: Database, marks: string, isDone: boolean): Database & { lost: () => boolean } {
  let isLost = false;
  return {
    ...database,
    lost: () => isLost,
    async query(text, values) {
      if (isLost || !text.includes(marks)) return await database.query(text, values);
      isLost = true;
      if (isDone) await database.query(text, values);
      throw new DatabaseError({ code: "ECONNRESET", message: "the connection was lost" });
    },
  };
}

/** Knows when none of their questions is without an answer. */
function counting() {
  let open = 0;
  const counted = <T>(work: Promise<T>): Promise<T> => {
    open += 1;
    return work.finally(() => (open -= 1));
  };
  return {
    of: (database: Database): Database => ({
      ...database,
      query: (...asked) => counted(database.query(...asked)),
      lone: async (onTold) => {
        const session = await counted(database.lone(onTold));
        return { query: (...asked) => counted(session.query(...asked)) };
      },
    }),
    async settled(): Promise<void> {
      do await new Promise(setImmediate);
      while (open > 0);
    },
  };
}

const NAMES = Array.from({ length: 12 }, (_, n) => `o/${n}`);

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
    // Nothing is told any more, so none of its beats is under way when it stops.
    for (let n = 0; n < 2; n++) await pass();
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

  test("one whose wall clock is set by five minutes keeps what it has, and never holds what another has taken meanwhile", async () => {
    const { url } = await freshDatabase();
    const { start, until, second: pass, clock } = openMachines(url);
    let off = 0;
    const time = { monotonic: clock.now, wall: () => clock.now() + off, after: clock.after };
    const one = await start(NAMES, { time });
    const other = await start(NAMES);
    await until(() => other.owned().length === 6);
    const had = one.owned();
    for (const set of [300_000, -300_000]) {
      off = set;
      for (let n = 0; n < 12; n++) await pass();
      expect([one.owned(), other.owned().length]).toEqual([had, 6]);
    }
    const fence = one.queue.fence(had[0] ?? "");
    fence();
    off = -600_000;
    clock.advance(5000);
    expect(fence).toThrow(NotOurs);
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
    const away: number[] = [];
    const onRegained = (awayMs: number) => void (awayMs >= 3_600_000 && away.push(awayMs));
    const [first, second] = [await start(NAMES, { onRegained }), await start(NAMES, { onRegained })];
    await until(() => second.owned().length === 6);
    const before = [first.owned(), second.owned()];
    for (const one of [first, second]) one.stop();
    clock.advance(3_600_000);
    expect([first.owned(), second.owned()]).toEqual([[], []]);
    for (const one of [second, first]) one.wake();
    await until(() => first.owned().length + second.owned().length === 12);
    expect([[first.owned(), second.owned()], first.lost, second.lost]).toEqual([before, [], []]);
    // Either looks then at everything, once.
    expect(away).toHaveLength(2);
  });

  test("say that PostgreSQL takes no writes, begin nothing till it does, and then do what was asked once, in the same hands", async () => {
    const server = await postgres();
    const { url, name } = await freshDatabase();
    const { start, until, clock } = openMachines(url);
    const said: string[] = [];
    const log = { ...silentLog, warn: (fields: object) => void said.push(JSON.stringify(fields)) };
    const watched = counting();
    const machine = () => start(NAMES, { database: watched.of(databaseAt(url)), log });
    const all = [await machine(), await machine()];
    await until(() => all.every((one) => one.owned().length === 6));
    const before = all.map((one) => one.owned());
    for (const one of all) await one.queue.idle();
    for (const one of all) one.rounds.length = 0;
    const seconds = async (most: number) => {
      for (let n = 0; n < most; n++) {
        clock.advance(1000);
        await watched.settled();
      }
    };
    await server.query(`alter database ${name} set default_transaction_read_only = on`);
    await server.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`);
    await seconds(6);
    expect(said.filter((one) => /takes no writes.*name the primary/.test(one))).toHaveLength(2);
    expect(all.map((one) => one.owned())).toEqual([[], []]);
    const repository = before[0]?.[0] ?? "";
    const delivery = { guid: "a", repository, event: SAID };
    await expect(all[0]?.queue.keep(delivery)).rejects.toMatchObject({ status: 503 });
    all[0]?.queue.wake({ repository, rollout: null });
    await seconds(20);
    expect(all.map((one) => one.rounds)).toEqual([[], []]);
    await server.query(`alter database ${name} reset default_transaction_read_only`);
    const isBack = () => all.every((one) => one.owned().length === 6) && all[0]?.rounds.length !== 0;
    for (let n = 0; n < 30 && !isBack(); n++) await seconds(1);
    expect([all.map((one) => one.owned()), all.map((one) => one.lost)]).toEqual([before, [[], []]]);
    expect(all.map((one) => one.rounds)).toEqual([[repository], []]);
    expect([await all[1]?.queue.keep(delivery), await all[0]?.queue.keep(delivery)]).toEqual([true, false]);
    for (let n = 0; n < 30 && all[0]?.deliveries.length === 0; n++) await seconds(1);
    await seconds(2);
    expect(all.map((one) => one.deliveries.map(({ guid }) => guid))).toEqual([["a"], []]);
    expect(all.map((one) => one.rounds)).toEqual([[repository, repository], []]);
  });

  test("one that was given a repository, and never heard of it, has it all the same", async () => {
    const { url, database } = await freshDatabase();
    const { start, until } = openMachines(url);
    const first = await start(["o/0", "o/1"]);
    await database.query("insert into stagecoach.repositories (key, owner) select 'o/2', id from stagecoach.replicas");
    first.queue.share(["o/0", "o/1", "o/2"]);
    await until(() => first.queue.owns("o/2"));
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

  test("wait at their start for what is looked at now, and for nothing that is due later", async () => {
    const { url, database } = await freshDatabase();
    const { start, clock } = openMachines(url);
    await database.query("insert into stagecoach.repositories (key, due_at) values ('o/0', 0), ('o/1', $1), ('o/2', null)", [
      clock.now() + 3_600_000,
    ]);
    const names = ["o/0", "o/1", "o/2"];
    expect((await start(names, { handler: () => new Promise<void>(() => undefined) })).first).toEqual(["o/0"]);
  });

  test.each([true, false])("leave nothing behind that they let go, where PostgreSQL did not answer (it was done: %s)", async (isDone) => {
    const { url } = await freshDatabase();
    const { start, until } = openMachines(url);
    const database = losing(databaseAt(url), "set owner = null", isDone);
    const first = await start(NAMES, { database });
    const second = await start(NAMES);
    await until(() => second.owned().length === 6);
    expect([database.lost(), first.owned().length]).toEqual([true, 6]);
  });

  describe("of which one after the other ends in a round of one repository", () => {
    const names = ["o/poison", "o/fine"];
    const hangs = (repository: string) => (repository === "o/poison" ? new Promise<void>(() => undefined) : Promise.resolve());

    /** So many owners begin a round of it, and stop in its midst. What the next one does is told. */
    async function afterDeaths(deaths: number, before = (_database: Database): unknown => undefined) {
      const { url, database } = await freshDatabase();
      const machines = openMachines(url);
      const begun: string[] = [];
      const next = async () => {
        const machine = await machines.start(names, {
          handler: (repository) => {
            begun.push(repository);
            return hangs(repository);
          },
        });
        await machines.until(() => machine.owned().length === names.length);
        return machine;
      };
      for (let n = 1; n <= deaths; n++) {
        const machine = await next();
        for (const repository of names) machine.queue.wake({ repository, rollout: null });
        const marked = async () => (await rows(database)).includes(`o/poison ${n}`);
        while (!(await marked())) await new Promise(setImmediate);
        await machines.second();
        machine.stop();
      }
      begun.length = 0;
      await before(database);
      return { ...machines, database, begun, machine: await next() };
    }

    async function rows(database: Database): Promise<string[]> {
      const found = await database.query<{ key: string; unended: number }>("select key, unended from stagecoach.repositories order by key");
      return found.map(({ key, unended }) => `${key} ${unended}`);
    }

    test("the next waits before it looks at that one, and at no other, and says so; then it looks", async () => {
      const { begun, machine, database, second: pass, until, clock } = await afterDeaths(MOST_UNENDED);
      await pass();
      machine.queue.wake({ repository: "o/fine", rollout: null });
      machine.queue.wake({ repository: "o/poison", rollout: null });
      await pass();
      expect([begun.includes("o/poison"), begun.includes("o/fine")]).toEqual([false, true]);
      expect(machine.queue.sharing()).toMatchObject({ slow: 1, owned: 2, free: 0 });
      await until(() => machine.queue.board?.standingOf("o/poison").length === 1);
      expect(machine.queue.board?.standingOf("o/poison")).toMatchObject([{ code: "REPOSITORY_SLOWED", owners: MOST_UNENDED }]);
      expect(machine.queue.board?.standingOf("o/fine")).toEqual([]);
      // That its first round has ended is written with the beat after.
      await pass();
      expect(await rows(database)).toEqual(["o/fine 0", `o/poison ${MOST_UNENDED}`]);
      clock.advance(75_000);
      await pass();
      expect(begun).toContain("o/poison");
      for (let n = 0; n < 2; n++) await pass();
      expect(machine.queue.sharing()).toMatchObject({ slow: 0 });
    });

    test("one fewer slows nothing", async () => {
      const { begun, machine, second: pass } = await afterDeaths(MOST_UNENDED - 1);
      await pass();
      expect(begun).toContain("o/poison");
      expect(machine.queue.sharing()).toMatchObject({ slow: 0 });
    });

    test("what somebody says is looked at at once; what was said before it was taken waits", async () => {
      const keep = "insert into stagecoach.deliveries (guid, repository, version, event) values ('before', 'o/poison', 1, $1)";
      const { begun, machine, second: pass } = await afterDeaths(MOST_UNENDED, (database) => database.query(keep, [JSON.stringify(SAID)]));
      for (let n = 0; n < 2; n++) await pass();
      expect([machine.deliveries.length, begun.includes("o/poison")]).toEqual([1, false]);
      // Nobody is asked whether who spoke may steer it: the answer would come when the word counts again.
      expect(machine.heldAtDelivery).toEqual([false]);
      await machine.queue.keep({ guid: "now", repository: "o/poison", event: SAID });
      await pass();
      expect(begun).toContain("o/poison");
    });
  });

  test("count no owner that goes of itself, though its round goes on, and have at once what it had", async () => {
    const { url, database } = await freshDatabase();
    const { start, second: pass } = openMachines(url);
    const unended = async () => (await database.query<{ unended: number }>("select unended from stagecoach.repositories"))[0]?.unended;
    for (let n = 0; n < MOST_UNENDED + 1; n++) {
      const machine = await start(["o/0"], { handler: () => new Promise<void>(() => undefined) });
      expect(machine.owned()).toEqual(["o/0"]);
      machine.queue.wake({ repository: "o/0", rollout: null });
      while ((await unended()) !== 1) await new Promise(setImmediate);
      machine.stop();
      await machine.queue.leave();
      expect([await unended(), machine.owned()]).toEqual([0, []]);
    }
    const next = await start(["o/0"]);
    await pass();
    expect(next.queue.sharing()).toMatchObject({ slow: 0, owned: 1 });
  });

  test("of one that goes while a round goes on, are another's once what it had sent has arrived, and not before", async () => {
    const { url } = await freshDatabase();
    const { start, until, second: pass } = openMachines(url);
    const first = await start(["o/0"], { handler: () => new Promise<void>(() => undefined) });
    const second = await start(["o/0"]);
    await until(() => first.queue.sharing()?.replicas === 2);
    const checkOurs = first.queue.fence("o/0");
    expect(checkOurs).not.toThrow();
    first.queue.wake({ repository: "o/0", rollout: null });
    first.stop();
    const left = first.queue.leave({ isUnderWay: true });
    expect(checkOurs).toThrow();
    await pass();
    await pass();
    expect(second.owned()).toEqual([]);
    // What was to ring after that time rings now.
    first.wake();
    first.stop();
    await left;
    await until(() => second.owned().length === 1, 2);
  });

  test("count no owner that is gone once a round has ended, well or not", async () => {
    const { url, database } = await freshDatabase();
    const { start, second: pass } = openMachines(url);
    await database.query("insert into stagecoach.repositories (key, unended) values ('o/0', 3)");
    const machine = await start(["o/0"], { handler: () => Promise.reject(new Error("GitHub is down")) });
    machine.queue.wake({ repository: "o/0", rollout: null });
    await machine.queue.idle();
    for (let n = 0; n < 2; n++) await pass();
    expect(await database.query("select unended from stagecoach.repositories")).toEqual([{ unended: 0 }]);
  });

  test("leave nothing to one that does not know what there is: it is taken back within seconds, and stays", async () => {
    const { url } = await freshDatabase();
    const { start, until, second: pass } = openMachines(url);
    const first = await start(NAMES);
    const other = await start([]);
    await until(() => first.owned().length < NAMES.length);
    await until(() => first.owned().length === NAMES.length, 9);
    for (let n = 0; n < 30; n++) {
      await pass();
      expect(first.owned()).toEqual(NAMES);
    }
    other.queue.share(NAMES);
    await until(() => first.owned().length === 6);
  });

  test("are idle though somebody asks for what another looks after, of which they had not heard", async () => {
    const { url } = await freshDatabase();
    const { start, second: pass } = openMachines(url);
    await start(["o/x"]);
    const one = await start([]);
    one.queue.wake({ repository: "o/x", rollout: null });
    let isIdle = false;
    void one.queue.idle().then(() => (isIdle = true));
    for (let n = 0; n < 4; n++) await pass();
    expect([isIdle, one.owned(), one.rounds]).toEqual([true, [], []]);
  });

  test("look at what they were asked for before it was theirs, though nothing is due there: after an end of all", async () => {
    const { url } = await freshDatabase();
    const { start, until, second: pass } = openMachines(url);
    const before = await start(NAMES);
    await before.queue.idle();
    for (let n = 0; n < 2; n++) await pass();
    before.stop();
    const fresh = await start(NAMES);
    for (const repository of NAMES) fresh.queue.wake({ repository, rollout: null });
    expect(fresh.rounds).toEqual([]);
    await until(() => new Set(fresh.rounds).size === NAMES.length, 9);
  });

  test("forget what GitHub lists no more and nobody has, and know again what was forgotten too soon", async () => {
    const { url, database } = await freshDatabase();
    const { start, until, second: pass } = openMachines(url);
    const first = await start(["o/0"]);
    await database.query("insert into stagecoach.repositories (key) values ('o/gone')");
    for (let n = 0; n < 60; n++) await pass();
    expect(await database.query("select key from stagecoach.repositories")).toEqual([{ key: "o/0" }]);
    const late = await start(["o/0"]);
    first.stop();
    await database.query("delete from stagecoach.repositories");
    late.queue.share(["o/0"]);
    await until(() => late.queue.owns("o/0"));
  });

  test("forget what was kept of a repository days after it is gone, of none that anybody has, and of none that came back", async () => {
    const { url, database } = await freshDatabase();
    const { start, second: pass } = openMachines(url);
    const kept = openDocuments(database, "notifications");
    const one = await start(["o/0", "o/gone", "o/back"]);
    for (const name of ["o/0", "o/gone", "o/back"]) await kept.write(name, "{}");
    const minute = async () => {
      for (let n = 0; n < 60; n++) await pass();
    };
    const rows = async (where: string) =>
      (await database.query<{ repository: string }>(`select repository from stagecoach.documents where ${where} order by 1`)).map(
        ({ repository }) => repository,
      );
    for (const gone of ["o/gone", "o/back"]) one.queue.forget(gone);
    await minute();
    expect([await rows("gone_at is null"), await rows("gone_at is not null")]).toEqual([["o/0"], ["o/back", "o/gone"]]);
    one.queue.share(["o/0", "o/back"]);
    // All of them were known to nobody for days.
    await database.query("update stagecoach.documents set gone_at = now() - interval '73 hours'");
    await minute();
    expect([await rows("gone_at is null"), await rows("gone_at is not null")]).toEqual([["o/0", "o/back"], []]);
  });

  test("wait for nothing that they were asked for and that GitHub turned out not to list", async () => {
    const { url } = await freshDatabase();
    const { start, second: pass } = openMachines(url);
    const one = await start(["o/0"]);
    one.queue.wake({ repository: "o/nowhere", rollout: null });
    one.queue.share(["o/0"]);
    let isIdle = false;
    void one.queue.idle().then(() => (isIdle = true));
    for (let n = 0; n < 4; n++) await pass();
    expect(isIdle).toBe(true);
  });

  test("are idle once they have left, though something is still asked of what nobody looks after", async () => {
    const { url } = await freshDatabase();
    const { start } = openMachines(url);
    const database = databaseAt(url);
    const one = await start(["o/0"], { database });
    await one.queue.leave();
    await database.close();
    one.queue.wake({ repository: "o/new", rollout: null });
    await one.queue.idle();
    expect(one.rounds).not.toContain("o/new");
  });
});
