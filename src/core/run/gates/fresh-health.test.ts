import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import { advance } from "../advance.ts";
import { type Bench, batch, bench, bring, guard, pull, round, SECOND, targetKey, wants } from "../testing/bench.ts";
import { confirmedBefore } from "./fresh-health.ts";

/** The second batch is open, with nothing against it but what has still to be read. */
function secondOpen(): Bench {
  const self = bench(2);
  bring(self, 1, "confirmed");
  bring(self, 2, "open");
  guard(self, 2);
  return self;
}

function nextWhy(self: Bench) {
  round(self);
  return batch(self.run, 2).why;
}

describe("health before a merge", () => {
  test("is asked for where nothing else stands against the merge, of what was confirmed before, and only of that", () => {
    const self = secondOpen();
    self.now += SECOND;
    const first = advance(self.run, self.world, self.now);
    expect(first.wantsHealth).toEqual([targetKey("c1")]);
    expect(wants(first)).toEqual([]);
    pull(self, 2, { mergeable: "unknown" });
    expect(advance(self.run, self.world, self.now).wantsHealth).toBeUndefined();
  });

  test("lets it merge where the read finds all well", () => {
    const self = secondOpen();
    expect(wants(round(self))).toContain("Merge 2");
  });

  test("holds it where the read finds one Degraded that nobody told of, or gone, until it is well", () => {
    const self = secondOpen();
    self.health.set(targetKey("c1"), "Degraded");
    expect(nextWhy(self)).toHaveCode("CONFIRMED_ILL", { application: "app-c1", status: "Degraded" });
    expect(batch(self.run, 2)).toMatchObject({ phase: "Open" });
    // Its gate is not passed: a person is not to merge it, either.
    expect(self.last.cleared ?? []).toEqual([]);
    self.world = { ...self.world, health: new Map() };
    self.health.set(targetKey("c1"), "gone");
    expect(nextWhy(self)).toHaveCode("CONFIRMED_ILL", { application: "app-c1", status: "gone" });
    self.world = { ...self.world, health: new Map() };
    self.health.clear();
    expect(wants(round(self))).toContain("Merge 2");
  });

  test("holds it where one cannot be read, and reads again in a moment", () => {
    const self = secondOpen();
    self.health.set(targetKey("c1"), "failed");
    expect(nextWhy(self)).toHaveCode("CONFIRMED_UNREADABLE", { application: "app-c1", because: said("timeout") });
    expect(self.last.wakeAt).toBe(self.now + 2 * SECOND);
  });

  test("counts no read of a while ago, and none for a merge that is tried again", () => {
    const self = secondOpen();
    self.world = { ...self.world, health: new Map([[targetKey("c1"), { status: "Healthy", readAt: iso(self.now - 15 * SECOND) }]]) };
    expect(advance(self.run, self.world, self.now).wantsHealth).toEqual([targetKey("c1")]);
    round(self);
    expect(batch(self.run, 2)).toMatchObject({ phase: "Merging" });
    expect(advance(self.run, { ...self.world, health: new Map() }, self.now).wantsHealth).toEqual([targetKey("c1")]);
  });

  test("is of nothing on a control plane that is lost, and of nothing where clusters are put back or it is urgent", () => {
    const { run } = secondOpen();
    const second = batch(run, 2);
    expect(confirmedBefore(run, second, new Map())).toEqual([targetKey("c1")]);
    expect(confirmedBefore(run, second, new Map([["hub", { since: iso(0), why: said("no connection") }]]))).toEqual([]);
    expect(confirmedBefore(run, { ...second, kind: "Revert" }, new Map())).toEqual([]);
    expect(confirmedBefore(run, { ...second, kind: "Hotfix" }, new Map())).toEqual([]);
  });
});
