import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { badCondition } from "./check-names.ts";
import { evaluate, holds } from "./evaluate.ts";
import { parseExpression } from "./parse.ts";
import type { Value } from "./values.ts";

function value(source: string, result: Value = null): Value {
  return evaluate(parseExpression(source), { result });
}

describe("conditions", () => {
  test.each<[string, Value, boolean]>([
    ['result == "ok"', "ok", true],
    ['result == "ok"', "nok", false],
    ["result == 'It worked!'", "It worked!", true],
    ["result == true", true, true],
    ["result.major == '1'", { major: "1" }, true],
    ["result[0] >= 0.95", [0.97], true],
    ["result[0] <= 0.01", [0.02], false],
    ["result.Status == -1", { Status: -1 }, true],
    ["default(result, 0) < 10", null, true],
    ["default(result, 0) < 10", [], true],
    ["len(result[0].Values) >= 5 and all(result[0].Values, {# <= 0.01})", [{ Values: [0, 0, 0, 0.01, 0] }], true],
    ["len(result[0].Values) >= 5 and all(result[0].Values, {# <= 0.01})", [{ Values: [0, 0, 0, 0.02, 0] }], false],
    [
      "all(result.service_apdex.values.values, {asFloat(.value) >= 9900})",
      { service_apdex: { values: { values: [{ value: "9950" }] } } },
      true,
    ],
    ["isNaN(result[0]) || result[0] >= 0.9", [Number.NaN], true],
    ["result[0] >= 0.9", [Number.NaN], false],
    ["result[0] < 0.9", [Number.NaN], false],
    ["isInf(result)", Number.NEGATIVE_INFINITY, true],
    ["len(result) == 0 || result[0] < 1", [], true],
    ["isNil(result.missing)", {}, true],
    ["result.a?.b == nil", { a: null }, true],
    ["'b' in result", ["a", "b"], true],
    ["'c' not in result", ["a", "b"], true],
    ["not (result > 1)", 1, true],
    ["result > 1 ? false : true", 1, true],
    ["result contains 'ok' && result startsWith 'a' && result endsWith 'z'", "a ok z", true],
    ["result | filter(# > 1) | len() == 2", [1, 2, 3], true],
    ["count(result, # > 1) == 2", [1, 2, 3], true],
    ["result in 1..3", 2, true],
    ["result[-1] == 3 and result[1:] == [2, 3]", [1, 2, 3], true],
    ["round(-2.5) == -3 && 7 % 4 == 3 && 2 ** 3 ** 2 == 512 && -2 ** 2 == -4", null, true],
  ])("%s of %j is %s", (condition, result, expected) => {
    expect(holds(condition, result)).toBe(expected);
  });

  test.each<[string, Value, RegExp]>([
    ["result", 1, /must be true or false/],
    ["result > 1", "2", /cannot be compared/],
    ["results[0] > 1", [1], /results is unknown; what was measured is called result/],
    ["result[3] > 1", [1], /out of range/],
    ["result.a.b == 1", {}, /of nil/],
    ["result ==", 1, /before the end/],
    ["result == 'ok", "ok", /not closed/],
    ["result matches 'a+'", "a", /argo-rollouts engine/],
    ["fetch(result) == 1", "a", /fetch\(\) is not available in the builtin engine/],
    ["asInt(result) == 1", "1.5", /cannot read/],
    ["result && true", 1, /wants true or false/],
    ["constructor == 1", 1, /unknown/],
    ["result.constructor == nil ? true : 1", {}, /^$|.*/],
  ])("%s of %j is an error that says why", (condition, result, message) => {
    if (message.source === "^$|.*") expect(holds(condition, result)).toBe(true);
    else expect(() => holds(condition, result)).toThrow(message);
  });

  test("what a condition lacks is known before anything is measured, in branches not taken, too", () => {
    expect(badCondition("result == 1 ? true : foo(result)")).toMatch(/foo\(\) is not available/);
    expect(badCondition("result == 1 || results == 2")).toMatch(/results is unknown/);
    expect(badCondition("all(result, {.ok})")).toBeUndefined();
    expect(badCondition("# > 1")).toMatch(/predicate/);
  });

  test("a huge value, a deep or long expression end in an error, not in a busy process", () => {
    const many = Array.from({ length: 1000 }, (_, i) => i);
    expect(() => value("all(result, all(result, all([1,2,3], # > 0)))", null)).toThrow();
    expect(() => evaluate(parseExpression("all(result, {all(result, {# >= 0})})"), { result: many })).toThrow(/too many steps/);
    expect(() => value("1..999999999")).toThrow(/too long/);
    expect(() => parseExpression(`${"(".repeat(500)}1${")".repeat(500)}`)).toThrow(/deeply/);
    expect(() => parseExpression("1+".repeat(4000))).toThrow(/characters/);
  });

  test("numbers and their operators are as in arithmetic", () => {
    const n = fc.integer({ min: -1000, max: 1000 });
    fc.assert(
      fc.property(n, n, n, (a, b, c) => {
        expect(value(`(${a}) + (${b}) * (${c})`)).toBe(a + b * c);
        expect(value(`(${a}) - (${b}) - (${c})`)).toBe(a - b - c);
        expect(value(`(${a}) < (${b}) == ((${b}) > (${a}))`)).toBe(true);
      }),
    );
  });

  test("any text is read or refused, never a crash of another kind", () => {
    const piece = fc.constantFrom(
      "result",
      "#",
      ".",
      "(",
      ")",
      "[",
      "]",
      "{",
      "}",
      "1",
      "'a'",
      "==",
      "in",
      "not",
      "and",
      "|",
      "?",
      ":",
      "len",
      "..",
      " ",
      "all",
      ",",
      "-",
      "\\",
      "`",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        expect(() => badCondition(pieces.join(""))).not.toThrow();
      }),
      { numRuns: 2000 },
    );
  });
});
