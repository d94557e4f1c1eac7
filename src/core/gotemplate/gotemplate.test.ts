import { describe, expect, test } from "vitest";
import { compileGoTemplate, type MissingKey, TemplateError } from "./index.ts";
import { type GoValue, stringMap } from "./value.ts";

const DATA = {
  name: "Payments",
  empty: "",
  nothing: null,
  replicas: 3,
  million: 1000000,
  half: 0.5,
  on: true,
  list: ["b", "a", "c", "a"],
  path: { path: "apps/eu/payments", segments: ["apps", "eu", "payments"] },
  labels: stringMap({ env: "prod", "example.com/tier": "gold" }),
  nested: { a: { b: "deep" }, n: [1, 2] },
} satisfies Record<string, GoValue>;

function go(template: string, missingKey: MissingKey = "default"): string {
  return compileGoTemplate(template)(DATA, missingKey);
}

describe("actions", () => {
  test.each([
    ["plain text", "a b", "a b"],
    ["a field", "{{ .name }}-x", "Payments-x"],
    ["a chain of fields", "{{.nested.a.b}}", "deep"],
    ["a key that is not there prints as Go prints it", "{{ .none }}|{{ .none.deeper }}|{{ .nothing }}", "<no value>|<no value>|<no value>"],
    ["if, else if and else", "{{ if .empty }}1{{ else if eq .name `x` }}2{{ else }}3{{ end }}", "3"],
    ["with binds the dot, and else with falls through", "{{ with .empty }}x{{ else with .name }}{{ . }}{{ end }}", "Payments"],
    ["range over a list with index and value", "{{ range $i, $v := .list }}{{ $i }}{{ $v }}{{ end }}", "0b1a2c3a"],
    ["range over a map goes by sorted keys", "{{ range $k, $v := .labels }}{{ $k }}={{ $v }},{{ end }}", "env=prod,example.com/tier=gold,"],
    ["range over nothing takes the else", "{{ range .none }}x{{ else }}none{{ end }}", "none"],
    [
      "break and continue",
      '{{ range .list }}{{ if eq . "a" }}{{ continue }}{{ end }}{{ . }}{{ if eq . "c" }}{{ break }}{{ end }}{{ end }}',
      "bc",
    ],
    ["variables, and assignment from within", '{{ $x := "a" }}{{ range .list }}{{ $x = . }}{{ end }}{{ $x }}', "a"],
    ["$ is the data everywhere", "{{ with .nested }}{{ $.name }}{{ end }}", "Payments"],
    ["trim markers", "a  {{- 1 -}}  b", "a1b"],
    ["comments, trimmed too", "a {{- /* gone */ -}} b", "ab"],
    ["define and template", '{{ define "t" }}<{{ . }}>{{ end }}{{ template "t" .name }}', "<Payments>"],
    ["block", '{{ block "b" .name }}[{{ . }}]{{ end }}', "[Payments]"],
    ["a field of a parenthesised value", "{{ (index .path.segments 1) }}{{ (.nested.a).b }}", "eudeep"],
    ["raw strings and escapes", '{{ `{{x}}` }}{{ "\\u0041\\n" }}', "{{x}}A\n"],
    ["braces in quotes do not close", '{{ "}}" }}', "}}"],
    ["a pipeline gives the last argument", '{{ .name | lower | printf "%s-%s" "x" }}', "x-payments"],
  ])("%s", (_, template, expected) => {
    expect(go(template)).toBe(expected);
  });
});

