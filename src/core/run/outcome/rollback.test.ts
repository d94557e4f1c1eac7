import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { versionAt } from "../gates/depends.ts";
import { startRollback } from "../start.ts";
import type { Run } from "../state/run.ts";
import {
  AT,
  type Bench,
  batch,
  bench,
  bring,
  guard,
  judge,
  MINUTE,
  noPull,
  phases,
  pull,
  round,
  say,
  see,
  targetKey,
  wants,
} from "../testing/bench.ts";
import { backwards, goodReleaseFor, lastGoodFor, planRollback } from "./rollback.ts";

const maintain = { permission: "maintain" as const };

/** Short names of each batch. */
function order(run: Pick<Run, "plan">): string[] {
  return run.plan.stages.flatMap((stage) => stage.batches.map((one) => one.clusters.map((key) => key.slice(4)).join(" ")));
}

function backOf(run: Run, to?: string) {
  const back = planRollback(run, to);
  if ("error" in back) throw new Error(back.error.code);
  return back;
}

/** The bench goes on with the rollback of its run, in the same world. */
function goBack(self: Bench): void {
  const of = self.run;
  if (of.rollback === undefined) throw new Error("nobody asked for a rollback");
  self.run = startRollback({ of, back: backOf(of, of.rollback.to), number: of.number + 1, asked: of.rollback, now: self.now });
  self.world = { ...self.world, pulls: new Map(), guards: new Map(), commands: [] };
  for (const cluster of self.world.clusters.values()) see(self, cluster.name, { assessment: undefined as never });
  for (const [key, target] of self.world.targets) {
    const { assessment: _, ...rest } = target;
    self.world = { ...self.world, targets: new Map(self.world.targets).set(key, rest) };
  }
}

/** As though nothing had stood where each pin does. */
function makePins({ plan }: Run) {
  const edits = plan.stages.flatMap(({ batches }) => batches.flatMap(({ targets }) => targets.flatMap((target) => target.edits)));
  for (const edit of edits) Object.assign(edit, { from: null, create: true, made: 2 });
  return edits;
}

describe("/rollback", () => {
  test("ends a run in progress, closes its PRs, and its moved clusters go back in reverse order", () => {
    const self = bench(5, [{ maxUnavailable: 2 }]);
    bring(self, 1, "confirmed");
    bring(self, 2, "confirmed");
    bring(self, 3, "open");
    say(self, "/rollback", maintain);
    round(self);
    expect(self.run.ending?.phase).toBe("Aborted");
    expect(wants(self.last)).toEqual(["Close 3"]);
    pull(self, 3, { state: "closed", closedBy: "stagecoach[bot]" });
    round(self);
    round(self);
    expect(self.run).toMatchObject({ phase: "Aborted", why: { code: "ROLLED_BACK_BY", by: "alice" }, rollback: { by: "alice" } });
    expect(self.run.commands.at(-1)).toMatchObject({ outcome: "done", message: { code: "ROLLBACK_DONE" } });
    expect(order(backOf(self.run))).toEqual(["c4 c3", "c2 c1"]);
  });

  test("works on a run long over, from the last stage to the first", () => {
    const self = bench(4, [{ region: "eu" }, { region: "us", maxUnavailable: 2 }]);
    bring(self, 1, "confirmed");
    bring(self, 2, "confirmed");
    bring(self, 3, "confirmed");
    round(self);
    expect(self.run.phase).toBe("Succeeded");
    self.now += 30 * 24 * 60 * MINUTE;
    say(self, "/rollback", maintain);
    round(self);
    expect(self.run).toMatchObject({ phase: "Succeeded", rollback: { by: "alice" } });
    expect(order(backOf(self.run))).toEqual(["c4 c2", "c3", "c1"]);
    expect(backOf(self.run).plan.stages[0]?.batches[0]?.targets[0]?.edits).toMatchObject([{ from: "v2", to: "v1" }]);
    say(self, "/rollback", maintain);
    round(self);
    expect(self.run.commands.at(-1)?.message).toMatchObject({ code: "ROLLING_BACK_ALREADY" });
  });

  test("needs maintain, waits for a merge under way, and refuses where nothing has moved", () => {
    const self = bench(1);
    bring(self, 1, "merging");
    say(self, "/rollback");
    say(self, "/rollback", maintain);
    round(self);
    expect(self.run.commands.map((c) => c.outcome)).toEqual(["refused", "refused"]);
    expect(self.run.commands.at(-1)?.message).toMatchObject({ code: "ROLLBACK_OF_NOTHING" });
  });

  test("--to writes that version instead of what was there", () => {
    const self = bench(1);
    bring(self, 1, "confirmed");
    expect(backOf(self.run, "v0").plan.stages[0]?.batches[0]?.targets[0]?.edits).toMatchObject([{ from: "v2", to: "v0" }]);
  });
});

