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
    // As Argo Rollouts has it: default() and isNil() look at what was measured, whatever they are given.
    ["default(result, 0) == 0", [], false],
    ["len(default(result, 0)) == 0", [], true],
    ["default(result.n, 0).n == 5 && default(1, 0).n == 5", { n: 5 }, true],
    ["result | default(7) == 7", null, true],
    ["asFloat(result.n) == 1.0 && asInt(result.n) == 1", { n: 1 }, true],
    ["asInt(result) == 2 && asFloat(result) == 2.9", 2.9, true],
    ["asInt(result) == -2", -2.9, true],
    ["asInt(result) == -7", "-7", true],
    ["isNaN(asFloat(result))", "NaN", true],
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
    ["isNil(result)", null, true],
    ["isNil(result)", [], false],
    ["isNil(result.missing)", {}, false],
    ["result.a?.b == nil", { a: null }, true],
    ["result.deep?.zz.q == nil", { deep: null }, true],
    ["result.deep?.zz.q.r.s == nil", {}, true],
    ["(result?.a).b.c == nil", null, true],
    ["result?.[0] == nil && result?.[0].a == nil", null, true],
    ["result?.[1] == 2", [1, 2], true],
    ["result.a?.b.c + 1 == 3", { a: { b: { c: 2 } } }, true],
    ["result.a?.b.c ?? 'none' == 'none'", { a: null }, true],
    ["all(result, {.a?.b.c == nil})", [{ a: null }, {}], true],
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
    ["asInt(result) > 1", "99999999999999999999", /cannot read/],
    ["asFloat(result) > 1", "1e999", /cannot read/],
    ["asInt(result) > 1", Number.POSITIVE_INFINITY, /no whole number/],
    ["asInt(result) > 1", Number.NaN, /no whole number/],
    ["asFloat(result) == 1", true, /must be a number/],
    ["default(result, 0) < 10", [], /a list < 10 cannot be compared/],
    ["sort(result, 'desc') == [1]", [1], /sort\(\) takes one value/],
    // The left side of ?. is what may be nil, and an index ends a chain: as in expr-lang.
    ["result.deep.zz?.q == nil", { deep: null }, /zz of nil/],
    ["result.a?.b.c == nil", { a: {} }, /c of nil/],
    ["result.a?.b[0] == nil", { a: null }, /of nil/],
    ["result[0] == 1", { "0": 1 }, /a map is asked by a text/],
    ["result[result] == nil", {}, /a map is asked by a text, not by a map/],
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
    expect(() => parseExpression(`${"(".repeat(200)}1${")".repeat(200)}`)).toThrow(/deeply/);
    expect(() => parseExpression(`1${"+1".repeat(600)}`)).toThrow(/at most 1000 words and signs/);
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
