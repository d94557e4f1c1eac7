import { describe, expect, test } from "vitest";
import { findPin } from "./find.ts";
import { splice } from "./splice.ts";
import type { SpliceEdit } from "./types.ts";

type Edit = Partial<SpliceEdit> & { path: string };

function spliced(text: string, ...edits: Edit[]): string {
  const result = splice(
    text,
    edits.map((edit) => ({ value: "v2", ...edit })),
  );
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.text;
}

describe("every byte outside the value stays", () => {
  const cases: [name: string, before: string, edit: Edit, after: string][] = [
    ["a comment behind the value", "a: v1   # keep me\nb: 1\n", { path: "a" }, "a: v2   # keep me\nb: 1\n"],
    ["single quotes", "a: 'v1'\n", { path: "a" }, "a: 'v2'\n"],
    ["double quotes", 'a: "v1"\n', { path: "a" }, 'a: "v2"\n'],
    ["a quote inside single quotes", "a: 'v1'\n", { path: "a", value: "it's" }, "a: 'it''s'\n"],
    ["a quote inside double quotes", 'a: "v1"\n', { path: "a", value: 'say "hi"' }, 'a: "say \\"hi\\""\n'],
    ["an anchor nobody uses", "a: &x v1\n", { path: "a" }, "a: &x v2\n"],
    ["a tag", "a: !!str v1 # c\n", { path: "a" }, "a: !!str v2 # c\n"],
    ["CRLF", "a: v1\r\nb: x\r\n", { path: "a" }, "a: v2\r\nb: x\r\n"],
    ["a byte order mark", "\ufeffa: v1\n", { path: "a" }, "\ufeffa: v2\n"],
    ["tabs before a comment", "a:\tv1\t# c\n", { path: "a" }, "a:\tv2\t# c\n"],
    ["a missing last line break", "a: v1", { path: "a" }, "a: v2"],
    ["spaces at a line's end", "a: v1   \nb: x\n", { path: "a" }, "a: v2   \nb: x\n"],
    ["the other documents", "a: 1\n---\n# two\na: v1\n...\n", { path: "#2/a" }, "a: 1\n---\n# two\na: v2\n...\n"],
    ["the one document that has the path", "b: 1\n---\na: v1\n", { path: "a" }, "b: 1\n---\na: v2\n"],
    ["a flow mapping", "x: {b: v1, c: [1, 2]} # c\n", { path: "x.b" }, "x: {b: v2, c: [1, 2]} # c\n"],
    ["a flow list", "x: [v1 , w]\n", { path: "x[0]" }, "x: [v2 , w]\n"],
    ["a flow collection over lines", "x: {\n  b: v1, # c\n  c: 1,\n}\n", { path: "x.b" }, "x: {\n  b: v2, # c\n  c: 1,\n}\n"],
    [
      "a literal block scalar's header and column",
      "a: |- # h\n    v1\nb: 1\n",
      { path: "a", value: "x\ny" },
      "a: |- # h\n    x\n    y\nb: 1\n",
    ],
    ["a folded one's", "a: >\n  v1\n  more\n\nb: 1\n", { path: "a" }, "a: >\n  v2\n\nb: 1\n"],
    ["an explicit indentation", "a: |2-\n  v1\n", { path: "a" }, "a: |2-\n  v2\n"],
    ["a list in its key's column", "l:\n- n: x\n  v: v1\n- n: y\n", { path: "l[n=x].v" }, "l:\n- n: x\n  v: v2\n- n: y\n"],
    ["a key in quotes", "'a.b':\n  \"c d\": v1\n", { path: '["a.b"]["c d"]' }, "'a.b':\n  \"c d\": v2\n"],
    [
      "an element of a matrix in a merge",
      "g:\n  - merge:\n      generators:\n        - matrix: {generators: [{list: {elements: [{c: x, r: v1}]}}]}\n",
      { path: "g[0].merge.generators[0].matrix.generators[0].list.elements[c=x].r" },
      "g:\n  - merge:\n      generators:\n        - matrix: {generators: [{list: {elements: [{c: x, r: v2}]}}]}\n",
    ],
    ["a plain value over two lines", "a: one\n  two\nb: 1\n", { path: "a" }, "a: v2\nb: 1\n"],
    ["a root list", "- v: v1\n- v: x\n", { path: "[0].v" }, "- v: v2\n- v: x\n"],
    [
      "an item picked by an address",
      "l:\n  - server: https://a.b:6443/x\n    v: v1\n",
      { path: "l[server=https://a.b:6443/x].v" },
      "l:\n  - server: https://a.b:6443/x\n    v: v2\n",
    ],
    ["an item picked by a number", "l:\n  - id: 5\n    v: v1\n", { path: "l[id=5].v" }, "l:\n  - id: 5\n    v: v2\n"],
    [
      "JSON",
      '{\n\t"a": "v1",\n\t"b": [1.50, {"c": null}]\n}\n',
      { path: "a", value: 'q"\n' },
      '{\n\t"a": "q\\"\\n",\n\t"b": [1.50, {"c": null}]\n}\n',
    ],
    ["a JSON number that stays one", '{"a": 1, "b": 2.50}', { path: "a", value: "3" }, '{"a": 3, "b": 2.50}'],
    ["a JSON number that becomes text", '{"a": 1}', { path: "a", value: "1.10" }, '{"a": "1.10"}'],
  ];
  for (const [name, before, edit, after] of cases) test(name, () => expect(spliced(before, edit)).toBe(after));
});

