import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMs } from "../../../../test/support/cpu-time.ts";
import { showValue } from "../../../adapters/analysis/builtin/show.ts";
import { badCondition, evaluate } from "./evaluate.ts";
import { parseExpression } from "./parse.ts";
import { ExpressionError, type Value } from "./values.ts";

const MOST_MS = 250;

function nested(levels: number, make: (inner: Value) => Value): Value {
  let value: Value = 1;
  for (let i = 0; i < levels; i++) value = make(value);
  return value;
}

function bigMap(keys: number): Value {
  return Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, i]));
}

const a = (length: number) => "a".repeat(length);

/** What a hostile host may answer in its mebibyte, and what is worse than any answer that is let in. */
const VALUES: readonly (readonly [string, Value])[] = [
  ["nil", null],
  ["true", true],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-0", -0],
  ["a text", "ok"],
  ["a mebibyte of text", a(1_000_000)],
  ["texts made for slow searches", { k0: a(500_000), k1: `${a(200_000)}b${a(200_000)}`, value: "a" }],
  ["an empty list", []],
  ["half a million numbers", Array.from({ length: 500_000 }, () => 0)],
  ["33,000 numbers", Array.from({ length: 33_000 }, (_, i) => i)],
  ["odd numbers", [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 2 ** 53, 5e-324]],
  ["many small lists", Array.from({ length: 60_000 }, () => [1, [2]])],
  ["many maps", Array.from({ length: 20_000 }, (_, i) => ({ value: i, k0: `${i}` }))],
  ["a map of 60,000", bigMap(60_000)],
  ["100 lists deep", nested(100, (inner) => [inner])],
  ["100 maps deep", nested(100, (inner) => ({ value: inner }))],
  ["20,000 lists deep", nested(20_000, (inner) => [inner])],
  ["20,000 maps deep", nested(20_000, (inner) => ({ value: inner }))],
  [
    "keys of prototypes",
    JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":2},"toString":3,"toJSON":4,"value":[5]}') as Value,
  ],
];

const LISTS = ["all", "any", "none", "one", "filter", "map", "count", "find", "findIndex", "findLast", "findLastIndex", "sum"];
const FUNCTIONS = [
  ...["asInt", "asFloat", "int", "float", "isNaN", "isInf", "isNil", "len", "abs", "ceil", "floor", "round", "min", "max", "mean", "sum"],
  ...["median", "first", "last", "reverse", "sort", "keys", "values", "lower", "upper", "trim", "string", "nowhere", "constructor"],
];
const OPERATORS = [
  ...["==", "!=", "<", "<=", ">", ">=", "in", "not in", "contains", "startsWith", "endsWith", "+", "-", "*", "/", "%", "**"],
  ...["..", "and", "or", "&&", "||", "??", "matches"],
];
const NAMES = ["value", "k0", "k1", "__proto__", "constructor", "prototype", "toString", "toJSON", "length"];
const LEAVES = [
  "result",
  "result",
  "result",
  "#",
  ".value",
  "nil",
  "true",
  "1",
  "-1",
  "0.5",
  "1e308",
  "99999",
  "'a'",
  "'__proto__'",
  "[]",
  "{}",
];

