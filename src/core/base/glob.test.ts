import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { globMatcher, matchesGlob } from "./glob.ts";

type Dialect = Parameters<typeof globMatcher>[1];

/** What regular expression a pattern of the letters below stands for, as its program documents it. */
const EXPRESSIONS: Record<Exclude<Dialect, "hosts">, (glob: string) => string> = {
  go: (glob) => glob.replaceAll(/\*+/g, "[^/]*").replaceAll("?", "[^/]"),
  pathspec: (glob) => glob.replaceAll(/\*+/g, ".*").replaceAll("?", "."),
  gobwas: (glob) => glob.replaceAll(/\*+/g, ".*").replaceAll("?", "."),
  doublestar: (glob) =>
    glob.replaceAll(/(?<=^|\/)(\*\*\/|\*\*$)|\*+|\?/g, (sign, part?: string) =>
      part === "**" ? ".*" : part === "**/" ? "(?:[^/]+/)*" : sign === "?" ? "[^/]" : "[^/]*",
    ),
  paths: (glob) =>
    glob.replaceAll(/(?<=^|\/)\*{2,}\/|\*+|\?/g, (sign) =>
      sign.endsWith("/") ? "(?:[^/]+/)*" : sign === "?" ? "[^/]" : sign === "*" ? "[^/]*" : ".*",
    ),
};

test.each(Object.entries(EXPRESSIONS))("globs of %s match as regular expressions of them do", (dialect, expressionOf) => {
  const texts = fc.string({ unit: fc.constantFrom("a", "b", "/", "é", "😀"), maxLength: 8 });
  const globs = fc.string({ unit: fc.constantFrom("a", "b", "/", "*", "**", "?", "é", "😀"), maxLength: 8 });
  fc.assert(
    fc.property(globs, texts, (glob, text) => {
      // The two-star forms of doublestar are `**` alone: a third star makes it one.
      fc.pre(dialect !== "doublestar" || !glob.includes("***"));
      expect(matchesGlob(glob, dialect as Dialect, text)).toBe(new RegExp(`^${expressionOf(glob)}$`, "su").test(text));
    }),
    { numRuns: 500 },
  );
});

describe("what only some programs have", () => {
  test.each<[Dialect, string, string, boolean]>([
    ["go", "a[^b-d]e", "ace", false],
    ["go", "a[^b-d]e", "axe", true],
    ["go", "a\\*", "a*", true],
    ["go", "a[]-]b", "a]b", true],
    ["go", "{a,b}", "{a,b}", true],
    ["doublestar", "{apps,clusters/**}/x.{yaml,json}", "clusters/a/b/x.json", true],
    ["doublestar", "a[!b]c", "a/c", false],
    ["gobwas", "eu-{1,2?}", "eu-2a", true],
    ["gobwas", "*.[!a]*", "x/y.b/c", true],
    ["paths", "a\\b", "a\\b", true],
    ["hosts", "?*.example.com", "a.b.example.com", true],
    ["hosts", "?*.example.com", "a_b.example.com", false],
    ["hosts", "[::1]", "[::1]", true],
  ])("%s: %s and %s: %s", (dialect, glob, text, matches) => {
    expect(matchesGlob(glob, dialect, text)).toBe(matches);
  });

  test.each<[Dialect, string]>([
    ["go", "a["],
    ["go", "a[b-"],
    ["go", "a[c-b]"],
    ["go", "a\\"],
    ["doublestar", "{a,b"],
    ["doublestar", "{".repeat(1000)],
    ["gobwas", "a".repeat(20_000)],
  ])("%s: %s is malformed", (dialect, glob) => {
    expect(globMatcher(glob, dialect)).toBeUndefined();
    expect(matchesGlob(glob, dialect, glob)).toBe(false);
  });
});

/** How many places of the pattern are looked at for a text. */
function stepsOf(dialect: Dialect, glob: string, text: string): number {
  let steps = 0;
  const matches = globMatcher(glob, dialect, () => steps++);
  expect(matches?.(text)).toBe(false);
  return steps;
}

describe("a hostile pattern takes no more than its length for each character", () => {
  test.each<[Dialect, (many: number) => string, string]>([
    ["go", (many) => `${"*a".repeat(many)}b?`, "a"],
    ["pathspec", (many) => `${"*?a".repeat(many)}b?`, "a"],
    ["doublestar", (many) => `${"**/".repeat(many)}b?`, "a/"],
    ["doublestar", (many) => `${"{a,a*,*a}".repeat(many)}b?`, "a"],
    ["gobwas", (many) => `${"{,a,{a,*}}".repeat(many)}b?`, "a"],
    ["paths", (many) => `${"**/*a".repeat(many)}b?`, "a/"],
  ])("%s", (dialect, glob, text) => {
    for (const many of [10, 40, 160]) {
      const [pattern, long] = [glob(many), `${text.repeat(500)}cc`];
      expect(stepsOf(dialect, pattern, long)).toBeLessThan(pattern.length * (long.length + 2));
    }
  });

  test("nor is more kept than fits, whatever the texts", () => {
    const matches = globMatcher(`${"*a?".repeat(60)}b`, "gobwas");
    for (let seed = 1; seed < 200; seed++) {
      const text = Array.from({ length: 200 }, (_, at) => "abc"[(seed * (at + 7) * 31) % (3 + (at % 5))] ?? "a").join("");
      expect(matches?.(`${text}c`)).toBe(false);
    }
  });
});
