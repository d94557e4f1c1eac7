import { describe, expect, test } from "vitest";
import type { Run } from "../../run/state/run.ts";
import { batch, bench, MINUTE, round } from "../../run/testing/bench.ts";
import { stepBench } from "../../run/testing/step-bench.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { contextOf } from "../model/context.ts";
import { gatesOf } from "../model/gates.ts";
import { type History, NO_HISTORY } from "../plan/duration.ts";
import { gateTable } from "./batch-gates.ts";

function tableOf(run: Run, now: number, number = 1): string {
  return gateTable(gatesOf(contextOf(run, now), batch(run, number)));
}

function rowsOf(run: Run, now: number, number = 1): string[] {
  return tableOf(run, now, number)
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| gate") && !line.startsWith("| ---"))
    .map((line) => line.slice(2, line.indexOf(" |", 2)));
}

const everything = ({ stages, ...rollout }: Rollout): Partial<Rollout> => {
  const [stage] = stages;
  if (stage === undefined) throw new Error("no stage");
  const analysis = { templates: [{ templateName: "webcheck" }], args: [], when: ["BeforeStage", "AfterBatch"] };
  const hooks = { before: [{ url: "https://hooks.invalid" }], after: [], onFailure: [] };
  Object.assign(stage, { approval: { teams: ["sre"], count: 2 }, jitterMs: 5 * MINUTE, bakeMs: 10 * MINUTE, analysis, hooks });
  return {
    dependsOn: [{ rollout: "ledger", atLeast: "SameVersion" }],
    windows: [{ schedule: "0 14 * * 1-5", durationMs: 60 * MINUTE, timeZone: "UTC", kind: "allow" }],
    delivery: { ...rollout.delivery, merge: "Manual" },
  };
};

describe("the gates of a batch's pull request", () => {
  test("each that its stage has is a line, in the order in which they are asked, with what opens it and when", () => {
    const self = bench(2, [{}], (rollout) => Object.assign(rollout, everything(rollout)));
    round(self);
    expect(rowsOf(self.run, self.now)).toEqual([
      ...["after ledger", "approval", "windows", "jitter", "analysis", "hooks"],
      ...["a person", "health", "bake", "analysis"],
    ]);
    const table = tableOf(self.run, self.now);
    expect(table).toContain("2 members of @\u200bsre");
    expect(table).toContain("| next 14:00:00 UTC |");
    expect(table).toContain("| at most 5m from now |");
    expect(table).toContain("| 10m after the last is healthy |");
  });

  test("windows for some are named with whom they are for, and only where they may be for its clusters", () => {
    const self = bench(2, [{}], (rollout) => {
      const window = { schedule: "0 14 * * 1-5", durationMs: 60 * MINUTE, timeZone: "UTC", kind: "allow" as const };
      rollout.windows = [{ ...window, selector: { matchLabels: { region: "us" }, matchExpressions: [] }, stages: ["stage 1"] }];
    });
    round(self);
    const tableWith = (history: Partial<History>) =>
      gateTable(gatesOf(contextOf(self.run, self.now, { history: { ...NO_HISTORY, ...history } }), batch(self.run, 1)));
    expect(tableWith({})).toContain("| windows | region=us; stages stage 1: allow 0 14 \\* \\* 1-5 for 1h (UTC) |");
    expect(tableWith({})).toContain("| when those for its clusters are open |");
    // The first batch has no cluster of us.
    expect(tableWith({ clusters: self.world.clusters })).not.toContain("windows");
  });

  test("a rollback's and a hotfix's have what binds them alone", () => {
    const self = bench(2, [{}], (rollout) => Object.assign(rollout, everything(rollout)));
    round(self);
    const [first] = self.run.batches;
    if (first === undefined) throw new Error("no batch");
    const hotfix = { ...self.run, batches: [{ ...first, kind: "Hotfix" as const }] };
    expect(rowsOf(hotfix, self.now)).not.toContain("windows");
    expect(rowsOf(hotfix, self.now)).toContain("approval");
    const revert = { ...self.run, batches: [{ ...first, kind: "Revert" as const }] };
    expect(rowsOf(revert, self.now)).toEqual(["a person", "health"]);
  });

  test("of a batch in steps: what follows its weight, and the bake with the last alone", () => {
    const self = stepBench(2);
    round(self);
    const table = tableOf(self.run, self.now);
    expect(table).toContain("| `/promote` |");
    expect(table).not.toContain("| bake |");
  });

  test("what stands in the rollout cannot leave its cell", () => {
    const self = bench(1, [{}], (rollout) => {
      for (const stage of rollout.stages) stage.approval = { teams: ["a | b\n\n# c"], count: 1 };
    });
    round(self);
    const rows = tableOf(self.run, self.now).split("\n");
    expect(rows.every((line) => !line.startsWith("#"))).toBe(true);
  });
});
