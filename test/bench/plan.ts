/**
 * Bench of planning: 10,000 clusters over 20 stages, and ten times as many. Run by `npm run bench`, or alone with `node`.
 */
import { pathToFileURL } from "node:url";
import { plan } from "../../src/core/plan/plan.ts";
import type { Cluster, PlanInput, Target } from "../../src/core/plan/plan-types.ts";
import type { Rollout, Stage } from "../../src/core/spec/rollout.ts";
import type { BenchRow } from "./row.ts";

const STAGES = 20;

/** Times planning; the fastest of several runs after a warm-up, which other work on the machine disturbs least. */
export function benchPlan(): BenchRow[] {
  const small = fastestMs(inputOf(10_000), 9);
  const large = fastestMs(inputOf(100_000), 5);
  // n log n alone is 10 · log(100,000) / log(10,000) = 12.5; the small plan fits into the processor's caches, the large one does not.
  const allowed = (2 * 10 * Math.log(100_000)) / Math.log(10_000);
  return [
    { name: "plan, 10,000 clusters, 20 stages", value: small, unit: "ms", limit: 300 },
    { name: "plan, 100,000 clusters, 20 stages", value: large, unit: "ms" },
    { name: "plan, 100,000 against 10,000 (n log n: 12.5, n²: 100)", value: large / small, unit: "×", limit: allowed },
  ];
}

function fastestMs(input: PlanInput, runs: number): number {
  run(input);
  const times = Array.from({ length: runs }, () => {
    const before = performance.now();
    run(input);
    return performance.now() - before;
  });
  return Math.min(...times);
}

function run(input: PlanInput): void {
  const made = plan(input);
  if (!made.ok) throw new Error(made.problems[0]?.code);
}

function inputOf(count: number): PlanInput {
  const clusters: Cluster[] = [];
  const targets: Target[] = [];
  for (let i = 0; i < count; i++) {
    const name = `cluster-${(i * 7919) % count}`;
    const key = `hub/${name}`;
    const labels = { wave: String(i % STAGES), region: `region-${i % 11}`, priority: String(i % 97), drained: String(i % 50 === 0) };
    clusters.push({ key, name, controlPlane: "hub", server: `https://${name}.example.com`, labels, registered: true });
    const edits = [
      {
        file: "appsets/payments.yaml",
        path: `spec.generators[0].list.elements[cluster=${name}].targetRevision`,
        kind: "value" as const,
        from: "v1",
        to: "v2",
      },
    ];
    targets.push({
      key: `hub/argocd/payments-${name}`,
      application: `payments-${name}`,
      namespace: "argocd",
      controlPlane: "hub",
      cluster: key,
      edits,
    });
  }
  return { rollout: rolloutOf(), release: { values: { version: "v2" }, attempt: 1 }, clusters, targets };
}

function rolloutOf(): Rollout {
  const stages = Array.from(
    { length: STAGES },
    (_, i): Stage => ({
      name: `wave ${i}`,
      selector: { matchLabels: { wave: String(i) }, matchExpressions: [{ key: "region", operator: "Exists", values: [] }] },
      maxClusters: { percent: 100 },
      maxUnavailable: { percent: 25 },
      batching: "Fixed",
      order: i % 2 === 0 ? { by: "label", key: "priority" } : { by: "name" },
      ...(i % 3 === 0 ? { topologyKey: "region" } : {}),
      bakeMs: 0,
      progressDeadlineMs: 900_000,
      requeue: { selector: { matchLabels: { drained: "true" }, matchExpressions: [] }, attempts: 5, intervalMs: 1_800_000 },
    }),
  );
  return {
    name: "payments",
    file: "rollouts/payments.yaml",
    mode: "Run",
    source: { kind: "ApplicationSet", name: "payments", namespace: "argocd", controlPlanes: [], unverified: false },
    pins: [],
    delivery: { strategy: "PullRequest", merge: "Auto", method: "squash", labels: [], reviewers: { teams: [], users: [] } },
    onNewRelease: "Supersede",
    onFailure: { action: "Pause", maxFailures: { count: 0 } },
    baseline: "Strict",
    allowUnstaged: false,
    settleMs: 0,
    graceMs: 0,
    seenDeadlineMs: 0,
    waitingDeadlineMs: 0,
    stages,
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const row of benchPlan())
    console.log(
      `${row.name.padEnd(48)} ${row.value.toFixed(1).padStart(9)} ${row.unit}${row.limit === undefined ? "" : `  (at most ${row.limit.toFixed(1)})`}`,
    );
}
