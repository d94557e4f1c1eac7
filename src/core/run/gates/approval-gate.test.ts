import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import type { Command } from "../../spec/commands.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { approvalHash } from "../state/amend.ts";
import { approving, batch, bench, bring, guard, MINUTE, merged, pull, round, say, wants } from "../testing/bench.ts";

const by = (actor: string, more: Partial<Command> = {}): Partial<Command> => ({ actor, batch: 1, teams: ["sre"], ...more });

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
    self.world = { ...self.world, lapsed: new Map([[1, [{ by: "Bob", why: said("left") }]]]), approvals: new Map() };
    guard(self, 1);
    expect(wants(round(self))).not.toContain("Merge 1");
    guard(self, 1);
    expect(wants(round(self))).not.toContain("Merge 1");
    expect(batch(self.run, 1).why).toHaveCode("APPROVAL_WANTED", { lapsed: [{ by: "Bob", because: said("left") }] });
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
