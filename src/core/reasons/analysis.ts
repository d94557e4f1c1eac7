/**
 * Why a condition or a path of an AnalysisTemplate cannot be used, and how a metric came to its end. `core/analysis/` decides, and
 * `core/report/reasons/analysis.ts` says it.
 */
import type { NoData, ReasonsOf } from "../base/reason.ts";

/** What a value is, without what it holds: lists and maps are empty, long texts shortened. */
export type Outline = null | boolean | number | string | readonly [] | { readonly [key: string]: never };

/** Which number is meant: an index and the like, what stands beside an operator, or what a function is given. */
export type NumberRole = "index" | "bound" | "range" | { before: string } | { after: string } | { given: string } | { item: string };

/** `fn`: a function; `op`: an operator. */
export interface ExpressionReasons {
  EXPR_BAD_CHARACTER: { character: string };
  EXPR_BAD_NUMBER: NoData;
  EXPR_OPEN_TEXT: NoData;
  EXPR_LONG: { most: number; of: "characters" | "words and signs" };
  EXPR_DEEP: NoData;
  EXPR_UNEXPECTED: { token: string };
  EXPR_EXPECTED: { sign: string; atEnd: boolean } | { what: "value" | "function" | "name" | "index" };
  EXPR_UNKNOWN_NAME: { name: string };
  EXPR_UNKNOWN_FUNCTION: { fn: string; known: readonly string[] };
  EXPR_ITEM: NoData;
  EXPR_MATCHES: NoData;
  EXPR_NO_VERDICT: { is: Outline };
  EXPR_NO_BOOLEAN: { op: string; is: Outline };
  EXPR_NO_NUMBER: { role: NumberRole; is: Outline };
  EXPR_TYPE: { fn: string; wanted: "text" | "list" | "map"; is: Outline };
  EXPR_NO_TEXTS: { op: string; left: Outline; right: Outline };
  EXPR_IN: { is: Outline };
  EXPR_INCOMPARABLE: { left: Outline; op: string; right: Outline };
  EXPR_KEY: { is: Outline };
  EXPR_OF_NIL: { key: Outline };
  EXPR_OF_MAP: { key: Outline };
  EXPR_NO_MEMBER: { of: Outline; key: Outline };
  EXPR_OUT_OF_RANGE: { index: number; length: number };
  EXPR_NO_SLICE: { of: Outline };
  EXPR_ONE_VALUE: { fn: string };
  EXPR_TWO_VALUES: NoData;
  EXPR_OF_NOTHING: { fn: string };
  EXPR_NO_LENGTH: { of: Outline };
  EXPR_UNREADABLE: { fn: string; text: string };
  EXPR_NOT_WHOLE: { fn: string; number: number };
  EXPR_WHOLE: { of: "%" | "range" };
  EXPR_DIVISION: NoData;
  EXPR_TOO_LONG: { what: "range" | "text" };
  EXPR_VALUE_DEEP: { doing: "compared" | "written out" };
  EXPR_STEPS: NoData;
}

export interface PathReasons {
  PATH_EMPTY: { path: string };
  PATH_LONG: { most: number };
  PATH_SEVERAL: { path: string };
  PATH_UNREADABLE: { path: string; rest: string };
  PATH_COSTLY: { most: number };
}

/** `at`: 0-based offset in the expression. */
export type ExpressionReason = ReasonsOf<ExpressionReasons> & { readonly at?: number | undefined };
export type PathReason = ReasonsOf<PathReasons>;

/** Why a metric is over. */
export interface MetricReasons {
  METRIC_FAILED: { times: number; limit: number };
  METRIC_INCONCLUSIVE: { times: number; limit: number };
  /** `last`: what stood against the last measurement. */
  METRIC_UNMEASURED: { times: number; last: string | undefined };
  METRIC_IN_A_ROW: { times: number };
  METRIC_NO_ROW: { times: number; wanted: number };
  METRIC_STOPPED: NoData;
}

export type MetricReason = ReasonsOf<MetricReasons>;
