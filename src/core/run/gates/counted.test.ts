import { describe, expect, test } from "vitest";
import type { Limits } from "../../spec/schema-common.ts";
import { haltCovers } from "../state/halts.ts";
import type { Run } from "../state/run.ts";
import type { World } from "../state/world.ts";
import { type Bench, bench, bring, pull, round, say } from "../testing/bench.ts";
import { missingAt } from "./depends.ts";
import { limitsGate } from "./limits.ts";

/** As if the clusters of a bench were Applications on one cluster. */
function onOne(run: Run): Run {
  const put = <T extends { on?: string | undefined }>(target: T): T => ({ ...target, on: "hub/one" });
  const stages = run.plan.stages.map((stage) => ({
    ...stage,
    batches: stage.batches.map((batch) => ({ ...batch, targets: batch.targets.map(put) })),
  }));
  return { ...run, plan: { ...run.plan, targetBy: "application", stages } };
}

/** Two in flight, and two that come next. */
function twoInFlight(limits: Limits): Bench {
  const self = bench(4, [{ maxUnavailable: 4 }]);
  self.run = onOne(self.run);
  self.world = { ...self.world, limits };
  round(self);
  pull(self, 1);
  round(self);
  return self;
}

function other(clusters: number, by: "cluster" | "application"): Run {
  const self = bench(clusters, [{ maxUnavailable: clusters }]);
  bring(self, 1, "merged");
  const batches = self.run.batches.map((batch) => ({
    ...batch,
    targets: batch.targets.map((one) => ({ ...one, key: `ledger/${one.key}` })),
  }));
  const run = { ...self.run, rollout: "ledger", batches };
  return by === "application" ? onOne(run) : run;
}

function named(run: Run, cluster: string): Run {
  return JSON.parse(JSON.stringify(run).replaceAll('"hub/c1"', JSON.stringify(cluster))) as Run;
}

/** With each of its targets in a stage of its own. */
function inStages(run: Run, names: readonly string[]): Run {
  const [stage] = run.plan.stages;
  if (stage === undefined) throw new Error("no stage");
  const targets = stage.batches.flatMap((batch) => batch.targets);
  const stages = names.map((name, index) => {
    const own = targets.slice(index, index + 1);
    const clusters = own.map(({ cluster }) => cluster);
    return { ...stage, name, clusters, batches: [{ clusters, targets: own }] };
  });
  return { ...run, plan: { ...run.plan, stages } };
}

/** With what the first stage takes on another cluster. */
function firstStageOn(run: Run, on: string): Run {
  const stages = run.plan.stages.map((stage, index) => ({
    ...stage,
    batches: stage.batches.map((batch) => ({
      ...batch,
      targets: batch.targets.map((target) => (index === 0 ? { ...target, on } : target)),
    })),
  }));
  return { ...run, plan: { ...run.plan, stages } };
}

