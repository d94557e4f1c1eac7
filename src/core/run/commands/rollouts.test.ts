import { describe, expect, test } from "vitest";
import type { AnyReason } from "../../base/reason.ts";
import { iso } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import type { Command } from "../../spec/commands.ts";
import type { RolloutAction, RolloutOutcome, RolloutState } from "../state/run.ts";
import { type Bench, bench, bring, judge, round, SECOND, say, see, targetKey, wants } from "../testing/bench.ts";
import { actionKey, ORDER_MS } from "./rollouts.ts";
import { hasMoved, lockstep } from "./rollouts-lockstep.ts";

function rollout(change: Partial<RolloutState> = {}): RolloutState {
  return {
    namespace: "shop",
    name: "shop",
    phase: "Paused",
    message: "CanaryPauseStep",
    paused: true,
    step: 1,
    steps: 4,
    setWeight: 20,
    actualWeight: 20,
    stableImages: ["shop:v1"],
    canaryImages: ["shop:v2"],
    replicas: { desired: 5, updated: 1, ready: 5, available: 5 },
    ...change,
  };
}

const PAUSED = rollout();
const LATER = rollout({ step: 3 });
const MOVING = rollout({ phase: "Progressing", paused: false, message: "more replicas need to be updated" });
const DONE = rollout({ phase: "Healthy", paused: false, step: 4 });
const ABORTED = rollout({ phase: "Degraded", paused: false, message: "RolloutAborted: Rollout aborted update to revision 2" });

function of(...states: RolloutState[]) {
  return states.map((one, index) => ({ target: `hub/argocd/app-c${index + 1}`, cluster: `c${index + 1}`, rollouts: [one] }));
}

const state = (cluster: string, phase: string, step: number) => ({ code: "ROLLOUT_STATE", cluster, name: "shop", phase, step, steps: 4 });

describe("which Rollouts of a batch an action is run on", () => {
  const cases: [string, RolloutAction, RolloutState[], string[] | AnyReason][] = [
    ["all are paused at one step: all are resumed", "resume", [PAUSED, PAUSED], ["c1", "c2"]],
    [
      "one still works towards the step: none is, and it is named",
      "resume",
      [PAUSED, MOVING],
      { code: "ROLLOUTS_BEHIND", rollouts: [state("c2", "Progressing", 1)] },
    ],
    ["one is ahead: those behind catch up, and it is left", "resume", [PAUSED, LATER], ["c1"]],
    [
      "one is aborted at the same step: none is resumed",
      "resume",
      [PAUSED, ABORTED],
      { code: "ROLLOUTS_BEHIND", rollouts: [state("c2", "Degraded", 1)] },
    ],
    ["one is through already: the others are resumed", "resume", [PAUSED, DONE], ["c1"]],
    [
      "none is paused: that is said, with how each stands",
      "resume",
      [MOVING, DONE],
      { code: "ROLLOUTS_NONE_SUCH", wanted: "paused", rollouts: [state("c1", "Progressing", 1), state("c2", "Healthy", 4)] },
    ],
    ["all under way are promoted to the end, wherever they are", "promote-full", [PAUSED, LATER, MOVING, DONE], ["c1", "c2", "c3"]],
    [
      "one is aborted: none is promoted to the end",
      "promote-full",
      [PAUSED, ABORTED],
      { code: "ROLLOUTS_BROKEN", rollouts: [state("c2", "Degraded", 1)] },
    ],
    ["all under way are aborted, without waiting for one another", "abort", [PAUSED, MOVING, LATER, DONE, ABORTED], ["c1", "c2", "c3"]],
    ["those aborted are tried again, the others left", "retry", [PAUSED, ABORTED], ["c2"]],
    ["there are none", "resume", [], { code: "ROLLOUTS_NONE" }],
  ];
  test.each(cases)("%s", (_name, action, states, expected) => {
    const found = lockstep(action, of(...states));
    if ("code" in expected) expect("refuse" in found ? found.refuse : found).toMatchObject(expected);
    else expect("go" in found ? found.go.map((one) => one.target.slice(-2)) : found).toEqual(expected);
  });

  test("Rollouts of one name move together, those of another have steps of their own", () => {
    const worker = (change: Partial<RolloutState>) => rollout({ name: "worker", ...change });
    const targets = of(PAUSED, PAUSED).map((one, index) => ({ ...one, rollouts: [...one.rollouts, worker({ step: index })] }));
    const found = lockstep("resume", targets);
    expect("go" in found && found.go.map((one) => `${one.target.slice(-2)} ${one.name} ${one.step}`)).toEqual([
      "c1 shop 1",
      "c2 shop 1",
      "c1 worker 0",
    ]);
  });

  test.each([
    ["resume", PAUSED, false],
    ["resume", LATER, true],
    ["resume", MOVING, true],
    ["promote-full", MOVING, false],
    ["promote-full", DONE, true],
    ["abort", PAUSED, false],
    ["abort", ABORTED, true],
    ["retry", ABORTED, false],
    ["retry", MOVING, true],
  ] as const)("after %s one that is %o has been moved: %s", (action, now, moved) => {
    expect(hasMoved(action, { step: 1 }, now)).toBe(moved);
  });
});

