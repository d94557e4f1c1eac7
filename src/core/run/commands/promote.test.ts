import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import type { Command } from "../../spec/commands.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { approving, type Bench, batch, bench, bring, guard, judge, MINUTE, round, SECOND, say } from "../testing/bench.ts";

function answers(self: Bench): unknown[] {
  return self.run.commands.map(({ outcome, message }) => `${outcome} ${message.code}`);
}

function last(self: Bench) {
  return self.run.commands.at(-1)?.message;
}

/** Two batches that bake; the first does. */
function baking(clusters = 3): Bench {
  const self = bench(clusters, [{ bakeMs: 30 * MINUTE }]);
  bring(self, 1, "confirmed");
  expect(batch(self.run, 1).phase).toBe("Baking");
  return self;
}

/** Rounds until the bake of the next batch, as fast as a run ever goes: each a second. */
function untilNextBakes(self: Bench, number: number): void {
  round(self);
  bring(self, number, "confirmed");
  expect(batch(self.run, number).phase).toBe("Baking");
}

const by = (actor: string, more: Partial<Command> = {}): Partial<Command> => ({ actor, teams: ["sre"], ...more });

/** Its second stage wants an approval. */
function secondWantsApproval(rollout: Rollout): void {
  const [, second] = rollout.stages;
  if (second !== undefined) second.approval = { teams: ["sre"], count: 1 };
}

describe("a /promote that comes late", () => {
  test("of a second person, seconds after the first, does not end the bake that came next", () => {
    const self = baking();
    say(self, "/promote", { actor: "bob" });
    untilNextBakes(self, 2);
    // It was read long after it was written, or written before the page had shown the next bake for long.
    for (const seconds of [4, 0]) say(self, "/promote", { actor: "carol", createdAt: iso(self.now - seconds * SECOND) });
    round(self);
    expect(answers(self)).toEqual(["done BAKE_ENDED", "refused PROMOTE_CAME_LATE", "refused PROMOTE_CAME_LATE"]);
    expect(last(self)).toMatchObject({
      code: "PROMOTE_CAME_LATE",
      was: { batch: { number: 1 } },
      current: { kind: "bake", batch: { number: 2 }, pull: 102 },
    });
    expect(batch(self.run, 2).phase).toBe("Baking");
  });

  test("counts again once it is written where the page has shown the next bake for a while", () => {
    const self = baking();
    say(self, "/promote");
    untilNextBakes(self, 2);
    round(self, 20 * SECOND);
    say(self, "/promote");
    round(self);
    expect(answers(self)).toEqual(["done BAKE_ENDED", "done BAKE_ENDED"]);
  });

  test("does not approve the stage that follows the bake it was for", () => {
    const self = bench(2, [{ region: "eu", bakeMs: 30 * MINUTE }, { region: "us" }], secondWantsApproval);
    bring(self, 1, "confirmed");
    say(self, "/promote", by("carol"));
    round(self);
    bring(self, 2, "open");
    guard(self, 2);
    round(self);
    expect(batch(self.run, 2).why).toMatchObject({ because: { code: "APPROVAL_WANTED" } });
    say(self, "/promote", by("bob"));
    round(self);
    expect(last(self)).toMatchObject({ code: "PROMOTE_CAME_LATE", was: { kind: "bake" }, current: { kind: "pull", pull: 102 } });
    expect(self.run.approvals ?? []).toEqual([]);
    // On the very pull request that asks for it, it is meant.
    say(self, "/promote", by("bob", { batch: 2 }));
    round(self);
    expect(self.run.approvals).toMatchObject([{ by: "bob", stage: 1 }]);
  });

  test("ends no bake of which the run's page does not tell yet, however long it lasts", () => {
    const self = bench(2, [{ bakeMs: 30 * MINUTE }]);
    self.isPageDown = true;
    bring(self, 1, "confirmed");
    round(self, 10 * MINUTE);
    say(self, "/promote");
    round(self);
    expect(last(self)).toMatchObject({ code: "PROMOTE_CAME_LATE", was: undefined, current: { kind: "bake", pull: 101 } });
    self.isPageDown = false;
    round(self);
    say(self, "/promote");
    round(self);
    expect(last(self)).toHaveCode("BAKE_ENDED");
  });

  test("is for what its page showed, though that is over and nothing waits any more", () => {
    const self = baking(1);
    say(self, "/promote", { actor: "bob" });
    say(self, "/promote", { actor: "carol" });
    round(self);
    expect(answers(self)).toEqual(["done BAKE_ENDED", "refused BAKE_OVER"]);
    const two = baking(2);
    say(two, "/promote", { actor: "bob" });
    round(two);
    round(two);
    say(two, "/promote", { actor: "carol", createdAt: iso(two.now - SECOND) });
    round(two);
    expect(last(two)).toMatchObject({ code: "PROMOTE_CAME_LATE", was: { kind: "bake", batch: { number: 1 } }, current: undefined });
  });

  test("does not approve a stage that became another since the page showed it", () => {
    const self = bench(2, [{ maxUnavailable: 2 }], approving());
    self.isPageDown = true;
    bring(self, 1, "open");
    const openedAt = self.now;
    // The pull request itself tells of it, as it was then.
    self.run = { ...self.run, amended: [{ stage: 0, at: iso(openedAt + 10 * SECOND) }] };
    say(self, "/promote", by("bob", { batch: 1, createdAt: iso(openedAt + 5 * SECOND) }));
    round(self, 20 * SECOND);
    expect(last(self)).toHaveCode("PROMOTE_CAME_LATE");
    expect(self.run.approvals ?? []).toEqual([]);
  });

  test("a second approval of the same stage is none that came late", () => {
    const self = bench(1, [{}], approving(2));
    bring(self, 1, "merging");
    for (const actor of ["bob", "carol"]) say(self, "/promote", by(actor));
    round(self);
    expect(answers(self)).toEqual(["done STAGE_APPROVED", "done STAGE_APPROVED"]);
  });

  test("twenty at once end one bake", () => {
    const self = baking();
    for (let i = 0; i < 20; i++) say(self, "/promote", { actor: `p${i}` });
    untilNextBakes(self, 2);
    for (let i = 0; i < 20; i++) say(self, "/promote", { actor: `q${i}`, createdAt: iso(self.now - 2 * SECOND) });
    round(self);
    expect(answers(self).filter((one) => one === "done BAKE_ENDED")).toHaveLength(1);
    expect(batch(self.run, 2).phase).toBe("Baking");
  });
});

