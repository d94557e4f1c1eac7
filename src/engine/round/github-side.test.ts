import { describe, expect, test } from "vitest";
import { sampleRun } from "../../../test/support/sample-run.ts";
import type { BranchRules, CheckSeen, Pull, Review } from "../../adapters/forge/port.ts";
import { iso } from "../../core/base/time.ts";
import { said } from "../../core/reasons/run.ts";
import type { Advanced, World } from "../../core/run/state/world.ts";
import { partsOf } from "../testing/parts.ts";
import { type RepoContext, silentLog } from "./context.ts";
import { needsOf } from "./observe/observe-pull.ts";
import { whyOver } from "./observe/open-pulls.ts";
import { Publisher } from "./publish/publish.ts";

const AT = "2026-11-21T09:00:00.000Z";
const NONE: BranchRules = {
  requiredChecks: [],
  strict: false,
  approvals: 0,
  codeOwners: false,
  lastPushApproval: false,
  mergeQueue: false,
  signatures: false,
};
const check = (name: string, state: CheckSeen["state"], app?: number): CheckSeen => ({
  name,
  state,
  detail: state,
  at: AT,
  ...(app === undefined ? {} : { app }),
});
const review = (author: string, state: Review["state"], authorIsBot = false): Review => ({ author, state, authorIsBot, head: "h", at: AT });
const of = (rules: Partial<BranchRules>, checks: CheckSeen[] = [], reviews: Review[] = []) =>
  needsOf({ ...NONE, ...rules }, checks, reviews, { author: "stagecoach[bot]", head: "h" }, "squash");

describe("what the rules of a branch want of a PR", () => {
  test("checks that are silent, pending or failed, and none that is green or neutral", () => {
    const requiredChecks = ["a", "b", "c", "d", "e"].map((context) => ({ context }));
    const { needs } = of({ requiredChecks }, [check("b", "pending"), check("c", "failure"), check("d", "success"), check("e", "neutral")]);
    expect(needs.map((need) => need.kind === "check" && `${need.name} ${need.state}`)).toEqual(["a silent", "b pending", "c failed"]);
  });

  test("a check bound to an App counts only where that App reports it", () => {
    const requiredChecks = [{ context: "ci", app: 7 }];
    expect(of({ requiredChecks }, [check("ci", "success", 8)]).needs).toMatchObject([{ state: "silent" }]);
    expect(of({ requiredChecks }, [check("ci", "success", 7)]).needs).toEqual([]);
  });

  test("our own gate is told apart", () => {
    const requiredChecks = [{ context: "stagecoach/gate" }];
    expect(of({ requiredChecks })).toEqual({ needs: [], gate: "absent" });
    expect(of({ requiredChecks }, [check("stagecoach/gate", "failure")]).gate).toBe("failed");
  });

  test("reviews: each account's last word, no App's, not the author's", () => {
    const reviews = [
      review("bob", "APPROVED"),
      review("bob", "CHANGES_REQUESTED"),
      review("helper[bot]", "APPROVED", true),
      review("stagecoach[bot]", "APPROVED"),
      review("carol", "COMMENTED"),
    ];
    expect(of({ approvals: 1 }, [], reviews).needs).toEqual([
      { kind: "reviews", have: 0, want: 1 },
      { kind: "changesRequested", by: ["bob"] },
    ]);
    expect(of({ approvals: 1, lastPushApproval: true }, [], [review("bob", "APPROVED")]).needs).toEqual([]);
  });

  test("code owners and signatures are named only where nothing else explains the block", () => {
    expect(of({ codeOwners: true, signatures: true }).needs.map(({ kind }) => kind)).toEqual(["codeOwners", "signatures"]);
    expect(of({ codeOwners: true, approvals: 1 }).needs.map(({ kind }) => kind)).toEqual(["reviews"]);
  });
});

