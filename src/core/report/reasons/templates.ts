import type { GoFailures, GoLacks, TemplateReason, TemplateReasons } from "../../reasons/templates.ts";
import { type Sentences, sayBy } from "./entry.ts";

/** What Go's text/template and sprig say, or nearly. */
export const FAILURES: Sentences<GoFailures> = {
  GO_UNCLOSED: (r) => `unclosed ${r.what}`,
  GO_COMMENT_END: () => "comment ends before closing delimiter",
  GO_UNTERMINATED: (r) => `unterminated ${r.what}`,
  GO_BAD_ESCAPE: (r) => `invalid syntax: \\${r.written} is no escape of a Go string`,
  GO_BAD_NUMBER: (r) => `bad number syntax: ${JSON.stringify(r.written)}`,
  GO_OVERFLOW: (r) => `integer overflow: ${r.written}`,
  GO_UNEXPECTED: (r) => `unexpected ${r.token === undefined ? "end of the template" : JSON.stringify(r.token)} in ${r.in}`,
  GO_STRAY: (r) => `unexpected ${r.what}`,
  GO_NO_END: (r) => `unclosed {{${r.block}}}: an {{end}} is missing`,
  GO_SECOND_ELSE: () => "expected end; found {{else}}",
  GO_FOREIGN_ELSE: (r) => `{{else ${r.word}}} does not belong to {{${r.block}}}`,
  GO_OUTSIDE_RANGE: (r) => `{{${r.word}}} outside {{range}}`,
  GO_NO_NAME: (r) => `{{${r.word}}} wants a quoted name`,
  GO_MISSING_VALUE: (r) => `missing value ${r.last ? "for" : "in"} ${r.in}`,
  GO_NOT_EXECUTABLE: (r) => `non executable command in pipeline stage ${r.stage}`,
  GO_UNKNOWN_FUNCTION: (r) => `function ${JSON.stringify(r.name)} not defined`,
  GO_UNKNOWN_VARIABLE: (r) => `undefined variable ${JSON.stringify(r.name)}`,
  GO_UNSET_VARIABLE: (r) => `undefined variable: ${r.name}`,
  GO_NOT_CALLABLE: (r) => `can't give argument to non-function ${r.operand}`,
  GO_NIL_COMMAND: () => "nil is not a command",
  GO_NO_KEY: (r) => `${r.of === "map" ? "map has" : "nil data;"} no entry for key ${JSON.stringify(r.key)}, at <${r.operand}>`,
  GO_NIL_POINTER: (r) => `nil pointer evaluating interface {}.${r.field}, at <${r.operand}>`,
  GO_NO_FIELD: (r) => `can't evaluate field ${r.field} in type ${r.type}, at <${r.operand}>`,
  GO_ARGUMENTS: (r) => `wrong number of args for ${r.fn}: want ${r.orMore ? "at least " : ""}${r.wanted} got ${r.given}`,
  GO_NIL_ARGUMENT: (r) => (r.constant ? `cannot assign nil to ${r.wanted}` : `invalid value; expected ${r.wanted}`),
  GO_ARGUMENT_TYPE: (r) => `wrong type for value; expected ${r.wanted}; got ${r.given}`,
  GO_CONSTANT_TYPE: (r) => `expected ${r.wanted}; found ${r.given}`,
  GO_ENDLESS: () => "the template does not end",
  GO_TWO_VARIABLES: (r) => `can't use ${r.over} to iterate over more than one variable`,
  GO_NO_RANGE: (r) => `range can't iterate over ${r.over}`,
  GO_UNKNOWN_TEMPLATE: (r) => `template ${JSON.stringify(r.name)} not defined`,
  GO_RECURSION: (r) => `template ${JSON.stringify(r.name)} calls itself without end`,
  GO_NOT_COMPARABLE: (r) => `error calling eq: non-comparable type ${r.type}`,
  GO_INCOMPARABLE: (r) => `error calling ${r.fn}: incompatible types for comparison (${r.left} and ${r.right})`,
  GO_NO_ORDER: (r) => `error calling ${r.fn}: invalid type for comparison (${r.type})`,
  GO_ONE_ARGUMENT: (r) => `error calling ${r.fn}: missing argument for comparison`,
  GO_INDEX_OF: (r) => `error calling index: index of ${r.what}`,
  GO_KEY_TYPE: (r) =>
    `error calling index: ${r.type === undefined ? "value is nil; should be of type" : `value has type ${r.type}; should be`} string`,
  GO_INDEX_TYPE: (r) => `error calling index: cannot index slice/array with ${r.type === undefined ? "nil" : `type ${r.type}`}`,
  GO_NO_INDEX: (r) => `error calling index: can't index item of type ${r.type}`,
  GO_OUT_OF_RANGE: (r) => `error calling index: index out of range: ${r.index}`,
  GO_NO_LENGTH: (r) => `error calling len: len of ${r.type === undefined ? "nil pointer" : `type ${r.type}`}`,
  GO_BOUNDS: ({ fn, from, to, length }) =>
    fn === "slice"
      ? `error calling slice: slice index out of bounds [${from}:${to}] of ${length}`
      : `slice bounds out of range [${from}:${to}] with length ${length}`,
  GO_NO_LIST: (r) => `error calling ${r.fn}: wants a list, got ${r.given}`,
  GO_NIL_MAP: (r) => `error calling ${r.fn}: assignment to entry in nil map`,
  GO_DIG: (r) => `error calling dig: ${r.wrong === "map" ? `interface conversion: ${r.type}, not map[string]interface {}` : DIG[r.wrong]}`,
  GO_SLUGIFY: (r) => `error calling slugify: ${SLUGIFY[r.wrong]}`,
  GO_DIVIDE: (r) => `error calling ${r.fn}: integer divide by zero`,
  GO_REPEAT: () => "error calling repeat: strings: negative Repeat count",
  GO_PATTERN: (r) => r.said,
  GO_VERSION: (r) => `error calling semver: Invalid Semantic Version: ${JSON.stringify(r.version)}`,
  GO_CONSTRAINT: (r) => `error calling semverCompare: improper constraint: ${r.constraint}`,
  GO_YAML_TYPE: (r) => `error calling ${r.fn}: the text is not a ${r.wanted}`,
  GO_CALL: (r) => `error calling ${r.fn}: ${r.said}`,
};

