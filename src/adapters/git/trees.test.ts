import { expect, test } from "vitest";
import type { CatFile } from "./cat-file.ts";
import { openTrees } from "./trees.ts";

const id = (n: number) => n.toString(16).padStart(40, "0");

test("a tree that many ask for at once counts once against what is kept", async () => {
  const entry = (n: number) => Buffer.concat([Buffer.from(`100644 f${n}\0`), Buffer.from(id(n), "hex")]);
  const body = Buffer.concat(Array.from({ length: 1000 }, (_unused, n) => entry(n)));
  const read: string[] = [];
  const contents: CatFile["contents"] = async (spec) => {
    read.push(spec);
    return { info: { type: "tree", size: body.length, id: spec }, body } as never;
  };
  const trees = openTrees({ contents } as CatFile);
  await Promise.all(Array.from({ length: 400 }, () => trees.tree(id(1))));
  read.length = 0;
  for (const n of [2, 3, 2, 3]) await trees.tree(id(n));
  expect(read).toEqual([id(2), id(3)]);
});
