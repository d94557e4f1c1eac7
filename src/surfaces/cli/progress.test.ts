import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openProgress } from "./progress.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => void vi.useRealTimers());

function terminal(isTTY: boolean) {
  const out = {
    isTTY,
    columns: 40,
    text: "",
    write(text: string) {
      out.text += text;
      return true;
    },
  };
  return out;
}

test("what is done within a second says nothing", () => {
  const out = terminal(true);
  const progress = openProgress("looking", out);
  vi.advanceTimersByTime(900);
  progress.end();
  expect(out.text).toBe("");
});

test("what takes longer is named with its seconds, cut to the terminal, and wiped away", () => {
  const out = terminal(true);
  const progress = openProgress(`fetching ${"x".repeat(80)}`, out);
  vi.advanceTimersByTime(2000);
  expect(out.text).toMatch(/^\rfetching x+/);
  expect(out.text.split("\r").every((line) => line.length < 40 + 4)).toBe(true);
  progress.end();
  expect(out.text.endsWith("\r\u001b[K")).toBe(true);
});

test("a program that reads standard error gets none of it", () => {
  const out = terminal(false);
  const progress = openProgress("looking", out);
  vi.advanceTimersByTime(5000);
  progress.step("half");
  progress.end();
  expect(out.text).toBe("");
});
