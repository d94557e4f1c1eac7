import { describe, expect, test } from "vitest";
import { versionAt } from "../gates/depends.ts";
import { gateOf } from "../gates/gate-state.ts";
import { planRollback } from "../outcome/rollback.ts";
import { type Bench, batch, bench, bring, guard, judge, merged, phases, pull, round, say, see, wants } from "../testing/bench.ts";

/** c1 and c2 are merged in one batch, and c1 fails. */
function failing(): Bench {
  const self = bench(4, [{ maxUnavailable: 2 }]);
  bring(self, 1, "merged");
  judge(self, "c2", "live", "all");
  judge(self, "c1", "failing");
  round(self);
  return self;
}

/** The revert of c1, batch 2, is merged; its pin has the old value again. */
function putBack(self: Bench): void {
  pull(self, 2);
  guard(self, 2);
  round(self);
  expect(wants(self.last)).toContain("Merge 2");
  merged(self, 2, { commit: "d".repeat(40) });
  judge(self, "c1", "pending", "compared");
  see(self, "c1", { pins: ["v1"] });
  round(self);
}

describe("/requeue of a cluster that is merged", () => {
  test("puts its pin back in a batch of its own, then the run goes on, and tries it again at the stage's end", () => {
    const self = failing();
    expect(self.run.paused?.kind).toBe("Failure");
    say(self, "/requeue c1");
    round(self);
    expect(self.run.commands.at(-1)?.message).toMatchObject({ code: "REQUEUE_DONE", clusters: ["hub/c1"] });
    expect(batch(self.run, 2)).toMatchObject({ kind: "Revert", targets: [{ cluster: "hub/c1", edits: [{ from: "v2", to: "v1" }] }] });
    expect(phases(self.run, 1)).toEqual(["Requeued", "Baked"]);
    putBack(self);
    expect(phases(self.run, 2)).toEqual(["Merged"]);
    expect(self.run.batches).toHaveLength(2);
    judge(self, "c1", "live", "all");
    see(self, "c1", { pins: ["v1"] });
    round(self);
    expect(batch(self.run, 2)).toMatchObject({ phase: "Settled", targets: [{ phase: "RolledBack" }] });
    round(self);
    bring(self, 3, "confirmed");
    expect(batch(self.run, 4)).toMatchObject({ kind: "CatchUp", targets: [{ cluster: "hub/c1", edits: [{ from: "v1", to: "v2" }] }] });
    bring(self, 4, "confirmed");
    round(self);
    expect(self.run.phase).toBe("Succeeded");
  });

  test("§9.14: the revert merges while the run is paused, by its gate and guard; nothing else does", () => {
    const self = bench(4, [{ maxUnavailable: 2 }]);
    bring(self, 1, "merged");
    say(self, "/pause looking into it");
    round(self);
    say(self, "/requeue c1");
    round(self);
    expect(self.run.phase).toBe("Paused");
    expect(wants(self.last)).toContain("Propose 2");
    pull(self, 2);
    round(self);
    expect(batch(self.run, 2).why).toHaveCode("GUARD_PENDING");
    expect(gateOf(self.run, batch(self.run, 2), false).kind).toBe("waiting");
    guard(self, 2);
    round(self);
    expect(wants(self.last)).toContain("Merge 2");
    expect(self.run.phase).toBe("Paused");
  });

  test("what somebody pinned by hand meanwhile is left, and named", () => {
    const self = failing();
    say(self, "/requeue c1");
    see(self, "c1", { pins: ["v9"] });
    round(self);
    expect(self.run.skipped).toMatchObject([{ cluster: "hub/c1", why: { code: "PINNED_BY_HAND", value: "v9" } }]);
    expect(batch(self.run, 2).phase).toBe("Settled");
  });

  test("a revert that fails counts as a failure and asks, and /requeue failed then tries the release again without a revert", () => {
    const self = failing();
    say(self, "/requeue c1");
    round(self);
    putBack(self);
    judge(self, "c1", "failing");
    see(self, "c1", { pins: ["v1"] });
    round(self);
    expect(self.run.paused?.kind).toBe("Failure");
    say(self, "/requeue failed");
    round(self);
    expect(self.run.batches.filter((one) => one.kind === "Revert")).toHaveLength(1);
    bring(self, 3, "confirmed");
    expect(batch(self.run, 4).kind).toBe("CatchUp");
  });

  test("is refused where it is being put back already, and where nothing stood there before", () => {
    const self = failing();
    say(self, "/requeue c1");
    say(self, "/requeue c1");
    round(self);
    expect(self.run.commands.at(-1)).toMatchObject({ outcome: "refused", message: expect.toHaveCode("BEING_PUT_BACK") });
    const made = bench(1);
    see(made, "c1", { pins: [null] });
    const [target] = made.run.plan.stages[0]?.batches[0]?.targets ?? [];
    for (const edit of target?.edits ?? []) edit.create = true;
    bring(made, 1, "merged");
    say(made, "/requeue c1");
    round(made);
    expect(made.run.commands.at(-1)?.message).toHaveCode("REVERT_OF_MADE_PIN");
  });

  test("takes away what the batch made, where its plan says how much that was", () => {
    const self = bench(1);
    see(self, "c1", { pins: [null] });
    const [target] = self.run.plan.stages[0]?.batches[0]?.targets ?? [];
    for (const edit of target?.edits ?? []) Object.assign(edit, { create: true, made: 1 });
    bring(self, 1, "merged");
    say(self, "/requeue c1");
    round(self);
    expect(self.run.batches.at(-1)).toMatchObject({ kind: "Revert", targets: [{ edits: [{ to: "", removes: true, made: 1 }] }] });
  });

  test.each([
    ["leaves what somebody has changed since", null, ["Settled", 0, "PIN_MADE_BY_RUN"]],
    ["leaves another value", "v9", ["Settled", 0, "PINNED_BY_HAND"]],
    ["waits for what somebody has taken away already", "", ["Merged", 1, undefined]],
  ])("of what the batch made %s", (_, pin, outcome) => {
    const self = bench(1);
    see(self, "c1", { pins: [null] });
    const [target] = self.run.plan.stages[0]?.batches[0]?.targets ?? [];
    for (const edit of target?.edits ?? []) Object.assign(edit, { create: true, made: 1, from: null });
    bring(self, 1, "merged");
    say(self, "/requeue c1");
    see(self, "c1", { pins: [pin] });
    round(self);
    const { phase, targets } = batch(self.run, 2);
    expect([phase, targets.length, self.run.skipped[0]?.why.code]).toEqual(outcome);
  });

  test("/skip of a cluster that is being put back leaves it as it is: the revert is withdrawn", () => {
    const self = failing();
    say(self, "/requeue c1");
    round(self);
    pull(self, 2);
    round(self);
    say(self, "/skip c1");
    round(self);
    expect(wants(self.last)).toContain("Close 2");
    pull(self, 2, { state: "closed", closedBy: "stagecoach[bot]" });
    round(self);
    round(self);
    expect(batch(self.run, 2).phase).not.toBe("Open");
    expect(self.run.requeued).toEqual([]);
  });

  test("/rollback leaves what has been put back, and who depends on it knows the old version is there", () => {
    const self = failing();
    say(self, "/requeue c1");
    round(self);
    expect(versionAt(self.run, "hub/c1")).toBeUndefined();
    putBack(self);
    expect(versionAt(self.run, "hub/c1")).toBeUndefined();
    judge(self, "c1", "live", "all");
    see(self, "c1", { pins: ["v1"] });
    round(self);
    expect(versionAt(self.run, "hub/c1")).toBe("v1");
    const back = planRollback(self.run);
    if ("error" in back) throw new Error(back.error.code);
    expect(back.plan.stages.flatMap((stage) => stage.clusters)).toEqual(["hub/c2"]);
  });
});
