import { describe, expect, test } from "vitest";
import { iso } from "../base/time.ts";
import { planRollback } from "../run/outcome/rollback.ts";
import type { Run } from "../run/state/run.ts";
import { batch, guard, MINUTE, merged, noPull, phases, pull, round, SECOND, say, wants } from "../run/testing/bench.ts";
import { bringStep, CANARY, clustersIn, judgeAt, mergeStep, NEW, OLD, pinned, stepBench } from "../run/testing/step-bench.ts";
import { waitsAfter, weightsOf } from "./steps.ts";

const weights = (run: Run) => run.batches.map(({ step }) => step?.weight);
const values = (run: Run, number: number) => batch(run, number).targets.map(({ edits }) => edits.map(({ from, to }) => `${from} → ${to}`));

describe("the steps of a stage", () => {
  test("weights are those written, and 100", () => {
    expect(weightsOf(CANARY)).toEqual([20, 60, 100]);
    expect(weightsOf([...CANARY, { kind: "setWeight", weight: 100 }])).toEqual([20, 60, 100]);
    expect(weightsOf(undefined)).toEqual([100]);
    expect(waitsAfter(CANARY, 2)).toEqual([{ kind: "pause", durationMs: 600_000 }]);
    expect(waitsAfter(CANARY, 3)).toEqual([]);
  });
});

