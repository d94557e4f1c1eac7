import { expect, test } from "vitest";
import type { CatFile } from "./cat-file.ts";
import { diffTrees } from "./tree-diff.ts";
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

/** Folders that differ in one name each: they cost whoever pushes them next to nothing. */
test.each([
  ["listed", (trees: ReturnType<typeof openTrees>) => trees.files(id(0), "", "file")],
  ["compared", (trees: ReturnType<typeof openTrees>) => diffTrees(trees.tree, undefined, id(0))],
])("many large folders are not all read before they are refused: %s", async (_how, look) => {
  const entry = (mode: string, name: string, n: number) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id(n), "hex")]);
  const top = Buffer.concat(Array.from({ length: 400 }, (_, n) => entry("40000", `d${n}`, n + 1)));
  const large = Buffer.concat(Array.from({ length: 10_000 }, (_, n) => entry("100644", `f${n}`, 0)));
  let reads = 0;
  const contents: CatFile["contents"] = async (spec) => {
    reads += 1;
    const body = spec === id(0) ? top : large;
    return { info: { type: "tree", size: body.length, id: spec }, body };
  };
  await expect(look(openTrees({ contents } as CatFile))).rejects.toMatchObject({ kind: "TooLarge" });
  expect(reads).toBeLessThan(150);
});
