import { expect, test } from "vitest";
import { sampleRollout, sampleRun } from "../../../../test/support/sample-run.ts";
import { resourceWords } from "./edited-midrun.ts";

test("§9.16: a resource edited mid-run is named with what of it differs; a release alone is no edit", () => {
  const run = sampleRun();
  expect(resourceWords(run, sampleRollout())).toBeUndefined();
  expect(resourceWords(run, sampleRollout({ release: { kind: "version", version: "v9", attempt: 1 } }))).toBeUndefined();
  expect(resourceWords(run, sampleRollout({ settleMs: 1, onNewRelease: "Queue" }))).toBe(
    "rollouts/payments.yaml was edited since this run began (onNewRelease, settle): the run keeps what it started with, and the next one takes the edit.",
  );
  expect(resourceWords(run, undefined)).toContain("no longer in rollouts/payments.yaml");
});