describe("a batch travels from weight to weight", () => {
  test("one PR a weight for the same clusters: 20 → pause → 60 → timed pause → 100, then the next batch", () => {
    const run = stepBench(3);
    bringStep(run, 1);
    expect(batch(run.run, 1)).toMatchObject({
      phase: "Baking",
      branch: "stagecoach-run/payments/42/1-1-1-step1",
      step: { index: 1, of: 3, weight: 20 },
    });
    expect(values(run.run, 1)).toEqual([
      [`${OLD} → ${NEW}`, "100 → 20"],
      [`${OLD} → ${NEW}`, "100 → 20"],
    ]);
    round(run, 60 * MINUTE);
    expect(run.run.batches).toHaveLength(1);
    expect(batch(run.run, 1).why).toHaveCode("STEP_AWAITS_PERSON", { weight: 20 });
    say(run, "/promote");
    expect(wants(round(run))).toEqual(["Propose 2", "Answer done"].reverse());
    expect(batch(run.run, 2)).toMatchObject({
      branch: "stagecoach-run/payments/42/1-1-1-step2",
      ofStage: 1,
      step: { index: 2, of: 3, weight: 60 },
    });
    expect(values(run.run, 2)).toEqual([
      [`${NEW} → ${NEW}`, "20 → 60"],
      [`${NEW} → ${NEW}`, "20 → 60"],
    ]);
    bringStep(run, 2);
    expect([phases(run.run, 1), phases(run.run, 2)]).toEqual([
      ["Baked", "Baked"],
      ["Healthy", "Healthy"],
    ]);
    expect(batch(run.run, 2).step?.wait).toEqual({ at: 0, from: iso(run.now), until: iso(run.now + 10 * MINUTE) });
    for (const cluster of clustersIn(run.run, 2)) judgeAt(run, 2, cluster, "live");
    round(run, 10 * MINUTE - SECOND);
    expect(run.run.batches).toHaveLength(2);
    expect(run.last.wakeAt).toBe(run.now + SECOND);
    round(run);
    expect(batch(run.run, 3)).toMatchObject({ step: { index: 3, of: 3, weight: 100 } });
    bringStep(run, 3);
    expect(phases(run.run, 3)).toEqual(["Baked", "Baked"]);
    expect(batch(run.run, 4)).toMatchObject({ ofStage: 2, step: { index: 1 }, branch: "stagecoach-run/payments/42/1-2-1-step1" });
    expect(clustersIn(run.run, 4)).toEqual(["c3"]);
    bringStep(run, 4);
    round(run, MINUTE);
    for (const cluster of clustersIn(run.run, 4)) judgeAt(run, 4, cluster, "live");
    say(run, "/promote", { createdAt: iso(run.now) });
    round(run);
    bringStep(run, 5);
    round(run, 11 * MINUTE);
    bringStep(run, 6);
    expect([run.run.phase, weights(run.run)]).toEqual(["Succeeded", [20, 60, 100, 20, 60, 100]]);
  });

  test("what was seen of the weight before never confirms the next", () => {
    const run = stepBench(1, { steps: [{ kind: "setWeight", weight: 20 }] });
    bringStep(run, 1);
    mergeStep(run, 2);
    round(run);
    expect([phases(run.run, 1), phases(run.run, 2)]).toEqual([["Baked"], ["Merged"]]);
    judgeAt(run, 2, "c1", "live");
    round(run);
    expect(run.run.phase).toBe("Succeeded");
  });

  test("the window is taken until the last step is confirmed: nobody else of the stage may go beside it", () => {
    const run = stepBench(3, { maxUnavailable: 2 });
    bringStep(run, 1);
    say(run, "/hotfix c3 customer down", { permission: "maintain" });
    round(run);
    pull(run, 2);
    guard(run, 2);
    round(run);
    guard(run, 2);
    expect(wants(round(run))).toEqual(["Answer done"]);
    expect(batch(run.run, 2).why).toHaveCode("WINDOW_FULL", { most: 2 });
  });

  test("a hotfix brings the whole weight at once", () => {
    const run = stepBench(3);
    say(run, "/hotfix c3 customer down", { permission: "maintain" });
    round(run);
    expect(run.run.batches.map(({ kind, step }) => [kind, step?.weight])).toContainEqual(["Hotfix", undefined]);
    const hotfix = run.run.batches.find(({ kind }) => kind === "Hotfix");
    expect(hotfix?.targets[0]?.edits.map(({ to }) => to)).toEqual([NEW, "100"]);
  });

  test("a stage without steps writes the whole weight", () => {
    const run = stepBench(1, { change: ({ stages }) => delete stages[0]?.steps });
    round(run);
    expect(batch(run.run, 1).step).toBeUndefined();
    expect(batch(run.run, 1).targets[0]?.edits.map(({ to }) => to)).toEqual([NEW, "100"]);
  });

  test("stage bake is waited for after the last weight only", () => {
    const change = ({ stages: [stage] }: Run["spec"]) => Object.assign(stage ?? {}, { bakeMs: 5 * MINUTE });
    const run = stepBench(1, { steps: [{ kind: "setWeight", weight: 50 }], change });
    bringStep(run, 1);
    bringStep(run, 2);
    expect(batch(run.run, 2)).toMatchObject({ phase: "Baking", bake: { until: iso(run.now + 5 * MINUTE) } });
    round(run, 5 * MINUTE);
    expect(run.run.phase).toBe("Succeeded");
  });
});

