import { describe, expect, test } from "vitest";
import { said } from "../../reasons/run.ts";
import type { Rollout, StageAnalysis } from "../../spec/rollout.ts";
import type { ObservedAnalysis } from "../state/analysis-types.ts";
import { type Bench, batch, bench, bring, guard, judge, merged, noPull, pull, round, say, wants } from "../testing/bench.ts";
import { analysesOf } from "./analysis.ts";

const METRIC = { name: "webcheck", phase: "Running", count: 3, successful: 3, failed: 0, inconclusive: 0, error: 0, value: "ok" };

function withAnalysis(analysis: Partial<StageAnalysis>, more: (rollout: Rollout) => void = () => undefined) {
  return (rollout: Rollout) => {
    for (const stage of rollout.stages) {
      stage.analysis = { templates: [{ templateName: "webcheck", clusterScope: false }], args: [], when: ["AfterBatch"], ...analysis };
    }
    more(rollout);
  };
}

function measured(self: Bench, id: string, phase: ObservedAnalysis["phase"], change: Partial<ObservedAnalysis> = {}): void {
  const analyses = new Map(self.world.analyses ?? []);
  analyses.set(id, { phase, message: said(`it is ${phase}`), metrics: [{ ...METRIC, phase }], ...change });
  self.world = { ...self.world, analyses };
}

function looked(self: Bench): Bench {
  self.world = { ...self.world, analyses: new Map() };
  return self;
}

const ID = "payments/42/1/1/AfterBatch/1";
const states = (self: Bench) => analysesOf(self.run).map(({ id, phase }) => `${id} ${phase}`);

describe("AfterBatch", () => {
  test("begins when every cluster is confirmed, is journalled before it is begun, and the batch settles once it passed", () => {
    const self = looked(bench(2, [{}], withAnalysis({})));
    bring(self, 1, "merged");
    expect(analysesOf(self.run)).toEqual([]);
    judge(self, "c1", "live", "all");
    const begun = round(self);
    expect([begun.change, wants(begun)]).toEqual(["transition", [`StartAnalysis ${ID}`]]);
    expect(batch(self.run, 1).phase).toBe("Baking");
    measured(self, ID, "Running");
    round(self);
    expect(self.run.batches).toHaveLength(1);
    expect(self.run.why).toMatchObject({
      code: "ANALYSIS_RUNNING",
      analysis: { templates: ["webcheck"], of: { stage: "stage 1", number: 1 } },
    });
    measured(self, ID, "Successful");
    const over = round(self);
    expect(batch(self.run, 1).analyses).toMatchObject([{ phase: "Successful", metrics: [{ successful: 3, value: "ok" }] }]);
    expect(over.events).toContainEqual(expect.objectContaining({ code: "ANALYSIS_ENDED", phase: "Successful" }));
    expect(self.run.batches).toHaveLength(2);
  });

  test("is asked for again where the engine does not know it, under the same id: a crash measures anew", () => {
    const self = looked(bench(1, [{}], withAnalysis({})));
    bring(self, 1, "confirmed");
    measured(self, ID, "Running");
    round(self);
    looked(self);
    expect(wants(round(self))).toEqual([`StartAnalysis ${ID}`]);
    expect(batch(self.run, 1).phase).toBe("Baking");
  });

  test("is begun anew, under another id, where the bake is: what was measured before the unhealthy moment counts for nothing", () => {
    const self = looked(bench(1, [{ bakeMs: 60_000 }], withAnalysis({})));
    bring(self, 1, "confirmed");
    measured(self, ID, "Successful");
    round(self);
    expect(states(self)).toEqual([`${ID} Successful`]);
    judge(self, "c1", "pending", "health");
    round(self);
    judge(self, "c1", "live", "all");
    expect(wants(round(self))).toEqual(["StopAnalysis payments/42/1/1/AfterBatch/1", "StartAnalysis payments/42/1/1/AfterBatch/2"]);
  });

  test("one that measures until it is stopped ends with the bake, and not before it has measured once", () => {
    const self = looked(bench(1, [{ bakeMs: 60_000 }], withAnalysis({})));
    bring(self, 1, "confirmed");
    measured(self, ID, "Running", { endless: true, metrics: [{ ...METRIC, count: 0, successful: 0 }] });
    expect(wants(round(self, 61_000))).toEqual([]);
    measured(self, ID, "Running", { endless: true });
    expect(wants(round(self))).toEqual([`StopAnalysis ${ID}`]);
    measured(self, ID, "Successful");
    expect(round(self).run.phase).toBe("Succeeded");
    expect(batch(self.run, 1).analyses?.[0]?.why).toEqual({ code: "ANALYSIS_CALLED_OFF", because: { code: "BAKE_IS_OVER" } });
  });

  test("runs once for each cluster of the batch where its arguments name the cluster, with that cluster's values", () => {
    const args = [
      { name: "host", value: "{{ cluster.name }}.{{ cluster.labels.region }}.example.com" },
      { name: "version", value: "{{ release.version }}" },
    ];
    const self = looked(bench(2, [{ maxUnavailable: 2 }], withAnalysis({ args })));
    bring(self, 1, "confirmed");
    expect(wants(self.last)).toEqual([`StartAnalysis ${ID}/hub/c1`, `StartAnalysis ${ID}/hub/c2`]);
    expect(analysesOf(self.run).map((one) => one.args.map(({ value }) => value))).toEqual([
      ["c1.eu.example.com", "v2"],
      ["c2.us.example.com", "v2"],
    ]);
    measured(self, `${ID}/hub/c1`, "Successful");
    measured(self, `${ID}/hub/c2`, "Running");
    round(self);
    expect(batch(self.run, 1).phase).toBe("Baking");
    say(self, "/skip c2");
    expect(round(self).run.phase).toBe("Progressing");
  });

  test("an argument that a cluster has no value for is an error that names it", () => {
    const self = looked(bench(1, [{}], withAnalysis({ args: [{ name: "zone", value: "{{ cluster.labels.zone }}" }] })));
    bring(self, 1, "confirmed");
    round(self);
    expect(self.run.paused?.reason).toMatchObject({ because: { code: "ANALYSIS_ARGUMENT_MISSING", name: "zone" } });
  });
});