describe("values", () => {
  test.each([
    ["numbers of data are floats: large ones have an exponent", "{{ .million }} {{ .replicas }} {{ .half }}", "1e+06 3 0.5"],
    ["lists and maps as Go prints them", "{{ .list }} {{ .nested }}", "[b a c a] map[a:map[b:deep] n:[1 2]]"],
    ["literals are integers", '{{ 1000000 }} {{ 0x10 }} {{ 010 }} {{ 1e3 }} {{ printf "%T %T" 1 1.0 }}', "1000000 16 8 1000 int float64"],
    ["eq takes several", '{{ eq .name "x" "Payments" }}', "true"],
    ["a missing key equals nothing", '{{ eq .none "x" }} {{ ne .none "x" }}', "false true"],
    ["comparisons", '{{ lt 1 2 }}{{ ge 2 2 }}{{ gt "b" "a" }}{{ le 1.5 1.0 }}', "truetruetruefalse"],
    ["and, or stop at what decides", '{{ and .empty (fail "x") }}|{{ or .name (fail "x") }}', "|Payments"],
    ["not, len", '{{ not .on }} {{ len .list }} {{ len "ü" }}', "false 4 2"],
    ["index of a text map gives an empty text", '{{ index .labels "none" }}|{{ index .labels "example.com/tier" }}', "|gold"],
    ["index of another map gives nothing", '{{ index .nested "none" }}', "<no value>"],
    ["print puts spaces between what is no text", '{{ print 1 2 "a" 3 }}', "1 2a3"],
    [
      "printf",
      '{{ printf "%s %v %d %q %5d|%-3d|%05.1f %t %x %%" "a" .replicas 7 "q\\"" 42 1 3.14159 true 255 }}',
      'a 3 7 "q\\""    42|1  |003.1 true ff %',
    ],
    ["printf with a verb that does not fit", '{{ printf "%d %s" .replicas 1 }}', "%!d(float64=3) %!s(int=1)"],
    ["printf with too few and too many", '{{ printf "%s" }}{{ printf "a" 1 }}', "%!s(MISSING)a%!(EXTRA int=1)"],
  ])("%s", (_, template, expected) => {
    expect(go(template)).toBe(expected);
  });
});

