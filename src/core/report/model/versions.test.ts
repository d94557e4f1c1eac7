import { describe, expect, test } from "vitest";
import { batchTarget, plannedTarget, sampleRun } from "../../../../test/support/sample-run.ts";
import { runReason } from "../../reasons/run.ts";
import type { Batch, Run } from "../../run/state/run.ts";
import { momentsOf, sharesOf, versionsOf } from "./versions.ts";

const MERGED_AT = "2026-11-21T09:00:00.000Z";
const LIVE_AT = "2026-11-21T09:02:00.000Z";
const at = (time: string) => Date.parse(time);

function merged(batch: Batch | undefined, change: Partial<Batch> = {}): Batch {
  if (batch === undefined) throw new Error("the sample has batches");
  return { ...batch, merged: { commit: "c".repeat(40), at: MERGED_AT, by: "bot" }, ...change };
}

/** One batch of eu-1 and eu-2, merged; everything else is still to come. */
function run(change: Partial<Batch> = {}, more: Batch[] = []): Run {
  const sample = sampleRun({ startedAt: "2026-11-21T08:50:00.000Z" });
  const live = { ...batchTarget("eu-1", "Baked"), confirmedAt: LIVE_AT, since: LIVE_AT };
  const targets = [live, { ...batchTarget("eu-2", "Syncing"), since: MERGED_AT }];
  return { ...sample, batches: [merged(sample.batches[0], { targets, ...change }), ...more] };
}

const told = (one: Run, moment?: string) =>
  Object.fromEntries(
    versionsOf(one, moment === undefined ? undefined : at(moment)).map(({ cluster, version, known, since }) => [
      cluster,
      [version, known, since],
    ]),
  );

describe("which version a target has", () => {
  test("is what stood in Git until its batch has merged, then what was merged, then what was seen live", () => {
    const before = told(run(), "2026-11-21T08:59:59.999Z");
    expect(before["eu-1"]).toEqual(["v1.4.1", "InGit", "2026-11-21T08:50:00.000Z"]);
    expect(told(run(), MERGED_AT)["eu-1"]).toEqual(["v1.4.2", "Merged", MERGED_AT]);
    expect(told(run(), LIVE_AT)).toMatchObject({
      "eu-1": ["v1.4.2", "Live", LIVE_AT],
      "eu-2": ["v1.4.2", "Merged", MERGED_AT],
      "us-1": ["v1.4.1", "InGit", "2026-11-21T08:50:00.000Z"],
      "us-4": ["v1.4.1", "InGit", "2026-11-21T08:50:00.000Z"],
    });
    expect(versionsOf(run())[1]).toMatchObject({ version: "v1.4.2", before: "v1.4.1" });
  });

  test("is the old one again once a batch that puts it back has merged, in whatever order they were opened", () => {
    const [edit] = plannedTarget("eu-1").edits;
    if (edit === undefined) throw new Error("it has an edit");
    const back = { ...batchTarget("eu-1", "Merged"), edits: [{ ...edit, from: "v1.4.2", to: "v1.4.1" }] };
    const revert = merged(run().batches[0], { number: 2, kind: "Revert", targets: [back] });
    const later = { ...revert, merged: { commit: "d".repeat(40), at: "2026-11-21T09:10:00.000Z", by: "bot" } };
    expect(told(run({}, [later]))["eu-1"]).toEqual(["v1.4.1", "Merged", "2026-11-21T09:10:00.000Z"]);
    expect(told(run({}, [later]), LIVE_AT)["eu-1"]).toEqual(["v1.4.2", "Live", LIVE_AT]);
    const earlier = { ...revert, merged: { commit: "d".repeat(40), at: "2026-11-21T08:55:00.000Z", by: "bot" } };
    expect(told(run({}, [earlier]))["eu-1"]).toEqual(["v1.4.2", "Live", LIVE_AT]);
  });

  test("of one that failed is the new one, seen failing; of one put out before the merge the old one; one that is gone has none", () => {
    const failed = { ...batchTarget("eu-1", "Failed"), since: LIVE_AT };
    const out = { ...batchTarget("eu-2", "Skipped"), since: "2026-11-21T08:58:00.000Z" };
    const gone = { ...batchTarget("us-1", "Skipped"), since: LIVE_AT, why: runReason("TARGET_GONE") };
    expect(told(run({ targets: [failed, out, gone] }))).toMatchObject({
      "eu-1": ["v1.4.2", "Failed", LIVE_AT],
      "eu-2": ["v1.4.1", "InGit", "2026-11-21T08:50:00.000Z"],
    });
    expect(told(run({ targets: [failed, out, gone] }))["us-1"]).toBe(undefined);
    expect(told(run({ targets: [failed, out, gone] }), MERGED_AT)["us-1"]).toEqual(["v1.4.2", "Merged", MERGED_AT]);
  });

  test("is no weight: a pin that goes up by steps is left out", () => {
    const weight = { kind: "value" as const, file: "f", path: "w", from: "0", to: "100", steps: ["50", "100"] };
    const target = { ...batchTarget("eu-1", "Merged"), edits: [...plannedTarget("eu-1").edits, weight] };
    expect(told(run({ targets: [target] }))["eu-1"]?.[0]).toBe("v1.4.2");
  });
});

test("versions are counted, the most first, and many small ones as others", () => {
  expect(sharesOf(versionsOf(run()))).toEqual([
    { version: "v1.4.1", targets: 4, live: 0, failed: 0 },
    { version: "v1.4.2", targets: 2, live: 1, failed: 0 },
  ]);
  const many = Array.from({ length: 9 }, (_unused, index) => ({ version: `v${index}`, known: "Live" as const }));
  expect(sharesOf(many).map(({ version, targets }) => [version, targets])).toEqual([
    ...["v0", "v1", "v2", "v3", "v4"].map((version) => [version, 1]),
    [undefined, 4],
  ]);
});

test("what happened in a run is told in its order", () => {
  const ended = { ...run(), endedAt: "2026-11-21T10:00:00.000Z" };
  expect(momentsOf(ended).map(({ what, batch }) => [what, batch])).toEqual([
    ["Began", undefined],
    ["Merged", 1],
    ["Ended", undefined],
  ]);
});
