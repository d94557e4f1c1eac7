import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url).pathname;
const PAGE = readFileSync(join(ROOT, "docs/security.md"), "utf8");
/** Of the first table of a section, without its head. */
const rowsOf = (section: string) =>
  ((PAGE.split(`\n## ${section}\n`)[1] ?? "").split(/\n## /)[0] ?? "")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(2);
const rows = rowsOf("Threat model");
const testsOf = (row: string) => [...(row.split(" | ").at(-1) ?? "").matchAll(/`([^`]+\.test\.ts)`/g)].map(([, path = ""]) => path);

test("no row of the threat model names a test that is not there, and none of the attacks is missing in it", () => {
  expect(rows.length).toBeGreaterThan(25);
  const named = rows.map((row) => [row.slice(0, 80), testsOf(row)] as const);
  expect(named.filter(([, tests]) => tests.length === 0 || tests.some((path) => !existsSync(join(ROOT, path))))).toEqual([]);
  const attacks = globSync("test/attacks/*.test.ts", { cwd: ROOT }).filter((path) => !path.endsWith("/table.test.ts"));
  expect(attacks.filter((path) => !named.some(([, tests]) => tests.includes(path)))).toEqual([]);
});

test("every open door has a bound, and a test of it that is there", () => {
  const doors = rowsOf("Doors");
  expect(doors.length).toBeGreaterThan(4);
  expect(doors.filter((row) => testsOf(row).length === 0 || testsOf(row).some((path) => !existsSync(join(ROOT, path))))).toEqual([]);
});