describe("functions", () => {
  test.each([
    ["lower upper title untitle", '{{ lower "AB" }}{{ upper "ab" }}{{ title "a b-c" }}{{ untitle "AB" }}', "abABA B-CaB"],
    ["trims", '{{ trim " a " }}{{ trimAll "-" "--a-" }}{{ trimPrefix "v" "v1" }}{{ trimSuffix ".git" "a.git" }}', "aa1a"],
    ["replace, repeat, nospace", '{{ replace "_" "-" "a_b_c" }}{{ repeat 2 "x" }}{{ nospace "a b" }}', "a-b-cxxab"],
    ["contains and affixes", '{{ contains "a" "cat" }}{{ hasPrefix "c" "cat" }}{{ hasSuffix "x" "cat" }}', "truetruefalse"],
    [
      "trunc from both ends, substr, abbrev",
      '{{ trunc 2 "abcd" }}{{ trunc -2 "abcd" }}{{ substr 1 3 "abcd" }}{{ abbrev 5 "abcdefgh" }}',
      "abcdbcab...",
    ],
    ["quote, squote, cat", '{{ quote "a" 1 nil }}{{ squote "b" }}{{ cat "a" 1 }}', '"a" "1"\'b\'a 1'],
    ["indent, nindent", '{{ indent 2 "a\\nb" }}{{ nindent 1 "c" }}', "  a\n  b\n c"],
    [
      "split, splitList, splitn, join",
      '{{ (split "/" "a/b")._1 }}{{ splitList "/" "a/b" | join "+" }}{{ (splitn "/" 2 "a/b/c")._1 }}',
      "ba+bb/c",
    ],
    [
      "default, coalesce, ternary, empty",
      '{{ default "d" .empty }}{{ coalesce .none .name }}{{ ternary "y" "n" .on }}{{ empty .list }}',
      "dPaymentsyfalse",
    ],
    [
      "lists",
      '{{ list 1 2 3 | first }}{{ last .list }}{{ rest .list }}{{ initial .list }}{{ uniq .list }}{{ has "c" .list }}',
      "1a[a c a][b a c][b a c]true",
    ],
    [
      "more lists",
      '{{ sortAlpha .list }}{{ reverse (list 1 2) }}{{ append .list "z" | len }}{{ without .list "a" }}{{ slice .list 1 3 }}{{ concat (list 1) (list 2) }}{{ compact (list "" "a") }}',
      "[a a b c][2 1]5[b c][a c][1 2][a]",
    ],
    ["until", "{{ until 3 }}{{ untilStep 1 6 2 }}", "[0 1 2][1 3 5]"],
    [
      "dicts",
      '{{ $d := dict "a" 1 "b" 2 }}{{ $_ := set $d "c" 3 }}{{ keys $d | sortAlpha }}{{ hasKey $d "x" }}{{ get $d "c" }}{{ pick $d "a" }}{{ omit $d "a" }}',
      "[a b c]false3map[a:1]map[b:2 c:3]",
    ],
    [
      "merge fills, mergeOverwrite replaces",
      '{{ merge (dict "a" 1) (dict "a" 2 "b" 3) }}{{ mergeOverwrite (dict "a" 1) (dict "a" 2) }}',
      "map[a:1 b:3]map[a:2]",
    ],
    ["dig", '{{ dig "a" "b" "d" .nested }}{{ dig "a" "x" "d" .nested }}', "deepd"],
    [
      "integers",
      "{{ add 1 2 3 }}{{ sub 5 2 }}{{ mul 2 3 }}{{ div 7 2 }}{{ mod 7 2 }}{{ max 1 5 3 }}{{ min 4 2 }}{{ add1 .replicas }}",
      "63631524",
    ],
    [
      "conversions",
      '{{ int .million }} {{ int "12" }} {{ atoi "7" }} {{ float64 "1.5" }} {{ toString .replicas }} {{ int64 true }}',
      "1000000 12 7 1.5 3 1",
    ],
    ["rounding", "{{ floor 1.7 }}{{ ceil 1.2 }}{{ round 1.256 2 }}", "121.26"],
    [
      "regular expressions",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how Go writes it
      '{{ regexMatch "^eu-" "eu-1" }}{{ regexReplaceAll "^v(\\\\d+)" "v12.3" "${1}" }}{{ regexFind "[a-z]+" "12ab" }}{{ regexSplit "," "a,b" -1 }}{{ regexFindAll "[0-9]" "1a2" -1 }}',
      "true12.3ab[a b][1 2]",
    ],
    [
      "a name in a replacement takes all it can",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how Go writes it
      '{{ regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W" }}{{ regexReplaceAll "a(x*)b" "-ab-axxb-" "$1W" }}',
      "-W-xxW----",
    ],
    ["a repetition within a repetition", '{{ regexMatch "(a+)+$" "aaaa" }}{{ regexMatch "^(a|b)*\\\\z" "abc" }}', "truefalse"],
    [
      "an empty match right behind another is none",
      '{{ regexReplaceAll "a*" "baaac" "-" }}{{ regexFindAll "a*" "baaac" -1 | len }}',
      "-b-c-3",
    ],
    ["flags, classes and quotes of RE2", '{{ regexFindAll "(?i)[[:upper:]]\\\\d|\\\\pL{2}|\\\\Q.*\\\\E" "a1 üb .*" -1 }}', "[a1 üb .*]"],
    ["regexMatch with a pattern that is none is false", '{{ regexMatch "(" "x" }}', "false"],
    [
      "JSON",
      '{{ toJson .nested }}{{ toJson "<a>" }}{{ toRawJson "<a>" }}{{ (fromJson `{"a":[1]}`).a }}',
      '{"a":{"b":"deep"},"n":[1,2]}"\\u003ca\\u003e""<a>"[1]',
    ],
    ["YAML", "{{ toYaml .nested }}|{{ (fromYaml `a: on`).a }}{{ fromYamlArray `[1, x]` }}", 'a:\n  b: deep\n"n":\n- 1\n- 2|true[1 x]'],
    [
      "base64 and sha256",
      '{{ b64enc "ü" }}{{ b64dec "w7w=" }} {{ sha256sum "abc" }}',
      "w7w=ü ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    ],
    ["paths", '{{ base "a/b.txt" }}{{ dir "a/b" }}{{ ext "a.b.c" }}{{ clean "a//b/.." }}', "b.txta.ca"],
    ["versions", '{{ (semver "v1.2.3").Minor }}{{ semverCompare ">=1.2, <2" "1.9.0" }}{{ semverCompare "^2" "1.9.0" }}', "2truefalse"],
    [
      "kinds",
      '{{ kindOf .list }} {{ kindIs "map" .nested }} {{ typeOf .labels }} {{ kindOf .none }}',
      "slice true map[string]string invalid",
    ],
    ["normalize", '{{ normalize "Team_A/x." }}', "team-a-x"],
    [
      "slugify cuts after a word, at 50 or where asked",
      '{{ slugify "feat/Some_Branch.name" }} {{ slugify 10 true "alpha-beta-gamma" }} {{ slugify 8 false "alpha-beta" }}',
      "feat-some-branch-name alpha-beta alpha-be",
    ],
  ])("%s", (_, template, expected) => {
    expect(go(template)).toBe(expected);
  });
});

/** Why a template fails. */
function failureOf(template: string): TemplateError {
  try {
    go(template, "error");
  } catch (error) {
    if (error instanceof TemplateError) return error;
  }
  throw new Error(`${template} does not fail as a template does`);
}

// How each code is said, and a template for each, is in core/report/reasons/templates.test.ts.
describe("errors", () => {
  test.each([
    ["a missing key under missingkey=error", "{{ .none }}", { code: "GO_NO_KEY", of: "map", key: "none" }],
    ["a field of null", "{{ .nothing.x }}", { code: "GO_NIL_POINTER" }],
    ["a field of text", "{{ .name.x }}", { code: "GO_NO_FIELD", field: "x", type: "string" }],
    ["an unknown function", "{{ nme }}", { code: "GO_UNKNOWN_FUNCTION", name: "nme" }],
    ["a function Argo CD takes away", '{{ env "HOME" }}', { code: "GO_UNKNOWN_FUNCTION", name: "env" }],
    ["a variable nobody declared", "{{ $x }}", { code: "GO_UNKNOWN_VARIABLE", name: "$x" }],
    ["an open if", "{{ if .on }}", { code: "GO_NO_END", block: "if" }],
    ["an end too many", "{{ end }}", { code: "GO_STRAY", what: "{{end}}" }],
    ["an open action", "{{ .name", { code: "GO_UNCLOSED", what: "action" }],
    ["a number of data against a literal", "{{ eq .replicas 3 }}", { code: "GO_INCOMPARABLE", left: "float64", right: "int" }],
    ["a float where text is wanted", "{{ .replicas | lower }}", { code: "GO_ARGUMENT_TYPE", wanted: "string", given: "float64" }],
    ["a text map where a map is wanted", '{{ get .labels "env" }}', { code: "GO_ARGUMENT_TYPE", given: "map[string]string" }],
    ["an int64 where an int is wanted", '{{ trunc (add 1 1) "abc" }}', { code: "GO_ARGUMENT_TYPE", wanted: "int", given: "int64" }],
    ["nothing where text is wanted", "{{ lower .nothing }}", { code: "GO_NIL_ARGUMENT", wanted: "string" }],
    ["too few arguments", '{{ replace "a" "b" }}', { code: "GO_ARGUMENTS", fn: "replace", wanted: 3, given: 2 }],
    ["an index beyond the end", "{{ index .list 9 }}", { code: "GO_OUT_OF_RANGE", index: 9 }],
    ["an argument for a field", "{{ .name 1 }}", { code: "GO_NOT_CALLABLE", operand: ".name" }],
    ["fail", '{{ fail "stop" }}', { code: "GO_CALL", fn: "fail", said: "stop" }],
    ["no list", '{{ mustFirst "a" }}', { code: "GO_NO_LIST", fn: "mustFirst", given: "string" }],
    ["a pattern that is none", '{{ regexFind "a(" "x" }}', { code: "GO_PATTERN" }],
    ["what RE2 lacks", '{{ mustRegexMatch "(?=a)" "x" }}', { code: "GO_PATTERN" }],
    ["a division by zero", "{{ div 1 0 }}", { code: "GO_DIVIDE" }],
    ["a template that calls itself", '{{ define "t" }}{{ template "t" }}{{ end }}{{ template "t" }}', { code: "GO_RECURSION", name: "t" }],
  ])("%s", (_, template, reason) => {
    expect(failureOf(template)).toMatchObject({ lacks: false, reason });
  });

  test.each([
    ["a clock", "{{ now }}"],
    ["chance", "{{ randAlphaNum 5 }}"],
    ["decimals", "{{ addf 0.1 0.2 }}"],
    ["changing a parameter", '{{ set .nested "x" 1 }}'],
    ["two groups of one name", '{{ regexFind "(?P<n>a)(?P<n>b)" "ab" }}'],
    ["an octal-looking text", '{{ int "012" }}'],
  ])("what needs %s is named, not guessed", (_, template) => {
    expect(failureOf(template).lacks).toBe(true);
  });

  test("an unsupported function in a branch that is not taken is no problem", () => {
    expect(go("{{ if .empty }}{{ now }}{{ else }}fine{{ end }}")).toBe("fine");
  });
});
