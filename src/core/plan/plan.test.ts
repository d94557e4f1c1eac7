import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseRollouts } from "../spec/parse/parse.ts";
import type { Rollout, Stage } from "../spec/rollout.ts";
import { plan } from "./plan.ts";
import { type Cluster, type Edit, mostAtOnce, type Plan, type Target } from "./plan-types.ts";

const SAMPLE_TEXT = readFileSync(new URL("../../../fixtures/skyscanner/progressiverollout-sample.yaml", import.meta.url), "utf8");
const SAMPLE = parseRollouts(SAMPLE_TEXT, "sample.yaml").rollouts[0] as Rollout;

function cluster(name: string, labels: Record<string, string> = {}): Cluster {
  return { key: `hub/${name}`, name, controlPlane: "hub", server: `https://${name}.example.com`, labels, registered: true };
}

function edit(over: Partial<Edit> = {}): Edit {
  return { file: "a.yaml", path: "x", kind: "value", from: "v1", to: "v2", ...over };
}

function target(clusterName: string, edits: Edit[] = [edit({ path: `x[${clusterName}]` })], application = `app-${clusterName}`): Target {
  return { key: `hub/argocd/${application}`, application, namespace: "argocd", controlPlane: "hub", cluster: `hub/${clusterName}`, edits };
}

function stage(over: Partial<Stage> = {}): Stage {
  const everything = { matchLabels: {}, matchExpressions: [] };
  return {
    name: "all",
    selector: everything,
    maxClusters: { percent: 100 },
    maxUnavailable: { count: 1 },
    batching: "Fixed",
    order: { by: "name" },
    bakeMs: 0,
    progressDeadlineMs: 1,
    ...over,
  };
}

function rollout(...stages: Stage[]): Rollout {
  return { ...SAMPLE, name: "payments", file: "rollouts/payments.yaml", stages };
}

const RELEASE = { values: { version: "v2" }, attempt: 1 };

function planned(of: Rollout, clusters: Cluster[], targets: Target[] = clusters.map((c) => target(c.name))): Plan {
  const result = plan({ rollout: of, release: RELEASE, clusters, targets });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.plan;
}

function refused(of: Rollout, clusters: Cluster[], targets: Target[]) {
  const result = plan({ rollout: of, release: RELEASE, clusters, targets });
  return result.ok ? [] : result.problems;
}

/** Short names of each batch, a stage a line; requeued ones in brackets. */
function drawn({ stages }: Plan): string[] {
  const short = (keys: string[]) => keys.map((key) => key.slice(4)).join(" ");
  return stages.map((s) => s.batches.map((b) => short(b.clusters)).join(" | ") + (s.requeued.length > 0 ? ` (${short(s.requeued)})` : ""));
}

const abc = ["a", "b", "c", "d", "e"].map((name) => cluster(name));

describe("the ancestor's sample", () => {
  const fleet = [
    ...["a", "b", "c", "d"].map((n) => cluster(`eu-central-1-${n}`, { region: "eu-central-1", area: "emea" })),
    ...["a", "b", "c", "d"].map((n) =>
      cluster(`eu-west-1-${n}`, { region: "eu-west-1", area: "emea", ...(n === "b" ? { drained: "true" } : {}) }),
    ),
    ...["a", "b"].map((n) => cluster(`us-east-1-${n}`, { region: "us-east-1", area: "amer" })),
  ];

  test("two clusters in EMEA, not two of one region; then one region at a time, the drained cluster last", () => {
    const result = planned(SAMPLE, fleet);
    expect(drawn(result)).toEqual([
      "eu-central-1-a eu-west-1-a",
      "eu-west-1-c | eu-west-1-d (eu-west-1-b)",
      "eu-central-1-b | eu-central-1-c | eu-central-1-d",
    ]);
    expect(result.uncovered).toEqual([
      { cluster: "hub/us-east-1-a", why: { code: "NotSelected" } },
      { cluster: "hub/us-east-1-b", why: { code: "NotSelected" } },
    ]);
    expect(result.warnings.map((w) => w.code)).toEqual(["COVERAGE"]);
  });
});

