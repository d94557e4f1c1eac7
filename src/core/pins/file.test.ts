import { expect, test } from "vitest";
import { openPinFile } from "./file.ts";

function opened(text: string) {
  const result = openPinFile(text);
  if (!result.ok) throw new Error("it cannot be read");
  return result.file;
}

test("files that are asked for in turns, of two commits and of two pins, are read once each", () => {
  const texts = ["a: before\n", "a: after\n", "b: before\n", "b: after\n"];
  const first = texts.map(opened);
  for (const [i, text] of texts.entries()) expect(opened(text)).toBe(first[i]);
});

test("two of the largest are kept, and not a third", () => {
  const [a, b, c] = ["a", "b", "c"].map((key) => `${key}: "${"x".repeat(7 * 1024 * 1024)}"\n`) as [string, string, string];
  const [first, second] = [opened(a), opened(b)];
  expect(opened(a)).toBe(first);
  expect(opened(b)).toBe(second);
  opened(c);
  expect(opened(b)).toBe(second);
  expect(opened(a)).not.toBe(first);
});
