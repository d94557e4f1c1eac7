import { expect, test } from "vitest";
import { plannedTarget, sampleRun } from "../../../../test/support/sample-run.ts";
import { said } from "../../reasons/run.ts";
import { runComment } from "../run/run-comment.ts";
import { renderTree } from "../tree/tree.ts";
import { modelOf } from "./run-model.ts";
import { besides } from "./stage-nodes.ts";

const AT = "2026-11-21T09:00:00.000Z";
const NOW = Date.parse("2026-11-21T09:05:00.000Z");

const run = sampleRun({
  joined: [{ cluster: "hub/us-9", stage: 1, targets: [plannedTarget("us-9")], at: AT }],
  quarantined: [{ cluster: "hub/us-3", stage: 1, why: said("Argo CD cannot reach it: timeout"), since: AT }],
  notJoined: [{ cluster: "hub/ap-2", why: said("it appeared during the run, and no stage takes it"), at: AT }],
});

test("clusters that joined, are in quarantine or are not taken stand in every report, with why", () => {
  expect(besides(run).map((one) => [one.cluster, one.status])).toEqual([
    ["hub/us-9", "Joined"],
    ["hub/us-3", "Quarantined"],
    ["hub/ap-2", "Not in this run"],
  ]);
  const reports = [runComment(run, NOW), renderTree(run, NOW, { color: false, width: 160 }), JSON.stringify(modelOf(run, NOW))];
  for (const text of reports) {
    expect(text).toContain("us-9");
    expect(text).toContain("caught up after the last stage");
    expect(text).toContain("Argo CD cannot reach it: timeout");
    expect(text).toContain("no stage takes it");
  }
});

test("one that is caught up, put off or left out is shown there and not twice", () => {
  const skipped = [{ cluster: "hub/us-9", why: said("left out"), at: AT }];
  expect(besides({ ...run, notJoined: [], quarantined: [], skipped }).map(({ status }) => status)).toEqual(["Skipped"]);
});