/** Two clusters in flight, each Suspended with its Rollout paused at its first step. */
function suspended(states: Record<string, RolloutState> = { c1: PAUSED, c2: PAUSED }): Bench {
  const self = bench(2, [{ maxUnavailable: 2 }]);
  bring(self, 1, "merged");
  for (const cluster of ["c1", "c2"]) judge(self, cluster, "pending", "health", "Its health is Suspended.");
  show(self, states);
  round(self);
  return self;
}

function show(self: Bench, states: Record<string, RolloutState>): void {
  for (const [cluster, state] of Object.entries(states)) see(self, cluster, { rollouts: { at: iso(self.now), seen: [state] } });
}

function forget(self: Bench, cluster: string): void {
  const { rollouts: _, ...rest } = self.world.targets.get(targetKey(cluster)) ?? {};
  self.world = { ...self.world, targets: new Map(self.world.targets).set(targetKey(cluster), rest) };
}

function command(self: Bench, text: string, change: Partial<Command> = {}): void {
  const flags = Object.fromEntries([...text.matchAll(/--(\w+)/g)].map(([, name]) => [name, true as const]));
  say(self, text, { args: [], flags, createdAt: iso(self.now + SECOND), ...change });
}

function outcomes(self: Bench, all: Record<string, RolloutOutcome>): void {
  const [order] = self.run.rolloutOrders ?? [];
  if (order === undefined) throw new Error("there is no order");
  const found = new Map(
    order.rollouts
      .map((one) => [actionKey(one), all[one.target.slice(-2)]] as const)
      .flatMap(([key, one]) => (one === undefined ? [] : [[key, one] as const])),
  );
  self.world = { ...self.world, actions: new Map([[order.command, found]]) };
}

const last = (self: Bench) => self.run.commands.at(-1);

