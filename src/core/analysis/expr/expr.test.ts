import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { badCondition, evaluate, holds } from "./evaluate.ts";
import { parseExpression } from "./parse.ts";
import { failureOf, type Value } from "./values.ts";

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

  // How each code is said is in core/report/reasons/analysis.test.ts.
  test.each<[string, Value, object]>([
    ["result", 1, { code: "EXPR_NO_VERDICT", is: 1 }],
    ["result > 1", "2", { code: "EXPR_INCOMPARABLE", left: "2", op: ">", right: 1 }],
    ["results[0] > 1", [1], { code: "EXPR_UNKNOWN_NAME", name: "results", at: 0 }],
    ["result[3] > 1", [1], { code: "EXPR_OUT_OF_RANGE", index: 3, length: 1, at: 6 }],
    ["result.a.b == 1", {}, { code: "EXPR_OF_NIL", key: "b" }],
    ["result ==", 1, { code: "EXPR_EXPECTED", what: "value" }],
    ["result == 'ok", "ok", { code: "EXPR_OPEN_TEXT", at: 10 }],
    ["result matches 'a+'", "a", { code: "EXPR_MATCHES" }],
    ["fetch(result) == 1", "a", { code: "EXPR_UNKNOWN_FUNCTION", fn: "fetch" }],
    ["asInt(result) == 1", "1.5", { code: "EXPR_UNREADABLE", fn: "asInt", text: "1.5" }],
    ["asInt(result) > 1", "99999999999999999999", { code: "EXPR_UNREADABLE" }],
    ["asFloat(result) > 1", "1e999", { code: "EXPR_UNREADABLE" }],
    ["asInt(result) > 1", Number.POSITIVE_INFINITY, { code: "EXPR_NOT_WHOLE" }],
    ["asInt(result) > 1", Number.NaN, { code: "EXPR_NOT_WHOLE" }],
    ["asFloat(result) == 1", true, { code: "EXPR_NO_NUMBER", role: { given: "asFloat" }, is: true }],
    ["default(result, 0) < 10", [], { code: "EXPR_INCOMPARABLE", left: [], right: 10 }],
    ["sort(result, 'desc') == [1]", [1], { code: "EXPR_ONE_VALUE", fn: "sort" }],
    // The left side of ?. is what may be nil, and an index ends a chain: as in expr-lang.
    ["result.deep.zz?.q == nil", { deep: null }, { code: "EXPR_OF_NIL", key: "zz" }],
    ["result.a?.b.c == nil", { a: {} }, { code: "EXPR_OF_NIL", key: "c" }],
    ["result.a?.b[0] == nil", { a: null }, { code: "EXPR_OF_NIL", key: 0 }],
    ["result[0] == 1", { "0": 1 }, { code: "EXPR_OF_MAP", key: 0 }],
    ["result[result] == nil", {}, { code: "EXPR_OF_MAP", key: {} }],
    ["result && true", 1, { code: "EXPR_NO_BOOLEAN", op: "&&" }],
    ["constructor == 1", 1, { code: "EXPR_UNKNOWN_NAME" }],
  ])("%s of %j is an error that says why", (condition, result, reason) => {
    expect(failureOf(() => holds(condition, result))).toMatchObject(reason);
  });

  test("names of every object's prototype are keys like any other", () => {
    expect(holds("result.constructor == nil", {})).toBe(true);
  });

  test("what a condition lacks is known before anything is measured, in branches not taken, too", () => {
    expect(badCondition("result == 1 ? true : foo(result)")).toMatchObject({ code: "EXPR_UNKNOWN_FUNCTION", fn: "foo" });
    expect(badCondition("result == 1 || results == 2")).toMatchObject({ code: "EXPR_UNKNOWN_NAME", name: "results" });
    expect(badCondition("all(result, {.ok})")).toBeUndefined();
    expect(badCondition("# > 1")).toMatchObject({ code: "EXPR_ITEM" });
  });

  test("a huge value, a deep or long expression end in an error, not in a busy process", () => {
    const many = Array.from({ length: 1000 }, (_, i) => i);
    expect(failureOf(() => value("all(result, all(result, all([1,2,3], # > 0)))", null))).toBeDefined();
    const steps = failureOf(() => evaluate(parseExpression("all(result, {all(result, {# >= 0})})"), { result: many }));
    expect(steps).toMatchObject({ code: "EXPR_STEPS" });
    expect(failureOf(() => value("1..999999999"))).toMatchObject({ code: "EXPR_TOO_LONG", what: "range" });
    expect(failureOf(() => parseExpression(`${"(".repeat(200)}1${")".repeat(200)}`))).toMatchObject({ code: "EXPR_DEEP" });
    expect(failureOf(() => parseExpression(`1${"+1".repeat(600)}`))).toMatchObject({ code: "EXPR_LONG", of: "words and signs" });
    expect(failureOf(() => parseExpression("1+".repeat(4000)))).toMatchObject({ code: "EXPR_LONG", of: "characters" });
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
