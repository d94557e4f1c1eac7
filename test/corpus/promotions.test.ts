import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { findPin } from "../../src/core/pins/find.ts";
import { splice } from "../../src/core/pins/splice.ts";
import type { SpliceEdit } from "../../src/core/pins/types.ts";
import { type Scalar, scalarsOf, table, tally } from "./scalars.ts";

const PROMOTIONS = fileURLToPath(new URL("../../../shared/data/corpus/promotions", import.meta.url));
const here = existsSync(PROMOTIONS);
if (!here) console.log("skipped: real version changes, since ../shared/data/corpus/promotions is not there");

interface Outcome {
  verdict: string;
  edits: number;
  detail: string;
}

interface Change {
  from: Scalar;
  to: Scalar;
}

/** The values that differ, where before and after have the same paths; undefined: their structure differs. */
function changesOf(before: string, after: string): Change[] | undefined {
  const one = scalarsOf(before).scalars;
  const two = scalarsOf(after).scalars;
  if (one.length !== two.length || one.some((scalar, at) => scalar.byIndex !== two[at]?.byIndex)) return undefined;
  return one.flatMap((from, at) => {
    const to = two[at];
    return to === undefined || from.value === to.value ? [] : [{ from, to }];
  });
}

/** Inside a block scalar the change is one of the YAML that it holds, where that is what it holds. */
function editsOf(change: Change, path: string): SpliceEdit[] {
  const { from, to } = change;
  const inner = from.style === "BLOCK_LITERAL" ? changesOf(from.value, to.value) : undefined;
  if (inner === undefined || inner.length === 0) return [{ path, value: to.value }];
  return inner.flatMap((one) => editsOf(one, `${path}!${one.from.byName}`));
}

function judge(before: string, after: string): Outcome {
  const broken = scalarsOf(before).error;
  if (broken !== undefined) {
    const refused = findPin(before, { path: "image" });
    return { verdict: "refused: not YAML but a Helm template", edits: 0, detail: refused.ok ? "found" : refused.error.code };
  }
  const changes = changesOf(before, after);
  if (changes === undefined) return { verdict: "the commit changed the structure too", edits: 0, detail: "" };
  if (changes.length === 0)
    return { verdict: "the commit changed no value, only bytes around", edits: 0, detail: splice(before, []).ok ? "" : "refused" };
  const edits = changes.flatMap((change) => editsOf(change, change.from.byName));
  const byIndex = changes.flatMap((change) => editsOf(change, change.from.byIndex));
  const done = splice(before, edits);
  const again = splice(before, byIndex);
  if (!done.ok) return { verdict: `refused: ${done.error.code}`, edits: edits.length, detail: JSON.stringify(done.error) };
  if (!again.ok || again.text !== done.text) return { verdict: "index paths and selectors disagree", edits: edits.length, detail: "" };
  if (done.text === after) return { verdict: "byte for byte", edits: edits.length, detail: "" };
  const bare = (text: string): string => text.replaceAll(/["']/g, "");
  if (bare(done.text) === bare(after)) return { verdict: "in quoting only", edits: edits.length, detail: "" };
  const lines = after.split("\n");
  const differing = done.text.split("\n").filter((line, at) => line !== lines[at]);
  const comments = differing.every((line) => lines.some((other) => uncommented(other) === uncommented(line)));
  return {
    verdict: comments ? "the commit changed comments or spaces too" : "otherwise",
    edits: edits.length,
    detail: differing.join("\n"),
  };
}

function uncommented(line: string): string {
  return line.replace(/\s+(#.*)?$/, "");
}

/** Looked at one by one: what the commit did besides, or why its value is not a pin. */
const EXCEPTIONS = new Set([
  "the commit changed no value, only bytes around",
  "the commit changed comments or spaces too",
  "the commit changed the structure too",
  "refused: PIN_IS_TEMPLATE",
  "refused: not YAML but a Helm template",
]);

describe.skipIf(!here)("real version changes", () => {
  const files = here ? globSync("*.before.*", { cwd: PROMOTIONS }).sort() : [];

  test("splicing the changed values into the file before gives the file after", () => {
    const counts = new Map<string, number>();
    const exceptions: string[] = [];
    let edits = 0;
    for (const file of files) {
      const read = (name: string): string => readFileSync(join(PROMOTIONS, name), "utf8");
      const outcome = judge(read(file), read(file.replace(".before.", ".after.")));
      tally(counts, outcome.verdict);
      edits += outcome.edits;
      if (outcome.verdict !== "byte for byte")
        exceptions.push(`${outcome.verdict}: ${file.replace(".before.", ".")}${outcome.detail === "" ? "" : `\n    ${outcome.detail}`}`);
    }
    console.log(table(`real version changes (${files.length} pairs, ${edits} pins set)`, counts));
    for (const exception of exceptions) console.log(`  ${exception}`);
    const unexplained = [...counts.keys()].filter(
      (verdict) => verdict !== "byte for byte" && verdict !== "in quoting only" && !EXCEPTIONS.has(verdict),
    );
    expect(unexplained).toEqual([]);
    expect(counts.get("byte for byte")).toBeGreaterThanOrEqual(files.length * 0.9);
  });
});
