import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { scanYaml } from "../../src/core/base/yaml-scan/scan.ts";
import { composeYaml } from "../../src/core/pins/compose.ts";
import { findPin } from "../../src/core/pins/find.ts";
import { splice } from "../../src/core/pins/splice.ts";
import type { SpliceEdit } from "../../src/core/pins/types.ts";
import { type Scalars, scalarsOf, table, tally } from "./scalars.ts";

const DATA = fileURLToPath(new URL("../../../shared/data", import.meta.url));
const here = existsSync(DATA);
if (!here) console.log("skipped: pins over public config repos, since ../shared/data is not there");

/** What `findPin` refuses on purpose; anything else it must find. */
const EXPLAINED = new Set(["PIN_IS_TEMPLATE", "PIN_DUPLICATE_KEY", "PIN_NOT_FOUND"]);

const REASONS: Record<string, string> = {
  PIN_NOT_FOUND: "the value is empty",
  PIN_IS_TEMPLATE: "the value is a template",
  PIN_NOT_SCALAR: "an alias of a list or mapping",
  PIN_DUPLICATE_KEY: "a key stands twice",
};

interface Outcome {
  files: Map<string, number>;
  scalars: Map<string, number>;
  wrong: string[];
}

function checkFile(path: string, text: string, outcome: Outcome): void {
  const read = scalarsOf(text);
  const probe = findPin(text, { path: "there.is.no.such.key" });
  const code = probe.ok ? "" : probe.error.code;
  if (read.error !== undefined) {
    const twice = read.error.includes("unique");
    if (code !== "PIN_FILE_NOT_YAML" && !twice) outcome.wrong.push(`${path}: yaml says "${read.error}", findPin says ${code}`);
    const template = !probe.ok && JSON.stringify(probe.error).includes("Helm");
    tally(
      outcome.files,
      twice ? "refused: a key stands twice" : `refused: ${template ? "a Helm template" : "not YAML"}, with line and column`,
    );
    return;
  }
  if (code === "PIN_FILE_NOT_YAML" || code === "PIN_ALIAS_BOMB") {
    outcome.wrong.push(`${path}: refused though yaml reads it: ${probe.ok ? "" : JSON.stringify(probe.error)}`);
    return;
  }
  tally(outcome.files, scanYaml(text) === undefined ? "read by the yaml package" : "read by the line scanner");
  checkScalars(path, text, read, outcome);
}

function checkScalars(path: string, text: string, read: Scalars, outcome: Outcome): void {
  const edits: SpliceEdit[] = [];
  const starts = new Set<number>();
  for (const scalar of read.scalars) {
    const results = [scalar.byIndex, scalar.byName].map((pin) => findPin(text, { path: pin }));
    const [result, named] = results;
    if (result === undefined || named === undefined) continue;
    if (result.ok !== named.ok) outcome.wrong.push(`${path} ${scalar.byName}: not the same as ${scalar.byIndex}`);
    if (!result.ok) {
      const { code } = result.error;
      const why = JSON.stringify(result.error);
      const collection = scalar.viaAlias && code === "PIN_NOT_SCALAR";
      if (!collection && (!EXPLAINED.has(code) || (code === "PIN_NOT_FOUND" && !why.includes('"Empty"'))))
        outcome.wrong.push(`${path} ${scalar.byIndex}: ${why}`);
      tally(outcome.scalars, `refused: ${REASONS[code] ?? code}`);
      continue;
    }
    const same = scalar.viaAlias || (result.found.value === scalar.value && result.found.start === scalar.start);
    if (!same) outcome.wrong.push(`${path} ${scalar.byIndex}: found ${JSON.stringify(result.found)}, yaml has ${JSON.stringify(scalar)}`);
    const again = splice(text, [{ path: scalar.byIndex, value: result.found.value ?? "" }]);
    if (again.ok && again.text !== text) outcome.wrong.push(`${path} ${scalar.byIndex}: the same value changed bytes`);
    if (!again.ok && again.error.code !== "PIN_SHARED_ANCHOR") outcome.wrong.push(`${path} ${scalar.byIndex}: ${again.error.code}`);
    tally(
      outcome.scalars,
      again.ok ? `found, same value spliced: byte for byte (${scalar.style})` : "found, but shared through an anchor: not spliced",
    );
    if (!again.ok) continue;
    edits.push({ path: scalar.byIndex, value: `v${edits.length}.0` });
    starts.add(scalar.start);
  }
  checkAll(path, text, read, edits, starts, outcome);
}

/** Every scalar of the file gets another value at once; the yaml package, reading the result, must see these and nothing else. */
function checkAll(path: string, text: string, read: Scalars, edits: SpliceEdit[], starts: ReadonlySet<number>, outcome: Outcome): void {
  if (edits.length === 0) return;
  const done = splice(text, edits);
  if (!done.ok) {
    outcome.wrong.push(`${path} ${edits[done.edit]?.path}: ${JSON.stringify(done.error)}`);
    return;
  }
  const after = scalarsOf(done.text);
  if (after.error !== undefined || after.scalars.length !== read.scalars.length) outcome.wrong.push(`${path}: does not read back`);
  let next = 0;
  for (const [at, scalar] of read.scalars.entries()) {
    const got = after.scalars[at]?.value.trimEnd();
    const wanted = starts.has(scalar.start) && !scalar.viaAlias ? edits[next++]?.value : scalar.value.trimEnd();
    if (got !== wanted) outcome.wrong.push(`${path} ${scalar.byIndex}: wrote ${wanted}, yaml reads ${got}`);
  }
}

describe.skipIf(!here)("pins over public config repos", () => {
  const files = here ? globSync("{corpus,repos}/**/*.{yaml,yml,json}", { cwd: DATA, exclude: (name) => name === ".git" }).sort() : [];

  test("every scalar of every file is found as the yaml package reads it, or refused with a reason", { timeout: 300_000 }, () => {
    const outcome: Outcome = { files: new Map(), scalars: new Map(), wrong: [] };
    for (const file of files) checkFile(file, readFileSync(join(DATA, file), "utf8"), outcome);
    console.log(table(`files (${files.length})`, outcome.files));
    console.log(table("scalars", outcome.scalars));
    expect(outcome.wrong.slice(0, 20)).toEqual([]);
    expect(outcome.files.get("read by the line scanner")).toBeGreaterThan(files.length * 0.9);
  });

  test("the line scanner and the yaml package make the same of every file that both read", { timeout: 120_000 }, () => {
    let both = 0;
    for (const file of globSync("**/*.{yaml,yml}", { cwd: DATA, exclude: (name) => name === ".git" })) {
      const text = readFileSync(join(DATA, file), "utf8");
      const fast = scanYaml(text);
      if (fast === undefined) continue;
      const slow = composeYaml(text);
      both++;
      expect(normal(slow), file).toEqual(normal(fast));
    }
    expect(both).toBeGreaterThan(500);
  });
});

/** A document's end is only told roughly: the two differ on the comments after it. */
function normal(documents: ReturnType<typeof composeYaml>): unknown {
  return Array.isArray(documents) ? documents.map(({ number, root }) => ({ number, root })) : documents;
}
