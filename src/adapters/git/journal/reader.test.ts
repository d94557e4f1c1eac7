import { describe, expect, test } from "vitest";
import type { CommitInfo } from "../port.ts";
import { openHistoryIndex } from "./reader.ts";

const id = (n: number) => n.toString(16).padStart(40, "0");

/** A branch of commits a second apart, each about the run that is named. */
function branchOf(count: number, runOf: (n: number) => string) {
  const read: number[] = [];
  const all: CommitInfo[] = Array.from({ length: count }, (_unused, n) => ({
    ...{ sha: id(n), parents: n === 0 ? [] : [id(n - 1)], author: "a", authorEmail: "a", at: n * 1000, subject: "s" },
    body: `Stagecoach-Run: ${runOf(n)}\nStagecoach-App: app`,
  }));
  const mirror = {
    async firstParentLog(from: string | undefined, to: string, limit = Number.POSITIVE_INFINITY) {
      const [after, until] = [from === undefined ? 0 : Number.parseInt(from, 16) + 1, Number.parseInt(to, 16) + 1];
      const commits = all.slice(Math.max(after, from === undefined ? until - limit : 0), until);
      read.push(commits.length);
      return commits;
    },
  };
  return { mirror, read };
}

describe("the index of the journal's history", () => {
  test("knows the head at each time, and where each run begins and ends", async () => {
    const { mirror } = branchOf(100, (n) => `payments#${Math.floor(n / 10) + 1}, search#1`);
    const index = openHistoryIndex(mirror);
    await index.upTo(id(99));
    expect([index.headAt(-1), index.headAt(0), index.headAt(42_500), index.headAt(1e9)]).toEqual([undefined, id(0), id(42), id(99)]);
    const times = Array.from({ length: 10 }, (_unused, n) => 20_000 + n * 1000);
    expect(index.run("payments#3")).toEqual({ name: "payments#3", begins: 20_000, times, before: id(19), last: id(29) });
    expect(index.run("search#1")).toMatchObject({ before: undefined, last: id(99) });
    expect(index.run("payments#11")).toBe(undefined);
    expect(index.runsAround(35_000, 2).map(({ name }) => name)).toEqual(["payments#3", "payments#4", "payments#5", "payments#6"]);
  });

  test("what was read is not read again, and a run that is not there costs nothing", async () => {
    const { mirror, read } = branchOf(20_000, (n) => `payments#${Math.floor(n / 10) + 1}`);
    const index = openHistoryIndex(mirror);
    await Promise.all([index.upTo(id(15_999)), index.upTo(id(15_999))]);
    expect(read).toEqual([5_000, 5_000, 5_000, 1_000]);
    await index.upTo(id(16_001));
    for (let n = 0; n < 100; n++) await index.upTo(id(16_001));
    expect(index.run("payments#99999")).toBe(undefined);
    expect(read).toEqual([5_000, 5_000, 5_000, 1_000, 2]);
  });

  test("a branch that was rewritten is read anew", async () => {
    const { mirror } = branchOf(10, () => "payments#1");
    const other = branchOf(8, () => "search#1");
    const index = openHistoryIndex({ firstParentLog: (...given) => now.firstParentLog(...given) });
    let now = mirror;
    await index.upTo(id(9));
    now = other.mirror;
    await index.upTo(id(7));
    expect([index.run("payments#1"), index.run("search#1")?.last]).toEqual([undefined, id(7)]);
  });
});
