import { describe, expect, test } from "vitest";
import { NEW } from "../../../simulate/world/fleet.ts";
import { iso } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import { type Bench, bench, bring, guard, judge, MINUTE, merged, pull, round, see, targetKey, wants } from "../testing/bench.ts";
import type { Run } from "./run.ts";
import type { ObservedTarget } from "./world.ts";

const WHY = "forbidden; grant the verbs get, list and watch on applications.argoproj.io";

/** Moves clusters to a second control plane, before anything of them has moved. */
function onSecond(self: Bench, clusters: readonly string[]): void {
  const name = (text: string) =>
    clusters.reduce(
      (all, one) => all.replaceAll(`"hub/${one}"`, `"hub-us/${one}"`).replaceAll(`"hub/argocd/app-${one}"`, `"hub-us/argocd/app-${one}"`),
      text,
    );
  self.run = JSON.parse(name(JSON.stringify(self.run))) as Run;
  const rename = (key: string) => JSON.parse(name(JSON.stringify(key))) as string;
  const targets = new Map([...self.world.targets].map(([key, seen]) => [rename(key), seen]));
  const known = new Map(
    [...self.world.clusters].map(([key, cluster]) => [
      rename(key),
      { ...cluster, key: rename(key), controlPlane: rename(key).split("/")[0] ?? "" },
    ]),
  );
  self.world = { ...self.world, targets, clusters: known };
}

function lose(self: Bench): void {
  self.world = { ...self.world, clustersKnown: false, lostPlanes: new Map([["hub-us", { since: iso(self.now), why: said(WHY) }]]) };
}

function find(self: Bench): void {
  self.world = { ...self.world, clustersKnown: true, lostPlanes: new Map() };
}

/** What a round sees of a target on the lost plane: its pins in Git, and nothing of Argo CD. */
function unseen(self: Bench, cluster: string): void {
  const { assessment: _, ...rest } = self.world.targets.get(`hub-us/argocd/app-${cluster}`) ?? {};
  const seen: ObservedTarget = { ...rest, pins: [NEW], inHistory: true };
  self.world = { ...self.world, targets: new Map(self.world.targets).set(`hub-us/argocd/app-${cluster}`, seen) };
}

function secondLive(self: Bench, cluster: string): void {
  judge(self, cluster, "live", "all");
  const seen = self.world.targets.get(targetKey(cluster)) ?? {};
  self.world = { ...self.world, targets: new Map(self.world.targets).set(`hub-us/argocd/app-${cluster}`, seen) };
}