describe("an open PR of an attempt that is over", () => {
  const pull = (branch: string, headRepository = "acme/fleet") => ({ branch, headRepository }) as Pull;
  const runs = (change: Parameters<typeof sampleRun>[0] = {}) => new Map([["payments", sampleRun(change)]]);

  test.each([
    ["an older run's", "stagecoach-run/payments/41/1-1-1", "PULL_RUN_OVER"],
    ["the present attempt of an open batch", "stagecoach-run/payments/42/2-1-1", undefined],
    ["one that another replica has just begun", "stagecoach-run/payments/42/2-1-2", undefined],
    ["a newer run's", "stagecoach-run/payments/43/1-1-1", undefined],
    ["a rollout we do not know", "stagecoach-run/ledger/1/1-1-1", undefined],
    ["no batch's at all", "feature", undefined],
  ])("%s", (_name, branch, why) => {
    const found = whyOver(pull(branch), runs(), "acme/fleet");
    expect(found?.code).toBe(why);
  });

  test("a former attempt's, and a closed batch's, are over; a fork's branch of that name never is", () => {
    const [first, second] = sampleRun().batches;
    if (first === undefined || second === undefined) throw new Error("the sample has two batches");
    const rebuilt = runs({ batches: [first, { ...second, attempt: 3 }] });
    expect(whyOver(pull("stagecoach-run/payments/42/2-1-2"), rebuilt, "acme/fleet")).toMatchObject({
      code: "PULL_ATTEMPT_OVER",
      attempt: 3,
    });
    const closed = runs({ batches: [first, { ...second, phase: "Closed" }] });
    expect(whyOver(pull("stagecoach-run/payments/42/2-1-1"), closed, "acme/fleet")).toMatchObject({ code: "PULL_BATCH_CLOSED" });
    expect(whyOver(pull("stagecoach-run/payments/42/2-1-1", "mallory/fleet"), closed, "acme/fleet")).toBeUndefined();
  });
});

