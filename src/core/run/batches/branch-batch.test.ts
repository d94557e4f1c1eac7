import { expect, test } from "vitest";
import type { AnyReason } from "../../base/reason.ts";
import { said } from "../../reasons/run.ts";
import { sentenceOf } from "../../report/reasons/say.ts";
import { batch, bench, guard, judge, merged, noPull, pull, round, see, wants } from "../testing/bench.ts";

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

/** The targets of a bench, as of pins that move branches of their own. */
function following(run: ReturnType<typeof bench>, forced: boolean): void {
  const moved = (edit: object) => ({ ...edit, kind: "branch", file: "", path: "env/c1", ...(forced && { forced }) });
  const text = JSON.stringify(run.run.plan, (key, value) => (key === "edits" ? value.map(moved) : value));
  run.run = { ...run.run, plan: JSON.parse(text) };
}

test.each([
  ["by force alone from where the plan found it", true, "v1"],
  ["forward from wherever it has come to", false, "by hand"],
])("a branch that somebody moved since the plan goes %s", (_name, forced, from) => {
  const run = bench(1);
  following(run, forced);
  see(run, "c1", { pins: ["by hand"] });
  round(run);
  expect(batch(run.run, 1).targets[0]?.edits).toMatchObject([{ from, to: "v2" }]);
});

test("one that is to be moved by force and is there already needs no move", () => {
  const run = bench(1);
  following(run, true);
  see(run, "c1", { pins: ["v2"] });
  round(run);
  expect(batch(run.run, 1).targets[0]?.edits).toMatchObject([{ from: "v2", to: "v2" }]);
});
