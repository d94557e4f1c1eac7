import { expect, test } from "vitest";
import type { Value } from "../../../core/analysis/expr/values.ts";
import { maskSecrets, showValue } from "./show.ts";

test("a value is shown as JSON of at most 200 characters, with odd numbers by their names and no secret", () => {
  expect(showValue([Number.NaN, Number.POSITIVE_INFINITY, 1], [])).toBe('["NaN","Infinity",1]');
  expect(showValue({ a: "hunter2-hunter2" }, ["hunter2", "hunter2-hunter2"])).toBe('{"a":"*****"}');
  expect(showValue("x".repeat(500), [])).toBe(`${"x".repeat(200)}…`);
  expect(maskSecrets(`${"x".repeat(195)}hunter2`, ["hunter2"])).toBe(`${"x".repeat(195)}*****`);
});

test("a value that cannot be written out is said to be so", () => {
  let deep: Value = 1;
  for (let i = 0; i < 20_000; i++) deep = [deep];
  expect(showValue(deep, [])).toBe("(cannot be shown)");
});
