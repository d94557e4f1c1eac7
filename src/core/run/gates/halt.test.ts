import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import { haltsOn } from "../state/halts.ts";
import type { Run } from "../state/run.ts";
import { AT, batch, bench, bring, guard, MINUTE, pull, round, SECOND, say, wants } from "../testing/bench.ts";
import { gatesOf } from "./gate-state.ts";

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
