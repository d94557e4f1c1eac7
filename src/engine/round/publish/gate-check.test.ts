import { describe, expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import { type CheckReport, type CheckSeen, ForgeError } from "../../../adapters/forge/port.ts";
import { iso } from "../../../core/base/time.ts";
import { runReason } from "../../../core/reasons/run.ts";
import { stageDeployments } from "../../../core/report/run/stage-deployment.ts";
import type { Next } from "../../../core/run/state/run.ts";
import { partsOf } from "../../testing/parts.ts";
import { type RepoContext, silentLog } from "../context.ts";
import type { Decision } from "../decide.ts";

const HEAD = "a".repeat(40);
const NO_PERMISSION = new ForgeError("Forbidden", 403, "403 Resource not accessible by integration");

function scene() {
  const sent: CheckReport[] = [];
  const deployed: string[] = [];
  const answers: { next?: ForgeError; checks?: readonly Pick<CheckSeen, "name" | "state" | "title">[] } = {};
  const asked: string[] = [];
  const answer = () => {
    if (answers.next !== undefined) throw answers.next;
  };
  const forge = {
    async putCheck(check: CheckReport) {
      answer();
      sent.push(check);
    },
    async checksOf(head: string) {
      asked.push(head);
      return answers.checks ?? [];
    },
    async putDeployment({ environment }: { environment: string }) {
      answer();
      deployed.push(environment);
    },
  };
  const time = { now: 0 };
  const context = { forge, log: silentLog, clock: { now: () => time.now }, planes: new Map() } as unknown as RepoContext;
  const memory = partsOf(context);
  return { context, memory, sent, deployed, answers, asked, time };
}

test("a gate that somebody asked for again is sent afresh, once", async () => {
  const { memory, sent } = scene();
  for (let n = 0; n < 2; n++) await memory.gateChecks.putNotOurs(HEAD);
  expect(sent.map(({ afresh }) => afresh)).toEqual([false]);
  memory.checkRuns.ask(HEAD);
  for (let n = 0; n < 2; n++) await memory.gateChecks.putNotOurs(HEAD);
  expect(sent.map(({ afresh }) => afresh)).toEqual([false, true]);
  expect(["stagecoach/plan", "stagecoach/gate"].filter((name) => memory.checkRuns.isAsked(HEAD, name))).toEqual(["stagecoach/plan"]);
});

test("a gate that could not be posted for want of the permission is owed as soon as that may have been given", async () => {
  const { memory, sent, answers } = scene();
  answers.next = NO_PERMISSION;
  await memory.gateChecks.putNotOurs(HEAD);
  delete answers.next;
  await memory.gateChecks.putNotOurs(HEAD);
  expect([sent.length, memory.gateChecks.reported(HEAD)?.kind]).toEqual([0, "other"]);
  memory.permissions.renewed();
  await memory.gateChecks.putNotOurs(HEAD);
  await memory.gateChecks.putNotOurs(HEAD);
  expect(sent).toHaveLength(1);
});

test("another 403 leaves the gate owed, and checks are not given up", async () => {
  const { memory, answers } = scene();
  answers.next = new ForgeError("Forbidden", 403, "403 Repository was archived so is read-only.");
  const words = { status: "completed", conclusion: "success", title: "t", summary: "s" } as const;
  await expect(memory.gateChecks.put(HEAD, words, "passed")).rejects.toThrow("archived");
  expect([memory.permissions.isForbidden("checks"), memory.gateChecks.reported(HEAD)]).toEqual([false, undefined]);
});

describe("the gate of a pull request that was merged", () => {
  const NOTHING = { world: { pulls: new Map() }, advanced: {} };
  /** The sample's second batch is merged and in flight. */
  const run = sampleRun();
  const head = run.batches[1]?.pull?.head ?? "";
  const judged = { ...NOTHING, before: run, advanced: { run } } as unknown as Decision;

  test("is ended by the next process where one was killed between the merge and that", async () => {
    const { memory, sent, answers } = scene();
    answers.checks = [{ name: "stagecoach/gate", state: "pending" }];
    for (let n = 0; n < 2; n++) await memory.gates.put(judged);
    expect(sent.map((one) => [one.head, one.status, one.conclusion])).toEqual([[head, "completed", "success"]]);
  });

  test("is ended by the next process where the batch settled in the round in which one was killed", async () => {
    const { memory, sent, answers, asked } = scene();
    const [first, second] = run.batches;
    if (first === undefined || second === undefined) throw new Error("the sample has two batches");
    const settled = sampleRun({ batches: [first, { ...second, phase: "Settled", settledAt: "2030-01-01T00:00:00Z" }] });
    answers.checks = [{ name: "stagecoach/gate", state: "success", title: "may be merged: Stagecoach is merging #12" }];
    for (let n = 0; n < 2; n++) await memory.gates.put({ ...NOTHING, before: settled, advanced: { run: settled } } as unknown as Decision);
    expect([sent.map(({ title }) => title), asked]).toEqual([["was merged"], [head]]);
  });

  test("is left alone where it has ended, or was never said, and is asked for once", async () => {
    for (const checks of [
      [{ name: "stagecoach/gate", state: "success", title: "was merged" }],
      [{ name: "ci", state: "pending" }],
    ] as const) {
      const { memory, sent, answers, asked } = scene();
      answers.checks = checks;
      for (let n = 0; n < 2; n++) await memory.gates.put(judged);
      expect([sent, asked]).toEqual([[], [head]]);
    }
  });

  test("is ended where somebody else merged it while it waited", async () => {
    const { memory, sent, asked } = scene();
    await memory.gateChecks.put(head, { status: "in_progress", title: "waits", summary: "" }, "waiting");
    await memory.gates.put(judged);
    expect([sent.map(({ status }) => status), asked]).toEqual([["in_progress", "completed"], []]);
  });

  test("does not go on saying that it is being merged, though the batch failed or settled in that very round", async () => {
    const [first, second] = run.batches;
    if (first === undefined || second === undefined) throw new Error("the sample has two batches");
    for (const phase of ["Merged", "Settled"] as const) {
      const { memory, sent, asked, time } = scene();
      await memory.gateChecks.put(
        head,
        { status: "completed", conclusion: "success", title: "may be merged: being merged", summary: "" },
        "passed",
      );
      time.now = 1000;
      const settledAt = phase === "Settled" ? iso(time.now) : undefined;
      const targets = second.targets.map((target) => ({ ...target, phase: "Failed" as const }));
      const failed = sampleRun({ phase: "Failed", batches: [first, { ...second, phase, settledAt, targets }] });
      for (let n = 0; n < 3; n++)
        await memory.gates.put({ ...NOTHING, before: n === 0 ? run : failed, advanced: { run: failed } } as unknown as Decision);
      expect([sent.map(({ title }) => title), asked]).toEqual([["may be merged: being merged", "was merged"], []]);
    }
  });

  test("that an earlier process left saying that it is being merged says what became of it, asked for once", async () => {
    const { memory, sent, answers, asked } = scene();
    answers.checks = [{ name: "stagecoach/gate", state: "success", title: "may be merged: Stagecoach is merging #12" }];
    for (let n = 0; n < 3; n++) await memory.gates.put(judged);
    expect([sent.map(({ title }) => title), asked]).toEqual([["was merged"], [head]]);
  });
});

describe("the gate of a pull request that waits", () => {
  const MINUTE = 60_000;

  /** A look every ten seconds; returns what was sent. */
  async function looks(minutes: number, next: (at: number) => Next): Promise<CheckReport[]> {
    const { memory, sent, time } = scene();
    const [first, second] = sampleRun().batches;
    if (first === undefined || second?.pull === undefined) throw new Error("the sample has two batches");
    const { merged: _, ...open } = second;
    const pulls = new Map([[second.number, { ...second.pull, state: "open", headIsOurs: true }]]);
    for (; time.now <= minutes * MINUTE; time.now += 10_000) {
      const batch = { ...open, phase: "Open" as const, next: next(time.now) };
      const run = sampleRun({ batches: [first, batch] });
      await memory.gates.put({ before: run, world: { pulls }, advanced: { run } } as unknown as Decision);
    }
    return sent;
  }
  const opens = (at: number): Next => ({ what: runReason("NEXT_WINDOW", {}), eta: iso(at) });
  const OPENS_AT = 120 * MINUTE;

  test("is written once while what it says stays so", async () => {
    expect(await looks(60, () => opens(OPENS_AT))).toHaveLength(1);
  });

  test("is written again where the time it says moved by more than a tenth of what was left, though its title is the same", async () => {
    const sent = await looks(60, (at) => opens(OPENS_AT + (at < 30 * MINUTE ? 0 : 20 * MINUTE)));
    expect(sent.map(({ summary }) => summary.match(/\d\d:\d\d:\d\d UTC/)?.[0])).toEqual(["02:00:00 UTC", "02:20:00 UTC"]);
    expect(await looks(60, (at) => opens(OPENS_AT + (at < 30 * MINUTE ? 0 : 5 * MINUTE)))).toHaveLength(1);
  });

  test("says no time that is over", async () => {
    const sent = await looks(10, () => opens(5 * MINUTE));
    expect(sent.map(({ summary }) => summary.includes("expected at"))).toEqual([true, false]);
  });

  test("costs at most one call a minute, however fast what it waits for changes", async () => {
    expect((await looks(60, (at) => opens(at * 5 + 10 * MINUTE))).length).toBeLessThanOrEqual(61);
    // What is always an hour off is told again as often as a tenth of it has passed.
    expect((await looks(60, (at) => opens(at + 60 * MINUTE))).length).toBeLessThanOrEqual(11);
  });
});

test("deployments come once their permission is given; another 403 is tried again by itself", async () => {
  const { memory, deployed, answers } = scene();
  const run = sampleRun();
  const wanted = stageDeployments(run).map(({ environment }) => environment);
  const round = async () => {
    memory.putDeployments(run);
    await memory.comments.settled();
  };
  answers.next = new ForgeError("Forbidden", 403, "403 This installation has been suspended");
  await round();
  expect(memory.permissions.isForbidden("deployments")).toBe(false);
  answers.next = NO_PERMISSION;
  await round();
  delete answers.next;
  await round();
  expect([memory.permissions.isForbidden("deployments"), deployed]).toEqual([true, []]);
  memory.permissions.renewed();
  await round();
  expect(wanted.length).toBeGreaterThan(0);
  expect(deployed).toEqual(wanted);
});
