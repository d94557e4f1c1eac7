import { expect, test } from "vitest";
import { type Foreseen, foreseenLines, foreseenMarkdown } from "./simulated.ts";

const MINUTE = 60_000;

/** Of stages of so many batches each, two clusters a batch, one a quarter of an hour. */
function foreseen(batches: readonly number[], change: Partial<Foreseen> = {}): Foreseen {
  let number = 0;
  const rows = batches.flatMap((many, stage) =>
    Array.from({ length: many }, () => {
      const merged = number * 15 * MINUTE;
      number += 1;
      const clusters = [`c-${2 * number}`, `c-${2 * number + 1}`];
      return {
        kind: "batch",
        stage: `s${stage}`,
        batch: number,
        clusters,
        merged,
        healthy: merged + MINUTE,
        settled: merged + 15 * MINUTE,
      } as const;
    }),
  );
  const well = { phase: "Succeeded", why: "all", endless: false, tookMs: number * 15 * MINUTE, reached: 1 };
  return { clusters: 2 * number, rows, ...well, ...change };
}

const told = (one: Foreseen | undefined, long = true) => foreseenMarkdown(one, "shop", {}, long);
const rows = (text: string) => text.split("\n").filter((line) => /^\| [\d…]/.test(line));

test("says how long a release takes, how far a bad one comes, and when each batch goes", () => {
  expect(told(foreseen([1, 2]))).toMatchInlineSnapshot(`
    "**A simulated run of it**

    All of it takes 45m, where nothing waits for a person. A release that fails where it first comes reaches 1 of 6 clusters, and pauses.

    | batch | stage | clusters | merged | healthy | done |
    | --- | --- | --- | --- | --- | --- |
    | 1 | s0 | c-2, c-3 | +0:00 | +0:01 | +0:15 |
    | 2 | s1 | c-4, c-5 | +0:15 | +0:16 | +0:30 |
    | 3 | s1 | c-6, c-7 | +0:30 | +0:31 | +0:45 |

    Times since the release, as Argo CD and workloads usually take: \`stagecoach simulate shop --to VERSION\` on a checkout has more runs, and faults to try."
  `);
});

test("of many batches each stage has a row, and of many stages the first", () => {
  expect(rows(told(foreseen([1, 40, 2])))).toEqual([
    "| 1 | s0 | 2 clusters | +0:00 | +0:01 | +0:15 |",
    "| 2–41 | s1 | 80 clusters | +0:15 | +10:01 | +10:15 |",
    "| 42–43 | s2 | 4 clusters | +10:15 | +10:31 | +10:45 |",
  ]);
  const many = rows(told(foreseen(Array.from({ length: 100 }, () => 1))));
  expect([many.length, many.at(-1)]).toEqual([13, "| … | 88 more stages | | | | |"]);
});

test("a run that does not come to its end says why, and one that takes too long to simulate how to", () => {
  const shut = foreseen([1], { phase: "Progressing", endless: true, why: "no window ever opens | <b>", reached: undefined });
  expect(told(shut, false)).toBe("**A simulated run of it**\n\nIt never ends: no window ever opens \\| \\<b\\>.");
  expect(foreseenLines(shut, "shop", {})).toEqual(["simulated: it never ends: no window ever opens | <b>"]);
  expect(told(undefined)).toMatchInlineSnapshot(
    `"**A simulated run of it** takes too long for this place: \`stagecoach simulate shop --to VERSION\` on a checkout has it."`,
  );
});

test("of a plan without targets nothing is said, least of all how long it takes", () => {
  expect([told(foreseen([])), foreseenLines(foreseen([]), "shop", {})]).toEqual(["", []]);
});