test("stages that take no cluster at all say so, and which label was most likely meant", () => {
  const eu = (matchLabels: Record<string, string>) => rollout(stage({ selector: { matchLabels, matchExpressions: [] } }));
  const fleet = [cluster("a", { region: "eu-west-1" })];
  const nobody = (of: Rollout) => planned(of, fleet).warnings.filter(({ code }) => code === "REACHES_NOBODY" || code === "COVERAGE");
  expect(nobody(eu({ regoin: "eu-west-1" }))).toEqual([{ code: "REACHES_NOBODY", of: 1, key: "regoin", near: "region" }]);
  expect(nobody(eu({ region: "eu-wset-1" }))).toMatchObject([{ key: "region=eu-wset-1", near: "region=eu-west-1" }]);
  expect(nobody(eu({ tier: "canary" }))).toEqual([{ code: "REACHES_NOBODY", of: 1 }]);
});

test("a topologyKey that clusters of a stage lack is told, with the key that was most likely meant", () => {
  const fleet = [cluster("a", { region: "eu" }), cluster("b", { region: "eu" }), cluster("c", { Region: "eu" })];
  const told = (topologyKey: string, size: number, all = fleet) =>
    planned(rollout(stage({ topologyKey, maxUnavailable: { count: size } })), all).warnings.filter((w) => w.code === "NOT_KEPT_APART");
  const on = { code: "NOT_KEPT_APART", stage: "all" };
  expect(told("regoin", 1)).toEqual([{ ...on, topologyKey: "regoin", names: ["a", "b", "c"], of: 3, near: "region" }]);
  expect(told("zone", 2)).toEqual([{ ...on, topologyKey: "zone", names: ["a", "b", "c"], of: 3 }]);
  expect(told("region", 2)).toEqual([{ ...on, topologyKey: "region", names: ["c"], of: 3, near: "Region" }]);
  // No two go at once; one has none to be kept apart from; all have it.
  expect([...told("region", 1), ...told("zone", 2, fleet.slice(2)), ...told("region", 2, fleet.slice(0, 2)), ...told("name", 2)]).toEqual(
    [],
  );
});

describe("which clusters a stage takes", () => {
  test("the first maxClusters by name", () => {
    expect(drawn(planned(rollout(stage({ maxClusters: { count: 2 } })), abc))).toEqual(["a | b"]);
  });

  test("a percentage is rounded up, and at least one", () => {
    expect(drawn(planned(rollout(stage({ maxClusters: { percent: 41 } })), abc))).toEqual(["a | b | c"]);
    expect(drawn(planned(rollout(stage({ maxClusters: { percent: 1 } })), abc))).toEqual(["a"]);
  });

  test("an earlier stage's clusters are not taken again", () => {
    expect(drawn(planned(rollout(stage({ maxClusters: { count: 2 } }), stage({ name: "rest" })), abc))).toEqual(["a | b", "c | d | e"]);
  });

  test("ordered by a label: numbers as numbers, other text after them, absent last", () => {
    const fleet = [cluster("a"), cluster("b", { p: "10" }), cluster("c", { p: "9" }), cluster("d", { p: "x" }), cluster("e", { p: "9" })];
    expect(drawn(planned(rollout(stage({ order: { by: "label", key: "p" } })), fleet))).toEqual(["c | e | b | d | a"]);
  });

  test("requeued ones come last, so maxClusters leaves them out first", () => {
    const requeue = { selector: { matchLabels: { drained: "true" }, matchExpressions: [] }, attempts: 5, intervalMs: 1 };
    const fleet = [cluster("a", { drained: "true" }), cluster("b"), cluster("c")];
    expect(drawn(planned(rollout(stage({ requeue })), fleet))).toEqual(["b | c (a)"]);
    expect(drawn(planned(rollout(stage({ requeue, maxClusters: { count: 2 } })), fleet))).toEqual(["b | c"]);
  });

  test("at once are the clusters of its largest batch, which may be fewer than maxUnavailable; those put off as far as it lets them", () => {
    const fleet = ["x", "x", "x", "y", "y", "z"].map((region, i) => cluster(`c${i}`, { region, drained: String(region === "x") }));
    const requeue = { selector: { matchLabels: { drained: "true" }, matchExpressions: [] }, attempts: 5, intervalMs: 1 };
    const atOnce = (over: Partial<Stage>) => planned(rollout(stage(over)), fleet).stages.map(mostAtOnce);
    expect(atOnce({ maxUnavailable: { count: 9 }, topologyKey: "region" })).toEqual([3]);
    expect(atOnce({ maxUnavailable: { count: 4 } })).toEqual([4]);
    expect(atOnce({ maxUnavailable: { count: 9 } })).toEqual([6]);
    expect(atOnce({ maxUnavailable: { count: 9 }, maxClusters: { count: 4 }, requeue })).toEqual([3]);
    expect(atOnce({ maxUnavailable: { count: 9 }, topologyKey: "region", requeue, maxClusters: { count: 6 } })).toEqual([3]);
  });

  test("clusters without a target are none of its business", () => {
    const result = planned(rollout(stage()), abc, [target("b")]);
    expect(drawn(result)).toEqual(["b"]);
    expect(result.uncovered).toEqual([]);
  });

  test("name and server can be selected by", () => {
    const selector = { matchLabels: {}, matchExpressions: [{ key: "name", operator: "In" as const, values: ["c", "d"] }] };
    expect(drawn(planned(rollout(stage({ selector })), abc))).toEqual(["c | d"]);
  });
});