describe("a plain value that would change type gets quotes", () => {
  const odd = [
    "0044289",
    "12e4567",
    "3.10",
    "on",
    "No",
    "y",
    "1_000",
    "1:30",
    "~",
    "null",
    "2024-01-02",
    ".inf",
    "0x1F",
    "0o17",
    "0b1",
    "=",
    "<<",
    "true",
    "7",
    "1.5",
    "",
    " x",
    "x ",
    "a #b",
    "a: b",
    "- a",
    "[a",
    "*a",
    "!a",
    "@a",
    "%a",
    "---",
  ];
  for (const value of odd) {
    test(JSON.stringify(value), () => expect(spliced("a: v1\n", { path: "a", value })).toBe(`a: "${value}"\n`));
  }
  test("in the quotes that the file prefers", () =>
    expect(spliced("a: v1\nb: 'x'\n", { path: "a", value: "on" })).toBe("a: 'on'\nb: 'x'\n"));
  test("a comma inside brackets", () => expect(spliced("a: [v1]\n", { path: "a[0]", value: "x,y" })).toBe('a: ["x,y"]\n'));
  for (const value of ["1.2.3", "v1.10", "e355c408", "609ddcf6", "a,b", "a:b", "it's", "1.2.3-rc.1+5", "c#d"]) {
    test(`not ${value}`, () => expect(spliced("a: v1\n", { path: "a", value })).toBe(`a: ${value}\n`));
  }
  test("a number stays a number where every reader prints it back as it stands", () => {
    expect(spliced("a: 5\n", { path: "a", value: "60" })).toBe("a: 60\n");
    expect(spliced("a: 1.2\n", { path: "a", value: "1.3" })).toBe("a: 1.3\n");
    expect(spliced("a: 1.2\n", { path: "a", value: "1.30" })).toBe('a: "1.30"\n');
    expect(spliced("a: 5\n", { path: "a", value: "1.5" })).toBe('a: "1.5"\n');
    expect(spliced("a: true\n", { path: "a", value: "false" })).toBe("a: false\n");
  });
});