const DIG = { count: "dig needs at least three arguments", keys: "keys must be text" };
const SLUGIFY = {
  text: "the last argument must be text",
  size: "the first of several arguments must be an integer",
  smart: "the second of three arguments must be true or false",
  negative: "the size must not be negative",
};

/** What this program says of what it does not evaluate. */
export const LACKS: Sentences<GoLacks> = {
  LACKS_FUNCTION: (r) => `the template function ${r.name} is not supported`,
  LACKS_VERB: (r) => `printf does not support ${r.verb}`,
  LACKS_VERB_OF: (r) => `printf does not support %${r.verb} of ${r.of}`,
  LACKS_VERB_FOR: (r) => `printf does not support %${r.verb} of ${VERB_FOR[r.verb]}`,
  LACKS_PRECISION: (r) => `printf does not support a precision of %${r.verb}`,
  LACKS_HALF_CHARACTER: (r) => `${r.fn} would cut a character of ${JSON.stringify(r.text)} in two`,
  LACKS_GROUPS: (r) => `the regular expression ${JSON.stringify(r.pattern)} gives two groups one name, which is not supported`,
  LACKS_LONG_INPUT: (r) => `regular expressions over more than ${r.most} characters are not supported`,
  LACKS_SLUGIFY: () => "slugify with more than three arguments is not supported",
  LACKS_CHANGE: (r) =>
    `${r.fn} on a parameter is not supported: it would change what other fields see; use it on a dict, or merge into one first`,
  LACKS_VERSION_JSON: () => "a semver value cannot be encoded",
  LACKS_BASE64: (r) => (r.bytes ? "b64dec of bytes that are not text is not supported" : "b64dec was given text that is not base64"),
  LACKS_CHUNK: () => "chunk with a size below 1 is not supported",
  LACKS_LONG_LIST: (r) => `a list of ${r.count} numbers is too long`,
  LACKS_LONG_PATTERN: (r) => `regular expressions of more than ${r.most} characters are not supported`,
  LACKS_LONG_TEXT: (r) => `a function would make a text of more than ${r.most} characters`,
  LACKS_OCTAL: (r) => `the integer of ${JSON.stringify(r.text)} depends on the version of Argo CD (a leading zero may mean octal)`,
  LACKS_BIG_INTEGER: (r) => `the integer ${r.value} is too large to be exact here`,
  LACKS_CONSTRAINT: (r) => `semverCompare does not support the constraint ${JSON.stringify(r.part)}`,
  LACKS_PRERELEASE: () => "semverCompare does not support a pre-release against a constraint that names one",
  LACKS_NOSPACE: () => "nospace is supported for ASCII text alone: sprig breaks other text",
  LACKS_YAML: (r) => `toYaml does not support ${YAML[r.of]}`,
};

const VERB_FOR = { c: "what is not a character", q: "an integer", f: "a number this large", x: "a float" };
const YAML = {
  key: "a map with a key that is very long or has several lines",
  characters: "text with unusual characters",
  quotes: "a text this long in double quotes",
};

/** Says why a template cannot be parsed or executed. */
export const sayTemplateFailure: (reason: TemplateReason) => string = sayBy<TemplateReasons>({ ...FAILURES, ...LACKS });
