import { nearest } from "../../base/nearest.ts";
import type {
  ExpressionReason,
  ExpressionReasons,
  MetricReason,
  MetricReasons,
  NumberRole,
  Outline,
  PathReason,
  PathReasons,
} from "../../reasons/analysis.ts";
import { type Sentences, sayBy } from "./entry.ts";
import { countedTimes as times } from "./phrases.ts";

/** `a list`, `the text "ok"`. */
function nameOf(value: Outline): string {
  if (value === null) return "nil";
  if (typeof value === "string") return `the text ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`;
  return typeof value === "object" ? (Array.isArray(value) ? "a list" : "a map") : String(value);
}

function keyName(key: Outline): string {
  return typeof key === "string" && key.length <= 100 ? key : nameOf(key);
}

function roleName(role: NumberRole): string {
  if (typeof role === "string") return `${role === "index" ? "an" : "a"} ${role}`;
  if ("given" in role) return `what ${role.given}() is given`;
  if ("item" in role) return `an item of ${role.item}()`;
  return "before" in role ? `what stands before ${role.before}` : `what stands after ${role.after}`;
}

const MISSING = {
  value: "a value is expected before the end",
  function: "a function is expected after |",
  name: "a name is expected after the dot",
  index: "an index is expected",
};

/** Conditions, as expr-lang has them. */
export const EXPRESSIONS: Sentences<ExpressionReasons> = {
  EXPR_BAD_CHARACTER: (r) => `${JSON.stringify(r.character)} means nothing here`,
  EXPR_BAD_NUMBER: () => "this is not a number",
  EXPR_OPEN_TEXT: () => "a text has no closing quote",
  EXPR_LONG: (r) => `an expression may have at most ${r.most} ${r.of}`,
  EXPR_DEEP: () => "the expression nests too deeply",
  EXPR_UNEXPECTED: (r) => `${JSON.stringify(r.token)} is not expected`,
  EXPR_EXPECTED: (r) => ("sign" in r ? `"${r.sign}" is expected${r.atEnd ? " before the end" : ""}` : MISSING[r.what]),
  EXPR_UNKNOWN_NAME: (r) => `${r.name} is unknown; what was measured is called result`,
  EXPR_UNKNOWN_FUNCTION: ({ fn, known }) => {
    const near = nearest(fn, known);
    return `the builtin engine has no ${fn}()${near === undefined ? "; docs/analysis.md lists what it has" : `; did you mean ${near}()?`}`;
  },
  EXPR_ITEM: () => "# stands for an item of a list, and only predicates have one",
  EXPR_MATCHES: () => "the builtin engine has no `matches`; the argo-rollouts engine does",
  EXPR_NO_VERDICT: (r) => `a condition must come to true or false, and this one comes to ${nameOf(r.is)}`,
  EXPR_NO_BOOLEAN: (r) => `${r.op} wants true or false, ${r.op === "not" ? "and this is" : "not"} ${nameOf(r.is)}`,
  EXPR_NO_NUMBER: (r) => `${roleName(r.role)} must be a number, not ${nameOf(r.is)}`,
  EXPR_TYPE: (r) => `${r.fn}() wants a ${r.wanted}, not ${nameOf(r.is)}`,
  EXPR_NO_TEXTS: (r) => `${r.op} wants two texts, not ${nameOf(r.left)} and ${nameOf(r.right)}`,
  EXPR_IN: (r) => `in wants a list or a map, not ${nameOf(r.is)}`,
  EXPR_INCOMPARABLE: (r) => `${nameOf(r.left)} ${r.op} ${nameOf(r.right)} cannot be compared`,
  EXPR_KEY: (r) => `a key must be a text, not ${nameOf(r.is)}`,
  EXPR_OF_NIL: (r) => `there is no ${keyName(r.key)}: what should have it is nil`,
  EXPR_OF_MAP: (r) => `the key of a map must be a text, not ${nameOf(r.key)}`,
  EXPR_NO_MEMBER: (r) => `${nameOf(r.of)} has no ${keyName(r.key)}`,
  EXPR_OUT_OF_RANGE: (r) => `there is no item ${r.index}: the list has ${r.length}, counted from 0`,
  EXPR_NO_SLICE: (r) => `${nameOf(r.of)} cannot be sliced`,
  EXPR_ONE_VALUE: (r) => `${r.fn}() takes one value`,
  EXPR_TWO_VALUES: () => "default() takes a value and what stands in for it",
  EXPR_OF_NOTHING: (r) => `${r.fn}() was given nothing to look at`,
  EXPR_NO_LENGTH: (r) => `len() wants a text, a list or a map, not ${nameOf(r.of)}`,
  EXPR_UNREADABLE: (r) => `${r.fn}() cannot read ${nameOf(r.text)}`,
  EXPR_NOT_WHOLE: (r) => `${r.fn}() cannot make a whole number of ${r.number}`,
  EXPR_WHOLE: (r) => `${r.of === "range" ? "a range" : r.of} wants whole numbers`,
  EXPR_DIVISION: () => "it divides by zero",
  EXPR_TOO_LONG: (r) => `the ${r.what} is too long`,
  EXPR_VALUE_DEEP: (r) => `the value nests too deeply to be ${r.doing}`,
  EXPR_STEPS: () => "the expression takes too many steps on this value",
};

export const PATHS: Sentences<PathReasons> = {
  PATH_EMPTY: (r) => `there is nothing at ${r.path}`,
  PATH_LONG: (r) => `a path has at most ${r.most} characters`,
  PATH_SEVERAL: (r) => `${r.path} is more than one path`,
  PATH_UNREADABLE: (r) => `${r.path}: ${r.rest} cannot be read; .key, ['key'], [0], [*], ..key and [?(@.key=="value")] can`,
  PATH_COSTLY: (r) => `the answer is too large for this path: more than ${r.most} values would be looked at`,
};

export const METRICS: Sentences<MetricReasons> = {
  METRIC_FAILED: (r) => `failed ${times(r.times)}, and failureLimit is ${r.limit}`,
  METRIC_INCONCLUSIVE: (r) => `inconclusive ${times(r.times)}, and inconclusiveLimit is ${r.limit}`,
  METRIC_UNMEASURED: (r) => `could not be measured ${times(r.times)} in a row${r.last === undefined ? "" : `: ${r.last}`}`,
  METRIC_IN_A_ROW: (r) => `${times(r.times)} in a row`,
  METRIC_NO_ROW: (r) => `measured ${times(r.times)} without ${r.wanted} successes in a row`,
  METRIC_STOPPED: () => "stopped before it ended",
};

const sayPart = sayBy<ExpressionReasons & PathReasons>({ ...EXPRESSIONS, ...PATHS });

/** Says why a condition or a path cannot be used, and where in it. */
export function sayExpression(reason: ExpressionReason | PathReason): string {
  const at = "at" in reason ? reason.at : undefined;
  return `${sayPart(reason)}${at === undefined ? "" : ` (at ${at + 1})`}`;
}

/** Says why a metric is over. */
export const sayMetric: (reason: MetricReason) => string = sayBy(METRICS);