describe("create", () => {
  const cases: [name: string, before: string, edit: Edit, after: string][] = [
    [
      "an absent key goes after the last sibling",
      "a:\n  b: 1 # c\n  # end\nz: 1\n",
      { path: "a.k" },
      "a:\n  b: 1 # c\n  k: v2\n  # end\nz: 1\n",
    ],
    ["absent parents come with it", "a:\n    b: 1\n", { path: "x.k.l" }, "a:\n    b: 1\nx:\n    k:\n        l: v2\n"],
    ["an empty value", "a:   # c\nb: 1\n", { path: "a" }, "a: v2   # c\nb: 1\n"],
    ["an explicit null", "a: ~ # c\n", { path: "a" }, "a: v2 # c\n"],
    ["a mapping below an empty value", "a: # c\nb: 1\n", { path: "a.k" }, "a: # c\n  k: v2\nb: 1\n"],
    ["an empty item of a list", "a:\n  -\n  - x\n", { path: "a[0]" }, "a:\n  - v2\n  - x\n"],
    ["an empty flow mapping", "a: {}\n", { path: "a.k" }, "a: {k: v2}\n"],
    ["a flow mapping", "a: {b: 1 } # c\n", { path: "a.k.l" }, "a: {b: 1, k: {l: v2} } # c\n"],
    ["after a block scalar with kept breaks", "a:\n  b: |+\n    x\n\nz: 1\n", { path: "a.k" }, "a:\n  b: |+\n    x\n\n  k: v2\nz: 1\n"],
    ["no last line break", "a: 1", { path: "k" }, "a: 1\nk: v2"],
    ["CRLF", "a:\r\n  b: 1\r\n", { path: "a.k" }, "a:\r\n  b: 1\r\n  k: v2\r\n"],
    [
      "an item of a list",
      "l:\n  - name: x\n    a: 1\n  - name: y\n",
      { path: "l[name=x].k" },
      "l:\n  - name: x\n    a: 1\n    k: v2\n  - name: y\n",
    ],
    ["JSON over lines", '{\n  "a": 1\n}\n', { path: "k" }, '{\n  "a": 1,\n  "k": "v2"\n}\n'],
    ["an empty file", "", { path: "a.k" }, "a:\n  k: v2\n"],
    ["a file of comments", "# c\n", { path: "k" }, "# c\nk: v2\n"],
    ["a key that a merge brings is overridden", "b: &b {k: 1}\nc:\n  <<: *b\n", { path: "c.k" }, "b: &b {k: 1}\nc:\n  <<: *b\n  k: v2\n"],
    [
      "an item of a list, as kustomize writes them",
      'images:\n- name: a # first\n  newTag: "1"\n# end\nresources:\n- x\n',
      { path: "images[name=ghcr.io/acme/b].newTag" },
      'images:\n- name: a # first\n  newTag: "1"\n- name: ghcr.io/acme/b\n  newTag: "v2"\n# end\nresources:\n- x\n',
    ],
    [
      "an item of an indented list, with keys below it",
      "spec:\n    parameters:\n      - name: x\n        value: '1'\n",
      { path: "spec.parameters[name=image.tag].deep.value" },
      "spec:\n    parameters:\n      - name: x\n        value: '1'\n      - name: image.tag\n        deep:\n            value: v2\n",
    ],
    [
      "an item in braces",
      "l:\n  - { id: p, v: '1' } # c\n",
      { path: "l[id=q].v" },
      "l:\n  - { id: p, v: '1' } # c\n  - { id: q, v: 'v2' }\n",
    ],
    [
      "an item after dashes with more room",
      "l:\n-   id: p\n    v: a\n",
      { path: "l[id=q].v" },
      "l:\n-   id: p\n    v: a\n-   id: q\n    v: v2\n",
    ],
    ["an item of a list in brackets", "l: [{id: p}, {id: q}]\n", { path: "l[id=r].v" }, "l: [{id: p}, {id: q}, {id: r, v: v2}]\n"],
    ["the first item of an empty list", "l: [] # c\n", { path: "l[id=r].v" }, "l: [{id: r, v: v2}] # c\n"],
    [
      "a list that is not there, as the file's others",
      "a:\n- x\n",
      { path: "images[name=b].newTag" },
      "a:\n- x\nimages:\n- name: b\n  newTag: v2\n",
    ],
    ["a list below an empty value", "a:\nb: 1\n", { path: "a[id=p].v" }, "a:\n  - id: p\n    v: v2\nb: 1\n"],
    ["a list in an empty file", "", { path: "a[id=p].v" }, "a:\n  - id: p\n    v: v2\n"],
    [
      "an item that is read as text",
      "l:\n  - id: p\n",
      { path: 'l[id="7"].v', value: "1.10" },
      'l:\n  - id: p\n  - id: "7"\n    v: "1.10"\n',
    ],
    ["an item with CRLF, and no last line break", "l:\r\n  - id: p", { path: "l[id=q].v" }, "l:\r\n  - id: p\r\n  - id: q\r\n    v: v2"],
    [
      "an item in JSON over lines",
      '{\n  "l": [\n    {"id": "p"}\n  ]\n}\n',
      { path: "l[id=q].v" },
      '{\n  "l": [\n    {"id": "p"},\n    {"id": "q", "v": "v2"}\n  ]\n}\n',
    ],
    ["an item that is there, with the key it lacks", "l:\n  - id: p\n", { path: "l[id=p].v" }, "l:\n  - id: p\n    v: v2\n"],
    [
      "an item inside a block scalar",
      "a: |\n  l:\n    - id: p\nb: 1\n",
      { path: "a!l[id=q].v" },
      "a: |\n  l:\n    - id: p\n    - id: q\n      v: v2\nb: 1\n",
    ],
    ["a value of its own in the place of an alias", "x: &v v1\ny:\n  z: *v # c\n", { path: "y.z" }, "x: &v v1\ny:\n  z: v2 # c\n"],
    ["the same in the quotes of what it stood for", "x: &v 'v1'\ny: [*v, *v]\n", { path: "y[1]" }, "x: &v 'v1'\ny: [*v, 'v2']\n"],
    ["the same of a block scalar", "x: &v |\n  v1\ny: *v\n", { path: "y" }, "x: &v |\n  v1\ny: v2\n"],
    ["an alias of what it is to be stays one", "x: &v v2\ny: *v\n", { path: "y" }, "x: &v v2\ny: *v\n"],
    ["a part of what an alias stands for", "x: &v r/a:v1\ny: *v\n", { path: "y", part: "tag" }, "x: &v r/a:v1\ny: r/a:v2\n"],
    ["a value that is there is set", "a: v1\n", { path: "a" }, "a: v2\n"],
    ["an odd key", "a: 1\n", { path: '["on"]' }, 'a: 1\n"on": v2\n'],
  ];
  for (const [name, before, edit, after] of cases) test(name, () => expect(spliced(before, { create: true, ...edit })).toBe(after));

  test("several keys into one absent mapping", () => {
    const edits = ["x.a", "x.b.c", "x.b.d", "e"].map((path) => ({ path, create: true }));
    expect(spliced("z: 1\n", ...edits)).toBe("z: 1\nx:\n  a: v2\n  b:\n    c: v2\n    d: v2\ne: v2\n");
  });
});

