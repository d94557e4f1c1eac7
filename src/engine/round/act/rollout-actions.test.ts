import { beforeEach, describe, expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import type { ActionOutcome, ControlPlane } from "../../../adapters/argocd/port.ts";
import type { ApplicationView, RolloutView } from "../../../core/argocd/views.ts";
import { said } from "../../../core/reasons/run.ts";
import type { RolloutOrder, Run } from "../../../core/run/state/run.ts";
import type { Command } from "../../../core/spec/commands.ts";
import { type Parts, partsOf } from "../../testing/parts.ts";
import { type RepoContext, silentLog } from "../context.ts";

const START = Date.UTC(2026, 10, 21, 9, 30, 0);
const AT = new Date(START).toISOString();
const KEYS = ["hub/argocd/payments-us-1", "hub/argocd/payments-us-2"];

interface Bench {
  now: number;
  health: string;
  rollouts: Map<string, RolloutView>;
  /** What Argo CD answers to an action; undefined: it does it. */
  answer: (name: string) => ActionOutcome | undefined;
  reads: string[];
  actions: string[];
  refreshes: string[];
  plane: ControlPlane;
  context: RepoContext;
}

let bench: Bench;
let memory: Parts;

beforeEach(() => {
  const clock = { now: () => bench.now, after: () => () => undefined };
  const state = { fresh: true, since: AT };
  const plane: ControlPlane = {
    name: "hub",
    state: () => state,
    application: (_namespace: string, name: string) =>
      ({ namespace: "argocd", name, status: { health: { status: bench.health } } }) as unknown as ApplicationView,
    async rollouts(_namespace: string, name: string) {
      bench.reads.push(name);
      const found = bench.rollouts.get(name);
      return found === undefined ? [] : [found];
    },
    async runAction({ name }: { name: string }, _rollout: object, action: string) {
      bench.actions.push(`${action} ${name}`);
      const answer = bench.answer(name);
      const found = bench.rollouts.get(name);
      if (answer === undefined && found !== undefined) bench.rollouts.set(name, { ...found, paused: false, phase: "Progressing" });
      return answer ?? { kind: "done" };
    },
    async refresh(_namespace: string, name: string) {
      bench.refreshes.push(name);
      return "asked";
    },
  } as Partial<ControlPlane> as ControlPlane;
  const context = { planes: new Map([["hub", plane]]), clock, log: silentLog } as unknown as RepoContext;
  memory = partsOf(context);
  bench = {
    now: START,
    health: "Suspended",
    rollouts: new Map(),
    answer: () => undefined,
    reads: [],
    actions: [],
    refreshes: [],
    plane,
    context,
  };
  for (const name of ["payments-us-1", "payments-us-2"]) bench.rollouts.set(name, paused(1));
});

function paused(step: number): RolloutView {
  return {
    namespace: "payments",
    name: "api",
    phase: "Paused",
    message: "CanaryPauseStep",
    paused: true,
    step,
    steps: 4,
    stableImages: [],
    canaryImages: ["registry.example.com/api:v2"],
    replicas: { desired: 5, updated: 1, ready: 5, available: 5 },
  };
}

function ordered(): Run {
  const rollouts = KEYS.map((target) => ({ target, namespace: "payments", name: "api", step: 1 }));
  const order: RolloutOrder = { command: "7#0", text: "/promote --rollouts", actor: "alice", at: AT, action: "resume", left: [], rollouts };
  return sampleRun({ rolloutOrders: [order] });
}

const DENIED = said("permission denied; grant it: p, ACCOUNT, …");
const run = (of = ordered()) => memory.actions.run(of, "7#0");
const outcomes = () => [...(memory.actions.outcomes(ordered()).get("7#0")?.values() ?? [])];

describe("an order on Argo Rollouts", () => {
  test("is run on each, and never twice", async () => {
    expect(await run()).toBe(true);
    await run();
    expect(bench.actions).toEqual(["resume payments-us-1", "resume payments-us-2"]);
    expect(outcomes()).toEqual([{ kind: "done" }, { kind: "done" }]);
  });

  test("after a crash in the midst of it, what was moved is done, and only the rest is moved", async () => {
    bench.answer = (name) => {
      if (name === "payments-us-2") throw new Error("the process ends here");
      return undefined;
    };
    await run();
    memory = partsOf(bench.context);
    bench.answer = () => undefined;
    bench.actions = [];
    // By now the first is paused again, at its next pause: it must not be moved on to the one after.
    bench.rollouts.set("payments-us-1", paused(3));
    expect(await run()).toBe(true);
    expect([bench.actions, outcomes()]).toEqual([["resume payments-us-2"], [{ kind: "done" }, { kind: "done" }]]);
  });

  test("what Argo CD does not offer any more because somebody was faster is done", async () => {
    bench.answer = (name) => {
      bench.rollouts.set(name, { ...paused(1), paused: false });
      return { kind: "notOffered", why: said("Argo CD does not offer resume as it is now") };
    };
    await run();
    expect(outcomes()).toEqual([{ kind: "done" }, { kind: "done" }]);
  });

  test("a refusal for want of a right ends it before anything is done: lockstep is all or none", async () => {
    bench.answer = () => ({ kind: "forbidden", why: said("permission denied; grant it: p, ACCOUNT, …") });
    await run();
    expect(bench.actions).toEqual(["resume payments-us-1"]);
    expect(outcomes()).toEqual([
      { kind: "forbidden", why: DENIED },
      { kind: "forbidden", why: { code: "NOT_TRIED_TOGETHER", because: DENIED } },
    ]);
  });

  test("where Argo CD does not offer it for one, none is moved: all are asked first", async () => {
    bench.plane.offersAction = async ({ name }) =>
      name === "payments-us-2"
        ? { kind: "notOffered", why: said("Argo CD does not offer resume for payments/api as it is now") }
        : { kind: "offered" };
    expect(await run()).toBe(true);
    expect(bench.actions).toEqual([]);
    const because = {
      code: "SAID_OF",
      application: "payments-us-2",
      because: said("Argo CD does not offer resume for payments/api as it is now"),
    };
    const why = { code: "NOT_TRIED_TOGETHER", because };
    expect(outcomes()).toEqual([
      { kind: "notOffered", why },
      { kind: "notOffered", why },
    ]);
  });

  test("where one cannot be asked, none is moved, and it is tried again; after that they move together", async () => {
    let answers = 0;
    bench.plane.offersAction = async ({ name }) =>
      name === "payments-us-2" && answers++ === 0 ? { kind: "failed", why: said("502") } : { kind: "offered" };
    expect([await run(), bench.actions]).toEqual([false, []]);
    expect([await run(), bench.actions]).toEqual([true, ["resume payments-us-1", "resume payments-us-2"]]);
  });

  test("once one has moved the others follow, whatever is offered", async () => {
    bench.rollouts.set("payments-us-1", { ...paused(1), paused: false });
    bench.plane.offersAction = async () => ({ kind: "notOffered", why: said("no") });
    expect([await run(), bench.actions]).toEqual([true, ["resume payments-us-2"]]);
  });

  test("what is a way to safety waits for nobody", async () => {
    bench.plane.offersAction = async () => ({ kind: "notOffered", why: said("no") });
    const base = ordered();
    const [order] = base.rolloutOrders ?? [];
    if (order === undefined) throw new Error("there is no order");
    expect(await run({ ...base, rolloutOrders: [{ ...order, action: "abort" }] })).toBe(true);
    expect(bench.actions).toEqual(["abort payments-us-1", "abort payments-us-2"]);
  });

  test("what fails for a reason that may pass is tried three times", async () => {
    bench.answer = (name) => (name === "payments-us-2" ? { kind: "failed", why: said("502") } : undefined);
    expect([await run(), await run(), await run()]).toEqual([false, false, true]);
    expect(bench.actions.filter((one) => one.endsWith("us-2"))).toHaveLength(3);
    expect(outcomes()).toEqual([{ kind: "done" }, { kind: "failed", why: said("502") }]);
  });

  test("is not begun once it is about to lapse", async () => {
    bench.now += 90_000;
    expect(await run()).toBe(true);
    expect([bench.actions, outcomes()]).toEqual([[], []]);
  });
});

describe("reading Argo Rollouts", () => {
  const look = (commands: Command[] = [], lost = new Map()) => memory.rollouts.observe(sampleRun(), commands, lost);
  const command = (permission: Command["permission"]): Command => {
    return {
      id: "9#0",
      name: "promote",
      args: [],
      flags: { rollouts: true },
      text: "/promote --rollouts",
      actor: "alice",
      permission,
      createdAt: AT,
    };
  };

  test("only of targets in flight whose Application is under way, and at a sane pace", async () => {
    const first = await look();
    expect([...first.keys()]).toEqual(KEYS);
    expect(first.get(KEYS[0] ?? "")).toMatchObject({ at: AT, seen: [{ name: "api", step: 1 }] });
    bench.now += 5000;
    await look();
    expect(bench.reads).toEqual(["payments-us-1", "payments-us-2"]);
    bench.now += 10_000;
    await look();
    expect(bench.reads).toHaveLength(4);
    bench.health = "Healthy";
    expect((await look()).size).toBe(0);
    expect(bench.reads).toHaveLength(4);
  });

  test("at once when its Application shows something else, or somebody who may gives a command", async () => {
    await look();
    bench.health = "Degraded";
    await look();
    expect(bench.reads).toHaveLength(4);
    await look([command("read")]);
    expect(bench.reads).toHaveLength(4);
    await look([command("write")]);
    expect(bench.reads).toHaveLength(6);
  });

  test("an Application without any is asked about seldom", async () => {
    bench.rollouts.clear();
    await look();
    bench.now += 60_000;
    await look();
    expect(bench.reads).toHaveLength(2);
  });

  test("what cannot be seen, or not be acted on, says what to configure", async () => {
    const lost = new Map([["hub", { since: AT, why: "the token is not accepted" }]]);
    expect((await look([command("write")], lost)).get(KEYS[0] ?? "")).toMatchObject({
      unseen: { code: "PLANE_UNSEEN_NOW", plane: "hub", because: "the token is not accepted" },
    });
    delete bench.plane.runAction;
    expect((await look()).get(KEYS[0] ?? "")?.cannotAct).toEqual({ code: "ACTIONS_NOT_ALLOWED", plane: "hub" });
    delete bench.plane.rollouts;
    bench.now += 60_000;
    expect((await look()).get(KEYS[0] ?? "")?.unseen).toEqual({ code: "ROLLOUTS_NOT_SHOWN", plane: "hub" });
  });

  test("of more than are shown none is, and that is said", async () => {
    bench.plane.rollouts = async () => ({ tooMany: 101 });
    const seen = (await look()).get(KEYS[0] ?? "");
    expect(seen?.unseen).toEqual({ code: "ROLLOUTS_BEYOND_COUNT", application: "payments-us-1", count: 101 });
    expect(seen?.seen).toBeUndefined();
  });

  test("whatever a cluster says is bounded", async () => {
    const huge = { ...paused(1), message: "x\n".repeat(9999), canaryImages: Array.from({ length: 99 }, () => "y".repeat(999)) };
    bench.rollouts.set("payments-us-1", huge);
    expect(JSON.stringify((await look()).get(KEYS[0] ?? "")).length).toBeLessThan(2000);
  });
});

describe("asking Argo CD to compare again", () => {
  test("once a minute a target, and the answer is known afterwards", async () => {
    memory.refresher.ask(KEYS);
    memory.refresher.ask(KEYS);
    await Promise.resolve();
    await Promise.resolve();
    expect(bench.refreshes).toEqual(["payments-us-1", "payments-us-2"]);
    expect(memory.refresher.last(KEYS[0] ?? "")).toEqual({ at: AT, answer: "asked" });
    bench.now += 60_000;
    memory.refresher.ask(KEYS);
    expect(bench.refreshes).toHaveLength(4);
  });

  test("at once where it is wanted for something else, such as another operation that ended, but no Application is asked for without end", async () => {
    const [key = ""] = KEYS;
    expect(memory.refresher.want(key, "ended at 10:00:05")).toBe(0);
    memory.refresher.ask([key]);
    await new Promise((resolve) => setImmediate(resolve));
    bench.now += 6000;
    expect(memory.refresher.want(key, "ended at 10:00:05")).toBe(START + 60_000);
    memory.refresher.ask([key]);
    expect(bench.refreshes).toHaveLength(1);
    expect(memory.refresher.want(key, "ended at 10:00:09")).toBe(START + 5000);
    memory.refresher.ask([key]);
    expect(bench.refreshes).toHaveLength(2);
    bench.now += 1000;
    expect(memory.refresher.want(key, "ended at 10:00:11")).toBe(START + 11_000);
    memory.refresher.ask([key]);
    expect(bench.refreshes).toHaveLength(2);
  });

  test("not before a comparison can show it: one of the second in which the operation ended says nothing", async () => {
    const [key = ""] = KEYS;
    expect(memory.refresher.want(key, "ended", START + 700)).toBe(START + 700);
    memory.refresher.ask([key]);
    expect(bench.refreshes).toEqual([]);
    bench.now += 700;
    memory.refresher.ask([key]);
    await new Promise((resolve) => setImmediate(resolve));
    expect([bench.refreshes.length, memory.refresher.want(key, "ended", START + 700)]).toEqual([1, START + 60_700]);
    expect(memory.refresher.want(key, "ended tied", START + 700)).toBe(START + 5700);
  });

  test("again after a minute where that failed, and the answer says why", async () => {
    const [key = ""] = KEYS;
    for (const refresh of [async () => ({ failed: said("HTTP 502") }), () => Promise.reject(new Error("HTTP 502"))]) {
      bench.plane.refresh = refresh;
      bench.now += 60_000;
      memory.refresher.ask([key]);
      await new Promise((resolve) => setImmediate(resolve));
      expect(memory.refresher.last(key)).toEqual({ at: new Date(bench.now).toISOString(), answer: { failed: said("HTTP 502") } });
      expect(memory.refresher.want(key, "something else")).toBe(bench.now + 60_000);
    }
  });

  test("few at a time, and not at all while its control plane cannot be seen", async () => {
    const release: (() => void)[] = [];
    bench.plane.refresh = (_namespace, name) => {
      bench.refreshes.push(name);
      return new Promise((resolve) => release.push(() => resolve("unavailable")));
    };
    memory.refresher.ask(Array.from({ length: 10 }, (_, index) => `hub/argocd/app-${index}`));
    expect(bench.refreshes).toHaveLength(4);
    release[0]?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(bench.refreshes).toHaveLength(5);
    bench.plane.state = () => ({ fresh: false, since: AT });
    memory.refresher.ask(["hub/argocd/other"]);
    expect(bench.refreshes).not.toContain("other");
  });
});
