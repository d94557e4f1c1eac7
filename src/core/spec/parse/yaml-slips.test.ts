import { describe, expect, test } from "vitest";
import { readYaml } from "./yaml.ts";

/** `line:column Kind` of the first problem, with what it names. */
function slip(text: string): string {
  const [problem] = readYaml(text, "r.yaml").problems;
  if (problem === undefined) return "none";
  const { code, line, column, ...rest } = problem as unknown as Record<string, unknown>;
  const named = ["key", "sign", "blank", "name", "near", "is", "marker"].flatMap((field) =>
    rest[field] === undefined ? [] : String(rest[field]),
  );
  return [`${String(line)}:${String(column)}`, rest["kind"] ?? code, ...named].join(" ");
}

describe("a slip in YAML is told as people make it, at its own place", () => {
  test.each([
    ["a tab", "spec:\n\ta: b\n", "2:1 Blank tab"],
    ["a tab after spaces", "spec:\n  a:\n  \t- b\n", "3:3 Blank tab"],
    ["a no-break space", "spec:\n\u00a0\u00a0a: b\n  c: d\n", "2:1 Blank no-break space"],
    ["a key without its colon, with what belongs to it below", "kind: a\nspec\n  a: b\n", "2:5 NoColon spec"],
    ["a key without its colon, before a list", "spec:\n  stages\n    - name: a\n", "2:9 NoColon stages"],
    ["a key and its value without a colon", "spec:\n  mode Run\n  delivery: x\n", "2:7 NoColon mode"],
    ["the last key without its colon", "spec:\n  delivery: x\n  mode Run\n", "3:7 NoColon mode"],
    ["no space after the colon", "spec:\n  mode:Run\n  delivery: x\n", "2:7 NoSpace mode"],
    ["no space after the colon of an item's first key", "stages:\n  - name:x\n    b: c\n", "2:9 NoSpace name"],
    ["no space after the colon of the last key", "spec:\n  delivery: x\n  mode:Run\n", "3:7 NoSpace mode"],
    ["a second colon", "a:\n  mode: Run: now\n", "2:12 ColonInValue"],
    ["a key that is indented further than the one before", "spec:\n  mode: Run\n    delivery: x\n", "3:5 Indent 2 4"],
    ["a key that is indented less, and like nothing", "spec:\n    mode: Run\n  delivery: x\n", "3:3 Indent 0,4 2"],
    ["the key of an item below its dash", "a:\n  - name: x\n  clusters: y\n", "3:3 Indent 0,4 2"],
    ["an item that is indented less", "spec:\n  stages:\n    - name: a\n      b: c\n   - name: d\n", "5:4 Indent 4 3"],
    ["an item that is indented further", "spec:\n  stages:\n    - name: a\n      b: c\n     - name: d\n", "5:6 Indent 4 5"],
    ["an item whose keys do not follow", "stages:\n   - name: canary\n      clusters: x\n", "3:7 Indent 5 6"],
    ["a key below a comment", "spec:\n  mode: Run\n  # versions\n   pins: []\n  stages: []\n", "4:4 Indent 2 3"],
    ["the first key of the text", " kind: a\nspec: b\nmetadata: c\n", "1:2 Indent 0 1"],
    ["the first key of a block", "spec:\n    mode: Run\n  pins: []\n  stages:\n    - name: a\n", "2:5 Indent 2 4"],
    ["a key whose block is indented rightly", "a: b\nspec:\n    ref:\n    kind: a\n  pins:\n    - b\n  c: d\n", "3:5 Indent 2 4"],
    ["the dash of an item, further", "a:\n  b:\n     - name: x\n      c: d\n    - name: y\n", "3:6 Indent 4 5"],
    ["the dash of an item, less", "a:\n  b:\n   - name: x\n      c: d\n    - name: y\n", "3:4 Indent 4 3"],
    ["a key of the second document", "a: b\n---\nc: d\n e: f\ng: h\n", "4:2 Indent 0 1"],
    ["a dash without its space", "stages:\n  - name: y\n  -name: x\n", "3:3 DashSpace"],
    ["a double quote that is not closed", 'a:\n  mode: "Run\n  b: c\n', '2:9 QuoteOpen "'],
    ["a single quote that is not closed, down to the end", "a: 'Run\nb: c\n", "1:4 QuoteOpen '"],
    ["a quote that is closed by one far below", 'a:\n  mode: "Run\nb: "c"\n', '2:9 QuoteOpen "'],
    ["a quote in a quote", "a: 'it's'\nb: c\n", "1:8 AfterQuote"],
    ["a bracket that is not closed", "a: [x, y\nb: c\n", "1:4 BracketOpen ["],
    [
      "a bracket before the lines of a block",
      "spec:\n  stages: [\n    - name: a\n      clusters:\n        selector: {}\n",
      "2:11 BracketOpen [",
    ],
    ["a brace that is not closed", "a:\n  b: { x: [y] \n  c: d\n", "2:6 BracketOpen {"],
    ["a bracket too many", "a: [x, y]]\nb: c\n", "1:10 BracketExtra ]"],
    ["a value that begins with @", "a: @x\n", "1:4 Reserved @"],
    ["a value that begins with %", "a: %x\n", "1:4 Reserved %"],
    ["a merge that is not finished", "a: b\n<<<<<<< HEAD\nc: d\n=======\nc: e\n>>>>>>> x\n", "2:1 Conflict <<<<<<<"],
    ["an alias of nothing", "a: &drained x\nb:\n  c: *draned\n", "3:6 Alias draned drained"],
    ["a glob", "a: *.yaml\n", "1:4 Alias .yaml"],
    ["an alias before its anchor", "a: *x\nb: &x c\n", "1:4 Alias x"],
    ["a key twice", "a: 1\nb: 2\na: 3\n", "3:1 DUPLICATE_KEY"],
    ["Latin-1", "a: R\ufffdn\n", "1:5 Encoding"],
    ["UTF-16", "\ufffd\ufffda\u0000:\u0000 \u0000b\u0000", "1:1 Encoding"],
    ["a byte order mark is none", "\ufeffa: b\n", "none"],
    ["Windows line ends are none", "a:\r\n  b: c\r\n", "none"],
    ["a slip among Windows line ends", "spec:\r\n  mode Run\r\n  b: c\r\n", "2:7 NoColon mode"],
    ["a colon that is part of a value is none", "a: http://x:80/y\nb: 10:30\n", "none"],
  ])("%s", (_name, text, said) => {
    expect(slip(text)).toBe(said);
  });

  test("what is none of them is told in the parser's words", () => {
    expect(slip("a: |x\n  y\n")).toBe("1:5 Parser");
  });

  test("bytes that are no UTF-8 stop nothing where the rest can be read", () => {
    expect(readYaml("# M\ufffdnchen\na: b\n", "r.yaml")).toMatchObject({
      sources: [{ data: { a: "b" } }],
      problems: [{ severity: "warning" }],
    });
  });

  test("many documents with a mistake each are not searched from the beginning of the file", () => {
    const filler = Array.from({ length: 12_000 }, (_, index) => `k${index}: v\n`).join("");
    const took = (document: string) => {
      const begun = performance.now();
      const { problems } = readYaml(`${filler}${`---\n${document}\n`.repeat(450)}`, "r.yaml");
      return { ms: performance.now() - begun, problems };
    };
    // Told by its line alone.
    const plain = took("a: @x");
    const quotes = took('a: "x');
    expect(quotes.problems[449]).toMatchObject({ code: "SYNTAX", kind: "QuoteOpen", line: 12_900, column: 4 });
    expect(quotes.ms).toBeLessThan(5 * plain.ms + 100);
  });
});
