import { describe, expect, test } from "vitest";
import { said } from "../../reasons/run.ts";
import type { Rollout, StageHooks } from "../../spec/rollout.ts";
import type { HookAnswer } from "../state/hooks-types.ts";
import { type Bench, batch, bench, bring, guard, judge, pull, round, say, wants } from "../testing/bench.ts";

const MINUTE = 60_000;
const HOOK = { url: "https://hooks.example.com/rollouts?token=x", timeoutMs: 10_000 };

function withHooks(hooks: Partial<StageHooks>, more: (rollout: Rollout) => void = () => undefined) {
  return (rollout: Rollout) => {
    for (const stage of rollout.stages) stage.hooks = { before: [], after: [], onFailure: [], ...hooks };
    more(rollout);
  };
}

function start(clusters: number, hooks: Partial<StageHooks>, more?: (rollout: Rollout) => void): Bench {
  const self = bench(clusters, [{}], withHooks(hooks, more));
  self.world = { ...self.world, hooks: new Map() };
  return self;
}

function answer(self: Bench, key: string, given: HookAnswer): void {
  self.world = { ...self.world, hooks: new Map(self.world.hooks).set(key, given) };
}

function opened(self: Bench): void {
  round(self);
  pull(self, 1);
  guard(self, 1);
}

const BEFORE = "payments/42/1/before/1/1";
const error = (again: boolean): HookAnswer => ({ kind: "error", message: said("it answered with status 503"), again });

describe("hooks before a stage", () => {
  test("are asked one after the other with the first PR open, and only then is it merged", () => {
    const self = start(1, { before: [HOOK, HOOK] });
    opened(self);
    const asked = round(self);
    expect([asked.change, wants(asked)]).toEqual(["transition", [`CallHook ${BEFORE}#1`]]);
    expect(batch(self.run, 1).why).toMatchObject({
      ...{ code: "PULL_WAITS", pull: 101 },
      because: { code: "HOOK_AWAITED", hook: { number: 1, when: "before", stage: "stage 1", host: "hooks.example.com" } },
    });
    expect(JSON.stringify(self.run.hooks)).not.toContain("token");
    answer(self, `${BEFORE}#1`, { kind: "go", message: "" });
    expect(wants(round(self))).toEqual(["CallHook payments/42/1/before/2/1#1"]);
    answer(self, "payments/42/1/before/2/1#1", { kind: "go", message: "change window CHG-7 is open" });
    expect(wants(round(self))).toEqual(["Merge 1"]);
    expect(self.run.hooks?.map(({ phase, why }) => [phase, why])).toEqual([
      ["Done", { code: "HOOK_SAID", said: "go" }],
      ["Done", said("change window CHG-7 is open")],
    ]);
  });

  test("are asked again with the same event where the answer was lost in a crash", () => {
    const self = start(1, { before: [HOOK] });
    opened(self);
    round(self);
    expect([wants(round(self)), wants(round(self))]).toEqual([[`CallHook ${BEFORE}#1`], [`CallHook ${BEFORE}#1`]]);
  });

  test("hold for as long as they say, and are asked the same event again", () => {
    const self = start(1, { before: [HOOK] });
    opened(self);
    round(self);
    answer(self, `${BEFORE}#1`, { kind: "hold", message: "CHG-7 is not approved", forMs: 5 * MINUTE });
    expect(wants(round(self))).toEqual([]);
    expect(batch(self.run, 1).why).toHaveCode("HOOK_HOLDS_STAGE", { because: said("CHG-7 is not approved") });
    expect(wants(round(self, MINUTE))).toEqual([]);
    expect(wants(round(self, 4 * MINUTE))).toEqual([`CallHook ${BEFORE}#2`]);
    answer(self, `${BEFORE}#2`, { kind: "go", message: "" });
    guard(self, 1);
    expect(wants(round(self))).toEqual(["Merge 1"]);
  });

  test("that hold for longer than waitingDeadline are a person's to decide", () => {
    const self = start(1, { before: [HOOK] }, (rollout) => (rollout.waitingDeadlineMs = 10 * MINUTE));
    opened(self);
    round(self);
    answer(self, `${BEFORE}#1`, { kind: "hold", message: "wait", forMs: 11 * MINUTE });
    round(self);
    round(self, 11 * MINUTE);
    answer(self, `${BEFORE}#2`, { kind: "hold", message: "wait", forMs: MINUTE });
    round(self);
    expect(self.run.paused).toMatchObject({ kind: "Undecided", reason: { because: { code: "HOOK_HELD_TOO_LONG", forMs: 600_000 } } });
  });

  test("without a usable answer are asked again 2, 8, 32 and 128 s later, then a person is asked; /retry is a new event", () => {
    const self = start(1, { before: [HOOK] });
    opened(self);
    round(self);
    for (const [tries, wait] of [2, 8, 32, 128].entries()) {
      answer(self, `${BEFORE}#${tries + 1}`, error(true));
      expect(wants(round(self))).toEqual([]);
      expect(wants(round(self, wait * 1000 - 1000))).toEqual([]);
      expect(wants(round(self, 1000))).toEqual([`CallHook ${BEFORE}#${tries + 2}`]);
    }
    answer(self, `${BEFORE}#5`, error(true));
    round(self);
    expect(self.run.paused).toMatchObject({ kind: "Undecided", reason: expect.toHaveCode("HOOK_ASKED_OFTEN", { times: 5 }) });
    say(self, "/retry");
    expect(wants(round(self))).toContain("CallHook payments/42/1/before/1/2#1");
  });

  test("that refuse for good are not asked again, and /resume goes on without them", () => {
    const self = start(1, { before: [HOOK] });
    opened(self);
    round(self);
    answer(self, `${BEFORE}#1`, error(false));
    round(self);
    expect(self.run.paused?.kind).toBe("Undecided");
    say(self, "/resume");
    expect(wants(round(self))).toContain("Merge 1");
    expect(self.run.hooks?.[0]?.accepted).toMatchObject({ by: "alice" });
  });

  test("that say so fail the run, by its policy", () => {
    const self = start(1, { before: [HOOK] });
    opened(self);
    round(self);
    answer(self, `${BEFORE}#1`, { kind: "fail", message: "freeze for the audit" });
    round(self);
    expect(self.run.paused).toMatchObject({ kind: "Failure", reason: expect.toHaveCode("SAID", { text: "freeze for the audit" }) });
    say(self, "/resume");
    round(self);
    expect(self.run.commands.at(-1)).toMatchObject({ outcome: "refused", message: expect.toHaveCode("RESUME_ACCEPTS_FAILURES") });
  });

  test("are not passed by /promote --full", () => {
    const self = start(1, { before: [HOOK] });
    opened(self);
    say(self, "/promote", { flags: { full: true }, permission: "maintain" });
    expect(wants(round(self))).toEqual(["Answer done", `CallHook ${BEFORE}#1`]);
    expect(batch(self.run, 1).phase).toBe("Open");
  });
});