describe("batches", () => {
  test("hold maxUnavailable clusters", () => {
    expect(drawn(planned(rollout(stage({ maxUnavailable: { count: 2 } })), abc))).toEqual(["a b | c d | e"]);
  });

  test("a percentage is of the stage's clusters, rounded down, and at least one", () => {
    expect(drawn(planned(rollout(stage({ maxUnavailable: { percent: 50 } })), abc))).toEqual(["a b | c d | e"]);
    expect(drawn(planned(rollout(stage({ maxUnavailable: { percent: 10 } })), abc))).toEqual(["a | b | c | d | e"]);
  });

  test("all targets of a cluster travel together", () => {
    const result = planned(rollout(stage()), abc.slice(0, 2), [
      target("a", [edit({ path: "1" })], "web"),
      target("b"),
      target("a", [edit({ path: "2" })], "api"),
    ]);
    expect(result.stages[0]?.batches.map((b) => b.targets.map((t) => t.application))).toEqual([["api", "web"], ["app-b"]]);
  });

  test("never hold two clusters of one topology value; one without the label is a value of its own", () => {
    const fleet = [...["a", "b", "c"].map((n) => cluster(n, { zone: "1" })), cluster("d", { zone: "2" }), cluster("e"), cluster("f")];
    expect(drawn(planned(rollout(stage({ maxUnavailable: { count: 3 }, topologyKey: "zone" })), fleet))).toEqual(["a d e | f b | c"]);
  });
});

describe("targets that share a pin", () => {
  const shared = (name: string) => target(name, [edit({ path: "shared" })]);

  test("travel in one batch", () => {
    const result = planned(rollout(stage({ maxUnavailable: { count: 2 } })), abc, [
      target("a"),
      shared("b"),
      target("c"),
      shared("d"),
      target("e"),
    ]);
    expect(drawn(result)).toEqual(["a | b d | c e"]);
  });

  test("more of them than maxUnavailable is refused, naming the pin and the clusters", () => {
    const [problem] = refused(
      rollout(stage({ maxUnavailable: { count: 2 } })),
      abc,
      abc.map((c) => shared(c.name)),
    );
    const unit = { names: ["a", "b", "c", "d", "e"], count: 5, pin: { path: "shared", file: "a.yaml" } };
    expect(problem).toMatchObject({ code: "UNIT_TOO_LARGE", path: ["spec", "stages", 0], stage: "all", size: 2, unit });
  });

  test("in two stages is refused", () => {
    const first = stage({ name: "first", selector: { matchLabels: { canary: "yes" }, matchExpressions: [] } });
    const fleet = [cluster("a", { canary: "yes" }), cluster("b")];
    expect(refused(rollout(first, stage()), fleet, [shared("a"), shared("b")]).map((p) => p.code)).toEqual(["UNIT_SPANS_STAGES"]);
  });

  test("are left whole to the next stage where maxClusters has no room for all", () => {
    const two = { count: 2 };
    const result = planned(rollout(stage({ maxClusters: two, maxUnavailable: two }), stage({ name: "rest", maxUnavailable: two })), abc, [
      target("a"),
      shared("b"),
      shared("c"),
      target("d"),
      target("e"),
    ]);
    expect(drawn(result)).toEqual(["a d", "b c | e"]);
  });

  test("of one topology value is refused", () => {
    const fleet = [cluster("a", { zone: "1" }), cluster("b", { zone: "1" })];
    expect(
      refused(rollout(stage({ maxUnavailable: { count: 2 }, topologyKey: "zone" })), fleet, [shared("a"), shared("b")]).map((p) => p.code),
    ).toEqual(["UNIT_TOPOLOGY"]);
  });
});

