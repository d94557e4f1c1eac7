import { describe, expect, test } from "vitest";
import { batch, pull, round, say } from "../run/testing/bench.ts";
import { bringStep, mergeStep, stepBench } from "../run/testing/step-bench.ts";
import { batchBody } from "./batch/batch-pull.ts";
import { modelOf } from "./model/run-model.ts";
import { planComment } from "./plan/plan-comment.ts";
import { runComment } from "./run/run-comment.ts";
import { stepsTable } from "./steps.ts";
import { renderTree } from "./tree/tree.ts";

const ALL = { stages: 10, batches: 10, clusters: 10 };

/** Paused at 20, then the pull request of 60 open. */
function atSixty() {
  const self = stepBench(3);
  bringStep(self, 1);
  say(self, "/promote");
  round(self);
  pull(self, 2);
  round(self);
  return self;
}

describe("a plan with steps", () => {
  test("names each weight, what follows it, and the replicas of each cluster", () => {
    const { run } = stepBench(3, { replicas: 10 });
    const spec = {
      ...run.spec,
      pins: [{ kind: "branch" as const, branch: "x" }],
      weightPins: [{ file: "f", path: "p", value: "", replicas: 10 }],
    };
    const table = stepsTable(spec, run.plan, ALL);
    expect(table).toContain("| 1 of 3 | 20 | pause until /promote |\n| 2 of 3 | 60 | pause 10m |\n| 3 of 3 | 100 | – |");
    expect(table).toContain("| batch | cluster | at 20 | at 60 | at 100 |");
    expect(table).toContain("| 1 | `c1` | `1` | `3` | `5` |\n| 1 | `c2` | `1` | `3` | `5` |\n| 2 | `c3` | `2` | `6` | `10` |");
    expect(stepsTable(spec, run.plan, { ...ALL, clusters: 1 })).toContain("and 2 more clusters.");
  });

  test("the comment on the release PR has it, and steps among the gates", () => {
    const { run } = stepBench(2);
    const comment = planComment(run.spec, run.plan, "v1");
    expect(comment).toContain("steps 20 → 60 → 100");
    expect(comment).toContain("| 2 of 3 | 60 | pause 10m |");
  });

  test("a rollout without steps says nothing of them", () => {
    const { run } = stepBench(2, { change: ({ stages }) => delete stages[0]?.steps });
    expect(stepsTable(run.spec, run.plan, ALL)).toBe("");
  });
});

describe("a run in its steps", () => {
  test("the batch PR says which step it is, and changes the weight alone", () => {
    const { run, now } = atSixty();
    const body = batchBody(run, batch(run, 2), now);
    expect(body).toContain("step 2 of 3 (weight 60)");
    expect(body).toContain("| `c1` | `app-c1` | `20` | `60` |");
    expect(body).not.toContain("`v2` | `v2`");
  });

  test("no cluster is live at the release before its last weight, and none is counted twice", () => {
    const self = atSixty();
    expect(runComment(self.run, self.now)).toContain("| canary | Progressing | 0/2 | 0/3 ");
    const model = modelOf(self.run, self.now);
    expect(model.counts).toMatchObject({ clusters: 3, healthy: 0 });
    expect(model.children[0]?.children.map(({ name }) => name)).toEqual(["batch 1 of 2, step 2 of 3 (weight 60)", "batch 2 of 2"]);
    self.run = { ...self.run, promotedFully: { by: "bob", at: self.run.startedAt } };
    bringStep(self, 2);
    bringStep(self, 3);
    expect(runComment(self.run, self.now)).toContain("| canary | Progressing | 1/2 | 2/3 ");
    expect(modelOf(self.run, self.now).counts).toMatchObject({ clusters: 3, healthy: 2 });
  });

  test("the tree has each weight, clusters under the one they are at", () => {
    const self = atSixty();
    mergeStep(self, 2);
    const tree = renderTree(self.run, self.now, { color: false, width: 140 });
    expect(tree).toMatch(/batch 1 of 2, step 2 of 3 \(weight 60\) +● Syncing/);
    expect(tree.match(/⎈ c1 /g)).toHaveLength(1);
    expect(tree).toContain("batch 2");
    expect(tree).toContain("0/3 clusters");
  });
});
