import { expect, test } from "vitest";
import { diffTrees } from "./tree-diff.ts";
import { DIRECTORY, type TreeEntry } from "./trees.ts";

test.each([
  ["ten small trees that make ten thousand million files", 10, 10],
  ["folders in folders without end", 1, 1_000_000],
])("%s are refused after a bounded number of reads", async (_name, wide, deep) => {
  let reads = 0;
  const read = async (id: string): Promise<ReadonlyMap<string, TreeEntry>> => {
    reads += 1;
    if (reads > 100_000) throw new Error("it reads on");
    const next = Number(id) + 1;
    const entry = { mode: next >= deep ? "100644" : DIRECTORY, id: String(next) };
    return new Map(Array.from({ length: wide }, (__, index) => [`f${index}`, entry]));
  };
  await expect(diffTrees(read, undefined, "0")).rejects.toMatchObject({ kind: "TooLarge" });
  expect(reads).toBeLessThan(30_000);
});
