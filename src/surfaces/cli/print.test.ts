import { expect, test } from "vitest";
import { textWidth } from "../../core/base/text-width.ts";
import type { Problem } from "../../core/reasons/problems/problem.ts";
import { lintText } from "./lint/lint-show.ts";
import { foldLine, terminalWidth, visible } from "./print.ts";

const CONTROLS = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter((c) => /\p{Cc}/u.test(c));

test("no control character of either set reaches the terminal, nor one that turns the direction of text", () => {
  const shown = visible(`${CONTROLS.join("")}\u202e\u2028`);
  expect([...shown].filter((c) => /\p{Cc}/u.test(c))).toEqual(["\n"]);
  expect(shown).toHaveLength(CONTROLS.length + 2);
  expect(shown).toContain("␛");
  expect(shown).not.toMatch(/[\u202e\u2028]/);
});

test("text without them stays as it is", () => {
  expect(visible("größe: 1 → 2 ✔ 🚚\n")).toBe("größe: 1 → 2 ✔ 🚚\n");
});

test.each([true, false])("lint of a binary file shows none in the excerpt, the message or the name (colour: %s)", (colour) => {
  const problem: Problem = {
    code: "NOT_A_ROLLOUT",
    severity: "error",
    message: 'not a rollout: "\u001b[2J\u009b31m"',
    hint: "write one\u0007",
    file: "rollouts/\u001b]0;x.yaml",
    line: 1,
    column: 8,
    path: [],
  };
  const text = lintText({ problems: [problem], rollouts: [], files: [problem.file] }, () => "\u007fELF\u0000\u001b[31mred\u0085\n", {
    colour,
  });
  const own = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
  const plain = text.replace(own, "");
  expect([...plain].filter((c) => c !== "\n" && /\p{Cc}/u.test(c))).toEqual([]);
  const [, excerpt = "", mark = ""] = plain.split("\n");
  expect(excerpt).toBe("  1 | ␡ELF␀␛[31mred�");
  expect(excerpt[mark.indexOf("^")]).toBe("3");
});

test("a line is folded between words, with its colours, and loses nothing", () => {
  const line =
    "  \u001b[2mwrites\u001b[22m appsets/my-app-set.yaml  spec.generators[0].list.elements[cluster={{ cluster.name }}].日本語 end";
  for (let width = 10; width < 130; width++) {
    const lines = foldLine(line, width);
    for (const one of lines) expect(textWidth(one.replace(/\p{Cc}\[\d+m/gu, "")), `${width}: ${one}`).toBeLessThanOrEqual(width);
    expect(lines.join("").replaceAll(" ", "")).toBe(line.replaceAll(" ", ""));
  }
  expect(foldLine(line, undefined)).toEqual([line]);
});

test("a terminal of 0 columns has said no width, and a narrow one is taken as its least", () => {
  expect([0, undefined, 4, 80].map((columns) => terminalWidth({ isTTY: true, columns }))).toEqual([undefined, undefined, 10, 80]);
});
