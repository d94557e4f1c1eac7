import { expect, test } from "vitest";
import { holds } from "../../analysis/expr/evaluate.ts";
import { failureOf, type Value } from "../../analysis/expr/values.ts";
import { firstAt } from "../../analysis/json-path.ts";
import type { MetricReason } from "../../reasons/analysis.ts";
import { EXPRESSIONS, sayExpression, sayMetric } from "./analysis.ts";

let deep: Value = [];
for (let i = 0; i < 400; i++) deep = [deep];
const RESULT: Value = { nil: null, n: 5, list: [1, 2], map: { k: "text" }, text: "ok", deep };

const CONDITIONS: readonly [condition: string, said: string][] = [
  ["~", '"~" means nothing here (at 1)'],
  ["0x_", "this is no number (at 1)"],
  ["'a", "a text is not closed (at 1)"],
  ["(", "a value is expected before the end (at 2)"],
  ["1)", '")" is not expected (at 2)'],
  ["1 |", "a function is expected after | (at 4)"],
  ["1.", "a name is expected after the dot (at 3)"],
  ["x", "x is unknown; what was measured is called result (at 1)"],
  ["nowhere(1)", expect.stringMatching(/^nowhere\(\) is not available in the builtin engine, which has abs, all, .*, values \(at 1\)$/)],
  ["#", "# is only known in a predicate (at 1)"],
  ["result matches 'a'", "`matches` is not available in the builtin engine; the argo-rollouts engine has it (at 8)"],
  ["result.n", "a condition must be true or false, and this is 5"],
  ["result.n ? 1 : 2", "? wants true or false, not 5 (at 10)"],
  ["not result.n", "not wants true or false, and this is 5 (at 1)"],
  ["result.list[true]", "an index must be a number, not true (at 12)"],
  ["result.list['a':]", 'a bound must be a number, not the text "a" (at 12)'],
  ["1..nil", "a range must be a number, not nil (at 2)"],
  ["nil + 1", "what stands before + must be a number, not nil (at 5)"],
  ["1 - 'a'", 'what stands after - must be a number, not the text "a" (at 3)'],
  ["abs('a')", 'what abs() is given must be a number, not the text "a" (at 1)'],
  ["max(1, nil)", "what max() is given must be a number, not nil (at 1)"],
  ["sum(['a'])", 'an item of sum() must be a number, not the text "a" (at 1)'],
  ["lower(1)", "lower() wants a text, not 1 (at 1)"],
  ["first(1)", "first() wants a list, not 1 (at 1)"],
  ["keys(1)", "keys() wants a map, not 1 (at 1)"],
  ["1 contains 'a'", 'contains wants two texts, not 1 and the text "a" (at 3)'],
  ["1 in 2", "in wants a list or a map, not 2 (at 3)"],
  ["result.list < 1", "a list < 1 cannot be compared (at 13)"],
  ["{[1]: 2}", "a key must be a text, not a list (at 2)"],
  ["result.nil.x", "x of nil: there is no such value (at 11)"],
  ["result.map[1]", "a map is asked by a text, not by 1 (at 11)"],
  ["result.n.x", "5 has no x (at 9)"],
  ["result.list[7]", "index 7 is out of range: there are 2 (at 12)"],
  ["1[1:]", "1 cannot be sliced (at 2)"],
  ["len()", "len() takes one value (at 1)"],
  ["default(1)", "default() takes a value and what stands in for it (at 1)"],
  ["max([])", "max() of nothing (at 1)"],
  ["len(1)", "len() of 1 (at 1)"],
  ["asInt('1.5')", 'asInt() cannot read the text "1.5" (at 1)'],
  ["int(1e30)", "int() of 1e+30: that is no whole number (at 1)"],
  ["1.5..2", "a range wants whole numbers (at 4)"],
  ["1 % 0.5", "% wants whole numbers (at 3)"],
  ["1 % 0", "division by zero (at 3)"],
  ["1..999999999", "the range is too long (at 2)"],
  ["any(1..1000, {any(1..1000, # < 0)})", "the expression takes too many steps on this value"],
  ["(".repeat(121), "the expression nests too deeply (at 101)"],
  ["1+".repeat(2001), "an expression may have at most 4000 characters"],
  [`1${"+1".repeat(600)}`, "an expression may have at most 1000 words and signs"],
  ["1 ==", "a value is expected before the end (at 5)"],
  ["len(1", '")" is expected before the end (at 6)'],
  ["[1 2]", '"]" is expected (at 4)'],
  ["result.deep == result.deep", "the value nests too deeply to be compared"],
  ["string(result.deep) == ''", "the value nests too deeply to be written out"],
];

test.each(CONDITIONS)("%s", (condition, said) => {
  const reason = failureOf(() => holds(condition, RESULT));
  expect(reason && sayExpression(reason)).toEqual(said);
});

test("every code of a condition has one above", () => {
  const told = new Set(CONDITIONS.map(([condition]) => failureOf(() => holds(condition, RESULT))?.code));
  expect([...told].toSorted()).toEqual(Object.keys(EXPRESSIONS).toSorted());
});

test("a long text is shortened, a key up to a hundred characters is not", () => {
  const said = (condition: string) => sayExpression(failureOf(() => holds(condition, RESULT)) ?? { code: "PATH_EMPTY", path: "" });
  expect(said(`asInt('${"9".repeat(60)}')`)).toBe(`asInt() cannot read the text "${"9".repeat(40)}…" (at 1)`);
  expect(said(`nil.${"k".repeat(100)}`)).toBe(`${"k".repeat(100)} of nil: there is no such value (at 4)`);
  expect(said(`nil.${"k".repeat(101)}`)).toBe(`the text "${"k".repeat(40)}…" of nil: there is no such value (at 4)`);
});

test.each([
  ["{$.x}", "nothing is found at {$.x}"],
  [`{$.${"x".repeat(1000)}}`, "a path has at most 1000 characters"],
  ["{.a}{.b}", "{.a}{.b} is more than one path; write one, such as {$.data.ok}"],
  ["{.a[(@.b)]}", `{.a[(@.b)]}: [(@.b)] cannot be read; .key, ['key'], [0], [*], ..key and [?(@.key=="value")] can`],
  ["{$..a..a}", "the answer is too large for this path: more than 200000 values would be looked at"],
])("the path %s", (path, said) => {
  const wide = Array.from({ length: 3000 }, () => Array.from({ length: 100 }, () => 1));
  const reason = failureOf(() => firstAt(path, wide));
  expect(reason && sayExpression(reason)).toBe(said);
});

test.each<[MetricReason, string]>([
  [{ code: "METRIC_FAILED", times: 1, limit: 0 }, "failed once, and failureLimit is 0"],
  [{ code: "METRIC_INCONCLUSIVE", times: 2, limit: 1 }, "inconclusive twice, and inconclusiveLimit is 1"],
  [{ code: "METRIC_UNMEASURED", times: 5, last: "503" }, "could not be measured 5 times in a row: 503"],
  [{ code: "METRIC_UNMEASURED", times: 5, last: undefined }, "could not be measured 5 times in a row"],
  [{ code: "METRIC_IN_A_ROW", times: 3 }, "3 times in a row"],
  [{ code: "METRIC_NO_ROW", times: 4, wanted: 3 }, "measured 4 times without 3 successes in a row"],
  [{ code: "METRIC_STOPPED" }, "stopped"],
])("%j", (reason, said) => {
  expect(sayMetric(reason)).toBe(said);
});
