/**
 * Set up for every test file: whatever an embedded GitHub answers or sends in it is checked against what GitHub publishes,
 * and the file fails where something is not as described. Nothing is loaded where none is started.
 */
import { afterAll } from "vitest";
import { watchEveryGitHub } from "../../src/sim/github/deliver/watchers.ts";
import type { SchemaChecks } from "./validate.ts";

/** Of each world of this test file, in the order they were started. */
export const worlds: SchemaChecks[] = [];

const watchNoMore = watchEveryGitHub(async () => {
  const { schemaChecks } = await import("./validate.ts");
  const checks = schemaChecks();
  worlds.push(checks);
  return checks.hooks;
});

afterAll(() => {
  watchNoMore();
  const problems = new Set(worlds.flatMap((checks) => checks.problems));
  if (problems.size > 0) throw new Error(`the embedded GitHub was not as GitHub describes it:\n${[...problems].join("\n")}`);
});
