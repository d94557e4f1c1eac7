import { describe, expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import type { Batch, Run } from "../../run/state/run.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { batchPlan } from "../model/batch-plan.ts";
import { contextOf } from "../model/context.ts";
import { shortName } from "../words.ts";
import { batchIntro } from "./batch-intro.ts";

const NOW = Date.parse("2026-11-21T09:04:00.000Z");

function intro(change: (spec: Rollout) => Partial<Rollout> = () => ({}), patch: Partial<Batch> = {}, more: Partial<Run> = {}): string {
  const before = sampleRun();
  const [, second] = before.batches;
  if (second === undefined) throw new Error("the sample has two batches");
  const batch = { ...second, ...patch };
  const run = { ...before, ...more, spec: { ...before.spec, ...change(before.spec) }, batches: [...before.batches.slice(0, 1), batch] };
  const clusters = [...new Set(batch.targets.map(({ cluster }) => shortName(cluster)))];
  return batchIntro(batchPlan(contextOf(run, NOW), batch), clusters);
}

describe("a batch's PR begins with", () => {
  test("what changes where, how far the run is, who merges it when, and what follows", () => {
    expect(intro(({ stages }) => ({ stages: stages.map((stage) => ({ ...stage, bakeMs: 600_000 })) }))).toMatchInlineSnapshot(`
      "**\`v1.4.1\` → \`v1.4.2\`** on \`us-1\`, \`us-2\`

      Stage **everywhere else**, 2 of 2; batch 1 of 2. Run **payments #​42**, release \`v1.4.2\` (#10).

      **As planned:** Stagecoach merges this PR once its checks pass. Once Argo CD shows every cluster healthy at this change and the bake of 10m is over, Stagecoach opens batch 2 of 2."
    `);
  });

  test("whose turn it is, where people merge", () => {
    expect(intro(({ delivery }) => ({ delivery: { ...delivery, merge: "Manual" } }))).toContain(
      "**As planned:** a person merges this PR; `/promote` has Stagecoach do it. Once Argo CD shows",
    );
    expect(intro(() => ({ mode: "Propose" }))).toContain("**As planned:** a person merges this PR, as the rollout's mode is Propose.");
  });

  test("what holds it: an approval, a window that is closed, another rollout", () => {
    const windows: Rollout["windows"] = [
      { kind: "allow", schedule: "0 9 * * 1-5", durationMs: 3_600_000, timeZone: "UTC" } as NonNullable<Rollout["windows"]>[number],
    ];
    const text = intro(() => ({ windows, dependsOn: [{ rollout: "ledger", atLeast: "SameVersion" }] }));
    // The sample is of a Saturday.
    expect(text).toContain(
      "merges this PR once ledger is healthy on its clusters, a window opens at 2026-11-23 09:00:00 UTC and its checks pass",
    );
    const approving = intro(({ stages }) => ({ stages: stages.map((stage) => ({ ...stage, approval: { teams: ["sre"], count: 1 } })) }));
    expect(approving).toContain("once a member of @sre approved it and its checks pass");
  });

  test("what kind of batch it is where it is none of the plan's; a revert waits for no window and bakes nothing", () => {
    const windows: Rollout["windows"] = [
      { kind: "allow", schedule: "0 9 * * 1-5", durationMs: 3_600_000, timeZone: "UTC" } as NonNullable<Rollout["windows"]>[number],
    ];
    const text = intro(({ stages }) => ({ windows, stages: stages.map((stage) => ({ ...stage, bakeMs: 600_000 })) }), { kind: "Revert" });
    expect(text).toContain("2 of 2; revert batch.");
    expect(text).not.toMatch(/window|bake/);
    expect(intro(undefined, { kind: "CatchUp" })).toContain("; catch-up batch. Run **payments #\u200b42**");
  });

  test("at most five clusters by name; what comes from outside is code, whatever it holds", () => {
    const [first] = sampleRun().batches[1]?.targets ?? [];
    if (first === undefined) throw new Error("the sample has targets");
    const targets = Array.from({ length: 7 }, (_, i) => ({ ...first, cluster: `hub/c${i}`, edits: [{ ...first.edits[0], to: "<b>`x" }] }));
    const text = intro(undefined, { targets: targets as Batch["targets"] });
    expect(text).toContain("`c4` and 2 more");
    expect(text).toContain("→ `` <b>`x ``**");
  });
});
