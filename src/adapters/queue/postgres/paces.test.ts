import { afterAll, describe, expect, test } from "vitest";
import { POSTGRES } from "../../../../test/support/postgres.ts";
import { openMachines } from "../testing/machines.ts";
import { closeAll, databaseAt, freshDatabase } from "../testing/open-queue.ts";
import { type Database, DatabaseError } from "./database.ts";
import { MACHINE } from "./membership.ts";
import { openPaces } from "./paces.ts";

const alone = () => false;

describe.skipIf(POSTGRES === undefined)("an installation's turns to write", () => {
  afterAll(closeAll);

  async function replicas() {
    const { url, database } = await freshDatabase();
    const [one, other] = [database, databaseAt(url)].map((own) => openPaces(own, MACHINE, alone).turn);
    const set = (ms: number) =>
      database.query("insert into stagecoach.paces values (7, clock_timestamp() + $1::int * interval '1 ms')", [ms]);
    const free = async () => {
      const rows = await database.query<{ installation: string; at: number }>(
        "select installation, (extract(epoch from free_at) * 1000)::float8 as at from stagecoach.paces order by 1",
      );
      return new Map(rows.map(({ installation, at }) => [Number(installation), at]));
    };
    return { database, one: one as NonNullable<typeof one>, other: other as NonNullable<typeof other>, set, free };
  }

  test("are a second apart, whichever replica takes them, and those of another are its own", async () => {
    const { one, other, set, free } = await replicas();
    await set(8000);
    const before = (await free()).get(7) ?? 0;
    const [first, second] = [await one(7), await other(7)];
    expect(await one(9)).toBe(0);
    const after = await free();
    expect(Math.round((after.get(7) ?? 0) - before)).toBe(2000);
    expect([...after.keys()]).toEqual([7, 9]);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(8000);
    expect(second).toBeLessThanOrEqual(9000);
  });

  test("hold nobody up for longer than ten seconds, though PostgreSQL's clock was set back by an hour", async () => {
    const { one, other, set } = await replicas();
    await set(3_600_000);
    expect(await one(7)).toBeLessThanOrEqual(10_000);
    expect(await other(7)).toBeLessThanOrEqual(10_000);
  });

  test("are not asked for where there is one replica", async () => {
    const { url } = await freshDatabase();
    const { start, until } = openMachines(url);
    const database = databaseAt(url);
    const first = await start(["o/0"]);
    const rows = () => database.query("select installation from stagecoach.paces");
    await first.queue.turnToWrite?.(7);
    expect(await rows()).toEqual([]);
    const second = await start(["o/0"]);
    await until(() => first.queue.sharing()?.replicas === 2);
    await first.queue.turnToWrite?.(7);
    expect(await rows()).toEqual([{ installation: "7" }]);
    await second.queue.leave();
  });

  test("leave no row after an hour", async () => {
    const { database, set, free, one } = await replicas();
    await set(-3_700_000);
    await one(9);
    await openPaces(database, MACHINE, alone).tidy();
    expect([...(await free()).keys()]).toEqual([9]);
  });
});

describe("without PostgreSQL each replica goes by its own pace", () => {
  const refusing = async () => {
    throw new DatabaseError({ code: "ECONNREFUSED" });
  };
  const silent = () => new Promise<never>(() => undefined);
  test.each([
    ["is away", refusing],
    ["does not answer", silent],
  ])("where it %s", async (_what, query) => {
    const after = (_ms: number, ring: () => void) => {
      if (query === silent) ring();
      return () => undefined;
    };
    expect(await openPaces({ query } as unknown as Database, { after }, alone).turn(7)).toBe(0);
  });
});