describe("the live page's edits", () => {
  function desk(rate?: { limit: number; remaining: number; resetAt: number }, refuses = new Set<number>()) {
    const bodies: string[] = [];
    /** Comments that another process made. */
    const stands = new Set<string>();
    let now = Date.parse(AT);
    const forge = {
      stickyComment: async (_pull: number, marker: string, body: string) => {
        bodies.push(`${marker}\n${body}`);
        if (refuses.has(bodies.length)) throw new Error("GitHub did not answer");
        return { id: 1, url: "", at: iso(now + 500) };
      },
      stickyUrl: async (_pull: number, marker: string) => (stands.has(marker) ? "https://forge.invalid/1" : undefined),
      rate: () => rate,
    };
    const context = { forge, clock: { now: () => now }, log: silentLog, planes: new Map() } as unknown as RepoContext;
    const memory = partsOf(context);
    const publisher = new Publisher(context, memory);
    const pages = () => bodies.filter((body) => body.startsWith("stagecoach:rollout")).length;
    const look = async (
      run = sampleRun(),
      ms = 1000,
      change: Advanced<unknown>["change"] = "transition",
      started: Parameters<typeof publisher.publish>[0] = [],
    ) => {
      now += ms;
      const advanced = { run, effects: [], change, events: [] };
      const decision = { decidedAt: 0, now, before: run, world: {} as World, remarks: [], advanced };
      const due = publisher.publish(started, [], [decision], new Map());
      await memory.comments.settled();
      return Number.isFinite(due) ? due - now : undefined;
    };
    return {
      ...{ bodies, stands, pages, look, publisher, settled: memory.comments.settled },
      shown: () => memory.shownWaits.of(sampleRun()),
    };
  }

  test("that nothing starts is taken back once a run goes on, whoever said it, and only where it was said", async () => {
    const [silent, told] = [desk(), desk()];
    told.stands.add("stagecoach:not-started");
    for (const { look } of [silent, told]) for (let n = 0; n < 2; n++) await look();
    const solved = ({ bodies }: typeof told) => bodies.filter((body) => body.startsWith("stagecoach:not-started"));
    expect([solved(silent).length, solved(told).length]).toEqual([0, 1]);
    expect(solved(told)[0]).toContain("solved");
  });

  test("that nothing starts stands for as long as it is not known of each rollout whether it starts", async () => {
    const { stands, bodies, look, publisher, settled } = desk();
    stands.add("stagecoach:not-started");
    const solved = () => bodies.filter((body) => body.startsWith("stagecoach:not-started")).length;
    const run = sampleRun();
    publisher.standBy([], new Map([[run.rollout, run]]), { code: "JOURNAL_NOT_READ", said: "no" });
    await settled();
    await look(run, 1000, "none", [{ rollout: "other", events: [], waiting: true, isUnsure: true }]);
    expect(solved()).toBe(0);
    await look(run, 1000, "none");
    expect(solved()).toBe(1);
  });

  test("a burst is one edit, made when it is over; then none before the next batch, or five minutes", async () => {
    const { pages, look } = desk();
    const [first, second] = sampleRun().batches;
    if (first === undefined || second === undefined) throw new Error("the sample has two batches");
    const alone = sampleRun({ batches: [first] });
    await look(alone);
    expect(pages()).toBe(1);
    const both = sampleRun();
    for (let n = 0; n < 10; n++) expect(await look(both)).toBe(15_000);
    expect(pages()).toBe(1);
    await look(both, 15_000, "none");
    expect(pages()).toBe(2);
    await look(sampleRun({ why: said("something else") }), 60_000);
    expect(pages()).toBe(2);
    await look(sampleRun({ why: said("something else") }), 240_000, "none");
    expect(pages()).toBe(3);
  });

  test("a pause is shown at once, with a comment of its own; near the limit nothing else is, and it says so", async () => {
    const resetAt = Date.parse(AT) + 3_600_000;
    const { bodies, pages, look } = desk({ limit: 5000, remaining: 300, resetAt });
    await look();
    expect(bodies[0]).toMatch(/300 of 5000 .*10:00 UTC/);
    await look(sampleRun({ why: said("something else") }), 900_000);
    expect(pages()).toBe(1);
    const paused = { kind: "Failure" as const, by: "stagecoach", reason: said("us-1 failed"), at: AT, ask: said("`/retry`") };
    const run = sampleRun({ phase: "Paused", paused });
    await look(run);
    await look(run);
    expect(pages()).toBe(2);
    expect(bodies.filter((body) => body.includes("waits for a person"))).toHaveLength(1);
  });

  test("a bake is shown at once, near the limit too, and /promote ends none before GitHub has taken the edit", async () => {
    const { pages, look, shown } = desk({ limit: 5000, remaining: 300, resetAt: Date.parse(AT) + 3_600_000 }, new Set([2]));
    const [first] = sampleRun().batches;
    if (first === undefined) throw new Error("the sample has a batch");
    const bake = { from: AT, until: AT, restarts: 0 };
    const baking = sampleRun({ batches: [{ ...first, phase: "Baking", bake }] });
    await look(sampleRun({ batches: [{ ...first, phase: "Merged" }] }));
    expect(shown()?.waits).toEqual([]);
    await look(baking);
    expect([pages(), shown()?.waits]).toEqual([2, []]);
    await look(baking, 1000, "none");
    expect([pages(), shown()]).toEqual([3, { waits: [{ kind: "bake", batch: 1, since: AT }], at: iso(Date.parse(AT) + 3500) }]);
    await look(baking, 1000, "none");
    expect(pages()).toBe(3);
  });

  test("the end is the last edit and one summary", async () => {
    const { bodies, pages, look } = desk();
    await look();
    const done = sampleRun({ phase: "Succeeded", endedAt: AT, batches: [] });
    await look(done);
    await look(done, 60_000, "none");
    expect([pages(), bodies.filter((body) => body.startsWith("stagecoach:end:")).length]).toEqual([2, 1]);
  });
});