describe("a /promote on a batch's pull request", () => {
  test("means that batch alone", () => {
    const self = baking();
    say(self, "/promote", { batch: 1 });
    untilNextBakes(self, 2);
    round(self, MINUTE);
    say(self, "/promote", { batch: 1 });
    round(self);
    expect(last(self)).toMatchObject({
      code: "PROMOTE_OF_OTHER_BATCH",
      batch: { number: 1 },
      current: { batch: { number: 2 }, pull: 102 },
    });
    expect(batch(self.run, 2).phase).toBe("Baking");
  });

  test("that was closed, and built again as another, approves nothing", () => {
    const self = bench(1, [{}], approving());
    bring(self, 1, "merging");
    say(self, "/promote", by("bob", { batch: 1, pull: 77 }));
    round(self);
    expect(last(self)).toMatchObject({ code: "PROMOTE_ON_FORMER_PULL", pull: 101, current: { kind: "pull" } });
    expect(self.run.approvals ?? []).toEqual([]);
  });

  test("counts by when it began, where a run has no page", () => {
    const self = baking(1);
    const { pull: _, ...trigger } = self.run.trigger;
    self.run = { ...self.run, trigger, shown: [] };
    self.isPageDown = true;
    self.world = { ...self.world, shown: undefined };
    say(self, "/promote", { batch: 1, createdAt: iso(self.now - 2 * SECOND) });
    round(self, MINUTE);
    expect(last(self)).toHaveCode("PROMOTE_CAME_LATE");
    say(self, "/promote", { batch: 1 });
    judge(self, "c1", "live", "all");
    round(self);
    expect(last(self)).toHaveCode("BAKE_ENDED");
  });
});

test("beside /pause in one comment it does nothing: what stops comes first", () => {
  const self = baking();
  say(self, "/promote", { id: "9#0" });
  say(self, "/pause", { id: "9#1" });
  round(self);
  expect(answers(self)).toEqual(["done PAUSE_DONE", "refused RUN_IS_PAUSED"]);
  expect(batch(self.run, 1).phase).toBe("Baking");
});