test("several items of one list, and several keys of one of them, at once", () => {
  const edits = ["l[id=q].v", "l[id=r].v", "l[id=q].w"].map((path) => ({ path, create: true }));
  expect(spliced("l:\n  - id: p\nz: 1\n", ...edits)).toBe("l:\n  - id: p\n  - id: q\n    v: v2\n    w: v2\n  - id: r\n    v: v2\nz: 1\n");
});

describe("! goes on inside a block scalar", () => {
  const text = "spec:\n  values: |\n    # inner\n    image:\n      tag: v1 # c\n\n    list:\n      - {n: a, v: v1}\n  other: v1\n";
  test("a value", () => expect(spliced(text, { path: "spec.values!image.tag" })).toBe(text.replace("tag: v1", "tag: v2")));
  test("several at once, and one beside", () => {
    const after = text.replaceAll("v1", "v2");
    expect(spliced(text, { path: "spec.values!list[n=a].v" }, { path: "spec.other" }, { path: "spec.values!image.tag" })).toBe(after);
  });
  test("create", () => {
    const after = text.replace("tag: v1 # c\n", "tag: v1 # c\n      sub:\n        k: v2\n");
    expect(spliced(text, { path: "spec.values!image.sub.k", create: true })).toBe(after);
  });
  test("with CRLF", () => {
    const crlf = text.replaceAll("\n", "\r\n");
    expect(spliced(crlf, { path: "spec.values!image.k", create: true })).toBe(
      crlf.replace("tag: v1 # c\r\n", "tag: v1 # c\r\n      k: v2\r\n"),
    );
  });
  test("JSON in one", () =>
    expect(spliced('a: |-\n  {"t": "v1",\n   "u": 1}\n', { path: "a!t" })).toBe('a: |-\n  {"t": "v2",\n   "u": 1}\n'));
  test("one in another", () => {
    const nested = "a: |\n  b: |\n    c: v1\n  d: 1\n";
    expect(spliced(nested, { path: "a!b!c" })).toBe(nested.replace("v1", "v2"));
    expect(findPin(nested, { path: "a!b!c" })).toEqual({ ok: true, found: { value: "v1", line: 3, column: 8, start: 19, end: 21 } });
  });
});

