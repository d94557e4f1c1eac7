/** Conditions, paths and metrics that come to nothing, one at least for each code. */
import { holds } from "../../../analysis/expr/evaluate.ts";
import { failureOf, type Value } from "../../../analysis/expr/values.ts";
import { firstAt } from "../../../analysis/json-path.ts";
import type { ExpressionReason, MetricReason, PathReason } from "../../../reasons/analysis.ts";

let deep: Value = [];
for (let i = 0; i < 400; i++) deep = [deep];
const RESULT: Value = { nil: null, n: 5, list: [1, 2], map: { k: "text" }, text: "ok", deep };

const WIDE = Array.from({ length: 3000 }, () => Array.from({ length: 100 }, () => 1));

/** Why a condition cannot be used; undefined: it can. */
export function conditionFailure(condition: string): ExpressionReason | PathReason | undefined {
  return failureOf(() => holds(condition, RESULT));
}

/** Why a path cannot be used; undefined: it can. */
export function pathFailure(path: string): ExpressionReason | PathReason | undefined {
  return failureOf(() => firstAt(path, WIDE));
}

export const FAILING_CONDITIONS: readonly string[] = [
  "~",
  "0x_",
  "'a",
  "(",
  "1)",
  "1 |",
  "1.",
  "x",
  "nowhere(1)",
  "lenn(1)",
  "#",
  "result matches 'a'",
  "result.n",
  "result.n ? 1 : 2",
  "not result.n",
  "result.list[true]",
  "result.list['a':]",
  "1..nil",
  "nil + 1",
  "1 - 'a'",
  "abs('a')",
  "max(1, nil)",
  "sum(['a'])",
  "lower(1)",
  "first(1)",
  "keys(1)",
  "1 contains 'a'",
  "1 in 2",
  "result.list < 1",
  "{[1]: 2}",
  "result.nil.x",
  "result.map[1]",
  "result.n.x",
  "result.list[7]",
  "1[1:]",
  "len()",
  "default(1)",
  "max([])",
  "len(1)",
  "asInt('1.5')",
  "int(1e30)",
  "1.5..2",
  "1 % 0.5",
  "1 % 0",
  "1..999999999",
  "any(1..1000, {any(1..1000, # < 0)})",
  "(".repeat(121),
  "1+".repeat(2001),
  `1${"+1".repeat(600)}`,
  "1 ==",
  "len(1",
  "[1 2]",
  "result.deep == result.deep",
  "string(result.deep) == ''",
];

export const FAILING_PATHS: readonly string[] = ["{$.x}", `{$.${"x".repeat(1000)}}`, "{.a}{.b}", "{.a[(@.b)]}", "{$..a..a}"];

export const METRIC_ENDS: readonly MetricReason[] = [
  { code: "METRIC_FAILED", times: 1, limit: 0 },
  { code: "METRIC_INCONCLUSIVE", times: 2, limit: 1 },
  { code: "METRIC_UNMEASURED", times: 5, last: "503" },
  { code: "METRIC_UNMEASURED", times: 5, last: undefined },
  { code: "METRIC_IN_A_ROW", times: 3 },
  { code: "METRIC_NO_ROW", times: 4, wanted: 3 },
  { code: "METRIC_STOPPED" },
];
