import { describe, expect, test } from "vitest";
import { planOfSet, rolloutOfSet, runOfSet } from "../../../test/support/sample-set.ts";
import { valueChanges } from "../plan/values.ts";
import { batchBody } from "./batch/batch-pull.ts";
import { modelOf } from "./model/run-model.ts";
import { versionsOf } from "./model/versions.ts";
import { planComment } from "./plan/plan-comment.ts";
import { plannedRelease, planRoom } from "./plan/plan-model.ts";
import { closingSummary } from "./run/closing-summary.ts";
import { runComment } from "./run/run-comment.ts";
import { renderTree } from "./tree/tree.ts";
import { shownValues, valuesTable } from "./values.ts";

const NOW = Date.parse("2026-11-21T09:20:00Z");

const TABLE = `| value | stands at | goes to |
| --- | --- | --- |
| chart | \`7.0.0\` | stays |
| image | \`v1.4.1\` | \`v1.4.2\` |
| sidecar | \`1.1.0\` | \`1.0.9\` |`;

describe("a release of several values is shown as a table", () => {
  test("on its plan, with what changes of each cluster by name", () => {
    const comment = planComment(rolloutOfSet(), planOfSet(), "chart=7.0.0, image=v1.4.1");
    expect(comment).toMatch(/^### 🗺️ Plan: payments, a release of 3 values\n/);
    expect(comment).toContain(TABLE);
    expect(comment).toContain("| image `v1.4.1` → `v1.4.2`, sidecar `1.1.0` → `1.0.9` |");
  });

  test("on the run's page, its last word, and a batch's pull request", () => {
    const run = runOfSet();
    expect(runComment(run, NOW)).toContain(`\n\n${TABLE}\n\n`);
    expect(closingSummary({ ...run, phase: "Succeeded", endedAt: "2026-11-21T09:20:00.000Z" })).toContain(TABLE);
    const [, second] = run.batches;
    if (second === undefined) throw new Error("the sample has two batches");
    expect(batchBody(run, second, NOW)).toMatch(/^\*\*image `v1.4.1` → `v1.4.2`, sidecar `1.1.0` → `1.0.9`\*\* on /);
  });

  test("in a terminal", () => {
    const lines = renderTree(runOfSet(), NOW, { color: false, width: 120 }).split("\n");
    expect(lines.slice(1, 5).map((line) => line.trimEnd())).toEqual([
      "Release:  3 values · PR #10 · by alice",
      "Values:   chart    7.0.0 stays",
      "          image    v1.4.1 → v1.4.2",
      "          sidecar  1.1.0 → 1.0.9",
    ]);
  });

  test("to programs: the run's and the plan's documents", () => {
    const values = [
      { name: "chart", from: "7.0.0", to: "7.0.0" },
      { name: "image", from: "v1.4.1", to: "v1.4.2" },
      { name: "sidecar", from: "1.1.0", to: "1.0.9" },
    ];
    const model = modelOf(runOfSet(), NOW);
    expect(model.values).toEqual(values);
    expect(model.change).toEqual({ from: "image=v1.4.1, sidecar=1.1.0", to: "image=v1.4.2, sidecar=1.0.9" });
    const planned = plannedRelease(rolloutOfSet(), planOfSet(), undefined, { extras: {}, room: planRoom() });
    expect(planned.values).toEqual(values);
    expect(planned.stages[0]?.batches[0]?.changes).toContainEqual({ from: "1.1.0", to: "1.0.9", value: "sidecar" });
  });

  test("clusters by version: each value by its name, before its merge and after", () => {
    const versions = new Set(versionsOf(runOfSet()).map(({ version, known }) => `${known}: ${version}`));
    expect(versions).toContain("InGit: chart=7.0.0, image=v1.4.1, sidecar=1.1.0");
    expect(versions).toContain("Merged: chart=7.0.0, image=v1.4.2, sidecar=1.0.9");
  });
});

test("clusters at many versions of a value are summed up, what nobody had has none, and nothing of it is markup", () => {
  const from = ["1", "2", "3", "4"];
  const shown = shownValues([
    { name: "a", from, to: "5" },
    { name: "b", from: [], to: "<b>`|" },
  ]);
  expect(valuesTable(shown)).toContain("| a | `1, 2, 3, …` | `5` |\n| b | – | ");
  expect(valuesTable(shown)).not.toContain("<b>`|");
});

test("a release of one value has no table", () => {
  const { spec, plan } = runOfSet();
  expect(shownValues(valueChanges(spec, { ...plan, release: { values: { image: "v1.4.2" }, attempt: 1 } }))).toBeUndefined();
  expect(valuesTable(undefined)).toBe("");
});
