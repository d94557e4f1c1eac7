import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import type { Rollout } from "../../spec/rollout.ts";
import type { Run } from "../state/run.ts";
import { type Bench, batch, bench, bring, guard, round, say, wants } from "../testing/bench.ts";

type Approval = NonNullable<Rollout["stages"][number]["approval"]>;

/** The first batch is open; alice released it. */
function opened(approval: Partial<Approval>, brought: Partial<Run["trigger"]>): Bench {
  const self = bench(1, [{}], (rollout) => {
    for (const stage of rollout.stages) stage.approval = { teams: ["sre"], count: 1, ...approval };
  });
  self.run = { ...self.run, trigger: { ...self.run.trigger, ...brought } };
  bring(self, 1, "open");
  return self;
}

/** Whether it merges with approving reviews of these. */
function mergesBy(self: Bench, ...people: string[]): boolean {
  self.world = { ...self.world, approvals: new Map([[1, people.map((by) => ({ by, at: iso(self.now) }))]]) };
  guard(self, 1);
  return wants(round(self)).includes("Merge 1");
}

describe("who merged the release", () => {
  test("does not approve a stage that says so, by review or by command, and is told", () => {
    const self = opened({ notBy: ["author", "merger"] }, { merger: "Bob" });
    say(self, "/promote", { actor: "bob", teams: ["sre"], batch: 1 });
    expect(mergesBy(self, "bob")).toBe(false);
    expect(self.run.commands[0]).toMatchObject({ outcome: "refused", message: { code: "APPROVER_MERGED", by: "bob" } });
    expect(batch(self.run, 1).next?.what).toHaveCode("NEXT_APPROVED", { teams: ["sre"], left: 1, released: ["alice"], merger: "Bob" });
    expect(mergesBy(self, "bob", "carol")).toBe(true);
  });

  test("approves where the stage does not say so; the author never does, whatever it says", () => {
    expect(mergesBy(opened({}, { merger: "bob" }), "bob")).toBe(true);
    expect(mergesBy(opened({ notBy: ["merger"] }, { merger: "bob" }), "alice")).toBe(false);
  });
});

describe("a commit that nobody can be held to have made", () => {
  test("may be its approver's: one person more has to approve, and is asked for", () => {
    const self = opened({}, { unlinked: ["3f2a91c0de44aa"] });
    expect(mergesBy(self, "bob")).toBe(false);
    expect(batch(self.run, 1).why).toHaveCode("APPROVAL_WANTED", { have: ["bob"], unlinked: ["3f2a91c0de44aa"] });
    // Twice is once.
    say(self, "/promote", { actor: "Bob", teams: ["sre"], batch: 1 });
    expect(mergesBy(self, "bob")).toBe(false);
    expect(mergesBy(self, "bob", "carol")).toBe(true);
  });

  test("may have been looked at in the release's own pull request, by somebody else who did not release it", () => {
    const unlinked = ["3f2a91c0de44aa"];
    expect(mergesBy(opened({}, { unlinked, reviewers: ["carol"] }), "bob")).toBe(true);
    expect(mergesBy(opened({}, { unlinked, reviewers: ["bob"] }), "bob")).toBe(false);
    expect(mergesBy(opened({}, { unlinked, reviewers: ["alice"] }), "bob")).toBe(false);
    expect(mergesBy(opened({ notBy: ["merger"] }, { unlinked, reviewers: ["carol"], merger: "carol" }), "bob")).toBe(false);
    // A review of the release is no approval of the stage.
    expect(mergesBy(opened({ count: 2 }, { unlinked, reviewers: ["carol", "dave"] }), "bob")).toBe(false);
  });
});
