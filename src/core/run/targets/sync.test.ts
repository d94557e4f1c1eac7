import { expect, test } from "vitest";
import { planeReason } from "../../reasons/control-plane.ts";
import { said } from "../../reasons/run.ts";
import type { ObservedSync } from "../state/effects.ts";
import { bench, bring, judge, MERGE, round, say, see, targetKey, wants } from "../testing/bench.ts";

const wanted = { revisions: [MERGE] };

/** A run of one cluster whose batch has merged, and which waits for a sync. */
function waiting(sync: ObservedSync | undefined, stage: "Wait" | "Request" = "Request") {
  const self = bench(1, [{}], (rollout) => {
    for (const one of rollout.stages) one.sync = stage;
  });
  bring(self, 1, "merged");
  judge(self, "c1", "waiting", "synced", "It waits.");
  const assessment = self.world.targets.get(targetKey("c1"))?.assessment;
  if (assessment === undefined) throw new Error("there is no assessment");
  see(self, "c1", { assessment: { ...assessment, sync } });
  return self;
}

const why = (self: ReturnType<typeof waiting>) => self.run.batches[0]?.targets[0]?.why;

test("a sync is wished for once the wish stands in the journal, again each round, and told once", () => {
  const self = waiting({ wanted });
  const first = round(self);
  expect([wants(first), first.change]).toEqual([[`Sync ${targetKey("c1")}`], "transition"]);
  expect(first.events.map(({ code }) => code)).toContain("TARGET_SYNC_ASKED");
  const at = self.run.batches[0]?.targets[0]?.syncAsked;
  expect([at?.revisions, why(self)]).toEqual([[MERGE], { code: "SYNC_ASKED", at: at?.at }]);
  const second = round(self);
  expect([wants(second), second.events]).toEqual([[`Sync ${targetKey("c1")}`], []]);
  expect(self.run.batches[0]?.targets[0]?.syncAsked).toEqual(at);
});

test("what came of it is said, and what cannot be asked for", () => {
  const refused = planeReason("SYNC_UNSAFE", { kind: "Rendering" });
  const self = waiting({ wanted, last: { at: "2026-01-05T09:00:00Z", answer: { refused } } });
  round(self);
  expect(why(self)).toEqual({ code: "SYNC_NOT_ASKED", because: refused });
  const cannot = planeReason("SYNC_UNSAFE", { kind: "Hydrated" });
  const other = waiting({ cannot });
  expect([wants(round(other)), why(other)]).toEqual([[], { code: "SYNC_NOT_ASKED", because: cannot }]);
});

test("none is wished for with sync: Wait, while the run is paused, or while its cluster is halted", () => {
  const wait = waiting({ wanted }, "Wait");
  expect([wants(round(wait)), why(wait)]).toEqual([[], said("It waits.")]);
  const paused = waiting({ wanted });
  paused.run = { ...paused.run, phase: "Paused", paused: { at: "2026-01-05T09:00:00Z", reason: said("x"), ask: said("y") } as never };
  expect([wants(round(paused)).filter((one) => one.startsWith("Sync")), why(paused)]).toEqual([[], { code: "SYNC_HELD" }]);
  const halted = waiting({ wanted });
  halted.run = { ...halted.run, halts: [{ by: "bob", clusters: ["c1"], reason: "fire", at: "2026-01-05T09:00:00Z" } as never] };
  expect([wants(round(halted)), why(halted)]).toEqual([[], { code: "SYNC_HELD" }]);
});

test("none is asked for in the very round in which the run is paused or the cluster halted", () => {
  for (const text of ["/pause slow page", "/halt cluster=c1 fire"]) {
    const self = waiting({ wanted });
    say(self, text, { flags: { for: "3h" }, permission: "maintain" });
    const { events } = round(self);
    expect([wants(round(self)).filter((one) => one.startsWith("Sync")), why(self)]).toEqual([[], { code: "SYNC_HELD" }]);
    expect([events.map(({ code }) => code), self.run.batches[0]?.targets[0]?.syncAsked]).toEqual([
      expect.not.arrayContaining(["TARGET_SYNC_ASKED"]),
      undefined,
    ]);
  }
});
