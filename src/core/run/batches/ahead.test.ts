import { describe, expect, test } from "vitest";
import { runReason } from "../../reasons/run.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { advance } from "../advance.ts";
import {
  BASE,
  type Bench,
  batch,
  bench,
  bring,
  guard,
  judge,
  merged,
  noPull,
  pull,
  round,
  SECOND,
  say,
  see,
  wants,
} from "../testing/bench.ts";

const AHEAD = (rollout: Rollout): void => {
  rollout.delivery.ahead = undefined;
};

/** Batch 1 is merged; batch 2 is proposed ahead, and with `open` its PR is there with a good guard. */
function ahead(stages: Parameters<typeof bench>[1] = [{}], { clusters = 3, open = true, change = AHEAD } = {}): Bench {
  const self = bench(clusters, stages, change);
  bring(self, 1, "merged");
  noPull(self, 2);
  guard(self, 2);
  if (!open) return self;
  round(self);
  pull(self, 2);
  guard(self, 2);
  round(self);
  return self;
}

function confirmFirst(self: Bench): void {
  for (const { cluster } of self.run.batches[0]?.targets ?? []) judge(self, cluster.slice(4), "live", "all");
}

describe("the next batch's PR", () => {
  test("is opened while the one before settles, and says what it waits for", () => {
    const self = ahead([{}], { open: false });
    expect([self.run.batches[1]?.ahead, self.run.batches[0]?.phase]).toEqual([true, "Merged"]);
    expect(wants(round(self))).toEqual(["Propose 2"]);
    pull(self, 2);
    const seen = round(self);
    // Seen again by its branch: no record of its own.
    expect([seen.change, seen.run.batches[1]?.phase, wants(seen)]).toEqual(["observation", "Open", []]);
    expect(batch(self.run, 2).why).toMatchObject({
      ...{ code: "PULL_WAITS", pull: 102 },
      because: { code: "BATCH_BEFORE", batch: { stage: "stage 1", number: 1 } },
    });
  });

  test("is made with the intention to merge the one before, in one record, and opened with none once that has merged", () => {
    const self = bench(3, [{}], AHEAD);
    bring(self, 1, "open");
    guard(self, 1);
    const intended = round(self);
    expect([intended.change, wants(intended), self.run.batches.map((one) => [one.phase, one.ahead])]).toEqual([
      "transition",
      ["Merge 1"],
      [
        ["Merging", undefined],
        ["Proposing", true],
      ],
    ]);
    noPull(self, 2);
    guard(self, 2);
    // Whatever GitHub has to say to the merge: there is one open pull request a rollout until then.
    expect(wants(round(self))).toEqual(["Merge 1"]);
    merged(self, 1);
    const seen = round(self);
    expect([seen.change, wants(seen), self.run.batches[0]?.phase]).toEqual(["observation", ["Propose 2"], "Merged"]);
    // Not when something wakes it by and by: whom the change waits for is asked, and the next one guarded, right after the merge.
    expect(seen.wakeAt).toBe(self.now);
  });

  test("stays unopened where the one before is refused, and that one is merged first all the same", () => {
    const self = bench(3, [{}], AHEAD);
    bring(self, 1, "open");
    guard(self, 1);
    round(self);
    noPull(self, 2);
    guard(self, 2);
    pull(self, 1, { mergeable: "conflict" });
    round(self, 31 * SECOND);
    expect([wants(self.last), self.run.batches.map(({ phase }) => phase)]).toEqual([["Close 1"], ["Open", "Proposing"]]);
    pull(self, 1, { state: "closed", closedByUs: true });
    round(self);
    noPull(self, 1);
    for (let n = 0; n < 3; n++) expect(wants(round(self))).not.toContain("Propose 2");
    expect(self.run.batches.map(({ attempt, ahead: early }) => [attempt, early])).toEqual([
      [2, undefined],
      [1, true],
    ]);
  });

  test("is merged in the very round that confirms the one before: one record, then the merge", () => {
    const self = ahead();
    confirmFirst(self);
    expect(wants(round(self))).toEqual(["Merge 2"]);
    expect([self.run.batches[0]?.phase, self.run.batches[1]?.phase, self.run.batches[1]?.ahead]).toEqual(["Settled", "Merging", undefined]);
  });

  test("is not opened with delivery.ahead: false", () => {
    const self = ahead([{}], { open: false, change: () => undefined });
    expect([self.run.spec.delivery.ahead, self.run.batches.length, wants(round(self))]).toEqual([false, 1, []]);
  });

  test("is not opened before the guard has judged it, and a refusal before its turn stops nothing", () => {
    const self = ahead([{}], { open: false });
    guard(self, 2, { ok: false, why: runReason("BASE_CONFLICTS"), retry: false } as never);
    expect([wants(round(self)), self.run.phase, batch(self.run, 2).why]).toEqual([
      [],
      "Progressing",
      runReason("NOT_OPENED_YET", { because: runReason("BASE_CONFLICTS") }),
    ]);
    confirmFirst(self);
    expect(round(self).run.paused?.kind).toBe("Refused");
  });

  test("that GitHub refuses is tried again in its turn, and pauses the run by what happens then alone", () => {
    const self = ahead([{}], { open: false });
    const unopened = new Map([[2, { since: new Date(self.now).toISOString(), because: runReason("BASE_CONFLICTS") }]]);
    self.world = { ...self.world, unopened };
    expect([wants(round(self, 600 * SECOND)), self.run.phase]).toEqual([[], "Progressing"]);
    confirmFirst(self);
    guard(self, 2);
    expect([wants(round(self)), self.run.phase]).toEqual([["Propose 2"], "Progressing"]);
    guard(self, 2);
    expect([wants(round(self, 130 * SECOND)), self.run.paused?.kind]).toEqual([[], "Refused"]);
  });

  test("is one a rollout", () => {
    const self = ahead([{}], { clusters: 5 });
    for (let n = 0; n < 5; n++) round(self);
    expect(self.run.batches).toHaveLength(2);
  });

  test.each([
    ["merge: Manual", [{}], (one: Rollout) => void Object.assign(one.delivery, { merge: "Manual" })],
    ["mode: Propose", [{}], (one: Rollout) => void Object.assign(one, { mode: "Propose" })],
    ["a stage that wants approval", [{}, { approvals: 1 }], () => undefined],
    ["a stage with jitter", [{ jitterMs: 60_000 }], () => undefined],
    ["a stage that grows", [{ maxUnavailable: 2, grow: { start: 1, factor: 2 } }], () => undefined],
    ["Rolling", [{ batching: "Rolling" as const }], () => undefined],
  ])("waits for its turn with %s", (_, stages, more) => {
    const self = bench(3, stages.length === 2 ? [{ ...stages[0], region: "eu" }, stages[1] ?? {}] : stages, (one) => {
      AHEAD(one);
      more(one);
    });
    bring(self, 1, "open");
    guard(self, 1);
    merged(self, 1);
    for (const { cluster } of self.run.batches[0]?.targets ?? []) judge(self, cluster.slice(4), "pending");
    round(self);
    round(self);
    expect(self.run.batches.filter((one) => one.stage === (stages.length === 2 ? 1 : 0) && one.ahead === true)).toEqual([]);
  });
});