describe("what a plan says", () => {
  test("an empty stage is skipped and warned about", () => {
    const empty = stage({ name: "none", selector: { matchLabels: { x: "y" }, matchExpressions: [] } });
    expect(planned(rollout(empty, stage()), abc).warnings).toEqual([{ code: "EMPTY_STAGE", stage: "none", selector: "x=y" }]);
  });

  test("of a cluster past every maxClusters, which stage would have had it", () => {
    expect(planned(rollout(stage({ maxClusters: { count: 4 } })), abc).uncovered).toEqual([
      { cluster: "hub/e", why: { code: "StageFull", stage: "all" } },
    ]);
  });

  test("of an in-cluster without a Secret, that it has no labels", () => {
    const bare = { ...cluster("in-cluster"), labels: {}, registered: false };
    expect(planned(rollout(stage()), [bare]).warnings.map((w) => w.code)).toEqual(["IN_CLUSTER"]);
  });

  test.each([
    ["3.0", "2.0", true],
    ["v1.10.0", "v1.9.9", true],
    ["v2.0.0", "v2.0.0-rc.1", true],
    ["v1.9.9", "v1.10.0", false],
    ["v2.0.0", "v2.0.0", false],
    ["main", "v1.0.0", false],
    ["2f1c0de", "1f1c0de", false],
  ])("warns of what goes down to an older version: %s to %s", (from, to, expected) => {
    const targets = [target("a", [edit({ from, to })])];
    const down = { code: "GOES_DOWN", moves: [{ application: "app-a", from, to }], count: 1 };
    expect(planned(rollout(stage()), [cluster("a")], targets).warnings).toEqual(expected ? [down] : []);
  });

  test("names the value that goes down, where a release has several", () => {
    const set = rollout(stage());
    set.pins = ["app", "chart"].map((name) => ({
      kind: "value",
      file: "a",
      path: name,
      create: false,
      value: `{{ release.values.${name} }}`,
    }));
    const edits = [edit({ path: "app", from: "1.0.0", to: "2.0.0" }), edit({ path: "chart", from: "2.0.0", to: "1.0.0" })];
    const down = { application: "app-a", value: "chart", from: "2.0.0", to: "1.0.0" };
    expect(planned(set, [cluster("a")], [target("a", edits)]).warnings).toEqual([{ code: "GOES_DOWN", moves: [down], count: 1 }]);
  });

  test("of a target on an unknown cluster, that it is a problem", () => {
    expect(refused(rollout(stage()), abc, [target("zzz")]).map((p) => p.code)).toEqual(["UNKNOWN_CLUSTER"]);
  });

  test("that more than 50 batches take their time", () => {
    const fleet = Array.from({ length: 51 }, (_, i) => cluster(`c${i}`));
    expect(planned(rollout(stage()), fleet).warnings.map((w) => w.code)).toEqual(["MANY_BATCHES"]);
  });
});

