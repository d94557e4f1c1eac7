import { expect, test } from "vitest";
import type { AnyReason } from "../../base/reason.ts";
import { said } from "../../reasons/run.ts";
import { sentenceOf } from "../../report/reasons/say.ts";
import { batch, bench, guard, judge, merged, noPull, pull, round, wants } from "../testing/bench.ts";

/** What the world shows for a batch that moves branches: the same as of a PR, under number 0. */
const MOVE = { number: 0, url: "" };

test("a batch without a PR goes the same way, and no sentence of it speaks of #0", () => {
  const run = bench(1);
  const events: AnyReason[] = [];
  const note = (advanced: ReturnType<typeof round>) => {
    events.push(
      ...advanced.events,
      advanced.run.why,
      ...advanced.run.batches.flatMap((one) => [one.why, ...one.targets.map((t) => t.why)]),
    );
    return advanced;
  };
  note(round(run));
  pull(run, 1, MOVE);
  note(round(run));
  guard(run, 1);
  const merging = note(round(run));
  expect(wants(merging).join()).toMatch(/^Merge 1/);
  merged(run, 1, { commit: "release" });
  note(round(run));
  expect(batch(run.run, 1)).toMatchObject({ phase: "Merged", merged: { commit: "release" } });
  expect(batch(run.run, 1).pull).toBeUndefined();
  judge(run, "c1", "live", "all");
  expect(note(round(run)).run.phase).toBe("Succeeded");
  expect(events.map((event) => sentenceOf(event)).filter((text) => text.includes("#0"))).toEqual([]);
  expect(events.map((event) => sentenceOf(event)).join("\n")).toContain("the fast-forward");
});

test("one that must not be moved pauses the run, and is looked at anew by /resume", () => {
  const run = bench(1);
  round(run);
  pull(run, 1, MOVE);
  guard(run, 1, { ok: false, why: said("env/c1 cannot be fast-forwarded"), retry: false });
  const paused = round(run).run;
  expect([paused.phase, paused.paused?.reason]).toEqual([
    "Paused",
    { code: "GUARD_REFUSES", pull: null, because: said("env/c1 cannot be fast-forwarded") },
  ]);
  noPull(run, 1);
  round(run);
  expect(batch(run.run, 1)).toMatchObject({ phase: "Closed" });
});
