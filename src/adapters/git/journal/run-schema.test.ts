import { expect, test } from "vitest";
import type { Run } from "../../../core/run/state/run.ts";
import { freshRun } from "../testing/runs.ts";
import { printRun } from "./print-run.ts";
import { JournalFileError, readRun } from "./read-run.ts";

const AT = "2026-11-21T09:00:00.000Z";

function back(run: Run): Promise<Run | undefined> {
  const { files } = printRun(run);
  const read = async (paths: readonly string[]) => new Map(paths.map((path) => [path, files.get(path) ?? null]));
  return readRun(read, run.rollout, run.number).then((found) => found?.run);
}

test("when a stage was amended is read as it was written", async () => {
  const run = freshRun(2, 2, { amended: [{ stage: 1, at: AT }] });
  expect(await back(run)).toEqual(run);
});

test.each<[string, unknown, RegExp]>([
  ["a text", "yesterday", /amended: /],
  ["of no time", [{ stage: 0, at: "yesterday" }], /amended.*at: is no time/],
  ["of no stage", [{ at: AT }], /amended.*stage/],
])("amended that is %s is refused with its place, not acted on", async (_name, amended, why) => {
  const error = await back(freshRun(2, 2, { amended: amended as Run["amended"] & object })).catch((problem) => problem);
  expect(error).toBeInstanceOf(JournalFileError);
  expect(error.message).toMatch(why);
});
