/**
 * Why a Go template of an ApplicationSet cannot be parsed or executed. `core/gotemplate/` throws them, `core/report/reasons/templates.ts` says
 * them. `fn`: the function of the template that was called; types are as Go's `%T` prints them.
 */
import type { NoData, ReasonsOf } from "../base/reason.ts";

/** Argo CD fails on it, too. */
export interface GoFailures {
  // Parsing
  GO_UNCLOSED: { what: "action" | "comment" | "left paren" };
  GO_COMMENT_END: NoData;
  GO_UNTERMINATED: { what: "quoted string" | "raw quoted string" | "character constant" };
  GO_BAD_ESCAPE: { written: string };
  GO_BAD_NUMBER: { written: string };
  GO_OVERFLOW: { written: string };
  /** `token`: undefined for the end of the template. */
  GO_UNEXPECTED: { token: string | undefined; in: string };
  GO_STRAY: { what: string };
  GO_NO_END: { block: string };
  GO_SECOND_ELSE: NoData;
  GO_FOREIGN_ELSE: { word: string; block: string };
  GO_OUTSIDE_RANGE: { word: string };
  GO_NO_NAME: { word: string };
  GO_MISSING_VALUE: { in: string; last: boolean };
  GO_NOT_EXECUTABLE: { stage: number };
  GO_UNKNOWN_FUNCTION: { name: string };
  GO_UNKNOWN_VARIABLE: { name: string };
  // Executing
  GO_UNSET_VARIABLE: { name: string };
  GO_NOT_CALLABLE: { operand: string };
  GO_NIL_COMMAND: NoData;
  GO_NO_KEY: { of: "map" | "nil data"; key: string; operand: string };
  GO_NIL_POINTER: { field: string; operand: string };
  GO_NO_FIELD: { field: string; type: string; operand: string };
  GO_ARGUMENTS: { fn: string; wanted: number; orMore: boolean; given: number };
  GO_NIL_ARGUMENT: { wanted: string; constant: boolean };
  GO_ARGUMENT_TYPE: { wanted: string; given: string };
  GO_CONSTANT_TYPE: { wanted: string; given: string };
  GO_ENDLESS: NoData;
  GO_TWO_VARIABLES: { over: number };
  GO_NO_RANGE: { over: string };
  GO_UNKNOWN_TEMPLATE: { name: string };
  GO_RECURSION: { name: string };
  // Calls of functions
  GO_NOT_COMPARABLE: { type: string };
  GO_INCOMPARABLE: { fn: string; left: string; right: string };
  GO_NO_ORDER: { fn: string; type: string };
  GO_ONE_ARGUMENT: { fn: string };
  GO_INDEX_OF: { what: "untyped nil" | "nil pointer" };
  /** `type`: undefined for nil. */
  GO_KEY_TYPE: { type: string | undefined };
  GO_INDEX_TYPE: { type: string | undefined };
  GO_NO_INDEX: { type: string };
  GO_OUT_OF_RANGE: { index: number };
  GO_NO_LENGTH: { type: string | undefined };
  GO_BOUNDS: { fn: "slice" | "substr"; from: number; to: number; length: number };
  GO_NO_LIST: { fn: string; given: string };
  GO_NIL_MAP: { fn: string };
  GO_DIG: { wrong: "count" | "keys" } | { wrong: "map"; type: string };
  GO_SLUGIFY: { wrong: "text" | "size" | "smart" | "negative" };
  GO_DIVIDE: { fn: string };
  GO_REPEAT: NoData;
  GO_PATTERN: { said: string };
  GO_VERSION: { version: string };
  GO_CONSTRAINT: { constraint: string };
  GO_YAML_TYPE: { fn: string; wanted: "map" | "list" };
  /** `said`: by a parser, or by the template itself. */
  GO_CALL: { fn: string; said: string };
}

/** Argo CD can execute it, this program cannot: named, never guessed. */
export interface GoLacks {
  LACKS_FUNCTION: { name: string };
  LACKS_VERB: { verb: string };
  LACKS_VERB_OF: { verb: string; of: string };
  LACKS_VERB_FOR: { verb: "c" | "q" | "f" | "x" };
  LACKS_PRECISION: { verb: string };
  LACKS_HALF_CHARACTER: { fn: string; text: string };
  LACKS_GROUPS: { pattern: string };
  LACKS_LONG_INPUT: { most: number };
  LACKS_LONG_PATTERN: { most: number };
  LACKS_SLUGIFY: NoData;
  LACKS_CHANGE: { fn: string };
  LACKS_VERSION_JSON: NoData;
  LACKS_BASE64: { bytes: boolean };
  LACKS_CHUNK: NoData;
  LACKS_LONG_LIST: { count: number };
  LACKS_LONG_TEXT: { most: number };
  LACKS_OCTAL: { text: string };
  LACKS_BIG_INTEGER: { value: number };
  LACKS_CONSTRAINT: { part: string };
  LACKS_PRERELEASE: NoData;
  LACKS_NOSPACE: NoData;
  LACKS_YAML: { of: "key" | "characters" | "quotes" };
}

export interface TemplateReasons extends GoFailures, GoLacks {}

export type GoFailure = ReasonsOf<GoFailures>;
export type GoLack = ReasonsOf<GoLacks>;
export type TemplateReason = GoFailure | GoLack;
