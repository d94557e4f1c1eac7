import { describe, expect, test } from "vitest";
import type { BareBranch } from "../../reasons/gates.ts";
import { type Bench, batch, bench, bring, guard, judge, noPull, pull, round, say, wants } from "../testing/bench.ts";
import { bareBranch, protectionGate } from "./protection.ts";

const JOURNAL = "stagecoach/journal";
const BARE: readonly BareBranch[] = [{ branch: JOURNAL, lacks: ["update", "deletion"] }];

function unprotect(self: Bench, unprotected: readonly BareBranch[] | "unread" = BARE): void {
  self.world = { ...self.world, unprotected };
}

function protect(self: Bench): void {
  self.world = { ...self.world, unprotected: undefined };
}

describe("the rules that are missing on a branch", () => {
  test.each<[string, string[], BareBranch["lacks"]]>([
    ["no rule", [], ["creation", "update", "deletion"]],
    ["what onboarding proposes", ["creation", "update", "deletion", "non_fast_forward"], []],
    ["no force pushes and no deletion, so anybody may push on", ["deletion", "non_fast_forward"], ["creation", "update"]],
    ["pull requests are wanted, which anybody with write can merge into it", ["pull_request", "creation", "deletion"], ["update"]],
    ["checks are required", ["required_status_checks", "required_signatures"], ["creation", "update", "deletion"]],
    ["of several rulesets, each with a part", ["update", "update", "creation", "deletion"], []],
  ])("%s", (_, active, lacks) => {
    expect(bareBranch(JOURNAL, active)?.lacks ?? []).toEqual(lacks);
  });
});

describe("while others may write to the branches of ours", () => {
  test("a run that merges by itself opens nothing and says which rules are missing; it goes on once they are there", () => {
    const self = bench(1);
    unprotect(self);
    expect(wants(round(self))).toEqual([]);
    noPull(self, 1);
    guard(self, 1);
    expect(wants(round(self))).toEqual([]);
    expect(self.run.why).toMatchObject({ code: "NOT_OPENED_YET", because: { code: "UNPROTECTED", bare: BARE } });
    expect(self.run.next?.what).toMatchObject({ code: "NEXT_PROTECTED" });
    protect(self);
    expect(wants(round(self))).toEqual(["Propose 1"]);
  });

  test("what is open already is not merged", () => {
    const self = bench(1);
    bring(self, 1, "open");
    guard(self, 1);
    unprotect(self);
    expect(wants(round(self))).toEqual([]);
    expect(self.run.batches[0]?.why).toMatchObject({ code: "PULL_WAITS", because: { code: "UNPROTECTED" } });
    protect(self);
    guard(self, 1);
    expect(wants(round(self))).toEqual(["Merge 1"]);
  });

  test("rules that GitHub does not tell are not taken for there", () => {
    const self = bench(1);
    unprotect(self, "unread");
    round(self);
    noPull(self, 1);
    expect(wants(round(self))).toEqual([]);
    expect(self.run.why).toMatchObject({ because: { code: "PROTECTION_UNREAD" } });
  });

  test("rules that GitHub does not tell are asked for again, and hold no hotfix, as missing ones do", () => {
    const self = bench(1);
    bring(self, 1, "open");
    const [first] = self.run.batches;
    if (first === undefined) throw new Error("no batch");
    const scene = (unprotected: readonly BareBranch[] | "unread") => ({ run: self.run, world: { ...self.world, unprotected }, now: 1000 });
    const hotfix = { ...first, kind: "Hotfix" as const };
    expect(protectionGate(scene("unread"), first)).toMatchObject({ why: { code: "PROTECTION_UNREAD" }, again: 31_000 });
    expect(protectionGate(scene("unread"), hotfix)).toBeUndefined();
    expect(protectionGate(scene(BARE), hotfix)).toMatchObject({ why: { code: "UNPROTECTED" } });
  });

  test("a merge that has begun is ended, and what a batch put on its way is watched", () => {
    const self = bench(2);
    bring(self, 1, "merging");
    unprotect(self);
    expect(wants(round(self))).toEqual(["Merge 1"]);
    expect(batch(self.run, 1).phase).toBe("Merging");
  });

  test("people who merge by hand are not kept from it", () => {
    const self = bench(1, [{}], (rollout) => Object.assign(rollout, { mode: "Propose" }));
    unprotect(self);
    round(self);
    noPull(self, 1);
    expect(wants(round(self))).toEqual(["Propose 1"]);
    pull(self, 1);
    round(self);
    expect(batch(self.run, 1).phase).toBe("Open");
  });

  test("clusters are put back all the same", () => {
    const self = bench(2);
    bring(self, 1, "merged");
    judge(self, "c1", "failing");
    round(self);
    unprotect(self);
    say(self, "/requeue c1");
    round(self);
    expect(batch(self.run, 2).kind).toBe("Revert");
    pull(self, 2);
    guard(self, 2);
    expect(wants(round(self))).toContain("Merge 2");
  });
});
