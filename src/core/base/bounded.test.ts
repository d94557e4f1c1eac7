import { expect, test } from "vitest";
import { BoundedMap, BoundedSet } from "./bounded.ts";

test("a bounded map forgets what was set longest ago", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2).set("a", 3).set("c", 4);
  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
});

test("a bounded set forgets what was added first, however often it was added since", () => {
  expect([...new BoundedSet<string>(2).add("a").add("b").add("a").add("c")]).toEqual(["b", "c"]);
});
