import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchesName, PatternError } from "./name-pattern.ts";

describe("a pattern of metric names", () => {
  test.each<[string, string, boolean]>([
    ["latency", "latency", true],
    ["latency", "p99-latency-eu", true],
    ["^latency$", "p99-latency", false],
    ["test.*", "test-1", true],
    [".*", "anything", true],
    ["", "anything", true],
    ["^err|lat", "p99-lat", true],
    ["^err|^lat", "p99-lat", false],
    ["p[0-9]+$", "latency-p99", true],
    ["p[0-9]+$", "latency-p", false],
    ["^a?b+c*$", "bbb", true],
    ["^a?b+c*$", "ac", false],
    ["^[^a-z]$", "A", true],
    ["a\\.b", "axb", false],
    ["^\\d\\d$", "42", true],
    ["^a*$", "", true],
  ])("%s and %s: %s", (pattern, name, expected) => {
    expect(matchesName(pattern, name)).toBe(expected);
  });

  test.each(["*", "(a|b)", "a{2}", "[z-a]", "a**", "x".repeat(201), "a$b"])("%s is refused", (pattern) => {
    expect(() => matchesName(pattern, "a")).toThrow(PatternError);
  });

  test("is read as JavaScript reads it, where it can be read", () => {
    const piece = fc.tuple(fc.constantFrom("a", "b", ".", "[ab]", "[^a]"), fc.constantFrom("", "*", "+", "?")).map((pair) => pair.join(""));
    const branch = fc.tuple(fc.constantFrom("", "^"), fc.array(piece, { maxLength: 5 }), fc.constantFrom("", "$"));
    const pattern = fc.array(branch, { minLength: 1, maxLength: 3 }).map((all) => all.map(([a, b, c]) => a + b.join("") + c).join("|"));
    const name = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 7 }).map((letters) => letters.join(""));
    fc.assert(
      fc.property(pattern, name, (one, of) => {
        expect(matchesName(one, of)).toBe(new RegExp(one, "u").test(of));
      }),
    );
  });

  test("takes no time, however it is made", () => {
    expect(matchesName(`${".*".repeat(99)}x`, "a".repeat(200))).toBe(false);
  });
});
