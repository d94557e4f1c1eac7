import { expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import { said } from "../../reasons/run.ts";
import type { Run } from "../../run/state/run.ts";
import type { CommandName } from "../../spec/commands.ts";
import { hasMoved, seenOf } from "./has-moved.ts";

const AT = "2026-11-21T09:05:00.000Z";
const second = (change: (batch: Run["batches"][number]) => Run["batches"][number]) => (run: Run) => ({
  ...run,
  batches: run.batches.map((batch) => (batch.number === 2 ? change(batch) : batch)),
});
const targets = (phase: "Healthy" | "Failed") =>
  second((batch) => ({ ...batch, targets: batch.targets.map((target) => ({ ...target, phase })) }));
const paused = { kind: "Failure", by: "", reason: said("it failed"), at: AT, ask: said("again") } as const;
const bake = { from: AT, until: "2026-11-21T09:15:00.000Z" };

test.each<[string, (run: Run) => Run, CommandName[]]>([
  ["ages and sentences", (run) => ({ ...run, why: said("other words"), next: null }), []],
  ["a cluster that becomes healthy", targets("Healthy"), []],
  ["another failure", targets("Failed"), ["promote", "retry", "rollback", "skip"]],
  ["a bake that begins", second((batch) => ({ ...batch, phase: "Baking", bake }) as never), ["promote"]],
  ["a batch that merges", second((batch) => ({ ...batch, merged: { commit: "f".repeat(40), at: AT, by: "" } })), ["promote", "rollback"]],
  ["a batch that opens", (run) => ({ ...run, batches: [...run.batches, { ...run.batches[1], number: 3 } as never] }), ["promote", "abort"]],
  ["a pause", (run) => ({ ...run, phase: "Paused", paused }), ["pause", "promote", "retry", "abort"]],
  ["the next run", (run) => ({ ...run, number: 43 }), ["pause", "promote", "rollback"]],
])("%s refuses a command that goes by it, and no other", (_, change, moved) => {
  const run = sampleRun();
  const verbs: CommandName[] = ["pause", "promote", "retry", "rollback", "abort", "skip"];
  const refused = verbs.filter((verb) => hasMoved(verb, seenOf(run), seenOf(change(run))));
  expect(refused).toEqual(expect.arrayContaining(moved));
  expect(moved.length === 0 ? refused : refused.includes("pause")).toEqual(moved.length === 0 ? [] : moved.includes("pause"));
});

test("a pause of before is another one", () => {
  const run = sampleRun({ phase: "Paused", paused });
  const later = { ...run, paused: { ...paused, at: "2026-11-21T09:06:00.000Z" } };
  expect(hasMoved("retry", seenOf(run), seenOf(later))).toBe(true);
  expect(hasMoved("retry", seenOf(run), seenOf({ ...run, paused: { ...paused, reason: said("worse") } }))).toBe(false);
});

test("what is no such text has moved", () => {
  for (const seen of ["", "x", `${seenOf(sampleRun())}.`.repeat(3), "..", "a.b.c"])
    expect([seen, hasMoved("rollback", seen, seenOf(sampleRun({ number: 7 })))]).toEqual([seen, true]);
});