describe("the hash", () => {
  const base = rollout(stage({ maxUnavailable: { count: 2 } }), stage({ name: "rest" }));

  test("does not depend on the order of the input or on what the pins hold now", () => {
    const targets = abc.map((c) => target(c.name, [edit({ path: c.name, from: "v9" })]));
    const other = abc.map((c) => target(c.name, [edit({ path: c.name })]));
    expect(planned(base, abc, targets).hash).toBe(planned(base, abc.toReversed(), other.toReversed()).hash);
  });

  test("changes with what is written, where, in which batches and behind which gates", () => {
    const hash = (of: Rollout, targets = abc.map((c) => target(c.name))) => planned(of, abc, targets).hash;
    const hashes = [
      hash(base),
      hash(
        base,
        abc.map((c) => target(c.name, [edit({ path: `x[${c.name}]`, to: "v3" })])),
      ),
      hash(
        base,
        abc.map((c) => target(c.name, [edit({ path: `y[${c.name}]` })])),
      ),
      hash(rollout(stage({ maxUnavailable: { count: 3 } }), stage({ name: "rest" }))),
      hash(rollout(stage({ maxUnavailable: { count: 2 }, bakeMs: 5 }), stage({ name: "rest" }))),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test("of a stage stays when another stage changes", () => {
    const [a, b] = [planned(base, abc), planned(rollout(stage({ maxUnavailable: { count: 2 } }), stage({ name: "rest", bakeMs: 9 })), abc)];
    expect(a.stages[0]?.hash).toBe(b.stages[0]?.hash);
    expect(a.hash).not.toBe(b.hash);
  });
});

test("what labels put into the environments of two stages is warned of by its name", () => {
  const both = rollout(
    stage({ name: "dev", selector: { matchLabels: { env: "dev" }, matchExpressions: [] } }),
    stage({ name: "prod", selector: { matchLabels: { tier: "prod" }, matchExpressions: [] } }),
  );
  const clusters = [cluster("a", { env: "dev", tier: "prod" }), cluster("b", { tier: "prod" })];
  expect(planned(both, clusters).warnings).toContainEqual({ code: "STAGES_IN_BOTH", stages: ["dev", "prod"], names: ["a"] });
  expect(planned(both, clusters.slice(1)).warnings.map(({ code }) => code)).not.toContain("STAGES_IN_BOTH");
});

const label = fc.constantFrom("x", "y", "z");
const anyCluster = fc.record({ a: fc.option(label), b: fc.option(label), drained: fc.boolean() });
const quantity = fc.oneof(fc.record({ count: fc.integer({ min: 1, max: 4 }) }), fc.record({ percent: fc.integer({ min: 1, max: 100 }) }));
const anyStage = fc.record({ a: fc.option(label), max: quantity, size: quantity, topology: fc.boolean(), requeue: fc.boolean() });

test("in any plan each cluster is in one place, batches keep their size and topology, and the order of the input is the same", () => {
  fc.assert(
    fc.property(fc.array(anyCluster, { maxLength: 25 }), fc.array(anyStage, { minLength: 1, maxLength: 4 }), (fleet, written) => {
      const clusters = fleet.map(({ a, b, drained }, i) =>
        cluster(`c${i}`, { ...(a === null ? {} : { a }), ...(b === null ? {} : { b }), ...(drained ? { drained: "true" } : {}) }),
      );
      const drained = { selector: { matchLabels: { drained: "true" }, matchExpressions: [] }, attempts: 1, intervalMs: 1 };
      const stages = written.map((w, i) =>
        stage({
          name: `s${i}`,
          selector: { matchLabels: w.a === null ? {} : { a: w.a }, matchExpressions: [] },
          maxClusters: w.max,
          maxUnavailable: w.size,
          ...(w.topology ? { topologyKey: "b" } : {}),
          ...(w.requeue ? { requeue: drained } : {}),
        }),
      );
      const result = planned(rollout(...stages), clusters);
      const placed = [...result.stages.flatMap((s) => [...s.clusters, ...s.requeued]), ...result.uncovered.map((u) => u.cluster)];
      expect(placed.toSorted()).toEqual(clusters.map((c) => c.key).toSorted());
      for (const [i, s] of result.stages.entries()) {
        expect(s.batches.flatMap((b) => b.clusters)).toEqual(s.clusters);
        for (const batch of s.batches) {
          expect(batch.clusters.length).toBeLessThanOrEqual(s.maxUnavailable);
          const values = batch.clusters.flatMap((key) => clusters.find((c) => c.key === key)?.labels["b"] ?? []);
          if (stages[i]?.topologyKey !== undefined) expect(new Set(values).size).toBe(values.length);
        }
      }
      expect(planned(rollout(...stages), clusters.toReversed())).toEqual(result);
    }),
    { numRuns: 300 },
  );
});
