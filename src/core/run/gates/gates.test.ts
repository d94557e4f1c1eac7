import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import type { Command } from "../../spec/commands.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { gatesOf } from "../state/gate-state.ts";
import { clustersOf } from "../state/names.ts";
import type { BatchTarget, Run } from "../state/run.ts";
import { AT, batch, bench, bring, guard, judge, MINUTE, merged, pull, round, SECOND, say, wants } from "../testing/bench.ts";
import { approvalHash } from "./approval.ts";
import { versionAt } from "./depends.ts";
import { haltsOn } from "./halt.ts";

/** AT is a Monday, nine o'clock UTC. */
const OFFICE = { schedule: "0 14 * * 1-5", durationMs: 8 * 60 * MINUTE, timeZone: "UTC", kind: "allow" as const };

function firstStage(rollout: Rollout) {
  const [stage] = rollout.stages;
  if (stage === undefined) throw new Error("no stage");
  return stage;
}

function approving(count = 1) {
  return (rollout: Rollout) => {
    firstStage(rollout).approval = { teams: ["sre"], count };
  };
}

const by = (actor: string, more: Partial<Command> = {}): Partial<Command> => ({ actor, batch: 1, teams: ["sre"], ...more });

describe("windows", () => {
  test("a batch waits for the window with its PR open, says when it opens, and merges then", () => {
    const self = bench(1, [{}], (rollout) => {
      rollout.windows = [OFFICE];
    });
    bring(self, 1, "merging");
    expect(batch(self.run, 1)).toMatchObject({
      phase: "Open",
      why: expect.toHaveCode("WINDOW_SHUT", {
        where: "the rollout",
        window: expect.objectContaining({ schedule: "0 14 * * 1-5", kind: "allow" }),
      }),
      next: { what: { code: "NEXT_WINDOW" }, eta: iso(AT + 5 * 60 * MINUTE) },
    });
    expect(self.last.wakeAt).toBeDefined();
    expect(self.last.cleared ?? []).toEqual([]);
    self.now = AT + 5 * 60 * MINUTE;
    guard(self, 1);
    round(self);
    expect(wants(self.last)).toContain("Merge 1");
  });

  test("a freeze of the repo holds although the rollout's own window is open", () => {
    const self = bench(1);
    const freeze = { schedule: "0 0 5 1 *", durationMs: 24 * 60 * MINUTE, timeZone: "UTC", kind: "deny" as const, where: "the repo" };
    self.world = { ...self.world, freezes: [freeze] };
    bring(self, 1, "merging");
    expect(batch(self.run, 1).why).toHaveCode("WINDOW_SHUT", {
      where: "the repo",
      window: expect.objectContaining({ schedule: "0 0 5 1 *", kind: "deny" }),
    });
    self.world = { ...self.world, freezes: [] };
    guard(self, 1);
    round(self);
    expect(wants(self.last)).toContain("Merge 1");
  });

  const monday = { schedule: "0 9 * * 1", durationMs: 8 * 60 * MINUTE, timeZone: "UTC", kind: "allow" as const };
  const freeze = (schedule: string, hours: number) => ({
    schedule,
    durationMs: hours * 60 * MINUTE,
    timeZone: "UTC",
    kind: "deny" as const,
    where: ".github/stagecoach.yaml",
  });

  test("what is promised is the first moment at which windows and freezes are open together", () => {
    const self = bench(1, [{}], (rollout) => {
      rollout.windows = [{ ...monday, schedule: "0 9 * * 1,3" }];
    });
    // From midnight on the fifth, a Monday, to ten on the seventh.
    self.world = { ...self.world, freezes: [freeze("0 0 5 1 *", 58)] };
    bring(self, 1, "merging");
    const opens = Date.UTC(2026, 0, 7, 10);
    expect(batch(self.run, 1).next).toEqual({ what: { code: "NEXT_WINDOW" }, eta: iso(opens) });
    self.now = Date.UTC(2026, 0, 6, 12);
    round(self);
    expect(batch(self.run, 1)).toMatchObject({
      why: expect.toHaveCode("WINDOW_SHUT", { where: "the rollout" }),
      next: { what: { code: "NEXT_WINDOW" }, eta: iso(opens) },
    });
    self.now = opens - SECOND;
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("windows and freezes that are never open together are said to be so, and nothing is promised", () => {
    const self = bench(1, [{}], (rollout) => {
      rollout.windows = [monday];
    });
    self.world = { ...self.world, freezes: [freeze("0 0 * * 1", 24)] };
    bring(self, 1, "merging");
    const never = {
      why: expect.toHaveCode("WINDOWS_NEVER_TOGETHER", { where: ["the rollout", ".github/stagecoach.yaml"] }),
      next: { what: { code: "NEXT_WINDOWS_CHANGED" } },
    };
    expect(batch(self.run, 1)).toMatchObject(never);
    round(self, 36 * 60 * MINUTE);
    expect(batch(self.run, 1)).toMatchObject(never);
  });

  test("a merge that has begun is not called back by a window that closes", () => {
    const self = bench(1);
    bring(self, 1, "merging");
    expect(batch(self.run, 1).phase).toBe("Merging");
    self.world = { ...self.world, freezes: [{ ...OFFICE, where: "the repo" }] };
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });
});

describe("approval", () => {
  test("a stage waits for a member of its teams, and merges once one has approved its PR", () => {
    const self = bench(1, [{}], approving());
    bring(self, 1, "merging");
    expect(batch(self.run, 1).why).toHaveCode("APPROVAL_WANTED", { teams: ["sre"], want: 1 });
    self.world = { ...self.world, approvals: new Map([[1, [{ by: "bob", at: iso(self.now) }]]]) };
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("the author of the release does not count, by review or by command, in whatever case it is written", () => {
    const self = bench(1, [{}], approving());
    bring(self, 1, "merging");
    self.world = { ...self.world, approvals: new Map([[1, [{ by: "Alice", at: iso(self.now) }]]]) };
    say(self, "/promote", by("ALICE"));
    guard(self, 1);
    round(self);
    expect(wants(self.last)).not.toContain("Merge 1");
    expect(self.run.commands.at(-1)).toMatchObject({
      outcome: "refused",
      message: expect.toHaveCode("APPROVER_RELEASED", { by: "ALICE" }),
    });
  });

  test("somebody who merges before anybody has approved: the clusters are in flight, and the run pauses and says so", () => {
    const self = bench(1, [{}], approving());
    bring(self, 1, "merging");
    merged(self, 1, { by: "carol", byUs: false });
    round(self);
    expect(batch(self.run, 1).merged?.by).toBe("carol");
    expect(self.run.paused?.kind).toBe("MergedByOther");
    expect(self.run.why).toHaveCode("MERGED_EARLY", { by: "carol", because: expect.toHaveCode("APPROVAL_WANTED", { teams: ["sre"] }) });
  });

  test("two of them are two people: one who approves twice is one", () => {
    const self = bench(1, [{}], approving(2));
    bring(self, 1, "merging");
    self.world = { ...self.world, approvals: new Map([[1, [{ by: "bob", at: iso(self.now) }]]]) };
    say(self, "/promote", by("bob"));
    guard(self, 1);
    round(self);
    expect(batch(self.run, 1).why).toHaveCode("APPROVAL_WANTED", { want: 2, have: ["bob"] });
    say(self, "/promote", by("carol"));
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("a command by somebody who is in none of the teams, or whose teams cannot be seen, is refused and says why", () => {
    const self = bench(1, [{}], approving());
    bring(self, 1, "merging");
    say(self, "/promote", by("bob", { teams: [] }));
    say(self, "/promote", { actor: "bob", batch: 1 });
    guard(self, 1);
    round(self);
    expect(self.run.commands.map((c) => c.message)).toEqual([
      { code: "APPROVER_IN_NO_TEAM", by: "bob", teams: ["sre"] },
      { code: "APPROVER_TEAMS_UNSEEN", by: "bob", teams: ["sre"] },
    ]);
  });

  test("it is offered once the stage's turn has come: before that the answer says what is waited for, and nothing is approved", () => {
    const self = bench(2, [{ region: "eu" }, { region: "us" }], (rollout) => {
      const [, second] = rollout.stages;
      if (second !== undefined) second.approval = { teams: ["sre"], count: 1 };
    });
    bring(self, 1, "merged");
    say(self, "/promote", { actor: "bob", teams: ["sre"] });
    round(self);
    expect(self.run.commands.at(-1)).toMatchObject({
      outcome: "refused",
      message: { code: "NOTHING_TO_PROMOTE", because: { code: "BATCH_AWAITS_HEALTH", clusters: ["hub/c1"] } },
    });
    expect(self.run.approvals).toBeUndefined();
  });

  test("it is given to the stage as it is: leaving a cluster out lapses it", () => {
    const self = bench(2, [{ maxUnavailable: 2 }], approving());
    bring(self, 1, "merging");
    const before = approvalHash(self.run, 0);
    self.world = { ...self.world, guards: new Map() };
    say(self, "/promote", by("bob"));
    round(self);
    expect(self.run.approvals).toMatchObject([{ by: "bob", hash: before }]);
    say(self, "/skip c2", { batch: 1 });
    round(self);
    expect(approvalHash(self.run, 0)).not.toBe(before);
    expect(approvalHash(self.run, 1)).toBe(approvalHash({ ...self.run, skipped: [] }, 1));
  });

  test("a review of before the stage changed does not count either, and is named; one given after it does", () => {
    const self = bench(3, [{}], approving(2));
    bring(self, 1, "open");
    const reviewed = (...people: string[]) => {
      const old = self.world.approvals?.get(1) ?? [];
      const anew = people.map((login) => ({ by: login, at: iso(self.now) }));
      self.world = { ...self.world, approvals: new Map([[1, [...old.filter(({ by: login }) => !people.includes(login)), ...anew]]]) };
    };
    reviewed("bob");
    say(self, "/skip c3", { batch: 1 });
    round(self);
    expect(self.run.amended).toEqual([{ stage: 0, at: iso(self.now) }]);
    self.now += MINUTE;
    reviewed("carol");
    guard(self, 1);
    expect(wants(round(self))).not.toContain("Merge 1");
    expect(batch(self.run, 1).why).toHaveCode("APPROVAL_WANTED", { want: 2, have: ["carol"], outdated: ["bob"] });
    self.now += MINUTE;
    reviewed("bob");
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("a review lapses in the very round in which the stage changes, and a run of before there was a record of it goes on", () => {
    const self = bench(3, [{}], approving());
    bring(self, 1, "open");
    self.world = { ...self.world, approvals: new Map([[1, [{ by: "bob", at: iso(self.now) }]]]) };
    const old = structuredClone(self);
    say(self, "/skip c3", { batch: 1 });
    guard(self, 1);
    expect(wants(round(self))).not.toContain("Merge 1");
    old.run.skipped = [{ cluster: "hub/c3", why: said("left out"), at: iso(old.now) }];
    guard(old, 1);
    expect(wants(round(old))).toContain("Merge 1");
  });

  test("it is wanted anew where its PR was built again after a merge that never came", () => {
    const self = bench(1, [{}], approving());
    bring(self, 1, "open");
    self.world = { ...self.world, approvals: new Map([[1, [{ by: "bob", at: iso(self.now) }]]]) };
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
    round(self, MINUTE);
    pull(self, 1, { mergeable: "conflict" });
    guard(self, 1);
    round(self, MINUTE);
    pull(self, 1, { state: "closed", closedBy: "stagecoach[bot]" });
    round(self);
    expect(batch(self.run, 1).attempt).toBe(2);
    pull(self, 1, { state: "open", number: 200, head: "again", mergeable: "yes" });
    self.world = { ...self.world, approvals: new Map() };
    guard(self, 1);
    round(self);
    guard(self, 1);
    expect(wants(round(self))).toEqual([]);
    expect(batch(self.run, 1).why).toHaveCode("APPROVAL_WANTED");
  });

  test("it is wanted before the stage's first batch only", () => {
    const self = bench(2, [{}], approving());
    bring(self, 1, "open");
    self.world = { ...self.world, approvals: new Map([[1, [{ by: "bob", at: iso(self.now) }]]]) };
    bring(self, 1, "confirmed");
    bring(self, 2, "merging");
    expect(batch(self.run, 2).phase).toBe("Merging");
  });

  test("without a look at the reviews it waits, and says that it could not look", () => {
    const self = bench(1, [{}], approving());
    bring(self, 1, "merging");
    expect(batch(self.run, 1).why).toHaveCode("APPROVAL_WANTED", { unread: true });
  });
});

describe("who may approve", () => {
  const approving = (rollout: Rollout) => {
    for (const stage of rollout.stages) stage.approval = { teams: ["sre"], count: 1 };
  };

  test("an approval by command does not outlive its author's membership, and counts again once they are back", () => {
    const self = bench(1, [{}], approving);
    bring(self, 1, "open");
    say(self, "/promote", { actor: "bob", teams: ["sre"], batch: 1 });
    self.world = { ...self.world, lapsed: new Map([[1, [{ by: "Bob", why: said("is in none of them any more") }]]]), approvals: new Map() };
    guard(self, 1);
    expect(wants(round(self))).not.toContain("Merge 1");
    guard(self, 1);
    expect(wants(round(self))).not.toContain("Merge 1");
    expect(batch(self.run, 1).why).toHaveCode("APPROVAL_WANTED", { lapsed: [{ by: "Bob", because: said("is in none of them any more") }] });
    const { lapsed: _, ...world } = self.world;
    self.world = world;
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("of a release without a pull request none of the accounts that brought it in; where GitHub knows none, that is said", () => {
    const self = bench(1, [{}], approving);
    self.run = { ...self.run, trigger: { ...self.run.trigger, author: "erin", accounts: ["erin", "bob"] } };
    bring(self, 1, "open");
    say(self, "/promote", { actor: "Bob", teams: ["sre"], batch: 1 });
    round(self);
    expect(self.run.commands.at(-1)).toMatchObject({ outcome: "refused", message: expect.toHaveCode("APPROVER_RELEASED", { by: "Bob" }) });
    expect(batch(self.run, 1).next?.what).toHaveCode("NEXT_APPROVED", { released: ["erin", "bob"] });
    self.run = { ...self.run, trigger: { ...self.run.trigger, author: "Somebody", accounts: [] } };
    round(self);
    expect(batch(self.run, 1).next?.what).toHaveCode("NEXT_APPROVED", { released: [], author: "Somebody" });
  });
});

describe("halt", () => {
  test("holds the clusters it names until it ends, and nothing else", () => {
    const self = bench(2);
    bring(self, 1, "open");
    say(self, "/halt cluster=c2 --for", { args: ["cluster=c2", "network", "work"], flags: { for: "2h" }, permission: "maintain" });
    bring(self, 1, "confirmed");
    bring(self, 2, "merging");
    expect(batch(self.run, 2)).toMatchObject({
      phase: "Open",
      why: expect.toHaveCode("CLUSTERS_HALTED", { by: "alice", clusters: ["hub/c2"], text: "network work" }),
    });
    self.now += 2 * 60 * MINUTE;
    guard(self, 2);
    expect(wants(round(self))).toContain("Merge 2");
  });

  test("binds every run of the repo, and is lifted on the pull request it was made on", () => {
    const self = bench(1);
    const other: Run = { ...self.run, rollout: "ledger", halts: [{ clusters: [], reason: "incident", by: "carol", at: iso(AT) }] };
    self.world = { ...self.world, others: [other] };
    bring(self, 1, "merging");
    expect(batch(self.run, 1).why).toHaveCode("CLUSTERS_HALTED", { by: "carol", clusters: [], text: "incident" });
    say(self, "/halt --off", { args: [], flags: { off: true }, permission: "maintain" });
    round(self);
    expect(self.run.commands.at(-1)?.message).toMatchObject({ code: "HALT_NOT_FOUND", elsewhere: true });
    self.world = { ...self.world, others: [{ ...other, halts: [] }] };
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("wants a reason, a readable time, and maintain", () => {
    const self = bench(1);
    round(self);
    say(self, "/halt", { args: [], flags: {}, permission: "maintain" });
    say(self, "/halt", { args: ["x"], flags: { for: "2" }, permission: "maintain" });
    say(self, "/halt", { args: ["cluster="], flags: {}, permission: "maintain" });
    say(self, "/halt", { args: ["x"], flags: {}, permission: "write" });
    round(self);
    expect(self.run.commands.map((c) => c.outcome)).toEqual(["refused", "refused", "refused", "refused"]);
    expect(self.run.halts ?? []).toEqual([]);
  });

  test("is answered only when no merge of what it covers is under way", () => {
    const self = bench(1);
    self.world = { ...self.world, others: [] };
    bring(self, 1, "merging");
    say(self, "/halt", { args: ["stop"], flags: {}, permission: "maintain" });
    round(self);
    expect(self.run).toMatchObject({ halts: [{ reason: "stop" }], commands: [] });
    bring(self, 1, "merged");
    expect(self.run).toMatchObject({ halts: [{ reason: "stop" }], commands: [{ outcome: "done" }] });
  });

  test("is answered only when no other run of the repo may still merge what it covers", () => {
    const self = bench(1);
    const other = bench(1);
    bring(other, 1, "merging");
    say(self, "/halt", { args: ["cluster=c1", "stop"], flags: {}, permission: "maintain" });
    self.world = { ...self.world, others: [{ ...other.run, rollout: "ledger" }] };
    round(self);
    expect(self.run.commands).toEqual([]);
    bring(other, 1, "merged");
    self.world = { ...self.world, others: [{ ...other.run, rollout: "ledger" }] };
    round(self);
    expect(self.run.commands).toMatchObject([{ outcome: "done" }]);
  });

  test("is answered only when every other run has had a round to fence what it has open", () => {
    const self = bench(1);
    const other = bench(1);
    bring(other, 1, "open");
    self.world = { ...self.world, others: [{ ...other.run, rollout: "ledger" }] };
    say(self, "/halt", { args: ["stop"], flags: {}, permission: "maintain" });
    round(self);
    expect(self.run).toMatchObject({ halts: [{ reason: "stop" }], commands: [] });
    other.world = { ...other.world, others: [{ ...self.run, rollout: "payments" }] };
    round(other);
    expect(gatesOf(other.run, other.world, other.last)).toMatchObject([{ state: { kind: "fenced" } }]);
    round(self);
    expect(self.run.commands).toMatchObject([{ outcome: "done" }]);
  });

  test("of another run: a merge intention that it covers is not tried again, and lapses", () => {
    const self = bench(1);
    self.world = { ...self.world, others: [] };
    bring(self, 1, "merging");
    const halts = [{ clusters: ["c1"], reason: "incident", by: "carol", at: iso(self.now) }];
    self.world = { ...self.world, others: [{ ...self.run, rollout: "ledger", batches: [], halts }] };
    guard(self, 1);
    expect(wants(round(self))).not.toContain("Merge 1");
    expect(batch(self.run, 1)).toMatchObject({
      phase: "Merging",
      why: expect.toHaveCode("CLUSTERS_HALTED", { by: "carol", clusters: ["hub/c1"] }),
    });
    guard(self, 1);
    round(self, 31 * SECOND);
    expect(batch(self.run, 1).intention).toBeUndefined();
    expect(gatesOf(self.run, self.world, self.last)).toMatchObject([{ state: { kind: "fenced" } }]);
  });

  test("is not missed where the other runs cannot be read: nothing merges until they are", () => {
    const self = bench(1);
    const { others: _, ...world } = self.world;
    self.world = world;
    bring(self, 1, "merging");
    expect(batch(self.run, 1)).toMatchObject({ phase: "Open", why: expect.toHaveCode("OTHERS_UNREAD") });
    self.world = { ...self.world, others: [] };
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("takes what it covers out of the merge queue, and fails its gate until it ends", () => {
    const self = bench(1);
    self.world = { ...self.world, others: [] };
    bring(self, 1, "merging");
    pull(self, 1, { queue: { state: "QUEUED", position: 1 } });
    round(self);
    say(self, "/halt", { args: ["stop"], flags: { for: "2h" }, permission: "maintain" });
    round(self);
    expect(batch(self.run, 1)).toMatchObject({ phase: "Open" });
    expect(batch(self.run, 1).intention).toBeUndefined();
    expect(gatesOf(self.run, self.world, self.last)).toMatchObject([{ queued: true, state: { kind: "fenced" } }]);
    round(self);
    expect(self.run.commands).toMatchObject([{ outcome: "done" }]);
    pull(self, 1, { queue: null });
    self.now += 2 * 60 * MINUTE;
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("is taken over by the next run while it is on", () => {
    const self = bench(1);
    const halts = [
      { clusters: ["c1"], reason: "a", by: "x", at: iso(AT), until: iso(AT + SECOND) },
      { clusters: [], reason: "b", by: "x", at: iso(AT) },
    ];
    expect(haltsOn({ ...self.run, halts }, AT + MINUTE).map((h) => h.reason)).toEqual(["b"]);
  });
});

describe("limits over all runs", () => {
  const elsewhere = (target: BatchTarget) => ({
    ...target,
    key: `x/${target.key}`,
    cluster: target.cluster === "hub/c1" ? "hub/c3" : "hub/c4",
  });

  function flying(self: ReturnType<typeof bench>, clusters: number): Run {
    const other = bench(clusters, [{ maxUnavailable: clusters }]);
    bring(other, 1, "merged");
    void self;
    const batches = other.run.batches.map((b) => ({
      ...b,
      targets: b.targets.map((t) => ({ ...t, key: `x/${t.key}`, cluster: `hub/other-${t.cluster}` })),
    }));
    return { ...other.run, rollout: "ledger", batches };
  }

  test.each([
    ["clusters", { clusters: 3 }, "limits.clusters"],
    ["targets", { targets: 3 }, "limits.targets"],
  ])("%s in flight elsewhere count", (_name, limits, setting) => {
    const self = bench(1);
    self.world = { ...self.world, limits, others: [flying(self, 3)] };
    bring(self, 1, "merging");
    expect(batch(self.run, 1).why).toHaveCode("LIMITS_FULL", { over: { setting, have: 4, most: 3 }, now: ["ledger"] });
    self.world = { ...self.world, others: [] };
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("a percentage of a label's clusters", () => {
    const self = bench(6, [{ maxUnavailable: 6 }]);
    self.world = { ...self.world, limits: { label: { key: "region", percent: 50 } }, others: [] };
    bring(self, 1, "merging");
    expect(clustersOf(batch(self.run, 1).targets)).toEqual(["hub/c1", "hub/c2"]);
    const away = {
      ...self.run,
      rollout: "ledger",
      batches: self.run.batches.map((one) => ({ ...one, targets: one.targets.map(elsewhere) })),
    };
    const waits = bench(6, [{ maxUnavailable: 6 }]);
    waits.world = { ...self.world, others: [away] };
    bring(waits, 1, "merging");
    expect(batch(waits.run, 1).why).toHaveCode("LIMITS_FULL", {
      over: { setting: "limits.label", have: 2, most: 1, label: { key: "region", value: "eu", percent: 50 } },
    });
  });

  test("while the other runs cannot be read nothing merges under limits", () => {
    const self = bench(1);
    const { others: _, ...world } = self.world;
    self.world = { ...world, limits: { clusters: 9 } };
    bring(self, 1, "merging");
    expect(batch(self.run, 1)).toMatchObject({ phase: "Open", why: expect.toHaveCode("OTHERS_UNREAD") });
  });
});

describe("dependsOn", () => {
  const depends = (atLeast: string) => (rollout: Rollout) => {
    rollout.dependsOn = [{ rollout: "ledger", atLeast }];
  };

  test("a cluster waits until the other rollout is confirmed there at the same version", () => {
    const ledger = bench(2);
    bring(ledger, 1, "merged");
    const self = bench(1, [{}], depends("SameVersion"));
    const see = (run: Run) => {
      self.world = { ...self.world, others: [{ ...run, rollout: "ledger" }] };
    };
    see(ledger.run);
    bring(self, 1, "merging");
    expect(batch(self.run, 1).why).toHaveCode("DEPENDENCY_MISSING", {
      cluster: "hub/c1",
      rollout: "ledger",
      because: expect.toHaveCode("VERSION_UNKNOWN"),
    });
    bring(ledger, 1, "confirmed");
    see(ledger.run);
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
    expect(versionAt(ledger.run, "hub/c1")).toBe("v2");
    expect(versionAt(ledger.run, "hub/c2")).toBe("v1");
  });

  test("a cluster that the other rollout has not come to yet holds its older version, which may be enough", () => {
    const ledger = { ...bench(2).run, rollout: "ledger" };
    for (const [atLeast, merges] of [
      ["SameVersion", false],
      ["0.9.0", true],
    ] as const) {
      const self = bench(1, [{}], depends(atLeast));
      const run = structuredClone(ledger);
      for (const stage of run.plan.stages)
        for (const b of stage.batches) for (const t of b.targets) for (const e of t.edits) e.from = "1.0.0";
      self.world = { ...self.world, others: [run] };
      bring(self, 1, "merging");
      expect(batch(self.run, 1).phase).toBe(merges ? "Merging" : "Open");
    }
  });

  test("a cluster the other rollout never goes to does not wait", () => {
    const self = bench(3, [{}], depends("SameVersion"));
    self.world = { ...self.world, others: [{ ...bench(1).run, rollout: "ledger" }] };
    for (const one of self.world.others ?? []) expect(one.plan.stages).toHaveLength(1);
    self.run = { ...self.run, skipped: [{ cluster: "hub/c1", why: said("test"), at: iso(AT) }] };
    bring(self, 1, "merging");
    expect(batch(self.run, 1).phase).toBe("Merging");
  });
});

describe("/promote --full", () => {
  test("ends the bake under way and every later one; health is still waited for", () => {
    const self = bench(2, [{ bakeMs: 60 * MINUTE }]);
    bring(self, 1, "confirmed");
    expect(batch(self.run, 1).phase).toBe("Baking");
    say(self, "/promote", { flags: { full: true }, permission: "write" });
    round(self);
    expect(batch(self.run, 1).phase).toBe("Baking");
    say(self, "/promote", { flags: { full: true }, permission: "maintain" });
    round(self);
    round(self);
    expect(batch(self.run, 1).phase).toBe("Settled");
    bring(self, 2, "merged");
    expect(batch(self.run, 2).phase).toBe("Merged");
    judge(self, "c2", "live", "all");
    round(self);
    expect(self.run.phase).toBe("Succeeded");
  });
});

describe("/hotfix", () => {
  test("brings a cluster forward: at once, without bake and windows, beside the batch under way", () => {
    const self = bench(4, [{ maxUnavailable: 2, bakeMs: 60 * MINUTE }], (rollout) => {
      rollout.windows = [OFFICE];
    });
    round(self);
    say(self, "/hotfix c4 customer down", { permission: "maintain" });
    round(self);
    const hotfix = self.run.batches.find((one) => one.kind === "Hotfix");
    expect(hotfix?.targets.map((t) => t.cluster)).toEqual(["hub/c4"]);
    expect(self.run.commands.at(-1)?.message).toHaveCode("HOTFIX_DONE", { clusters: ["hub/c4"], text: "customer down" });
    const number = hotfix?.number ?? 0;
    bring(self, number, "merging");
    expect(batch(self.run, number).phase).toBe("Merging");
    bring(self, number, "confirmed");
    expect(batch(self.run, number).phase).toBe("Settled");
    expect(batch(self.run, 1).why).not.toContain("merging");
  });

  test("never goes past the window of its stage, nor past an approval", () => {
    const self = bench(3, [{ maxUnavailable: 1 }], approving());
    bring(self, 1, "open");
    self.world = { ...self.world, approvals: new Map([[1, [{ by: "bob", at: iso(self.now) }]]]) };
    bring(self, 1, "merged");
    say(self, "/hotfix c3 now", { permission: "maintain" });
    round(self);
    bring(self, 2, "merging");
    expect(batch(self.run, 2)).toMatchObject({
      kind: "Hotfix",
      phase: "Open",
      why: expect.toHaveCode("WINDOW_FULL", { clusters: ["hub/c1", "hub/c3"], most: 1 }),
    });
  });

  test.each([
    ["/hotfix", "CLUSTERS_NOT_NAMED"],
    ["/hotfix c9 now", "CLUSTER_UNKNOWN"],
    ["/hotfix c2", "HOTFIX_WANTS_REASON"],
    ["/hotfix c1 now", "IN_BATCH_ALREADY"],
    ["/hotfix c2 c3 now", "HOTFIX_TOO_LARGE"],
  ])("%s is refused: %s", (text, code) => {
    const self = bench(3);
    round(self);
    say(self, text, { permission: "maintain" });
    round(self);
    expect(self.run.commands.at(-1)).toMatchObject({ outcome: "refused", message: { code } });
  });
});