describe("a control plane that cannot be read", () => {
  test("holds its target in flight with which, since when, why and what to grant; the other target of the batch is confirmed", () => {
    const self = bench(2, [{ maxUnavailable: 2 }]);
    onSecond(self, ["c2"]);
    bring(self, 1, "merged");
    lose(self);
    unseen(self, "c2");
    judge(self, "c1", "live", "all");
    round(self);
    const [first, second] = self.run.batches[0]?.targets ?? [];
    expect([first?.phase, second?.phase]).toEqual(["Healthy", "Merged"]);
    expect(second?.why).toHaveCode("CONTROL_PLANE_UNSEEN", {
      ...{ plane: "hub-us", since: expect.stringMatching(/^2026-01-05T09:/) },
      because: said(WHY),
    });
    expect(self.run.unseen).toEqual([{ plane: "hub-us", since: expect.any(String), why: said(WHY) }]);
    expect(self.run.why).toHaveCode("CONTROL_PLANE_UNSEEN", { plane: "hub-us" });
    // Its deadline stands still however long that takes, short of the waiting one.
    round(self, 30 * MINUTE);
    expect(self.run.batches[0]?.targets[1]?.phase).toBe("Merged");
    find(self);
    secondLive(self, "c2");
    round(self);
    expect([self.run.phase, self.run.unseen]).toEqual(["Succeeded", undefined]);
  });

  test("does not hold a batch that is all on others, though batches before it have clusters there", () => {
    const self = bench(2, [{ maxUnavailable: 1 }]);
    onSecond(self, ["c1"]);
    pull(self, 1);
    round(self);
    pull(self, 1);
    guard(self, 1);
    round(self);
    merged(self, 1);
    secondLive(self, "c1");
    round(self);
    secondLive(self, "c1");
    round(self);
    expect(self.run.batches[0]?.phase).toBe("Settled");
    lose(self);
    unseen(self, "c1");
    bring(self, 2, "open");
    guard(self, 2);
    expect(wants(round(self))).toContain("Merge 2");
  });

  test("holds the merge of a batch with one of its clusters, whole, and says how the others can go on", () => {
    const self = bench(2, [{ maxUnavailable: 2 }]);
    onSecond(self, ["c2"]);
    bring(self, 1, "open");
    lose(self);
    guard(self, 1);
    expect(wants(round(self))).not.toContain("Merge 1");
    expect(self.run.batches[0]?.why).toHaveCode("PLANE_UNSEEN", {
      clusters: ["hub-us/c2"],
      because: expect.toHaveCode("CONTROL_PLANE_UNSEEN", { plane: "hub-us" }),
    });
    expect(self.run.next?.what).toMatchObject({ code: "NEXT_PLANE", clusters: ["hub-us/c2"] });
    find(self);
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("what Git says of its targets is watched all the same: a pin changed there pauses the run", () => {
    const self = bench(2, [{ maxUnavailable: 2 }]);
    onSecond(self, ["c2"]);
    bring(self, 1, "merged");
    lose(self);
    const seen: ObservedTarget = { pins: ["v9"], inHistory: true };
    self.world = { ...self.world, targets: new Map(self.world.targets).set("hub-us/argocd/app-c2", seen) };
    judge(self, "c1", "pending");
    round(self);
    expect(self.run.paused).toMatchObject({ kind: "Drift", reason: expect.toHaveCode("PIN_DRIFT", { cluster: "hub-us/c2" }) });
  });

  test("a cluster of the same name on another plane is not taken for it", () => {
    const self = bench(2, [{ maxUnavailable: 2 }]);
    onSecond(self, ["c2"]);
    self.run = JSON.parse(
      JSON.stringify(self.run).replaceAll("hub-us/c2", "hub-us/c1").replaceAll("hub-us/argocd/app-c2", "hub-us/argocd/app-c1"),
    ) as Run;
    const seen = self.world.targets.get("hub-us/argocd/app-c2") ?? {};
    self.world = { ...self.world, targets: new Map(self.world.targets).set("hub-us/argocd/app-c1", seen) };
    bring(self, 1, "merged");
    lose(self);
    unseen(self, "c1");
    judge(self, "c1", "live", "all");
    round(self);
    expect(self.run.batches[0]?.targets.map((target) => [target.key, target.phase])).toEqual([
      ["hub/argocd/app-c1", "Healthy"],
      ["hub-us/argocd/app-c1", "Merged"],
    ]);
    expect(self.run.batches[0]?.why).toMatchObject({ code: "BATCH_AWAITS_HEALTH", clusters: ["hub-us/c1"] });
  });
});

describe("a change that Argo CD has not seen", () => {
  function unseenYet(nudge: ObservedTarget["nudge"]): Bench {
    const self = bench(1);
    bring(self, 1, "merging");
    merged(self, 1);
    judge(self, "c1", "pending", "compared", "It has seen 1f2e3d4, which does not contain the change.");
    if (nudge !== undefined) see(self, "c1", { nudge });
    round(self);
    round(self);
    return self;
  }

  test("says that a refresh was asked for, and when", () => {
    const self = unseenYet({ at: "2026-01-05T09:10:00.000Z", answer: "asked" });
    expect(self.run.batches[0]?.targets[0]?.why).toHaveCode("REFRESH_WANTED", {
      at: "2026-01-05T09:10:00.000Z",
      answer: "asked",
    });
  });

  test("says why asking failed, and nothing of an option that has nothing to do with it", () => {
    const self = unseenYet({ at: "2026-01-05T09:10:00.000Z", answer: { failed: said("HTTP 502\nfrom https://argocd.") } });
    const why = self.run.batches[0]?.targets[0]?.why;
    expect(why).toHaveCode("REFRESH_WANTED", { answer: { failed: said("HTTP 502\nfrom https://argocd.") } });
    expect(why).toHaveCode("REFRESH_WANTED", { answer: { failed: said("HTTP 502\nfrom https://argocd.") } });
  });

  test("where nobody may ask, it says how to set the webhook up, and fails at a limit of its own", () => {
    const self = unseenYet({ at: "2026-01-05T09:10:00.000Z", answer: "unavailable" });
    expect(self.run.batches[0]?.targets[0]?.why).toHaveCode("REFRESH_WANTED", { answer: "unavailable" });
    round(self, self.run.spec.seenDeadlineMs);
    expect(self.run.batches[0]?.targets[0]).toMatchObject({
      phase: "Failed",
      why: expect.toHaveCode("DEADLINE_PASSED", { seen: false }),
    });
  });
});

test("/retry gives a target that is still failing its grace anew", () => {
  const self = bench(1);
  bring(self, 1, "merged");
  judge(self, "c1", "failing");
  round(self);
  expect(self.run.phase).toBe("Paused");
  self.world = {
    ...self.world,
    commands: [
      {
        id: "1#0",
        name: "retry",
        args: [],
        flags: {},
        text: "/retry",
        actor: "alice",
        permission: "write",
        createdAt: iso(self.now + 1000),
      },
    ],
  };
  round(self);
  judge(self, "c1", "failing");
  round(self);
  expect([self.run.phase, self.run.batches[0]?.targets[0]?.phase]).toEqual(["Progressing", "Syncing"]);
  judge(self, "c1", "failing");
  round(self, self.run.spec.graceMs);
  expect([self.run.phase, self.run.batches[0]?.targets[0]?.phase]).toEqual(["Paused", "Failed"]);
});
