import { describe, expect, test } from "vitest";
import { parseRollouts } from "../spec/parse/parse.ts";
import type { Rollout } from "../spec/rollout.ts";
import { nextBatch } from "./next.ts";
import { plan } from "./plan.ts";
import type { Cluster, Target } from "./plan-types.ts";

function rolloutOf(stages: string): Rollout {
  const text = `apiVersion: stagecoach.dev/v1alpha1\nkind: ProgressiveRollout\nmetadata: { name: p }\nspec:\n  sourceRef: { kind: ApplicationSet, name: p }\n  stages:\n${stages}`;
  return parseRollouts(text, "r.yaml").rollouts[0] as Rollout;
}

/** `a+` live, `a~` at the release and not healthy, `a` not there yet; `!` after the name: drained. */
function fleet(text: string): { clusters: Cluster[]; targets: Target[] } {
  const clusters: Cluster[] = [];
  const targets: Target[] = [];
  for (const word of text.split(" ")) {
    const name = word.replace(/[!+~]/g, "");
    const key = `hub/${name}`;
    clusters.push({
      key,
      name,
      controlPlane: "hub",
      server: name,
      labels: { zone: name[0] ?? "", drained: String(word.includes("!")) },
      registered: true,
    });
    const from = /[+~]/.test(word) ? "v2" : "v1";
    const edits = [{ file: "f", path: name, kind: "value" as const, from, to: "v2" }];
    targets.push({
      key: `hub/argocd/${name}`,
      application: name,
      namespace: "argocd",
      controlPlane: "hub",
      cluster: key,
      edits,
      status: { healthy: !word.includes("~"), synced: true },
    });
  }
  return { clusters, targets };
}

function next(rollout: Rollout, text: string): string | null {
  const { clusters, targets } = fleet(text);
  const made = plan({ rollout, release: { values: { version: "v2" }, attempt: 1 }, clusters, targets });
  if (!made.ok) throw new Error("no plan");
  const found = nextBatch(made.plan, rollout, targets, clusters);
  return found === null ? null : `${found.stage} ${found.batch}: ${found.targets.map((t) => t.application).join(" ")}`;
}

const TWO = "    - { name: all, maxUnavailable: 2, clusters: { selector: {} } }\n";

describe("Fixed", () => {
  test.each([
    ["nothing moved: the first batch", "a b c d", "all 1: a b"],
    ["the first batch live: the second", "a+ b+ c d", "all 2: c d"],
    ["half of the batch live: the other half, not the next batch", "a+ b c d", "all 1: b"],
    ["half of the batch in flight: the other half", "a~ b c d", "all 1: b"],
    ["the batch is in flight as a whole: nothing", "a~ b~ c d", null],
    ["one of the batch still in flight: nothing", "a+ b~ c d", null],
    ["somebody moved a later cluster and it is not healthy: it counts against the window first", "a b c~ d", "all 1: a"],
    ["two such clusters fill the window", "a b c~ d~", null],
    ["a later cluster is live already: it takes no room", "a b c+ d", "all 1: a b"],
    ["its batch is opened for the other one alone", "a+ b+ c+ d", "all 2: d"],
    ["all live: nothing", "a+ b+ c+ d+", null],
  ])("%s", (_name, text, expected) => {
    expect(next(rolloutOf(TWO), text)).toBe(expected);
  });
});

describe("Rolling", () => {
  const rolling = rolloutOf(TWO.replace("maxUnavailable", "batching: Rolling, maxUnavailable"));
  test.each([
    ["as many as there is room for", "a b c d", "all 1: a b"],
    ["refilled as single clusters are confirmed", "a+ b~ c d", "all 2: c"],
    ["half of a batch and half of the next", "a+ b c d", "all 1: b c"],
    ["no room: nothing", "a~ b~ c d", null],
  ])("%s", (_name, text, expected) => {
    expect(next(rolling, text)).toBe(expected);
  });

  test("none joins one of its topology value in flight", () => {
    const zones = rolloutOf(TWO.replace("maxUnavailable", "batching: Rolling, topologyKey: zone, maxUnavailable"));
    expect(next(zones, "a1~ a2 a3 b1")).toBe("all 1: b1");
    expect(next(zones, "a1~ a2 a3")).toBe(null);
  });
});

describe("stages", () => {
  const staged = rolloutOf(
    "    - { name: one, maxClusters: 1, clusters: { selector: {} } }\n    - { name: rest, maxUnavailable: 50%, clusters: { selector: {} } }\n",
  );
  test.each([
    ["the next stage begins once the whole of the one before is live", "a+ b c d e", "rest 1: b c"],
    ["and not before", "a~ b c d e", null],
  ])("%s", (_name, text, expected) => {
    expect(next(staged, text)).toBe(expected);
  });
});

describe("requeued clusters", () => {
  const drained = rolloutOf(
    '    - { name: one, maxUnavailable: 2, clusters: { selector: {} }, maxClusters: 3, requeue: { selector: { matchLabels: { drained: "true" } } } }\n    - { name: rest, clusters: { selector: {} } }\n',
  );
  test.each([
    ["are not waited for by the stage's batches", "a! b c d! e!", "one 1: b c"],
    ["but the next stage waits for them", "a! b+ c+ d! e!", null],
    ["one that came back is in a batch of its own again", "a b+ c+ d! e!", "one 1: a"],
    ["one in flight counts against the window", "a!~ b c d! e!", "one 1: b"],
    ["all live: the next stage", "a!+ b+ c+ d! e!", "rest 1: d"],
  ])("%s", (_name, text, expected) => {
    expect(next(drained, text)).toBe(expected);
  });
});

test("without any status nothing is claimed", () => {
  const rollout = rolloutOf(TWO);
  const { clusters, targets } = fleet("a b");
  const bare = targets.map(({ status: _, ...target }) => target);
  const made = plan({ rollout, release: { values: { version: "v2" }, attempt: 1 }, clusters, targets: bare });
  expect(made.ok && nextBatch(made.plan, rollout, bare)).toBe(null);
});