describe("parts", () => {
  const image = "image: 'registry:5000/team/app:v1@sha256:5d396ad7d5f3cb527580c735e87dfd3b853bbb531e7f03e3a184d0accc223cdf' # c\n";
  test("found where they stand", () => {
    expect(findPin(image, { path: "image", part: "tag" })).toEqual({
      ok: true,
      found: { value: "v1", line: 1, column: 32, start: 31, end: 33 },
    });
  });
  test("tag and digest of one image, by two edits", () => {
    const digest = `sha256:${"a".repeat(64)}`;
    const after = image.replace(/v1@sha256:[0-9a-f]+/, `v2@${digest}`);
    expect(spliced(image, { path: "image", part: "tag+digest", value: `v2@${digest}` })).toBe(after);
  });
  test("the ref of a URL", () => {
    const text = "resources:\n  - https://github.com/o/r//d?timeout=9s&ref=v1 # c\n";
    expect(spliced(text, { path: "resources[0]", part: "ref" })).toBe(text.replace("v1", "v2"));
  });
});

describe("many edits", () => {
  test("what stood there before is told in the order of the edits", () => {
    const result = splice("a: 1\nb: x\n", [
      { path: "b", value: "z" },
      { path: "a", value: "2" },
    ]);
    expect(result).toMatchObject({
      ok: true,
      text: "a: 2\nb: z\n",
      found: [
        { value: "x", line: 2 },
        { value: "1", line: 1 },
      ],
    });
  });
  test("the same pin to the same value twice is fine, to two values is not", () => {
    expect(spliced("a: 1\n", { path: "a" }, { path: "a" })).toBe("a: v2\n");
    const result = splice("b: 1\na: 1\n", [
      { path: "a", value: "x" },
      { path: "a", value: "y" },
    ]);
    expect(result).toMatchObject({ ok: false, edit: 1, error: { code: "PIN_AMBIGUOUS", line: 2 } });
  });
  test("one wrong edit and nothing is written", () => {
    const result = splice("a: 1\n", [
      { path: "a", value: "x" },
      { path: "c", value: "y" },
    ]);
    expect(result).toMatchObject({ ok: false, edit: 1, error: { code: "PIN_NOT_FOUND" } });
  });
});