describe("a PR that was opened ahead", () => {
  test("of the next stage waits until that has come, not only for the batches before it", () => {
    const self = ahead([{ region: "eu", hooks: { before: 0, after: 1, onFailure: 0 } }, {}], { clusters: 2 });
    confirmFirst(self);
    const asked = round(self);
    expect(wants(asked).filter((effect) => effect.startsWith("Merge"))).toEqual([]);
    expect([self.run.batches[0]?.phase, self.run.stage, self.run.batches[1]?.ahead]).toEqual(["Settled", 0, true]);
    expect(batch(self.run, 2).why).toMatchObject({ code: "PULL_WAITS", pull: 102, because: { code: "STAGE_BEFORE", stage: "stage 1" } });
  });

  test("is built again without a cluster that is left out meanwhile", () => {
    const self = ahead([{ maxUnavailable: 2 }], { clusters: 4 });
    say(self, "/skip c3");
    expect(wants(round(self))).toContain("Close 2");
    noPull(self, 2);
    round(self);
    round(self);
    noPull(self, 2);
    guard(self, 2);
    expect(wants(round(self))).toContain("Propose 2");
    expect(self.run.batches[1]?.targets.map(({ cluster }) => cluster)).toEqual(["hub/c4"]);
  });

  test("is built again without a cluster that labels put off by the time its turn comes", () => {
    const self = ahead([{ requeue: { attempts: 2, intervalMs: 60_000 } }]);
    const clusters = new Map(self.world.clusters);
    const c2 = clusters.get("hub/c2");
    if (c2 === undefined) throw new Error("the bench has c2");
    self.world = { ...self.world, clusters: clusters.set("hub/c2", { ...c2, labels: { ...c2.labels, drained: "true" } }) };
    confirmFirst(self);
    expect(wants(round(self))).toEqual(["Close 2"]);
    expect(self.run.requeued.map(({ cluster }) => cluster)).toEqual(["hub/c2"]);
  });

  test("is built again where the base moves under it, a few times before its turn", () => {
    const self = ahead();
    pull(self, 2, { mergeable: "conflict" });
    expect(wants(round(self))).toEqual(["Close 2"]);
    const often = ahead();
    often.run = { ...often.run, batches: often.run.batches.map((one) => (one.number === 2 ? { ...one, attempt: 3 } : one)) };
    pull(often, 2, { mergeable: "conflict" });
    expect(wants(round(often))).toEqual([]);
  });

  test("and closed by another process of ours is built again; a person's close pauses the run", () => {
    const self = ahead();
    pull(self, 2, { state: "closed", closedBy: "stagecoach[bot]", closedByUs: true });
    round(self);
    expect([self.run.phase, self.run.batches[1]?.phase, self.run.batches[1]?.attempt]).toEqual(["Progressing", "Proposing", 2]);
    const theirs = ahead();
    pull(theirs, 2, { state: "closed", closedBy: "alice", closedByUs: false });
    round(theirs);
    expect([theirs.run.paused?.kind, theirs.run.batches[1]?.phase]).toEqual(["PullClosed", "Closed"]);
    const often = ahead();
    often.run = { ...often.run, batches: often.run.batches.map((one) => (one.number === 2 ? { ...one, attempt: 10 } : one)) };
    pull(often, 2, { state: "closed", closedBy: "stagecoach[bot]", closedByUs: true });
    round(often);
    expect(often.run.paused?.kind).toBe("Refused");
  });

  test("is closed by /abort", () => {
    const self = ahead();
    say(self, "/abort");
    expect(wants(round(self))).toContain("Close 2");
  });

  test("is not merged while the run is paused, and is once it goes on", () => {
    const self = ahead();
    say(self, "/pause");
    round(self);
    confirmFirst(self);
    expect(wants(round(self)).filter((effect) => effect.startsWith("Merge"))).toEqual([]);
    guard(self, 2);
    say(self, "/resume");
    expect(wants(round(self))).toContain("Merge 2");
  });

  test("is not merged where the one before fails", () => {
    const self = ahead();
    judge(self, "c1", "failing");
    expect(wants(round(self))).toEqual([]);
    expect([self.run.phase, self.run.paused?.kind]).toEqual(["Paused", "Failure"]);
  });

  test("is not merged on another base than the one that was guarded", () => {
    const self = ahead();
    confirmFirst(self);
    self.world = { ...self.world, base: { commit: "d".repeat(40) } };
    expect(wants(round(self))).toEqual([]);
    guard(self, 2);
    expect(wants(round(self))).toEqual(["Merge 2"]);
  });

  test("that somebody merges pauses the run", () => {
    const self = ahead();
    merged(self, 2, { byUs: false, by: "alice" });
    see(self, "c2", { pins: ["v2"], inHistory: true });
    round(self);
    expect([self.run.paused?.kind, self.run.batches[1]?.ahead]).toEqual(["MergedByOther", undefined]);
  });

  test("gives a cluster up to /hotfix", () => {
    const self = ahead([{ maxUnavailable: 2 }], { clusters: 4 });
    say(self, "/hotfix c3 customer down", { permission: "maintain" });
    expect(wants(round(self))).toEqual(expect.arrayContaining(["Propose 3", "Close 2", "Answer done"]));
  });

  test("/promote on it is for its own batch, and says where to end the bake of the one before", () => {
    const self = ahead([{ bakeMs: 600_000 }]);
    confirmFirst(self);
    round(self);
    expect(self.run.batches[0]?.phase).toBe("Baking");
    say(self, "/promote", { batch: 2, createdAt: new Date(self.now + SECOND).toISOString() });
    guard(self, 2);
    expect(wants(round(self, 2 * SECOND))).toEqual(["Answer refused"]);
    expect(self.run.commands.at(-1)?.message).toMatchObject({ code: "PROMOTE_OF_OTHER_BATCH", current: { kind: "bake", pull: 101 } });
    say(self, "/promote", { batch: 1 });
    expect(wants(round(self, 2 * SECOND))).toEqual(expect.arrayContaining(["Merge 2", "Answer done"]));
  });

  test("an intention before its turn is a breach", async () => {
    const { checkInvariants } = await import("../state/invariants.ts");
    const self = ahead();
    const advanced = advance(self.run, self.world, self.now);
    const wrong = checkInvariants(self.run, advanced.run, [{ kind: "Merge", batch: 2, pull: 102, head: "head2" }], self.world, self.now);
    expect(wrong.map(({ breach }) => breach.code)).toContain("MERGE_AHEAD");
    expect(self.world.base.commit).toBe(BASE);
  });
});