describe("an analysis that ends badly", () => {
  test.each(["Failed", "Error"] as const)(
    "%s pauses the run, however many clusters may fail; /retry measures again and the run goes on",
    (phase) => {
      const self = looked(
        bench(
          2,
          [{}],
          withAnalysis({}, (rollout) => (rollout.onFailure.maxFailures = { count: 5 })),
        ),
      );
      bring(self, 1, "confirmed");
      measured(self, ID, phase, { message: said("webcheck: failed twice") });
      round(self);
      expect(self.run).toMatchObject({ phase: "Paused", paused: { kind: "Failure" } });
      expect(self.run.paused?.reason).toHaveCode("SAID", { text: "webcheck: failed twice" });
      expect(batch(self.run, 1).phase).toBe("Baking");
      say(self, "/retry");
      expect(wants(round(self))).toContain("StartAnalysis payments/42/1/1/AfterBatch/2");
      measured(self, "payments/42/1/1/AfterBatch/2", "Successful");
      round(self);
      expect([self.run.phase, self.run.batches.length]).toEqual(["Progressing", 2]);
    },
  );

  test("/resume goes on all the same, by somebody who may accept failures", () => {
    const self = looked(bench(2, [{}], withAnalysis({})));
    bring(self, 1, "confirmed");
    measured(self, ID, "Failed");
    round(self);
    say(self, "/resume");
    round(self);
    expect(self.run.commands.at(-1)).toMatchObject({ outcome: "refused", message: expect.toHaveCode("RESUME_ACCEPTS_FAILURES") });
    say(self, "/resume", { permission: "maintain", actor: "bob" });
    round(self);
    expect([self.run.phase, self.run.batches.length]).toEqual(["Progressing", 2]);
    expect(batch(self.run, 1).analyses?.[0]?.accepted).toMatchObject({ by: "bob" });
  });

  test("inconclusive pauses and asks, and anybody who may resume goes on", () => {
    const self = looked(bench(2, [{}], withAnalysis({})));
    bring(self, 1, "confirmed");
    measured(self, ID, "Inconclusive");
    round(self);
    expect(self.run.paused).toMatchObject({ kind: "Undecided", ask: expect.toHaveCode("ASK_UNDECIDED_CHECK", { again: "measures" }) });
    say(self, "/resume");
    round(self);
    expect([self.run.phase, self.run.batches.length]).toEqual(["Progressing", 2]);
  });

  test("with Rollback the run ends, is to be rolled back, and the way back measures nothing", () => {
    const self = looked(
      bench(
        2,
        [{}],
        withAnalysis({}, (rollout) => (rollout.onFailure.action = "Rollback")),
      ),
    );
    bring(self, 1, "confirmed");
    measured(self, ID, "Failed");
    round(self);
    expect(self.run).toMatchObject({ phase: "Failed", rollback: { by: "stagecoach" } });
  });

  test("with Continue the run goes on, and ends as Failed", () => {
    const self = looked(
      bench(
        1,
        [{}],
        withAnalysis({}, (rollout) => (rollout.onFailure.action = "Continue")),
      ),
    );
    bring(self, 1, "confirmed");
    measured(self, ID, "Failed");
    round(self);
    expect(self.run.phase).toBe("Failed");
    expect(self.run.why).toHaveCode("RUN_THROUGH", { phase: "Failed", checks: [expect.objectContaining({ templates: ["webcheck"] })] });
  });
});

