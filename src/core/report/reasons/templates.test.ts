import { expect, test } from "vitest";
import { compileGoTemplate, TemplateError } from "../../gotemplate/index.ts";
import { stringMap } from "../../gotemplate/value.ts";
import { FAILURES, LACKS, sayTemplateFailure } from "./templates.ts";

const DATA = {
  name: "Payments",
  empty: "",
  nothing: null,
  replicas: 3,
  half: 0.5,
  on: true,
  list: ["b", "a", "c", "a"],
  labels: stringMap({ env: "prod" }),
  nested: { a: { b: "deep" }, n: [1, 2] },
};

function failureOf(template: string) {
  try {
    compileGoTemplate(template)(DATA, "error");
    return undefined;
  } catch (error) {
    return error instanceof TemplateError ? error.reason : undefined;
  }
}

const SAID: readonly [template: string, said: string][] = [
  ["{{ .name", "unclosed action"],
  ["{{/* x", "unclosed comment"],
  ["{{/* x */ }}", "comment ends before closing delimiter"],
  ["{{ (.name }}", "unclosed left paren"],
  ['{{ "abc }}', "unterminated quoted string"],
  ["{{ `abc }}", "unterminated raw quoted string"],
  ["{{ 'ab }}", "unterminated character constant"],
  ['{{ "\\q" }}', "invalid syntax: \\q is no escape of a Go string"],
  ["{{ 1x2 }}", 'unexpected "x2" in operand'],
  ["{{ 0b3 }}", 'bad number syntax: "0b3"'],
  ["{{ 99999999999999999999 }}", "integer overflow: 99999999999999999999"],
  ["{{if .on}}{{else if}}", "missing value for if"],
  ["{{ else }}", "unexpected {{else}}"],
  ["{{ end }}", "unexpected {{end}}"],
  ["{{ .name ) }}", "unexpected right paren"],
  ['{{ "a".b }}', "unexpected . after a constant"],
  ["{{ if .on }}", "unclosed {{if}}: an {{end}} is missing"],
  ["{{ if .on }}{{ else }}{{ else }}{{ end }}", "expected end; found {{else}}"],
  ["{{ if .on }}{{ else with .on }}{{ end }}", "{{else with}} does not belong to {{if}}"],
  ["{{ break }}", "{{break}} outside {{range}}"],
  ["{{ define x }}{{ end }}", "{{define}} wants a quoted name"],
  ["{{ .name | }}", "missing value in command"],
  ['{{ .name | "x" }}', "non executable command in pipeline stage 2"],
  ["{{ nme }}", 'function "nme" not defined'],
  ["{{ $x }}", 'undefined variable "$x"'],
  ["{{ and false ($x := 1) }}{{ $x }}", "undefined variable: $x"],
  ["{{ .name 1 }}", "can't give argument to non-function .name"],
  ["{{ nil }}", "nil is not a command"],
  ["{{ .none }}", 'map has no entry for key "none", at <.none>'],
  ["{{ .nothing.x }}", "nil pointer evaluating interface {}.x, at <.nothing.x>"],
  ["{{ .name.x }}", "can't evaluate field x in type string, at <.name.x>"],
  ["{{ lower.x }}", "wrong number of args for lower: want 1 got 0"],
  ["{{ printf }}", "wrong number of args for printf: want at least 1 got 0"],
  ["{{ lower nil }}", "cannot assign nil to string"],
  ["{{ lower .nothing }}", "invalid value; expected string"],
  ['{{ get .nothing "a" }}', "wrong type for value; expected map[string]interface {}; got interface {}"],
  ["{{ lower true }}", "expected string; found true"],
  ["{{ range $i, $v := 3 }}{{ end }}", "can't use 3 to iterate over more than one variable"],
  ["{{ range .name }}{{ end }}", "range can't iterate over Payments"],
  ['{{ template "t" }}', 'template "t" not defined'],
  ['{{ define "t" }}{{ template "t" }}{{ end }}{{ template "t" }}', 'template "t" calls itself without end'],
  ["{{ eq .list .list }}", "error calling eq: non-comparable type []interface {}"],
  ["{{ eq .replicas 3 }}", "error calling eq: incompatible types for comparison (float64 and int)"],
  ["{{ eq .on }}", "error calling eq: missing argument for comparison"],
  ["{{ lt .list .list }}", "error calling lt: invalid type for comparison ([]interface {})"],
  ["{{ index .nothing }}", "error calling index: index of untyped nil"],
  ['{{ index .nested "a" "b" "c" }}', "error calling index: cannot index slice/array with type string"],
  ["{{ index .nested .nothing }}", "error calling index: value is nil; should be of type string"],
  ["{{ index .nested 1 }}", "error calling index: value has type int; should be string"],
  ["{{ index .list .nothing }}", "error calling index: cannot index slice/array with nil"],
  ['{{ index .nested "zz" "x" }}', "error calling index: index of nil pointer"],
  ["{{ index .on 1 }}", "error calling index: can't index item of type bool"],
  ["{{ index .list 9 }}", "error calling index: index out of range: 9"],
  ["{{ len .nothing }}", "error calling len: len of nil pointer"],
  ["{{ len 1 }}", "error calling len: len of type int"],
  ["{{ slice .list 9 }}", "error calling slice: slice index out of bounds [9:4] of 4"],
  ['{{ substr 1 0 "abc" }}', "slice bounds out of range [1:0] with length 3"],
  ['{{ first "x" }}', "error calling first: wants a list, got string"],
  ['{{ dig "a" "b" "c" "d" .nested }}', "error calling dig: interface conversion: string, not map[string]interface {}"],
  ["{{ slugify 1 }}", "error calling slugify: the last argument must be text"],
  ['{{ slugify 1.5 "a" }}', "error calling slugify: the first of several arguments must be an integer"],
  ['{{ slugify 1 1 "a" }}', "error calling slugify: the second of three arguments must be true or false"],
  ['{{ slugify -1 "a" }}', "error calling slugify: the size must not be negative"],
  ['{{ slugify 1 true 1 "a" }}', "slugify with more than three arguments is not supported"],
  ["{{ div 1 0 }}", "error calling div: integer divide by zero"],
  ['{{ repeat -1 "a" }}', "error calling repeat: strings: negative Repeat count"],
  ['{{ regexFind "a(" "x" }}', "error parsing regexp: missing closing ): `a(`"],
  ['{{ semver "x" }}', 'error calling semver: Invalid Semantic Version: "x"'],
  ['{{ semverCompare "||" "1.2.3" }}', "error calling semverCompare: improper constraint: ||"],
  ['{{ fromYaml "1" }}', "error calling fromYaml: the text is not a map"],
  [
    '{{ fromYaml "a: [" }}',
    "error calling fromYaml: Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 5",
  ],
  ['{{ fromYamlArray "a: 1" }}', "error calling fromYamlArray: the text is not a list"],
  ["{{ now }}", "the template function now is not supported"],
  ['{{ printf "%*d" 1 }}', "printf does not support %*"],
  ['{{ printf "%5d" .on }}', "printf does not support %d of bool"],
  ['{{ printf "%c" -1 }}', "printf does not support %c of what is no character"],
  ['{{ printf "%q" 1 }}', "printf does not support %q of an integer"],
  ['{{ printf "%f" 1e30 }}', "printf does not support %f of so large a number"],
  ['{{ printf "%x" 1.5 }}', "printf does not support %x of a float"],
  ['{{ printf "%.3g" 1.5 }}', "printf does not support a precision of %g"],
  ['{{ trunc 1 "ü" }}', 'trunc would cut a character of "ü" in two'],
  [
    '{{ regexFind "(?P<n>a)(?P<n>b)" "ab" }}',
    'the regular expression "(?P<n>a)(?P<n>b)" gives two groups one name, which is not supported',
  ],
  ['{{ regexMatch "a" (repeat 20001 "a") }}', "regular expressions over more than 20000 characters are not supported"],
  ['{{ regexMatch (repeat 4001 "a") "a" }}', "regular expressions of more than 4000 characters are not supported"],
  [
    '{{ set .nested "x" 1 }}',
    "set on a parameter is not supported: it would change what other fields see; use it on a dict, or merge into one first",
  ],
  ['{{ toJson (semver "1.2.3") }}', "a semver value cannot be encoded"],
  ['{{ b64dec "!" }}', "b64dec was given text that is no base64"],
  ['{{ b64dec "/w==" }}', "b64dec of bytes that are no text is not supported"],
  ["{{ chunk 0 .list }}", "chunk with a size below 1 is not supported"],
  ["{{ until 1000001 }}", "a list of 1000001 numbers is too long"],
  ['{{ repeat 1000001 "a" }}', "a function would make a text of more than 1000000 characters"],
  ['{{ int "012" }}', 'the integer of "012" depends on the version of Argo CD (a leading zero may mean octal)'],
  ["{{ int 1e300 }}", "the integer 1e+300 is too large to be exact here"],
  ['{{ semverCompare "~>x!" "1.2.3" }}', 'semverCompare does not support the constraint "~>x!"'],
  ['{{ semverCompare ">1.2.3-a" "1.2.3-b" }}', "semverCompare of a pre-release with a constraint that names one is not supported"],
  ['{{ nospace "ü" }}', "nospace of other than ASCII text is not supported: sprig breaks it"],
  ['{{ toYaml (dict (repeat 200 "a") 1) }}', "toYaml of a map with a key so long, or of several lines, is not supported"],
  ['{{ toYaml "\\u2028" }}', "toYaml of text with unusual characters is not supported"],
  ['{{ toYaml (printf "%s\\u0001 b" (repeat 100 "a")) }}', "toYaml of so long a text in double quotes is not supported"],
  ["{{ set nil `a` 1 }}", "error calling set: assignment to entry in nil map"],
];

test.each(SAID)("%s", (template, said) => {
  const reason = failureOf(template);
  expect(reason && sayTemplateFailure(reason)).toBe(said);
});

test("every code has a template above, but that of a template that runs for seconds", () => {
  const told = new Set(["GO_ENDLESS", ...SAID.map(([template]) => failureOf(template)?.code)]);
  expect([...told].toSorted()).toEqual([...Object.keys(FAILURES), ...Object.keys(LACKS)].toSorted());
});
