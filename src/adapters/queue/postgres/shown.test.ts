import { afterAll, describe, expect, test } from "vitest";
import { manualClock } from "../../../../test/support/manual-clock.ts";
import { POSTGRES } from "../../../../test/support/postgres.ts";
import type { SharedQueue, ShownBoard, ShownPart } from "../port.ts";
import { closeAll, freshDatabase, replica } from "../testing/open-queue.ts";
import { type Database, openDatabase } from "./database.ts";
import { LARGEST_PART } from "./shown.ts";

const NAME = "o/shown";
const bytes = (text: string) => Buffer.from(text);
const textOf = ({ part, format, content }: ShownPart) => [part, format, content && Buffer.from(content).toString()];

describe.skipIf(POSTGRES === undefined)("what a replica shows to others", () => {
  afterAll(closeAll);

  interface Reader {
    queue: SharedQueue;
    board: ShownBoard;
    /** The next that is told, if need be after a while. */
    next(): Promise<readonly ShownPart[]>;
  }

  /** Of two, the first has the repository. */
  async function open(): Promise<{ owner: ShownBoard; other: Reader; database: Database }> {
    const { database, url } = await freshDatabase();
    const given = {
      clock: manualClock(),
      handler: async () => undefined,
      onDelivery: () => false,
      onLeft: async () => undefined,
      onLost: () => undefined,
    };
    const first = replica(database, given);
    first.share([NAME]);
    await first.start();
    const queue = replica(openDatabase(url), given);
    queue.share([NAME]);
    const told: (readonly ShownPart[])[] = [];
    let heard = (): void => undefined;
    const { board } = queue;
    if (board === undefined || first.board === undefined) throw new Error("there is no board");
    board.onRead(async (parts) => {
      if (parts.length === 0) return;
      told.push(parts);
      heard();
    });
    await queue.start();
    const next = async (): Promise<readonly ShownPart[]> => {
      while (told.length === 0) await new Promise<void>((resolve) => (heard = resolve));
      return told.shift() ?? [];
    };
    return { owner: first.board, other: { queue, board, next }, database };
  }

  test("reaches them once it has changed, and no part of it that has not", async () => {
    const { owner, other } = await open();
    expect(
      await owner.write(
        NAME,
        1,
        new Map([
          ["", bytes("all")],
          ["a", bytes("run 1")],
        ]),
        ["", "a"],
      ),
    ).toBe(true);
    expect((await other.next()).map(textOf).toSorted()).toEqual([
      ["", 1, "all"],
      ["a", 1, "run 1"],
    ]);
    await owner.write(NAME, 2, new Map([["a", bytes("run 2")]]), ["", "a"]);
    expect((await other.next()).map(textOf)).toEqual([["a", 2, "run 2"]]);
  });

  test("is there for who looks, though no notice of it came", async () => {
    const { owner, other, database } = await open();
    await owner.write(NAME, 1, new Map([["", bytes("first")]]), [""]);
    await other.next();
    await database.query("update stagecoach.shown set content = 'unheard', written_in = pg_current_xact_id()");
    expect((await other.next()).map(textOf)).toEqual([["", 1, "unheard"]]);
  });

  test("is missed by nobody, in whatever order two are written that overlap", async () => {
    const { owner, other, database } = await open();
    await owner.write(NAME, 1, new Map(["", "late", "soon"].map((part) => [part, bytes("first")])), ["", "late", "soon"]);
    await other.next();
    await database.transaction(async (session) => {
      // Begun before, and over after the other was read.
      await session.query("update stagecoach.shown set content = 'second', written_in = pg_current_xact_id() where part = 'late'");
      await owner.write(NAME, 1, new Map([["soon", bytes("second")]]), ["", "late", "soon"]);
      expect((await other.next()).map(textOf)).toEqual([["soon", 1, "second"]]);
    });
    expect((await other.next()).map(textOf)).toEqual([["late", 1, "second"]]);
  });

  test("is written by its owner alone", async () => {
    const { owner, other, database } = await open();
    expect(await other.board.write(NAME, 1, new Map([["", bytes("forged")]]), [""])).toBe(false);
    expect(await owner.write(NAME, 1, new Map([["", bytes("ours")]]), [""])).toBe(true);
    // Taken from it by another, unknown to it.
    await database.query("update stagecoach.repositories set owner = null, epoch = epoch + 1");
    expect(await owner.write(NAME, 1, new Map([["", bytes("late")]]), [""])).toBe(false);
    const rows = await database.query("select convert_from(content, 'UTF8') as text from stagecoach.shown");
    expect(rows).toEqual([{ text: "ours" }]);
  });

  test("takes parts away that are shown no more, and goes with its repository", async () => {
    const { owner, database } = await open();
    await owner.write(NAME, 1, new Map(["", "a", "b"].map((part) => [part, bytes(part)])), ["", "a", "b"]);
    await owner.write(NAME, 1, new Map([["a", bytes("a")]]), ["", "a"]);
    const parts = () => database.query("select part from stagecoach.shown order by part");
    expect(await parts()).toEqual([{ part: "" }, { part: "a" }]);
    await database.query("delete from stagecoach.repositories");
    expect(await parts()).toEqual([]);
  });

  test("is not read where somebody made it larger than any may be: it is told of as such", async () => {
    const { owner, other, database } = await open();
    await owner.write(NAME, 1, new Map([["", bytes("first")]]), [""]);
    await other.next();
    await database.query("insert into stagecoach.shown (repository, part, format, content) values ($1, 'huge', 1, $2)", [
      NAME,
      Buffer.alloc(LARGEST_PART + 1),
    ]);
    expect((await other.next()).map(textOf)).toEqual([["huge", 1, undefined]]);
  });
});
