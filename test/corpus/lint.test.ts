import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { sayProblem } from "../../src/core/report/reasons/problems/problems.ts";
import { parseRollouts } from "../../src/core/spec/parse/parse.ts";
import { openCheckout } from "../../src/surfaces/cli/lint/lint-checkout.ts";
import { lint } from "../../src/surfaces/cli/lint/lint-run.ts";

const DATA = new URL("../../../shared/data/", import.meta.url).pathname;
const present = existsSync(join(DATA, "corpus"));
if (!present) console.log("skipped: the corpus of public config repos is not beside the project");

/** Reason → how many files, and one of them. */
const table = new Map<string, { files: number; example: string }>();

function note(reason: string, file: string): void {
  const row = table.get(reason) ?? { files: 0, example: file };
  row.files++;
  table.set(reason, row);
}

function filesIn(folder: string): string[] {
  return globSync("**/*", { cwd: join(DATA, folder) })
    .map((path) => join(folder, path))
    .filter((path) => statSync(join(DATA, path)).isFile());
}

describe.skipIf(!present)("every public file at hand", () => {
  test.each(["repos", "corpus"])("of %s is a rollout, or lint says exactly why not", (folder) => {
    const files = filesIn(folder);
    expect(files.length).toBeGreaterThan(100);
    for (const path of files) {
      const text = readFileSync(join(DATA, path), "utf8");
      const { rollouts, problems } = parseRollouts(text, path);
      const lines = text.split("\n").length;
      for (const problem of problems.map((one) => ({ ...one, ...sayProblem(one) }))) {
        expect(problem.message.length, path).toBeGreaterThan(10);
        expect(problem.hint.length, path).toBeGreaterThan(5);
        expect(problem.line, path).toBeLessThanOrEqual(lines + 1);
        expect(Math.min(problem.line, problem.column), path).toBeGreaterThanOrEqual(1);
      }
      const [first] = problems.filter((problem) => problem.severity === "error");
      if (rollouts.length === 0) expect(first, path).toBeDefined();
      note(first === undefined ? "a rollout" : `${first.code}: ${reasonOf(sayProblem(first).message)}`, path);
    }
  });

  test("and each whole repo can be linted as a checkout", () => {
    for (const repo of globSync("repos/*/", { cwd: DATA })) {
      const checkout = openCheckout(join(DATA, repo));
      const files = checkout.paths().filter((path) => /\.ya?ml$/.test(path));
      const report = lint(checkout, files, undefined);
      expect(report.files.length).toBe(files.length);
      expect(new Set(report.problems.map((problem) => problem.file)).size).toBe(files.length);
    }
  });
});

/** Without what differs from file to file. */
function reasonOf(message: string): string {
  return message.replace(/"[^"]*"/g, "…").replace(/^(not valid YAML: .{0,40}).*$/s, "$1…");
}

afterAll(() => {
  if (table.size === 0) return;
  const rows = [...table].toSorted((a, b) => b[1].files - a[1].files);
  const lines = rows.map(([reason, { files, example }]) => `${String(files).padStart(5)}  ${reason.padEnd(78)}  ${relative(".", example)}`);
  console.log(`lint over public config repos\n${lines.join("\n")}`);
});