describe("commands with --rollouts", () => {
  test("the order is journalled before it is tried, and answered once every outcome is known", () => {
    const self = suspended();
    command(self, "/promote --rollouts");
    const given = round(self);
    expect([given.change, wants(given), self.run.commands]).toEqual(["transition", ["RolloutActions"], []]);
    expect(self.run.rolloutOrders).toMatchObject([
      { command: "1#0", actor: "alice", action: "resume", rollouts: [{ step: 1 }, { step: 1 }] },
    ]);
    outcomes(self, { c1: { kind: "done" } });
    expect(wants(round(self))).toEqual(["RolloutActions"]);
    outcomes(self, { c1: { kind: "done" }, c2: { kind: "done" } });
    expect(wants(round(self))).toEqual(["Answer done"]);
    expect(last(self)).toMatchObject({ outcome: "done", message: { code: "ROLLOUTS_DONE", action: "resume", done: 2, failed: [] } });
    expect(self.run.rolloutOrders).toBeUndefined();
    expect(wants(round(self))).toEqual(["Answer done"]);
  });

  test("what was not done is told cluster by cluster, with the reason", () => {
    const self = suspended();
    command(self, "/promote --rollouts");
    round(self);
    outcomes(self, { c1: { kind: "done" }, c2: { kind: "forbidden", why: said("permission denied; grant it: p, …") } });
    round(self);
    expect(last(self)).toMatchObject({
      outcome: "refused",
      message: { code: "ROLLOUTS_DONE", done: 1, clusters: ["hub/c1"], failed: [{ cluster: "hub/c2", name: "shop" }] },
    });
  });

  test("an order that could not be tried lapses, and says so", () => {
    const self = suspended();
    command(self, "/promote --rollouts");
    round(self);
    round(self, ORDER_MS);
    expect(last(self)).toMatchObject({
      outcome: "refused",
      message: {
        code: "ROLLOUTS_DONE",
        failed: ["hub/c1", "hub/c2"].map((cluster) => ({ cluster, name: "shop", because: { code: "ROLLOUT_NOT_TRIED" } })),
      },
    });
  });

  test("laggards are named, and nothing is done", () => {
    const self = suspended({ c1: PAUSED, c2: MOVING });
    command(self, "/promote --rollouts");
    expect(wants(round(self))).toEqual(["Answer refused"]);
    expect(last(self)?.message).toHaveCode("ROLLOUTS_BEHIND", {
      rollouts: [expect.toHaveCode("ROLLOUT_STATE", { cluster: "hub/c2", phase: "Progressing" })],
    });
  });

  test("without a control plane that may act, the answer says what to configure", () => {
    const self = suspended();
    see(self, "c2", {
      rollouts: { at: iso(self.now), seen: [PAUSED], cannotAct: said("control plane hub may not run actions: allowRolloutActions") },
    });
    command(self, "/promote --rollouts");
    round(self);
    expect(last(self)).toMatchObject({
      outcome: "refused",
      message: expect.toHaveCode("ROLLOUTS_UNSEEN", { cluster: "hub/c2" }),
    });
  });

  test("/abort --rollouts goes on without clusters that cannot be seen, and names them", () => {
    const self = suspended();
    see(self, "c2", { rollouts: { at: iso(self.now), unseen: said("control plane hub cannot be seen") } });
    command(self, "/abort --rollouts");
    round(self);
    outcomes(self, { c1: { kind: "done" } });
    round(self);
    expect([self.run.phase, last(self)]).toMatchObject([
      "Progressing",
      {
        outcome: "done",
        message: { code: "ROLLOUTS_DONE", action: "abort", done: 1, left: [{ code: "ROLLOUT_UNSEEN", cluster: "hub/c2" }] },
      },
    ]);
  });

  test("/promote --rollouts --full wants maintain", () => {
    const self = suspended();
    command(self, "/promote --rollouts --full");
    round(self);
    expect(last(self)?.message).toEqual({ code: "FULL_NEEDS_MAINTAIN", rollouts: true });
    command(self, "/promote --rollouts --full", { permission: "maintain" });
    round(self);
    expect(self.run.rolloutOrders).toMatchObject([{ action: "promote-full" }]);
    expect(self.run.promotedFully).toBeUndefined();
  });

  test("/resume --rollouts of a paused run resumes both, and tells both in one answer", () => {
    const self = suspended();
    say(self, "/pause");
    round(self);
    command(self, "/resume --rollouts");
    round(self);
    expect([self.run.phase, self.run.rolloutOrders?.length]).toEqual(["Progressing", 1]);
    outcomes(self, { c1: { kind: "done" }, c2: { kind: "done" } });
    round(self);
    expect(last(self)?.message).toMatchObject({ code: "ROLLOUTS_DONE", also: { code: "RESUME_DONE" }, done: 2 });
  });

  test("a later comment does not wait for Argo CD, a later line of the same comment does", () => {
    const self = suspended();
    command(self, "/abort --rollouts", { id: "7#0" });
    command(self, "/skip nowhere", { id: "7#1" });
    round(self);
    command(self, "/pause", { id: "8#0" });
    round(self);
    expect(self.run.commands.map((one) => one.id)).toEqual(["8#0"]);
    outcomes(self, { c1: { kind: "done" }, c2: { kind: "done" } });
    round(self);
    expect(self.run.commands.map((one) => [one.id, one.outcome])).toEqual([
      ["8#0", "done"],
      ["7#0", "done"],
      ["7#1", "refused"],
    ]);
  });

  test("a stranger's, one from before the merge, and one with nothing merged are refused", () => {
    const self = suspended();
    command(self, "/promote --rollouts", { permission: "read" });
    round(self);
    expect(last(self)?.message).toMatchObject({ code: "PERMISSION_MISSING", needs: "write" });
    command(self, "/promote --rollouts", { createdAt: iso(Date.parse(self.run.startedAt) + SECOND) });
    round(self);
    expect(last(self)?.message).toEqual({ code: "COMMAND_BEFORE_PULL", pull: 101 });
    const fresh = bench(1);
    bring(fresh, 1, "open");
    command(fresh, "/abort --rollouts");
    round(fresh);
    expect(last(fresh)?.message).toEqual({ code: "ROLLOUTS_NOT_MERGED" });
  });

  test("Rollouts not looked at yet are looked at first", () => {
    const self = suspended();
    forget(self, "c2");
    command(self, "/promote --rollouts");
    round(self);
    expect([self.run.commands, self.run.rolloutOrders]).toEqual([[], undefined]);
    show(self, { c2: PAUSED });
    round(self);
    expect(self.run.rolloutOrders).toHaveLength(1);
  });

  test("a run that ends meanwhile still answers", () => {
    const self = suspended();
    command(self, "/abort --rollouts");
    round(self);
    command(self, "/abort");
    round(self);
    round(self);
    expect(self.run.phase).toBe("Aborted");
    outcomes(self, { c1: { kind: "done" }, c2: { kind: "done" } });
    expect(wants(round(self))).toContain("Answer done");
    expect(self.run.rolloutOrders).toBeUndefined();
  });
});

describe("what Rollouts show", () => {
  test("stands in the run while the target is in flight, and goes once it is baked", () => {
    const self = suspended();
    expect(self.run.batches[0]?.targets[0]?.rollouts).toEqual([PAUSED]);
    expect(self.last.change).toBe("observation");
    for (const cluster of ["c1", "c2"]) {
      judge(self, cluster, "live", "all");
      forget(self, cluster);
    }
    round(self);
    expect(self.run.batches[0]?.targets.map((target) => [target.phase, target.rollouts])).toEqual([
      ["Baked", undefined],
      ["Baked", undefined],
    ]);
  });
});
