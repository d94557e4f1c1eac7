import { expect, test } from "vitest";
import { sampleRollout, sampleRun } from "../../../../test/support/sample-run.ts";
import { resourceEdit } from "./edited-midrun.ts";

test("§9.16: a resource edited mid-run is named with what of it differs; a release alone is no edit", () => {
  const run = sampleRun();
  expect(resourceEdit(run, sampleRollout())).toBeUndefined();
  expect(resourceEdit(run, sampleRollout({ release: { kind: "version", version: "v9", attempt: 1 } }))).toBeUndefined();
  expect(resourceEdit(run, sampleRollout({ settleMs: 1, onNewRelease: "Queue" }))).toEqual({
    code: "RESOURCE_EDITED",
    ...{ declaredIn: "rollouts/payments.yaml", fields: ["onNewRelease", "settle"] },
  });
  expect(resourceEdit(run, undefined)).toEqual({ code: "RESOURCE_GONE", declaredIn: "rollouts/payments.yaml" });
});
