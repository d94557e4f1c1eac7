/**
 * What strangers send is read where everybody waits only by parsers that take a moment for a mebibyte of what is worst for them; all else is read
 * in a cell, which is killed.
 */
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { openCell } from "../../src/adapters/cell/cell.ts";
import { cpuMs } from "../support/cpu-time.ts";
import { cruelTexts } from "./support/cruel-texts.ts";
import { PARSERS } from "./support/parsers.ts";

const MOST_MS = 50;
const MEBIBYTE = 1024 * 1024;
const { cruel, pieces, filled } = cruelTexts(MEBIBYTE);
/** Pieces of what is special to any of the parsers, in random rows that are repeated; the same each time. */
const random = fc
  .sample(fc.array(fc.constantFrom(...pieces), { minLength: 2, maxLength: 6 }), { seed: 20_261_123, numRuns: 8 })
  .map((row): [string, string] => [`rows of ${JSON.stringify(row.join(""))}`, filled(row.join(""))]);

/** Characters a millisecond that an idle machine passes in `slowdown`. */
const IDLE_PACE = 300_000;

/** How many times slower than an idle machine this one is just now: its cores are shared. */
function slowdown(): number {
  const text = filled("ab ");
  const before = cpuMs();
  let sum = 0;
  for (let times = 0; times < 4; times++) for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) % 65_521;
  const pace = (sum < 0 ? 0 : 4 * text.length) / (cpuMs() - before);
  return Math.max(1, IDLE_PACE / pace);
}

/** Of some tries: a collection of garbage, or code that is compiled just then, may fall into one. */
function heldMs(parse: (text: string) => unknown, text: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 6 && least > MOST_MS; tries++) {
    const before = cpuMs();
    try {
      parse(text);
    } catch (error) {
      // Refused is well; out of stack is not refused.
      if (error instanceof RangeError) throw error;
    }
    const ms = cpuMs() - before;
    least = Math.min(least, ms > MOST_MS ? ms / slowdown() : ms);
  }
  return least;
}

describe("a stranger holds everybody up by one text", () => {
  test.each(PARSERS)("$name", ({ parse, most = MEBIBYTE }) => {
    for (const [what, text] of [...cruel, ...random]) expect(heldMs(parse, text.slice(0, most)), what).toBeLessThanOrEqual(MOST_MS);
  });
});

describe("a stranger holds everybody up by a file of a pull request", () => {
  const cell = openCell(new URL("./support/reading-cell.ts", import.meta.url), {
    cpuMs: 300,
    stuckMs: 60_000,
    heapMb: 128,
    residentMb: 300,
  });
  afterAll(() => cell.close());

  test.each([
    ["rollout", filled(",", "]", "[")],
    ["manifest", filled("- *a\n", "", "- &a 1\n")],
    ["pin", filled("&a *a ")],
    ["template", filled("{{ regexFind `(a?){900}b` .a }}")],
    ["many templates", "{{ range until 30000 }}{{ range until 30000 }}{{ end }}{{ end }}"],
  ])("%s", async (name, text) => {
    await cell.run({ name: "nothing", input: undefined, answers: {} });
    const before = cpuMs();
    const outcome = await cell.run({ name, input: text, answers: {} });
    const ms = cpuMs() - before;
    expect(ms > MOST_MS ? ms / slowdown() : ms).toBeLessThanOrEqual(MOST_MS);
    if (outcome.kind !== "done") expect(outcome.kind).toBe("killed");
  });
});