describe("before, after and beside a stage", () => {
  test("BeforeStage is measured with the first PR open, and only then is it merged", () => {
    const self = looked(bench(1, [{}], withAnalysis({ when: ["BeforeStage"] })));
    round(self);
    pull(self, 1);
    guard(self, 1);
    expect(wants(round(self))).toEqual(["StartAnalysis payments/42/1/0/BeforeStage/1"]);
    measured(self, "payments/42/1/0/BeforeStage/1", "Running");
    expect(wants(round(self))).toEqual([]);
    expect(batch(self.run, 1).why).toHaveCode("ANALYSIS_RUNNING", { analysis: { templates: ["webcheck"], of: { stage: "stage 1" } } });
    measured(self, "payments/42/1/0/BeforeStage/1", "Successful");
    expect(wants(round(self))).toEqual(["Merge 1"]);
  });

  test("AfterStage holds the next stage, and is measured anew where a batch of its stage settled since", () => {
    const id = "payments/42/1/0/AfterStage/1";
    const self = looked(bench(2, [{ region: "eu" }, {}], withAnalysis({ when: ["AfterStage"] })));
    bring(self, 1, "confirmed");
    expect(wants(self.last)).toContain(`StartAnalysis ${id}`);
    measured(self, id, "Running");
    round(self);
    expect([self.run.stage, self.run.batches.length]).toEqual([0, 1]);
    measured(self, id, "Successful");
    round(self);
    expect([self.run.stage, self.run.batches.length]).toEqual([1, 2]);
  });

  test("Background begins with the first merge, fails at once, and ends with its stage", () => {
    const id = "payments/42/1/0/Background/1";
    const self = looked(bench(2, [{}], withAnalysis({ when: ["Background"] })));
    bring(self, 1, "merging");
    merged(self, 1);
    expect(wants(round(self))).toContain(`StartAnalysis ${id}`);
    measured(self, id, "Running", { endless: true });
    judge(self, "c1", "live", "all");
    round(self);
    expect(self.run.batches).toHaveLength(2);
    noPull(self, 2);
    const failing = structuredClone(self.world.analyses);
    measured(self, id, "Failed");
    expect(round({ ...self, run: self.run }).run.phase).toBe("Paused");
    self.world = { ...self.world, analyses: failing ?? new Map() };
    bring(self, 2, "confirmed");
    expect(wants(self.last)).toContain(`StopAnalysis ${id}`);
    measured(self, id, "Successful");
    expect(round(self).run.phase).toBe("Succeeded");
  });
});

describe("people", () => {
  test("/promote does not end an analysis, and says what does; --full ends it and begins no other", () => {
    const self = looked(bench(2, [{}], withAnalysis({ when: ["AfterBatch", "AfterStage"] })));
    bring(self, 1, "confirmed");
    measured(self, ID, "Running");
    round(self);
    say(self, "/promote");
    round(self);
    expect(self.run.commands.at(-1)).toMatchObject({ outcome: "refused", message: expect.toHaveCode("BAKE_OVER") });
    say(self, "/promote", { flags: { full: true }, permission: "maintain" });
    expect(wants(round(self))).toContain(`StopAnalysis ${ID}`);
    expect(self.run.batches).toHaveLength(2);
    measured(self, ID, "Failed");
    round(self);
    expect(batch(self.run, 1).analyses?.[0]?.phase).toBe("Stopped");
    bring(self, 2, "confirmed");
    expect(self.run.phase).toBe("Succeeded");
  });

  test("/abort calls it off", () => {
    const self = looked(bench(1, [{}], withAnalysis({})));
    bring(self, 1, "confirmed");
    measured(self, ID, "Running");
    say(self, "/abort");
    expect(wants(round(self))).toContain(`StopAnalysis ${ID}`);
    measured(self, ID, "Successful");
    expect(round(self).run.phase).toBe("Aborted");
    expect(states(self)).toEqual([`${ID} Stopped`]);
  });
});
