import { describe, expect, test } from "vitest";
import { sayPin } from "../report/reasons/problems/pins.ts";
import { findPin } from "./find.ts";
import { splice } from "./splice.ts";
import type { PinError, SpliceEdit } from "./types.ts";

function refused(text: string, edit: Partial<SpliceEdit> & { path: string }, maxBytes?: number): string {
  const result = splice(text, [{ value: "v2", ...edit }], maxBytes === undefined ? {} : { maxBytes });
  if (result.ok) return `not refused: ${result.text}`;
  const { code, line, column } = result.error;
  const { message, hint } = sayPin(result.error);
  return `${code} ${line}:${column} ${message}. ${hint}`;
}

const bomb = Array.from(
  { length: 9 },
  (_, at) => `a${at}: &a${at} [${Array.from({ length: 9 }, () => (at === 0 ? "x" : `*a${at - 1}`)).join(", ")}]`,
).join("\n");

describe("what cannot be set is refused, with the place and what to do", () => {
  const cases: [name: string, text: string, path: string, code: PinError["code"], says: RegExp][] = [
    [
      "a key that is not there names the nearest",
      "spec:\n  targetRevison: 1\n",
      "spec.targetRevision",
      "PIN_NOT_FOUND",
      / 2:3 .*in spec.*did you mean "targetRevison"\?/,
    ],
    ["nothing near: the keys that are there", "spec:\n  a: 1\n  b: 2\n", "spec.version", "PIN_NOT_FOUND", /: a, b\)$/],
    [
      "an item that is not there",
      "l:\n  - name: alpha\n  - name: beta\n",
      "l[name=betta].v",
      "PIN_NOT_FOUND",
      /2:3 .*did you mean "beta"\?/,
    ],
    ["a list's key that no item has", "l:\n  - a: 1\n", "l[name=x]", "PIN_NOT_FOUND", /1 item has "name"/],
    ["an index past the end", "l: [1, 2]\n", "l[2]", "PIN_NOT_FOUND", /the list has 2,/],
    ["two items of one name", "l:\n  - n: x\n    v: 1\n  - n: x\n    v: 2\n", "l[n=x].v", "PIN_AMBIGUOUS", / 2:5 .*lines 2, 4/],
    ["two documents", "a: 1\n---\na: 2\n", "a", "PIN_AMBIGUOUS", /#1 \(line 1\), #2 \(line 3\).*say which, such as #1\/a/],
    ["a document that is not there", "a: 1\n", "#2/a", "PIN_NOT_FOUND", /has 1 document/],
    ["a mapping", "a:\n  b: 1\n", "a", "PIN_NOT_SCALAR", / 2:3 .*go on to one of its keys: b/],
    ["a list", "a: [1]\n", "a", "PIN_NOT_SCALAR", /such as \[0\]/],
    ["a step through a value", "a: x\n", "a.b", "PIN_NOT_FOUND", /single value/],
    ["a step through a block scalar", "a: |\n  b: 1\n", "a.b", "PIN_NOT_FOUND", /write !/],
    ["! into a quoted value", 'a: "b: 1"\n', "a!b", "PIN_NOT_SCALAR", /block scalar/],
    ["an empty value", "a:\n", "a", "PIN_NOT_FOUND", /`create`/],
    ["an anchored value that others use", "x: &v v1\ny:\n  z: *v\n", "x", "PIN_SHARED_ANCHOR", /&v: x \(line 1\), y\.z \(line 3\)/],
    ["an alias", "x: &v v1\ny:\n  z: *v\n", "y.z", "PIN_SHARED_ANCHOR", /x \(line 1\), y\.z \(line 3\)/],
    ["a value below a shared anchor", "x: &v {k: 1}\ny: *v\n", "x.k", "PIN_SHARED_ANCHOR", /x \(line 1\), y \(line 2\)/],
    [
      "a value that a merge brings",
      "b: &b\n  k: 1\nc:\n  <<: *b\n",
      "c.k",
      "PIN_SHARED_ANCHOR",
      /b \(line 2\), c\["<<"\] \(line 4\)|b \(line 2\), c\.<< \(line 4\)/,
    ],
    ["a key that stands twice", "a: 1\nb: 2\na: 3\n", "b", "PIN_DUPLICATE_KEY", / 3:1 .*lines 1 and 3/],
    ["a template in quotes", "a: '{{metadata.annotations.x}}'\n", "a", "PIN_IS_TEMPLATE", / 1:4 .*\{\{metadata\.annotations\.x\}\}/],
    ["a template without quotes", "a: {{ .Values.x }}\n", "a", "PIN_IS_TEMPLATE", / 1:4 /],
    ["a Helm template", "a: 1\n{{- if .Values.x }}\nb: 1\n{{- end }}\n", "a", "PIN_FILE_NOT_YAML", / \d+:\d+ .*a template.*values file/],
    ["broken YAML", "a: [1\nb: 2\n", "a", "PIN_FILE_NOT_YAML", / \d+:\d+ /],
    ["an alias of nothing", "a: *x\nb: 1\n", "b", "PIN_FILE_NOT_YAML", / 1:4 .*\*x/],
    ["an alias bomb", `${bomb}\n`, "a8[0]", "PIN_ALIAS_BOMB", / 9:/],
    ["an alias inside its own anchor", "a: &a [*a]\nb: 1\n", "b", "PIN_ALIAS_BOMB", / 1:/],
    ["flow that nests too deep", `a: ${"[".repeat(20_000)}${"]".repeat(20_000)}`, "a", "PIN_FILE_TOO_LARGE", /200 levels/],
    ["mistakes that the yaml package takes minutes to count", `a: [${",".repeat(100_000)}]`, "a", "PIN_FILE_TOO_LARGE", /60000 brackets/],
    [
      "flow that nests too deep, which the yaml package reads",
      `t: !!str x\na: ${"[".repeat(20_000)}${"]".repeat(20_000)}`,
      "a",
      "PIN_FILE_TOO_LARGE",
      /200 levels/,
    ],
    ["lists that nest too deep", `${"- ".repeat(50_000)}x`, "[0]", "PIN_FILE_TOO_LARGE", /200 levels/],
    ["JSON that nests too deep", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, "[0]", "PIN_FILE_TOO_LARGE", /200 levels/],
    ["documents without end", "---\n".repeat(6000), "a", "PIN_FILE_TOO_LARGE", /5000 documents/],
    ["more than is read in a second", "a: 1\n".repeat(1_100_000), "a", "PIN_FILE_TOO_LARGE", /1500000 brackets/],
    ["50 MB", "x".repeat(50_000_000), "a", "PIN_FILE_TOO_LARGE", /10 MiB/],
  ];
  for (const [name, text, path, code, says] of cases) {
    test(name, () => {
      const seen = refused(text, { path });
      expect(seen.split(" ")[0]).toBe(code);
      expect(seen).toMatch(says);
    });
  }

  test("an error inside a block scalar has its place in the file", () => {
    expect(refused("x: 1\na: |\n  # c\n  b:\n    c: 1\n", { path: "a!b.d" })).toMatch(/^PIN_NOT_FOUND 5:5 /);
    expect(refused("a: |\n  b: [1\n", { path: "a!b" })).toMatch(/^PIN_FILE_NOT_YAML [23]:/);
  });
  test.each([
    ["the anchor itself", "x: &v v1\ny: *v\n", "x", /^PIN_SHARED_ANCHOR 1:7 .*without the anchor/],
    ["an alias in what others share", "x: &v v1\nb: &b {k: *v}\nc: *b\n", "b.k", /^PIN_SHARED_ANCHOR/],
    ["in a list that a merge brings", "b: &b {i: [{k: 1}]}\nc:\n  <<: *b\n", "c.i[0].k", /^PIN_SHARED_ANCHOR .*without the anchor/],
    [
      "below what a merge brings, with no anchor to follow the rest by",
      "b: &b {i: {k: 1, l: 2}}\nc:\n  <<: *b\n",
      "c.i.k",
      /^PIN_SHARED_ANCHOR .*give b\.i \(line 1\) an anchor, such as &i, and say `create`/,
    ],
    [
      "an alias whose anchor stands in another document",
      "x: &v v1\n---\ny: *v\n",
      "#2/y",
      /^PIN_FILE_NOT_YAML 3:4 .*\*v.*define the anchor above/,
    ],
  ])("no value of its own is written for %s", (_what, text, path, says) => expect(refused(text, { path, create: true })).toMatch(says));
  test.each([
    ["an alias", "x: &v v1\ny: *v\n", "y"],
    ["a key that a merge brings", "b: &b {k: 1}\nc:\n  <<: *b\n", "c.k"],
    ["below an alias", "x: &v {k: 1, l: 2}\ny: *v\n", "y.k"],
    ["below what a merge brings", "b: &b {i: {k: 1}}\nc:\n  <<: *b\n", "c.i.k"],
  ])("of %s is said that `create` would write it out", (_what, text, path) =>
    expect(refused(text, { path })).toMatch(/^PIN_SHARED_ANCHOR .*say `create`/),
  );
  test.each([
    ["where others go by another key", "l:\n  - n: x\n", "l[name=y].v", /^PIN_NOT_FOUND 2:3 .*none of its 1 item has "name"/],
    ["to a list of values", "l: [x]\n", "l[n=y].v", /^PIN_NOT_FOUND 1:4 /],
    ["that is the value itself", "l:\n  - n: x\n", "l[n=y]", /^PIN_NOT_FOUND 2:3 .*no item has n=y/],
    ["by its index", "l:\n  - n: x\n", "l[1].v", /^PIN_NOT_FOUND 2:3 /],
    ["below which an index follows", "l:\n  - n: x\n", "l[n=y].m[0].v", /^PIN_NOT_FOUND 2:3 /],
    ["of which there are two", "l:\n  - n: x\n  - n: x\n", "l[n=x].v", /^PIN_AMBIGUOUS 2:5 .*lines 2, 3/],
    ["to a list that others share", "a: &l\n  - n: x\nb: *l\n", "b[n=y].v", /^PIN_SHARED_ANCHOR .*a \(line 2\), b \(line 3\)/],
    ["to a list that a merge brings", "a: &a\n  l: [{n: x}]\nb:\n  <<: *a\n", "b.l[n=y].v", /^PIN_SHARED_ANCHOR/],
  ])("an item is not created %s", (_where, text, path, says) => expect(refused(text, { path, create: true })).toMatch(says));
  test("no document has it, and more than one could get it", () => {
    expect(refused("a: 1\n---\na: 2\n", { path: "b", create: true })).toMatch(/^PIN_AMBIGUOUS .*2 documents/);
  });
  test("a tag that a digest follows", () => {
    expect(refused("i: r/a:v1@sha256:aa\n", { path: "i", part: "tag" })).toMatch(/^PIN_PART 1:4 .*tag\+digest/);
  });
  test("a value that its style cannot say", () => {
    expect(refused("a: |-\n  x\n", { path: "a", value: "x\n\n" })).toMatch(/^PIN_VERIFY 1:4 /);
    expect(refused("a: |-\n  x\n", { path: "a", value: "\x07" })).toMatch(/^PIN_VERIFY 1:4 /);
  });
  test("the limit counts bytes, and can be set", () => {
    expect(refused("a: éé\n", { path: "a" }, 7)).toMatch(/^PIN_FILE_TOO_LARGE/);
    expect(refused("a: éé\n", { path: "a" }, 8)).toMatch(/^not refused/);
  });
  test("a shared value is found all the same", () => {
    expect(findPin("x: &v v1\ny: *v\n", { path: "y" })).toMatchObject({ ok: true, found: { value: "v1", line: 1, column: 7 } });
    expect(findPin("b: &b {k: 1}\nc:\n  <<: *b\n", { path: "c.k" })).toMatchObject({ ok: true, found: { value: "1" } });
  });
  test("JSON is said to be wrong as JSON, when asked for", () => {
    const result = findPin('{"a": 1,}', { path: "a" }, { format: "json" });
    expect(result).toMatchObject({ ok: false, error: { code: "PIN_FILE_NOT_YAML", line: 1, column: 9 } });
  });
});
