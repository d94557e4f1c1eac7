import fc from "fast-check";
import { expect, test } from "vitest";
import { applyPatch, jsonPatch } from "./json-patch.ts";

const json = (value: unknown) => JSON.parse(JSON.stringify(value) ?? "null") as unknown;

test("a patch makes the other document, whatever the two are", () => {
  const nodeOver = (below: fc.Arbitrary<unknown>) =>
    fc.record({
      kind: fc.constantFrom("stage", "cluster"),
      name: fc.constantFrom("a", "b", "c/~d", "e"),
      says: fc.option(fc.string(), { nil: undefined }),
      children: fc.array(below, { maxLength: 5 }),
    });
  const node = nodeOver(nodeOver(fc.constant({})));
  const any = fc.oneof(node, fc.jsonValue({ maxDepth: 4 }));
  fc.assert(
    fc.property(any, any, (from, to) => {
      expect(applyPatch(json(from), json(jsonPatch(from, to)) as ReturnType<typeof jsonPatch>)).toEqual(json(to));
    }),
    { numRuns: 500 },
  );
});

test("one that comes in the middle rewrites none of those around it", () => {
  const node = (name: string, says = "") => ({ kind: "batch", name, says });
  const from = { children: [node("1"), node("2"), node("4")] };
  const to = { children: [node("1"), node("2"), node("3"), node("4", "done")] };
  expect(jsonPatch(from, to)).toEqual([
    { op: "add", path: "/children/2", value: node("3") },
    { op: "replace", path: "/children/3/says", value: "done" },
  ]);
});

test.each([
  { op: "remove", path: "/children/1" },
  { op: "replace", path: "/children/1", value: 2 },
  { op: "add", path: "/children/2", value: 2 },
  { op: "add", path: "/children/1/name", value: 2 },
  { op: "replace", path: "/name", value: 2 },
  { op: "remove", path: "/name" },
  { op: "add", path: "/name/deeper", value: 2 },
] as const)("$op of $path, which leads nowhere, is refused: the document is another one", (operation) => {
  expect(() => applyPatch({ children: [1] }, [operation])).toThrow(TypeError);
});