describe("hooks after a stage", () => {
  test("are asked anew once a cluster that was retried is through, and not for what came before", () => {
    const self = start(2, { after: [HOOK] }, (rollout) => (rollout.onFailure.maxFailures = { count: 1 }));
    bring(self, 1, "confirmed");
    bring(self, 2, "merged");
    judge(self, "c2", "failing", "health");
    expect(wants(round(self))).toContain("CallHook payments/42/1/after/1/1#1");
    answer(self, "payments/42/1/after/1/1#1", { kind: "fail", message: "" });
    round(self);
    say(self, "/retry");
    expect(wants(round(self))).toContain("CallHook payments/42/1/after/1/2#1");
    judge(self, "c2", "live", "all");
    expect(wants(round(self)).filter((effect) => effect.startsWith("CallHook"))).toEqual(["CallHook payments/42/1/after/1/3#1"]);
  });

  test("hold the run's end, and with Rollback a failure takes the stage back", () => {
    const self = start(1, { after: [HOOK] }, (rollout) => (rollout.onFailure.action = "Rollback"));
    bring(self, 1, "confirmed");
    expect(wants(self.last)).toEqual(["CallHook payments/42/1/after/1/1#1"]);
    expect(self.run.phase).toBe("Progressing");
    answer(self, "payments/42/1/after/1/1#1", { kind: "fail", message: "smoke test" });
    round(self);
    expect(self.run).toMatchObject({ phase: "Failed", rollback: { reason: expect.toHaveCode("SAID", { text: "smoke test" }) } });
  });
});

describe("hooks on failure", () => {
  const FAILED = "payments/42/1/onFailure/1/1";
  function failing(more?: (rollout: Rollout) => void): Bench {
    const self = start(2, { onFailure: [HOOK] }, more);
    bring(self, 1, "merged");
    judge(self, "c1", "failing", "health", "It is Degraded.");
    round(self);
    return self;
  }

  test("are told what failed, and nobody waits for them", () => {
    const self = failing();
    expect(wants(self.last)).toEqual([`CallHook ${FAILED}#1`]);
    expect(self.run.hooks).toMatchObject([
      {
        failures: [
          { what: { code: "CLUSTER_HAS_FAILED", cluster: "hub/c1" }, why: expect.toHaveCode("SAID", { text: "It is Degraded." }) },
        ],
      },
    ]);
    expect(self.run.paused?.kind).toBe("Failure");
    answer(self, `${FAILED}#1`, { kind: "fail", message: "no" });
    round(self);
    expect([self.run.hooks?.[0]?.phase, self.run.paused?.kind, self.run.hooks?.length]).toEqual(["Failed", "Failure", 1]);
  });

  test("are told once of what failed, and again of what fails later", () => {
    const self = failing((rollout) => (rollout.onFailure.action = "Continue"));
    answer(self, `${FAILED}#1`, { kind: "go", message: "" });
    round(self);
    expect(self.run.hooks).toHaveLength(1);
    bring(self, 2, "merged");
    judge(self, "c2", "failing", "health", "It is Degraded.");
    expect(wants(round(self))).toEqual(["CallHook payments/42/1/onFailure/1/2#1"]);
  });

  test("that hang hold a rollback up by 10 s at most", () => {
    const self = failing((rollout) => (rollout.onFailure.action = "Rollback"));
    expect(self.run.phase).toBe("Paused");
    expect(self.run.why).toHaveCode("END_AWAITS_CHECKS");
    expect(round(self, 8000).run.phase).toBe("Paused");
    expect(round(self, 2000).run.phase).toBe("Failed");
    expect(self.run.hooks?.[0]).toMatchObject({ phase: "Error", why: { code: "HOOK_UNANSWERED_AT_END" } });
  });
});