describe("a rollback run", () => {
  function moved(clusters: number, change?: (rollout: Rollout) => void): Bench {
    const self = bench(clusters, [{ bakeMs: 60 * MINUTE }], change);
    for (let number = 1; number <= clusters; number++) {
      bring(self, number, "confirmed");
      self.now += 61 * MINUTE;
      for (let seen = 1; seen <= number; seen++) judge(self, `c${seen}`, "live", "all");
      round(self);
    }
    round(self);
    say(self, "/rollback", maintain);
    round(self);
    return self;
  }

  test("waits for health batch by batch and for nothing else, and ends RolledBack", () => {
    const self = moved(2, (rollout) => {
      rollout.windows = [{ schedule: "0 9 5 1 *", durationMs: 24 * 60 * MINUTE, timeZone: "UTC", kind: "allow" }];
    });
    self.now += 7 * 24 * 60 * MINUTE;
    goBack(self);
    for (const [number, cluster] of [
      [1, "c2"],
      [2, "c1"],
    ] as const) {
      round(self);
      expect(self.run.phase).toBe("RollingBack");
      pull(self, number);
      guard(self, number);
      round(self);
      expect(wants(self.last)).toContain(`Merge ${number}`);
      pull(self, number, {
        state: "merged",
        merged: { commit: "d".repeat(40), at: iso(self.now), by: "stagecoach[bot]", byUs: true, exact: true },
      });
      see(self, cluster, { pins: ["v1"], inHistory: true });
      round(self);
      expect(self.run.batches).toHaveLength(number);
      judge(self, cluster, "live", "all");
      see(self, cluster, { pins: ["v1"], inHistory: true });
      round(self);
      expect(phases(self.run, number)).toEqual(["Baked"]);
    }
    round(self);
    expect(self.run).toMatchObject({
      kind: "Rollback",
      phase: "RolledBack",
      why: { code: "RUN_THROUGH", phase: "RolledBack", skipped: [] },
    });
  });

  test("goes by `rollback` of the rollout: so many at once over all that moved, and bakes where skipBake is false", () => {
    const plain = moved(4);
    goBack(plain);
    expect([order(plain.run), plain.run.spec.stages[0]?.bakeMs]).toEqual([["c4", "c3", "c2", "c1"], 0]);
    const self = moved(4, (rollout) => {
      rollout.rollback = { maxUnavailable: { percent: 50 }, skipBake: false };
    });
    goBack(self);
    expect([order(self.run), self.run.spec.stages[0]?.bakeMs]).toEqual([["c4 c3", "c2 c1"], 60 * MINUTE]);
  });

  test("takes away what the run made where its plan says how much that was, and leaves what somebody has changed since", () => {
    const self = moved(2);
    const frozen = makePins(self.run);
    const gone = backOf(self.run).plan.stages.flatMap(({ batches }) =>
      batches.flatMap(({ targets }) => targets.flatMap(({ edits }) => edits)),
    );
    expect(gone.map(({ from, to, removes, made, create }) => [from, to, removes, made, create])).toEqual(
      frozen.map(({ to }) => [to, "", true, 2, undefined]),
    );
    goBack(self);
    // What was made stands there, but cannot be told from what somebody put around it.
    see(self, "c2", { pins: [null] });
    round(self);
    expect(self.run.skipped).toMatchObject([{ cluster: "hub/c2", why: { code: "PIN_MADE_BY_RUN", changed: true } }]);
    round(self);
    expect(batch(self.run, 2).targets.map((t) => t.cluster)).toEqual(["hub/c1"]);
    const [edit] = batch(self.run, 2).targets.flatMap(({ edits }) => edits);
    // A way back of that would make it once more.
    expect(edit && backwards(edit, "v2")).toMatchObject({ create: true, from: null, to: "v2", made: 2 });
    expect(edit && backwards(edit, "v2")).not.toHaveProperty("removes");
  });

  test("/requeue of a cluster whose made pin is gone makes it once more", () => {
    const self = moved(1);
    makePins(self.run);
    goBack(self);
    see(self, "c1", { pins: ["v2"] });
    bring(self, 1, "merged");
    see(self, "c1", { pins: [null] });
    say(self, "/requeue c1");
    round(self);
    expect(self.run.skipped).toEqual([]);
    expect(batch(self.run, 2)).toMatchObject({ kind: "Revert", targets: [{ edits: [{ create: true, from: null, to: "v2" }] }] });
    expect(wants(self.last)).toContain("Propose 2");
  });

  test("where what the run made is gone, nobody who depends on it is told a version", () => {
    const self = moved(1);
    makePins(self.run);
    goBack(self);
    see(self, "c1", { pins: ["v2"] });
    bring(self, 1, "merged");
    judge(self, "c1", "live", "all");
    see(self, "c1", { pins: [""] });
    round(self);
    expect([phases(self.run, 1), versionAt(self.run, "hub/c1")]).toEqual([["Baked"], undefined]);
  });

  test("names what was pinned by hand since, and leaves it", () => {
    const self = moved(2);
    goBack(self);
    see(self, "c2", { pins: ["v1.5-hotfix"] });
    round(self);
    expect(self.run.skipped).toMatchObject([{ cluster: "hub/c2", why: { code: "PINNED_BY_HAND", value: "v1.5-hotfix" } }]);
    round(self);
    expect(batch(self.run, 2).targets.map((t) => t.cluster)).toEqual(["hub/c1"]);
  });

  test("that fails itself stops and asks, whatever the rollout tolerates", () => {
    const self = moved(2, (rollout) => {
      rollout.onFailure = { action: "Rollback", maxFailures: { count: 9 } };
    });
    goBack(self);
    round(self);
    pull(self, 1);
    guard(self, 1);
    round(self);
    pull(self, 1, {
      state: "merged",
      merged: { commit: "d".repeat(40), at: iso(self.now), by: "stagecoach[bot]", byUs: true, exact: true },
    });
    see(self, "c2", { pins: ["v1"], inHistory: true });
    round(self);
    judge(self, "c2", "failing");
    see(self, "c2", { pins: ["v1"], inHistory: true });
    round(self);
    expect(self.run).toMatchObject({ phase: "Paused", paused: { kind: "Failure", ask: expect.toHaveCode("ASK_FAILED") } });
  });

  test("restores the release value with its last batch, and with no other", () => {
    const self = moved(2);
    const { rollback: asked } = self.run;
    if (asked === undefined) throw new Error("not asked");
    const restore = { file: "rollouts/payments.yaml", path: "spec.release.version", kind: "value" as const, from: "v2", to: "v1" };
    self.run = startRollback({ of: self.run, back: backOf(self.run), number: 43, asked, restore: [restore], now: self.now });
    self.world = { ...self.world, pulls: new Map(), guards: new Map(), commands: [] };
    round(self);
    expect(batch(self.run, 1).also).toBeUndefined();
    say(self, "/skip c2");
    noPull(self, 1);
    round(self);
    for (let more = 0; more < 4; more++) round(self);
    expect(self.run.batches.at(-1)?.also).toEqual([restore]);
  });
});