describe("pauses", () => {
  test("an unhealthy moment holds a timed pause, and it is timed anew from when all are confirmed again", () => {
    const run = stepBench(2, {
      steps: [
        { kind: "setWeight", weight: 20 },
        { kind: "pause", durationMs: 10 * MINUTE },
      ],
    });
    bringStep(run, 1);
    const first = batch(run.run, 1).step?.wait?.until;
    round(run, 9 * MINUTE);
    judgeAt(run, 1, "c2", "pending");
    round(run, 30 * SECOND);
    expect(batch(run.run, 1).phase).toBe("Merged");
    round(run, 20 * MINUTE - 45 * SECOND - 9 * MINUTE);
    expect(run.run.batches).toHaveLength(1);
    judgeAt(run, 1, "c2", "live");
    round(run);
    const until = batch(run.run, 1).step?.wait?.until;
    expect(until).toBe(iso(run.now + 10 * MINUTE));
    expect(until).not.toBe(first);
    judgeAt(run, 1, "c1", "live");
    judgeAt(run, 1, "c2", "live");
    round(run, 10 * MINUTE);
    expect(weights(run.run)).toEqual([20, 100]);
  });

  test("a pause of 10m is never over by an old timestamp: the next one begins when the one before it ended", () => {
    const steps = [
      { kind: "setWeight" as const, weight: 20 },
      { kind: "pause" as const },
      { kind: "pause" as const, durationMs: 10 * MINUTE },
    ];
    const run = stepBench(1, { steps });
    bringStep(run, 1);
    round(run, 60 * MINUTE);
    judgeAt(run, 1, "c1", "live");
    say(run, "/promote");
    round(run);
    expect(batch(run.run, 1).step?.wait).toEqual({ at: 1, from: iso(run.now), until: iso(run.now + 10 * MINUTE) });
    expect(run.run.batches).toHaveLength(1);
  });

  test("a /promote written before the pause began is refused, and one on the pull request of that step counts", () => {
    const run = stepBench(1);
    const early = iso(run.now);
    bringStep(run, 1);
    say(run, "/promote", { createdAt: early });
    round(run);
    expect(run.run.commands.at(-1)).toMatchObject({
      outcome: "refused",
      message: expect.toHaveCode("PROMOTE_CAME_LATE", { was: undefined, current: expect.objectContaining({ kind: "step" }) }),
    });
    say(run, "/promote", { batch: 1 });
    round(run);
    expect(run.run.commands.at(-1)).toMatchObject({
      outcome: "done",
      message: expect.toHaveCode("STEP_PAUSE_ENDED", { after: { index: 2, of: 3 } }),
    });
    expect(weights(run.run)).toEqual([20, 60]);
  });

  test("/promote --full ends this pause and every later one, never health", () => {
    const run = stepBench(1);
    bringStep(run, 1);
    say(run, "/promote --full", { permission: "maintain", flags: { full: true } });
    round(run);
    bringStep(run, 2);
    expect(weights(run.run)).toEqual([20, 60, 100]);
    mergeStep(run, 3);
    round(run, 5 * MINUTE);
    expect(run.run.phase).toBe("Progressing");
    judgeAt(run, 3, "c1", "live");
    round(run);
    expect(run.run.phase).toBe("Succeeded");
  });

  test("an old weight that fails while the next pull request is open stops the run", () => {
    const run = stepBench(1, { steps: [{ kind: "setWeight", weight: 20 }] });
    bringStep(run, 1);
    pull(run, 2);
    guard(run, 2);
    judgeAt(run, 1, "c1", "failing");
    expect(wants(round(run))).toEqual([]);
    expect(run.run).toMatchObject({ phase: "Paused", paused: { kind: "Failure" } });
  });
});

