import { describe, expect, test } from "vitest";
import { NEW } from "../../simulate/world/fleet.ts";
import { iso } from "../base/time.ts";
import { said } from "../reasons/run.ts";
import { entryOf } from "../report/reasons/say.ts";
import { isEnded } from "./state/run.ts";
import {
  AT,
  BASE,
  batch,
  bench,
  bring,
  guard,
  judge,
  MERGE,
  MINUTE,
  merged,
  noPull,
  phases,
  pull,
  round,
  SECOND,
  say,
  see,
  wants,
} from "./testing/bench.ts";

describe("a batch is proposed", () => {
  test("in the round that journals it, where the pins are known", () => {
    const run = bench(2);
    const advanced = round(run);
    expect(advanced.change).toBe("transition");
    expect(wants(advanced)).toEqual(["Propose 1"]);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Proposing", branch: "stagecoach-run/payments/42/1-1-1", attempt: 1 });
  });

  test("not before its pins could be read", () => {
    const run = bench(1);
    run.world = { ...run.world, targets: new Map() };
    expect(wants(round(run))).toEqual([]);
    expect(run.run.why).toMatchObject({ code: "PINS_UNREAD", clusters: ["hub/c1"] });
    noPull(run, 1);
    see(run, "c1", { pins: ["v1"] });
    expect(wants(round(run))).toEqual(["Propose 1"]);
  });

  test("again in every round until it is seen, since a crash may have lost the first try", () => {
    const run = bench(1);
    round(run);
    noPull(run, 1);
    expect(wants(round(run))).toEqual(["Propose 1"]);
    expect(round(run).change).toBe("none");
  });

  test("not while GitHub cannot be seen", () => {
    const run = bench(1);
    round(run);
    expect(wants(round(run))).toEqual([]);
    expect(run.run.why).toHaveCode("PULL_UNKNOWN");
  });

  test("without a PR where every pin has the release's value already; its clusters are confirmed all the same", () => {
    const run = bench(1);
    see(run, "c1", { pins: [NEW] });
    expect(wants(round(run))).toEqual([]);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Merged", merged: { commit: BASE } });
    expect(round(run).run.phase).toBe("Progressing");
    judge(run, "c1", "live", "all");
    expect(round(run).run.phase).toBe("Succeeded");
  });

  test("with the edits of those that need one only: the others keep from equal to to", () => {
    const run = bench(2, [{ maxUnavailable: 2 }]);
    see(run, "c1", { pins: [NEW] });
    expect(wants(round(run))).toEqual(["Propose 1"]);
    expect(batch(run.run, 1).targets.map((target) => target.edits[0]?.from)).toEqual([NEW, "v1"]);
  });
});

describe("a batch merges", () => {
  test("by an intention in the journal and the call in the same round", () => {
    const run = bench(1);
    bring(run, 1, "open");
    guard(run, 1);
    const advanced = round(run);
    expect(advanced.change).toBe("transition");
    expect(advanced.effects).toEqual([{ kind: "Merge", batch: 1, pull: 101, head: "head1" }]);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Merging", intention: { head: "head1", at: iso(run.now) } });
  });

  const holds: [name: string, set: (run: ReturnType<typeof bench>) => void, why: string][] = [
    ["it is a draft", (run) => pull(run, 1, { draft: true }), "PULL_DRAFT"],
    ["GitHub has not said whether it can be merged", (run) => pull(run, 1, { mergeable: "unknown" }), "MERGEABLE_UNKNOWN"],
    ["a rule blocks it", (run) => pull(run, 1, { mergeable: "blocked" }), "GITHUB_BLOCKS"],
    ["the guard has not answered", (run) => (run.world = { ...run.world, guards: new Map() }), "GUARD_PENDING"],
    ["the guard's answer is for another base", (run) => guard(run, 1, { base: MERGE }), "GUARD_PENDING"],
    ["the guard's answer is a minute old", (run) => guard(run, 1, { at: iso(run.now - MINUTE) }), "GUARD_PENDING"],
    ["the guard cannot decide yet", (run) => guard(run, 1, { ok: false, why: said("the live set is not Git's"), retry: true }), "SAID"],
  ];
  test.each(holds)("not while %s", (_name, set, why) => {
    const run = bench(1);
    bring(run, 1, "open");
    guard(run, 1);
    set(run);
    expect(wants(round(run))).toEqual([]);
    expect(run.run.phase).toBe("Progressing");
    expect(run.run.why).toHaveCode(why);
    expect(run.run.next).not.toBeNull();
  });

  test("never under mode Propose, which says that a person has to", () => {
    const run = bench(1, [{}], (rollout) => {
      rollout.mode = "Propose";
    });
    bring(run, 1, "open");
    guard(run, 1);
    expect(wants(round(run))).toEqual([]);
    expect(run.run.why).toHaveCode("MODE_MERGES_NOT");
    expect(run.run.next?.what).toMatchObject({ code: "NEXT_PERSON_MERGES", pull: 101 });
  });

  test("by a person's hand with merge: Manual, without a pause", () => {
    const run = bench(1, [{}], (rollout) => {
      rollout.delivery.merge = "Manual";
    });
    bring(run, 1, "open");
    guard(run, 1);
    expect(wants(round(run))).toEqual([]);
    merged(run, 1, { by: "alice", byUs: false });
    judge(run, "c1", "pending");
    expect(round(run).run.phase).toBe("Progressing");
    expect(batch(run.run, 1).merged).toMatchObject({ by: "alice", commit: MERGE });
  });

  test("again on an intention younger than 30 seconds, and anew after it lapsed", () => {
    const run = bench(1);
    bring(run, 1, "merging");
    expect(wants(round(run, 10 * SECOND))).toEqual(["Merge 1"]);
    expect(run.last.change).toBe("none");
    const advanced = round(run, 20 * SECOND);
    expect(advanced.events).toEqual([
      { code: "INTENTION_LAPSED", pull: 101 },
      { code: "MERGE_BEGINS", pull: 101, head: "head1" },
    ]);
    expect(batch(run.run, 1).intention?.at).toBe(iso(run.now));
  });

  test("not again on an intention after GitHub said to wait", () => {
    const run = bench(1);
    bring(run, 1, "merging");
    pull(run, 1, { refusal: { kind: "Wait", message: "checks are expected" } });
    expect(wants(round(run))).toEqual([]);
    expect(run.run.why).toHaveCode("GITHUB_ANSWERED", { message: "checks are expected" });
  });
});