describe("onFailure", () => {
  function failing(action: Rollout["onFailure"]["action"]): Bench {
    const self = bench(3, [{}], (rollout) => {
      rollout.onFailure = { action, maxFailures: { count: 0 } };
    });
    bring(self, 1, "confirmed");
    bring(self, 2, "merged");
    judge(self, "c2", "failing");
    round(self);
    return self;
  }

  test("Rollback: the run ends as Failed, and is to be rolled back", () => {
    const self = failing("Rollback");
    for (let more = 0; more < 3; more++) round(self);
    expect(self.run).toMatchObject({
      phase: "Failed",
      rollback: { by: "stagecoach", reason: expect.toHaveCode("TOO_MANY_FAILED", { clusters: ["hub/c2"] }) },
    });
    expect(order(backOf(self.run))).toEqual(["c2", "c1"]);
  });

  test("Continue: it goes on, and ends as Failed with the clusters that did", () => {
    const self = failing("Continue");
    expect(self.run.phase).toBe("Progressing");
    bring(self, 3, "confirmed");
    round(self);
    expect(self.run).toMatchObject({ phase: "Failed", why: { code: "RUN_THROUGH", phase: "Failed", failed: ["hub/c2"] } });
  });
});

describe("what was last good", () => {
  test("is what stood there when the run started, unless a run before it left something else", () => {
    const first = bench(2);
    bring(first, 1, "confirmed");
    const aborted: Run = { ...first.run, phase: "Aborted", goodRelease: { version: "v1" } };
    const next = bench(2);
    for (const stage of next.run.plan.stages)
      for (const one of stage.batches) for (const t of one.targets) for (const e of t.edits) if (t.cluster === "hub/c1") e.from = "v2";
    expect(lastGoodFor(next.run.plan, aborted)).toEqual({ [targetKey("c1")]: ["v1"] });
    expect(lastGoodFor(next.run.plan, { ...aborted, phase: "Succeeded" })).toBeUndefined();
    expect(lastGoodFor(next.run.plan, undefined)).toBeUndefined();
    expect(goodReleaseFor(aborted, { version: "v2" })).toEqual({ version: "v1" });
    expect(goodReleaseFor({ ...aborted, phase: "Succeeded" }, { version: "v2" })).toEqual(aborted.release.values);
    expect(goodReleaseFor(undefined, { version: "v0" })).toEqual({ version: "v0" });
  });

  test("holds over several runs that did not succeed", () => {
    const self = bench(1);
    bring(self, 1, "confirmed");
    const second: Run = { ...self.run, phase: "Failed", lastGood: { [targetKey("c1")]: ["v0"] } };
    expect(lastGoodFor(self.run.plan, second)).toEqual({ [targetKey("c1")]: ["v0"] });
    expect(backOf(second).plan.stages[0]?.batches[0]?.targets[0]?.edits[0]?.to).toBe("v0");
  });
});