describe("rollouts that count differently are held against each other by clusters", () => {
  test("four Applications on one cluster are one cluster of `limits`, and four targets", () => {
    const self = twoInFlight({ clusters: 1 });
    const [batch] = self.run.batches;
    if (batch === undefined) throw new Error("no batch");
    const scene = (limits: Limits, others: Run[] = []) => ({ run: self.run, now: self.now, world: { ...self.world, limits, others } });
    expect(batch.targets).toHaveLength(4);
    expect(limitsGate(scene({ clusters: 1 }) as never, batch)).toBeUndefined();
    expect(limitsGate(scene({ targets: 3 }) as never, batch)).toMatchObject({ kind: "rebuild" });
    // A rollout by cluster that is on another one is a second cluster; one of Applications on the same is not.
    expect(limitsGate(scene({ clusters: 1 }, [other(1, "cluster")]) as never, batch)).toMatchObject({ kind: "wait" });
    expect(limitsGate(scene({ clusters: 1 }, [other(2, "application")]) as never, batch)).toBeUndefined();
  });

  test("a hotfix of two Applications on one cluster is one cluster of `limits`, and two targets", () => {
    const outcome = (limits: Limits) => {
      const self = bench(4, [{ maxUnavailable: 1 }, { maxUnavailable: 4 }]);
      self.run = onOne({
        ...self.run,
        plan: { ...self.run.plan, stages: self.run.plan.stages.map((one) => ({ ...one, maxUnavailable: 4 })) },
      });
      self.world = { ...self.world, limits };
      round(self);
      say(self, "/hotfix c3 c4 customer down", { permission: "maintain" });
      round(self);
      return self.run.commands[0]?.outcome;
    };
    expect([outcome({ clusters: 1 }), outcome({ targets: 2 }), outcome({ targets: 1 })]).toEqual(["done", "done", "refused"]);
  });

  test("a limit by label counts the labels of clusters, and each cluster once", () => {
    const self = twoInFlight({ label: { key: "region", percent: 50 } });
    const [batch] = self.run.batches;
    const fleet = ["one", "two"].map((name) => ({
      key: `hub/${name}`,
      name,
      controlPlane: "hub",
      server: "",
      labels: { region: "eu" },
      registered: true,
    }));
    self.world = { ...self.world, fleet: new Map(fleet.map((cluster) => [cluster.key, cluster])) };
    if (batch === undefined) throw new Error("no batch");
    const scene = { run: self.run, now: self.now, world: self.world } as never;
    expect(limitsGate(scene, batch)).toBeUndefined();
  });

  test("limits for some go by the labels of what is counted, and of its cluster", () => {
    const self = twoInFlight({});
    const [batch] = self.run.batches;
    if (batch === undefined) throw new Error("no batch");
    const one = { key: "hub/one", name: "one", controlPlane: "hub", server: "", labels: { tier: "web" }, registered: true };
    const fleet = new Map([[one.key, one]]);
    const clusters = new Map([...self.world.clusters].map(([key, cluster]) => [key, { ...cluster, on: one }]));
    const gate = (matchLabels: Record<string, string>, targets: number) => {
      const limits = { selected: [{ selector: { matchLabels, matchExpressions: [] }, targets }] };
      return limitsGate({ run: self.run, now: self.now, world: { ...self.world, clusters, fleet, limits } } as never, batch);
    };
    expect(gate({ region: "eu" }, 1)).toMatchObject({ kind: "rebuild" });
    expect(gate({ region: "eu" }, 2)).toBeUndefined();
    expect(gate({ tier: "web" }, 3)).toMatchObject({ kind: "rebuild" });
    expect(gate({ tier: "web" }, 4)).toBeUndefined();
  });

  test("limits by labels count what another rollout has in flight by the labels of its clusters, and of what it counts there", () => {
    const self = twoInFlight({});
    const [batch] = self.run.batches;
    if (batch === undefined) throw new Error("no batch");
    const one = { key: "hub/one", name: "one", controlPlane: "hub", server: "", labels: { tier: "web" }, registered: true };
    const far = { ...one, key: "far/one", controlPlane: "far" };
    const app = { ...one, key: "far/app", labels: { app: "ledger" }, on: far };
    const clusters = new Map([...self.world.clusters].map(([key, own]) => [key, { ...own, labels: { app: "ledger" }, on: one }]));
    const flying = other(1, "cluster");
    const moved = (key: string) => ({
      ...flying,
      batches: flying.batches.map((own) => ({ ...own, targets: own.targets.map((target) => ({ ...target, cluster: key })) })),
    });
    const gate = (matchLabels: Record<string, string>, elsewhere: World["elsewhere"], key: string) => {
      const limits = { selected: [{ selector: { matchLabels, matchExpressions: [] }, targets: 4 }] };
      const world = { ...self.world, clusters, fleet: new Map([[one.key, one]]), limits, elsewhere, others: [moved(key)] };
      return limitsGate({ run: self.run, now: self.now, world } as never, batch);
    };
    expect(gate({ tier: "web" }, [], "hub/two")).toBeUndefined();
    expect(gate({ tier: "web" }, [far], "far/one")).toMatchObject({ why: { code: "LIMITS_FULL" } });
    expect(gate({ tier: "web" }, "unread", "far/one")).toMatchObject({ why: { code: "LIMITS_LABELS_UNREAD" } });
    expect(gate({ app: "ledger" }, [far], "far/app")).toBeUndefined();
    expect(gate({ app: "ledger" }, [far, app], "far/app")).toMatchObject({ why: { code: "LIMITS_FULL" } });
  });

  test("/halt of a cluster is of all that is counted on it", () => {
    const { run } = bench(2);
    const halt = { clusters: ["one"], reason: "", by: "bob", at: run.since };
    expect(haltCovers(halt, onOne(run), "hub/c1")).toBe(true);
    expect(haltCovers({ ...halt, clusters: ["c2"] }, onOne(run), "hub/c1")).toBe(false);
    expect(haltCovers({ ...halt, clusters: ["c1"] }, onOne(run), "hub/c1")).toBe(true);
  });

  test("Argo CD's own cluster is one, whether a rollout calls it by its control plane or not", () => {
    const same = { rollout: "ledger", atLeast: "SameVersion" };
    const mine = bench(1).run;
    for (const [theirs, ours] of [
      ["hub/in-cluster", "hub/hub"],
      ["hub/hub", "hub/in-cluster"],
    ] as const) {
      expect(missingAt(named(other(1, "cluster"), theirs), same, named(mine, ours), ours)).toMatchObject({ code: "VERSION_UNKNOWN" });
      const halt = { clusters: [theirs], reason: "", by: "bob", at: mine.since };
      expect(haltCovers(halt, named(mine, ours), ours)).toBe(true);
    }
    expect(missingAt(named(other(1, "cluster"), "far/in-cluster"), same, named(mine, "hub/hub"), "hub/hub")).toBeUndefined();
  });

  test("dependsOn waits for what the other rollout has on the cluster in the stage of the same name, and where it has nothing there for all", () => {
    const same = { rollout: "ledger", atLeast: "SameVersion" };
    const mine = (...names: string[]) => inStages(onOne(bench(2).run), names);
    const theirs = inStages(other(2, "application"), ["dev", "prod"]);
    const devIsThrough = {
      ...theirs,
      batches: theirs.batches.map((batch) => ({
        ...batch,
        targets: batch.targets.map((one) => (one.cluster === "hub/c1" ? { ...one, phase: "Healthy" as const } : one)),
      })),
    };
    expect(missingAt(devIsThrough, same, mine("dev", "prod"), "hub/c1")).toBeUndefined();
    expect(missingAt(devIsThrough, same, mine("dev", "prod"), "hub/c2")).toMatchObject({ code: "VERSION_UNKNOWN" });
    expect(missingAt(devIsThrough, same, mine("prod", "dev"), "hub/c1")).toMatchObject({ code: "VERSION_UNKNOWN" });
    expect(missingAt(devIsThrough, same, mine("test", "prod"), "hub/c1")).toMatchObject({ code: "VERSION_UNKNOWN" });
    // It has a stage of that name, and nothing of it on this cluster.
    expect(missingAt(firstStageOn(devIsThrough, "hub/far"), same, mine("dev", "prod"), "hub/c1")).toMatchObject({
      code: "VERSION_UNKNOWN",
    });
    // What counts clusters takes each with all that is on it.
    expect(missingAt(devIsThrough, same, inStages(named(bench(1).run, "hub/one"), ["dev"]), "hub/one")).toMatchObject({
      code: "VERSION_UNKNOWN",
    });
  });

  test("dependsOn waits for all that the other rollout has on the cluster", () => {
    const same = { rollout: "ledger", atLeast: "SameVersion" };
    const mine = bench(1).run;
    const theirs = other(2, "application");
    expect(missingAt(theirs, same, mine, "hub/c1")).toBeUndefined();
    expect(missingAt(theirs, same, onOne(mine), "hub/c1")).toMatchObject({ code: "VERSION_UNKNOWN" });
    const through = {
      ...theirs,
      batches: theirs.batches.map((batch) => ({ ...batch, targets: batch.targets.map((one) => ({ ...one, phase: "Healthy" as const })) })),
    };
    expect(missingAt(through, same, onOne(mine), "hub/c1")).toBeUndefined();
  });
});