describe("what stands against going on pauses the run, with the words of who said it", () => {
  const stops: [name: string, set: (run: ReturnType<typeof bench>) => void, kind: string, why: object][] = [
    [
      "a refusal that a person has to lift",
      (run) => pull(run, 1, { refusal: { kind: "Human", message: "Merge commits are not allowed." } }),
      "Refused",
      { code: "GITHUB_REFUSES", message: "Merge commits are not allowed." },
    ],
    [
      "somebody else's head",
      (run) => pull(run, 1, { head: "theirs", headIsOurs: false }),
      "HeadMoved",
      { code: "CHANGED_NOT_MERGED", because: { code: "PULL_CHANGED" } },
    ],
    [
      "another base",
      (run) => pull(run, 1, { headIsOurs: false, retargeted: "release-1" }),
      "HeadMoved",
      { code: "CHANGED_NOT_MERGED", because: { code: "PULL_CHANGED", pull: 101, retargeted: "release-1" } },
    ],
    ["a close by hand", (run) => pull(run, 1, { state: "closed", closedBy: "bob" }), "PullClosed", { code: "CLOSED_UNMERGED", by: "bob" }],
    ["a merge that changed more than the pins", (run) => merged(run, 1, { exact: false }), "UnexpectedMerge", { code: "MERGE_UNEXPECTED" }],
  ];
  test.each(stops)("%s", (_name, set, kind, why) => {
    const run = bench(1);
    bring(run, 1, "merging");
    set(run);
    expect(wants(round(run))).not.toContain("Merge 1");
    expect(run.run).toMatchObject({ phase: "Paused", paused: { kind } });
    expect(run.run.why).toMatchObject(why);
    expect(entryOf(run.run.next?.what ?? { code: "" })?.actions).toContain("resume");
  });

  test("a guard that says no for good: the PR is closed, too", () => {
    const run = bench(1);
    bring(run, 1, "open");
    guard(run, 1, { ok: false, why: said("app-c2 would be removed"), retry: false });
    expect(wants(round(run))).toEqual(["Close 1"]);
    expect(run.run.paused).toMatchObject({
      kind: "Refused",
      reason: { code: "GUARD_REFUSES", pull: 101, because: said("app-c2 would be removed") },
    });
  });

  test.each(["conflict", "behind"] as const)("but not a PR that is in %s: it is closed, seen closed, and built again", (mergeable) => {
    const run = bench(1);
    bring(run, 1, "open");
    pull(run, 1, { mergeable });
    guard(run, 1);
    expect(wants(round(run))).toEqual(["Close 1"]);
    expect(wants(round(run))).toEqual(["Close 1"]);
    pull(run, 1, { state: "closed" });
    expect(wants(round(run))).toEqual(["Propose 1"]);
    expect(batch(run.run, 1)).toMatchObject({ attempt: 2, branch: "stagecoach-run/payments/42/1-1-2", phase: "Proposing" });
    expect(run.run.phase).toBe("Progressing");
  });

  test("a merge by somebody else before the batch's turn: its clusters are in flight", () => {
    const run = bench(2);
    bring(run, 1, "confirmed");
    bring(run, 2, "open");
    judge(run, "c1", "failing");
    round(run);
    say(run, "/retry");
    judge(run, "c1", "pending");
    round(run);
    expect(run.run.phase).toBe("Progressing");
    merged(run, 2, { by: "bob", byUs: false });
    judge(run, "c2", "pending");
    round(run);
    expect(phases(run.run, 2)).toEqual(["Syncing"]);
    expect(run.run.paused?.kind).toBe("MergedByOther");
    expect(run.run.why).toMatchObject({
      ...{ code: "MERGED_EARLY", pull: 102, by: "bob" },
      because: { code: "BATCH_BEFORE", batch: { stage: "stage 1", number: 1 } },
    });
  });
});

describe("the end", () => {
  test("is Succeeded once the last stage's last batch is settled, and stays so", () => {
    const run = bench(2);
    bring(run, 1, "confirmed");
    bring(run, 2, "confirmed");
    expect(run.run).toMatchObject({ phase: "Succeeded", stage: 1, next: null, endedAt: iso(run.now) });
    expect(isEnded(run.run)).toBe(true);
    expect(round(run)).toMatchObject({ change: "none", effects: [] });
  });

  test("the run that is given is never changed", () => {
    const run = bench(2);
    bring(run, 1, "merging");
    const before = run.run;
    const text = JSON.stringify(before);
    merged(run, 1);
    judge(run, "c1", "live", "all");
    round(run);
    expect(JSON.stringify(before)).toBe(text);
    expect(run.run.plan).toBe(before.plan);
    expect(AT).toBeLessThan(run.now);
  });
});
