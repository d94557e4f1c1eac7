import { plan } from "../../rollout/plan.ts";
import type { Cluster, Plan, Release, Target } from "../../rollout/plan-types.ts";
import type { Rollout, Selector, Stage } from "../../rollout/rollout.ts";
import type { ModelCluster, ModelStage, Scenario } from "./scenario.ts";

export const OLD = "v1";
export const NEW = "v2";
const MINUTE = 60_000;

export interface Fleet {
  rollout: Rollout;
  release: Release;
  plan: Plan;
  clusters: Cluster[];
  targets: Target[];
}

/** The rollout, clusters and plan that a scenario describes; a plan that is refused is an error of the scenario. */
export function fleetOf(scenario: Scenario): Fleet {
  const rollout = rolloutOf(scenario);
  const clusters = scenario.clusters.map(clusterOf);
  const targets = scenario.clusters.map((cluster, index) => targetOf(cluster, scenario.sharedPins ? `pair${index >> 1}` : cluster.name));
  const release = { values: { version: NEW }, attempt: 1 };
  const result = plan({ rollout, release, clusters, targets });
  if (!result.ok) throw new Error(`the scenario has no plan: ${result.problems.map((problem) => problem.message).join("; ")}`);
  return { rollout, release, plan: result.plan, clusters, targets };
}

export function clusterOf({ name, region, drained }: ModelCluster): Cluster {
  const labels = { region, ...(drained ? { drained: "true" } : {}) };
  return { key: `hub/${name}`, name, controlPlane: "hub", server: `https://${name}.invalid`, labels, registered: true };
}

function targetOf({ name }: ModelCluster, pin: string): Target {
  const key = `hub/argocd/app-${name}`;
  const edit = { file: "apps.yaml", path: `elements[cluster=${pin}].version`, kind: "value" as const, from: OLD, to: NEW };
  return { key, application: `app-${name}`, namespace: "argocd", controlPlane: "hub", cluster: `hub/${name}`, edits: [edit] };
}

function labelled(labels: Record<string, string>): Selector {
  return { matchLabels: labels, matchExpressions: [] };
}

function stageOf(stage: ModelStage, index: number): Stage {
  return {
    name: `stage ${index + 1}`,
    selector: labelled(stage.region === null ? {} : { region: stage.region }),
    maxClusters: { percent: 100 },
    maxUnavailable: { count: stage.maxUnavailable },
    batching: stage.batching,
    order: { by: "name" },
    bakeMs: stage.bakeMs,
    progressDeadlineMs: 15 * MINUTE,
    ...(stage.requeue === null ? {} : { requeue: { selector: labelled({ drained: "true" }), ...stage.requeue } }),
  };
}

function rolloutOf(scenario: Scenario): Rollout {
  return {
    name: "payments",
    file: "rollouts/payments.yaml",
    mode: scenario.mode,
    source: { kind: "ApplicationSet", name: "payments", namespace: "argocd", controlPlanes: [], unverified: false },
    release: { kind: "version", version: NEW, attempt: 1 },
    pins: [],
    delivery: { strategy: "PullRequest", merge: scenario.merge, method: "squash", labels: [], reviewers: { teams: [], users: [] } },
    onNewRelease: "Supersede",
    onFailure: { action: "Pause", maxFailures: { count: scenario.maxFailures } },
    baseline: "Strict",
    allowUnstaged: false,
    settleMs: 10_000,
    graceMs: 60_000,
    seenDeadlineMs: 15 * MINUTE,
    waitingDeadlineMs: 60 * MINUTE,
    stages: scenario.stages.map(stageOf),
  };
}