describe("what people do meanwhile", () => {
  test("a weight changed by hand is drift; the weight of the next step, merged and not yet seen merged, is not", () => {
    const run = stepBench(1, { steps: [{ kind: "setWeight", weight: 20 }] });
    bringStep(run, 1);
    pull(run, 2);
    round(run);
    pinned(run, "c1", NEW, "100");
    round(run);
    expect(run.run.phase).toBe("Progressing");
    pinned(run, "c1", NEW, "35");
    round(run);
    expect(run.run).toMatchObject({ phase: "Paused", paused: { kind: "Drift", reason: expect.toHaveCode("PIN_DRIFT", { found: "35" }) } });
  });

  test("/skip leaves a cluster at its weight, in a pause and while the next pull request is open", () => {
    const run = stepBench(2);
    bringStep(run, 1);
    say(run, "/skip c1");
    round(run);
    expect(run.run.commands.at(-1)?.outcome).toBe("done");
    say(run, "/promote");
    round(run);
    expect(clustersIn(run.run, 2)).toEqual(["c2"]);
    pull(run, 2);
    round(run);
    say(run, "/skip c2");
    round(run);
    expect([batch(run.run, 2).closing !== undefined, phases(run.run, 1)]).toEqual([true, ["Skipped", "Skipped"]]);
    pull(run, 2, { state: "closed" });
    round(run);
    noPull(run, 2);
    round(run);
    expect(run.run.phase).toBe("Succeeded");
    expect(run.run.skipped.map(({ cluster }) => cluster)).toEqual(["hub/c1", "hub/c2"]);
  });

  test("/requeue of a cluster at a weight puts back version and weight of before the run", () => {
    const run = stepBench(2);
    bringStep(run, 1);
    say(run, "/promote");
    round(run);
    bringStep(run, 2);
    say(run, "/requeue c1 --for 2h", { args: ["c1"], flags: { for: "2h" } });
    round(run);
    const revert = run.run.batches.find(({ kind }) => kind === "Revert");
    expect(revert?.targets.map(({ cluster, edits }) => [cluster, edits.map(({ from, to }) => `${from} → ${to}`)])).toEqual([
      ["hub/c1", [`${NEW} → ${OLD}`, "60 → 100"]],
    ]);
    expect(revert?.step).toBeUndefined();
  });

  test("a step's pull request that is closed is built again as the next attempt, on a branch of its own", () => {
    const run = stepBench(1);
    bringStep(run, 1);
    say(run, "/promote");
    round(run);
    pull(run, 2);
    round(run);
    pull(run, 2, { state: "closed", closedBy: "bob" });
    round(run);
    expect(run.run.paused?.kind).toBe("PullClosed");
    say(run, "/resume");
    round(run);
    expect(batch(run.run, 2)).toMatchObject({ attempt: 2, branch: "stagecoach-run/payments/42/1-1-2-step2", step: { index: 2 } });
  });

  test("a step merged early by hand is in flight, and pauses the run", () => {
    const run = stepBench(1, { change: (rollout) => Object.assign(rollout, { mode: "Propose" }) });
    round(run);
    pull(run, 1);
    say(run, "/pause");
    round(run);
    merged(run, 1, { by: "bob", byUs: false });
    round(run);
    expect([run.run.phase, phases(run.run, 1)]).toEqual(["Paused", ["Merged"]]);
  });
});

describe("failures and the way back", () => {
  test("a cluster that fails at 20 stays there within the budget; after /retry it goes the whole way by itself", () => {
    const change = (rollout: Run["spec"]) => Object.assign(rollout, { onFailure: { action: "Pause", maxFailures: { count: 1 } } });
    const run = stepBench(2, { steps: [{ kind: "setWeight", weight: 20 }], change });
    mergeStep(run, 1);
    judgeAt(run, 1, "c1", "failing");
    judgeAt(run, 1, "c2", "live");
    round(run);
    expect(clustersIn(run.run, 2)).toEqual(["c2"]);
    bringStep(run, 2);
    expect(run.run.phase).toBe("Succeeded");
    expect(phases(run.run, 1)).toEqual(["Failed", "Baked"]);
  });

  test("unhealthy at 20 with onFailure Rollback: the way back has version and weight of before, in one batch", () => {
    const change = (rollout: Run["spec"]) => Object.assign(rollout, { onFailure: { action: "Rollback", maxFailures: { count: 0 } } });
    const run = stepBench(2, { change });
    mergeStep(run, 1);
    judgeAt(run, 1, "c1", "failing");
    judgeAt(run, 1, "c2", "live");
    round(run);
    expect(run.run).toMatchObject({ phase: "Failed", rollback: { by: "stagecoach" } });
    const back = planRollback(run.run);
    if ("error" in back) throw new Error(back.error.code);
    expect(back.spec.stages[0]?.steps).toBeUndefined();
    expect(
      back.plan.stages[0]?.batches.map(({ targets }) => targets.map(({ edits }) => edits.map(({ from, to }) => `${from} → ${to}`))),
    ).toEqual([
      [
        [`${NEW} → ${OLD}`, "20 → 100"],
        [`${NEW} → ${OLD}`, "20 → 100"],
      ],
    ]);
  });

  test("--to puts another version there, and the weight back to what it was", () => {
    const run = stepBench(1);
    bringStep(run, 1);
    const back = planRollback(run.run, "v0");
    if ("error" in back) throw new Error(back.error.code);
    expect(back.plan.stages[0]?.batches[0]?.targets[0]?.edits.map(({ to }) => to)).toEqual(["v0", "100"]);
  });
});