/** Random expressions of the language, and some beyond it. */
const { expression } = fc.letrec<{ expression: string; leaf: string }>((tie) => ({
  leaf: fc.constantFrom(...LEAVES),
  expression: fc.oneof(
    { maxDepth: 6, depthSize: "large", withCrossShrink: true },
    tie("leaf"),
    fc.tuple(fc.constantFrom(...LISTS), tie("expression"), tie("expression")).map(([name, of, ask]) => `${name}(${of}, {${ask}})`),
    fc.tuple(fc.constantFrom(...LISTS), tie("expression")).map(([name, ask]) => `${name}(result, ${ask})`),
    fc.tuple(fc.constantFrom(...FUNCTIONS), tie("expression")).map(([name, of]) => `${name}(${of})`),
    fc.tuple(tie("expression"), fc.constantFrom(...OPERATORS), tie("expression")).map(([x, op, y]) => `(${x} ${op} ${y})`),
    fc.tuple(tie("expression"), fc.constantFrom(".", "?."), fc.constantFrom(...NAMES)).map(([of, dot, name]) => `(${of})${dot}${name}`),
    fc.tuple(tie("expression"), fc.constantFrom("[", "?.["), tie("expression")).map(([of, open, key]) => `(${of})${open}${key}]`),
    fc.tuple(tie("expression"), tie("expression")).map(([of, from]) => `(${of})[${from}:]`),
    fc.tuple(tie("expression"), tie("expression")).map(([x, y]) => `[${x}, {k0: ${y}}]`),
    fc.tuple(tie("expression"), tie("expression")).map(([x, y]) => `default(${x}, ${y})`),
    fc.tuple(tie("expression"), tie("expression"), tie("expression")).map(([x, y, z]) => `(${x} ? ${y} : ${z})`),
    tie("expression").map((of) => `not (${of})`),
    fc.tuple(tie("expression"), fc.constantFrom(...LISTS), tie("expression")).map(([of, name, ask]) => `(${of} | ${name}(${ask}))`),
  ),
}));

/** undefined: it ended with a value, or with an error of its own. Otherwise what came out instead. */
function escaped(source: string, result: Value): unknown {
  try {
    showValue(evaluate(parseExpression(source), { result }), ["hunter2"]);
    return undefined;
  } catch (error) {
    return error instanceof ExpressionError ? undefined : error;
  }
}

/** Of three tries: a collection of garbage may fall into one. */
function tookMs(source: string, result: Value): number {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3 && best > MOST_MS; i++) {
    const begun = cpuMs();
    escaped(source, result);
    best = Math.min(best, cpuMs() - begun);
  }
  return best;
}

describe("whatever a condition and an answer are, it ends soon, with a value or an error of its own", () => {
  test("random conditions on hostile answers", () => {
    fc.assert(
      fc.property(expression, fc.constantFrom(...VALUES), (source, [name, result]) => {
        const begun = cpuMs();
        const out = escaped(source, result);
        if (out !== undefined) throw new Error(`${source} of ${name}: ${String(out)}`);
        if (cpuMs() - begun > MOST_MS) expect(tookMs(source, result), `${source} of ${name}`).toBeLessThan(MOST_MS);
        expect(() => badCondition(source)).not.toThrow();
      }),
      { numRuns: 4000, seed: 20_261_121 },
    );
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  }, 120_000);

  test.each([
    "result == result",
    "none(result, (# + 0.5) in result)",
    "none(result, # == result)",
    "all(result, {result != [#]})",
    "any(result, {len(result) < 0})",
    "any(result, {max(result) > 1 and min(result) > 1 and median(result) > 1})",
    "any(result, {sort(result) == 1})",
    "any(result, {reverse(result)[1:] == result[1:]})",
    "any(result, {string(result) == string(result)})",
    "any(1..1000, {lower(result) == upper(result)})",
    "any(1..1000, {result contains result[1:]})",
    "any(1..1000, {result.k0 contains result.k1})",
    "any(1..1000, {len(keys(result)) + len(values(result)) < 0})",
    "any(1..1000, {result in [result, result]})",
    "any(1..1000, {any(1..1000, # < 0)})",
    "any(result, {{'a': result}['a'] == result})",
    "map(1..400, {map(1..400, {map(1..400, {#})})}) == nil",
    `len(${"map(result, ".repeat(40)}[#]${")".repeat(40)}) == 0`,
    `1${"+1".repeat(400)} == result`,
    `result${".value".repeat(450)} == 1`,
    `result${"?.value".repeat(450)} == 1`,
  ])("%s", (source) => {
    for (const [name, result] of VALUES) {
      expect(escaped(source, result), name).toBeUndefined();
      expect(tookMs(source, result), name).toBeLessThan(MOST_MS);
    }
  });
});
