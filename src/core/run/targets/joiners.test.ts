import { describe, expect, test } from "vitest";
import type { Cluster } from "../../plan/plan-types.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { planRollback } from "../outcome/rollback.ts";
import { approvalHash } from "../state/amend.ts";
import { type Bench, batch, bench, bring, round, say, see, targetKey, wants } from "../testing/bench.ts";

/** A cluster with an Application that the run does not know. */
function appear(self: Bench, name: string, labels: Record<string, string> = {}, pin = `versions/${name}.yaml`): void {
  const cluster: Cluster = { key: `hub/${name}`, name, controlPlane: "hub", server: `https://${name}`, labels, registered: true };
  const target = {
    key: targetKey(name),
    application: `app-${name}`,
    cluster: cluster.key,
    edits: [{ file: pin, path: "version", kind: "value" as const, from: "v1", to: "v2" }],
  };
  self.world = {
    ...self.world,
    clusters: new Map(self.world.clusters).set(cluster.key, cluster),
    joiners: [...(self.world.joiners ?? []), { cluster, targets: [target] }],
  };
  see(self, name, { pins: ["v1"] });
}

const joiners = (policy: NonNullable<Rollout["joiners"]>) => (rollout: Rollout) => {
  rollout.joiners = policy;
};

describe("§9.16: a cluster that appears during a run", () => {
  test("is an amendment beside the frozen plan, and caught up in a last batch after the last stage", () => {
    const self = bench(2);
    bring(self, 1, "open");
    const { plan } = self.run;
    appear(self, "late");
    round(self);
    expect(self.run.joined).toMatchObject([{ cluster: "hub/late", stage: 0 }]);
    expect(self.run.plan).toBe(plan);
    bring(self, 1, "confirmed");
    bring(self, 2, "confirmed");
    expect(batch(self.run, 3)).toMatchObject({ kind: "CatchUp", targets: [{ cluster: "hub/late", edits: [{ from: "v1", to: "v2" }] }] });
    bring(self, 3, "confirmed");
    round(self);
    expect(self.run.phase).toBe("Succeeded");
    const back = planRollback(self.run);
    if ("error" in back) throw new Error(back.error.code);
    expect(back.plan.stages[0]?.clusters[0]).toBe("hub/late");
  });

  test("lapses the approvals of its stage and of no other", () => {
    const self = bench(2, [{ region: "eu" }, { region: "us" }]);
    const before = [approvalHash(self.run, 0), approvalHash(self.run, 1)];
    appear(self, "late", { region: "us" });
    round(self);
    expect(approvalHash(self.run, 0)).toBe(before[0]);
    expect(approvalHash(self.run, 1)).not.toBe(before[1]);
  });

  test("goes without a PR where its pin has the release already, and is watched all the same", () => {
    const self = bench(1);
    appear(self, "late");
    see(self, "late", { pins: ["v2"] });
    bring(self, 1, "confirmed");
    round(self);
    expect(batch(self.run, 2)).toMatchObject({ kind: "CatchUp", phase: "Merged" });
  });

  test("joiners: Ignore names it once and leaves it", () => {
    const self = bench(1, [{}], joiners("Ignore"));
    appear(self, "late");
    round(self);
    round(self);
    expect(self.run.notJoined).toMatchObject([{ cluster: "hub/late", why: { code: "JOINER_IGNORED" } }]);
    bring(self, 1, "confirmed");
    round(self);
    expect(self.run.phase).toBe("Succeeded");
  });

  test("joiners: Hold pauses and asks: /resume takes it, /skip leaves it out", () => {
    const self = bench(1, [{}], joiners("Hold"));
    appear(self, "late");
    round(self);
    expect(self.run.paused).toMatchObject({ kind: "Joined", ask: expect.toHaveCode("ASK_JOIN", { clusters: ["hub/late"] }) });
    say(self, "/skip late");
    say(self, "/resume");
    round(self);
    bring(self, 1, "confirmed");
    round(self);
    expect(self.run).toMatchObject({ phase: "Succeeded", why: { code: "RUN_THROUGH", skipped: ["hub/late"] } });
  });

  test("that no stage takes is named; so is an Application more on a cluster of the run", () => {
    const self = bench(1, [{ region: "eu" }]);
    appear(self, "far", { region: "ap" });
    const [cluster] = [...self.world.clusters.values()];
    if (cluster === undefined) throw new Error("no cluster");
    const second = { key: "hub/argocd/other-c1", application: "other-c1", cluster: cluster.key, edits: [] };
    self.world = { ...self.world, joiners: [...(self.world.joiners ?? []), { cluster, targets: [second] }] };
    round(self);
    expect(self.run.joined).toBeUndefined();
    expect(self.run.notJoined?.map((one) => one.why)).toEqual([
      { code: "JOINER_UNSTAGED" },
      { code: "JOINER_ON_KNOWN_CLUSTER", applications: ["other-c1"] },
    ]);
  });

  test("that shares its pin with a cluster of the run is not moved apart from it", () => {
    const self = bench(1);
    const edit = self.run.plan.stages[0]?.batches[0]?.targets[0]?.edits[0];
    appear(self, "late");
    const [joiner] = self.world.joiners ?? [];
    if (joiner === undefined || edit === undefined) throw new Error("nobody joined");
    self.world = { ...self.world, joiners: [{ ...joiner, targets: joiner.targets.map((one) => ({ ...one, edits: [edit] })) }] };
    round(self);
    expect(self.run.notJoined?.[0]?.why).toEqual({ code: "JOINER_SHARES_PIN", cluster: "hub/c1" });
  });

  test("that is drained waits at the run's end as every requeued one does", () => {
    const self = bench(1, [{ requeue: { attempts: 2, intervalMs: 60_000 } }]);
    appear(self, "late", { drained: "true" });
    bring(self, 1, "confirmed");
    round(self);
    expect(self.run.requeued).toMatchObject([{ cluster: "hub/late", attempts: 1 }]);
    const late = self.world.clusters.get("hub/late");
    if (late === undefined) throw new Error("it left");
    self.world = { ...self.world, clusters: new Map(self.world.clusters).set(late.key, { ...late, labels: {} }) };
    expect(wants(round(self, 60_000))).toContain("Propose 2");
  });

  test("and leaves again before its batch: it is skipped", () => {
    const self = bench(2);
    round(self);
    appear(self, "late");
    round(self);
    const clusters = new Map(self.world.clusters);
    clusters.delete("hub/late");
    self.world = { ...self.world, clusters, joiners: [] };
    see(self, "late", { pins: [null] });
    bring(self, 1, "confirmed");
    bring(self, 2, "confirmed");
    round(self);
    expect(self.run).toMatchObject({ phase: "Succeeded", skipped: [{ cluster: "hub/late", why: { code: "CLUSTER_GONE" } }] });
  });

  test("a rollback takes nobody in: it moves what its run has moved", () => {
    const self = bench(1);
    self.run = { ...self.run, kind: "Rollback", of: 41 };
    appear(self, "late");
    round(self);
    expect(self.run.joined).toBeUndefined();
  });
});