test("a pin of which nobody knows how much the run made cannot be put back, and branches only to where they were, and that is said", () => {
  const self = bench(2);
  bring(self, 1, "confirmed");
  for (const stage of self.run.plan.stages)
    for (const one of stage.batches) for (const t of one.targets) for (const e of t.edits) if (t.cluster === "hub/c1") e.from = null;
  expect(planRollback(self.run)).toEqual({ error: { code: "ROLLBACK_OF_NOTHING", moved: true } });
  for (const stage of self.run.plan.stages)
    for (const one of stage.batches)
      for (const t of one.targets)
        for (const e of t.edits) {
          e.kind = "branch";
          e.from ??= "a".repeat(40);
        }
  expect(planRollback(self.run, "v0")).toEqual({ error: { code: "ROLLBACK_OF_BRANCHES" } });
  const [back] = backOf(self.run).plan.stages.flatMap(({ batches }) =>
    batches.flatMap(({ targets }) => targets.flatMap(({ edits }) => edits)),
  );
  expect(back).toMatchObject({ kind: "branch", forced: true, to: "a".repeat(40) });
  expect(AT).toBeGreaterThan(0);
});

test("a cluster that failed and was put off has moved: it goes back like the others", () => {
  const self = bench(2, [{ maxUnavailable: 1 }], (rollout) => {
    rollout.onFailure.maxFailures = { count: 5 };
  });
  bring(self, 1, "confirmed");
  bring(self, 2, "merged");
  judge(self, "c2", "failing");
  round(self);
  const [first, second] = self.run.batches;
  if (first === undefined || second === undefined) throw new Error("no batches");
  const put = { ...second, targets: second.targets.map((target) => ({ ...target, phase: "Requeued" as const, since: iso(self.now) })) };
  const again = {
    ...second,
    number: 3,
    targets: second.targets.map((target) => ({ ...target, edits: target.edits.map((e) => ({ ...e, from: e.to })) })),
  };
  expect(order(backOf({ ...self.run, batches: [first, put, again] }))).toEqual(["c2", "c1"]);
});
