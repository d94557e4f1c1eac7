import { describe, expect, it } from "vitest";
import { jsonPatch, mergePatch } from "./patch.ts";
import { fieldSelector, labelSelector } from "./selectors.ts";

const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "n", labels: { area: "emea", drained: "true" } } };

describe("patches", () => {
  it("merge: null removes, lists are replaced, the rest stays", () => {
    expect(mergePatch({ a: { b: 1, c: [1, 2] }, d: 1 }, { a: { b: null, c: [3] } })).toEqual({ a: { c: [3] }, d: 1 });
  });

  it.each([
    ["adds to a map", [{ op: "add", path: "/m/x", value: 1 }], { m: { x: 1 }, l: [1, 2] }],
    ["appends to a list", [{ op: "add", path: "/l/-", value: 3 }], { m: {}, l: [1, 2, 3] }],
    ["inserts into a list", [{ op: "add", path: "/l/0", value: 0 }], { m: {}, l: [0, 1, 2] }],
    ["removes", [{ op: "remove", path: "/l/0" }], { m: {}, l: [2] }],
    ["moves", [{ op: "move", from: "/l/0", path: "/m/y" }], { m: { y: 1 }, l: [2] }],
    ["reads escapes", [{ op: "add", path: "/m/a~1b", value: 1 }], { m: { "a/b": 1 }, l: [1, 2] }],
  ])("json: %s", (_name, patch, result) => {
    expect(jsonPatch({ m: {}, l: [1, 2] }, patch)).toEqual(result);
  });

  it("json: refuses what is not there and tests that fail", () => {
    expect(() => jsonPatch({}, [{ op: "replace", path: "/a", value: 1 }])).toThrow(/nothing at a/);
    expect(() => jsonPatch({ a: 1 }, [{ op: "test", path: "/a", value: 2 }])).toThrow(/another one/);
  });
});

describe("selectors", () => {
  it.each([
    ["area=emea", true],
    ["area==emea,drained!=true", false],
    ["area in (amer, emea),drained", true],
    ["area notin (emea)", false],
    ["!zone", true],
    ["zone!=x", true],
    ["", true],
  ])("%s is %s", (selector, expected) => {
    expect(labelSelector(selector)(object)).toBe(expected);
  });

  it("know the two fields that every kind has", () => {
    expect(fieldSelector("metadata.name=a,metadata.namespace!=x")(object)).toBe(true);
    expect(() => fieldSelector("spec.project=x")).toThrow(/field label not supported/);
    expect(() => labelSelector("a>b")).toThrow(/unable to parse/);
  });
});
