import { describe, expect, test } from "vitest";
import { planRollback } from "../run/outcome/rollback.ts";
import { startRollback } from "../run/start.ts";
import { batch, bench, bring, guard, pull, round, say, wants } from "../run/testing/bench.ts";
import { parseRollouts } from "../spec/parse/parse.ts";
import type { Rollout } from "../spec/rollout.ts";
import { plan } from "./plan.ts";
import type { Cluster, Target } from "./plan-types.ts";

/* The settled points of the specification about what a run is made of: targets, pins, the inventory, releases, and the way back. */

function read(spec: string) {
  return parseRollouts(
    `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: payments }
spec:
  sourceRef: { kind: ApplicationSet, name: payments }
  release: { version: v2 }
${spec}`,
    "rollouts/payments.yaml",
  );
}

const PIN = '{ file: a.yaml, path: "x[name={{ cluster.name }}].v" }';
const ALL = "{ name: all, clusters: { selector: {} } }";
const codes = (spec: string) => read(spec).problems.map(({ code }) => code);

function rolloutOf(stages: string): Rollout {
  const { rollouts, problems } = read(`  pins: [${PIN}]\n  stages: [${stages}]\n`);
  const [rollout] = rollouts;
  if (rollout === undefined) throw new Error(JSON.stringify(problems));
  return rollout;
}

function cluster(name: string, labels: Record<string, string> = {}, registered = true): Cluster {
  return { key: `hub/${name}`, name, controlPlane: "hub", server: `https://${name}.invalid`, labels, registered };
}

function target(name: string, path: string): Target {
  const edits = [{ file: "a.yaml", path, kind: "value" as const, from: "v1", to: "v2" }];
  return {
    ...{ key: `hub/argocd/app-${name}`, application: `app-${name}`, namespace: "argocd" },
    ...{ controlPlane: "hub", cluster: `hub/${name}`, edits },
  };
}

const RELEASE = { values: { version: "v2" }, attempt: 1 };

describe("docs/spec.md §9", () => {
  test("§9.2 targets of one pin travel in one batch; a unit that a batch has no room for, or that spans stages, is no plan", () => {
    const clusters = ["a", "b", "c"].map((name) => cluster(name, { area: name === "b" ? "eu" : "us" }));
    const targets = [target("a", "own"), target("b", "shared"), target("c", "shared")];
    const made = (stages: string) => plan({ rollout: rolloutOf(stages), release: RELEASE, clusters, targets });
    const two = made("{ name: all, maxUnavailable: 2, clusters: { selector: {} } }");
    expect(two.ok && two.plan.stages[0]?.batches.map((one) => one.clusters)).toEqual([["hub/a"], ["hub/b", "hub/c"]]);
    const one = made(ALL);
    expect(one.ok || one.problems.map(({ code }) => code)).toEqual(["UNIT_TOO_LARGE"]);
    const apart = made(`{ name: eu, maxUnavailable: 2, clusters: { selector: { matchLabels: { area: eu } } } }, ${ALL}`);
    expect(apart.ok || apart.problems.map(({ code }) => code)).toContain("UNIT_SPANS_STAGES");
  });

  test("§9.3 an in-cluster without a Secret is a target without labels, and warned about", () => {
    const clusters = [cluster("in-cluster", {}, false)];
    const made = plan({ rollout: rolloutOf(ALL), release: RELEASE, clusters, targets: [target("in-cluster", "own")] });
    expect(made.ok && made.plan.stages[0]?.clusters).toEqual(["hub/in-cluster"]);
    expect(made.ok && made.plan.warnings.map(({ code }) => code)).toContain("IN_CLUSTER");
  });

  test("§9.5 a branch pin wants strategy Commit, steps want weight pins", () => {
    const branch = `  pins: [ { branch: "env/{{ cluster.name }}" } ]\n  stages: [${ALL}]\n`;
    expect(codes(branch)).toContain("BRANCH_NEEDS_COMMIT");
    const steps = `  pins: [${PIN}]\n  stages: [ { name: all, clusters: { selector: {} }, steps: [ { setWeight: 20 } ] } ]\n`;
    expect(codes(steps)).toContain("WEIGHT_PINS");
  });

  test("§9.7 at first sight a release is taken for what is there and starts nothing; commit paths that match a pin file are an error", () => {
    const { problems } = parseRollouts(
      `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: payments }
spec:
  sourceRef: { kind: ApplicationSet, name: payments }
  release: { commit: { paths: ["*.yaml"] } }
  pins: [${PIN}]
  stages: [${ALL}]
`,
      "rollouts/payments.yaml",
    );
    expect(problems.map(({ code }) => code)).toContain("COMMIT_PATHS");
  });

  test("§9.17 a rollback is a run of its own: in reverse order, only what has moved, without windows, approvals and bakes", () => {
    const self = bench(3, [{ bakeMs: 0 }]);
    for (const number of [1, 2]) bring(self, number, "confirmed");
    bring(self, 3, "open");
    say(self, "/rollback", { permission: "maintain" });
    round(self);
    expect(self.run.endedAt).toBeUndefined();
    pull(self, 3, { state: "closed", closedBy: "stagecoach[bot]" });
    round(self);
    round(self);
    expect(self.run).toMatchObject({ phase: "Aborted", rollback: { by: "alice" } });
    const windows = [{ schedule: "0 0 1 1 *", durationMs: 60_000, timeZone: "UTC", kind: "allow" as const }];
    const stages = self.run.spec.stages.map((stage) => ({ ...stage, approval: { teams: ["sre"], count: 1 } }));
    self.run = { ...self.run, spec: { ...self.run.spec, windows, stages } };
    const back = planRollback(self.run);
    if ("error" in back || self.run.rollback === undefined) throw new Error("nothing to take back");
    const of = self.run;
    self.run = startRollback({ of, back, number: 43, asked: self.run.rollback, now: self.now });
    expect(self.run).toMatchObject({ kind: "Rollback", of: 42 });
    self.world = { ...self.world, pulls: new Map(), guards: new Map(), commands: [] };
    round(self);
    expect(batch(self.run, 1).targets.map((one) => one.cluster)).toEqual(["hub/c2"]);
    pull(self, 1);
    round(self);
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });
});
