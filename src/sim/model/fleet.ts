import { plan } from "../../rollout/plan.ts";
import type { Cluster, Plan, Release, Target } from "../../rollout/plan-types.ts";
import type { Rollout, Selector, Stage } from "../../rollout/rollout.ts";
import type { Window } from "../../rollout/windows.ts";
import { type ModelCluster, type ModelRollout, type ModelStage, type ModelWindow, type Scenario, TEAM } from "./scenario.ts";

export const OLD = "v1";
export const NEW = "v2";
const MINUTE = 60_000;

/** One rollout as a world is made of it: its resource, and the targets with the value that each pin has at first. */
export interface Fleet {
  rollout: Rollout;
  release: Release;
  plan: Plan;
  clusters: Cluster[];
  targets: Target[];
}

/** One rollout of a scenario, not planned yet. */
export function partsOf(scenario: Scenario, index: number): Pick<Fleet, "rollout" | "clusters" | "targets"> {
  const model = scenario.rollouts[index];
  if (model === undefined) throw new Error(`the scenario has no rollout ${index}`);
  const clusters = scenario.clusters.map(clusterOf);
  return {
    rollout: rolloutOf(model),
    clusters,
    targets: scenario.clusters.map((cluster, place) => targetOf(model, index, cluster, place)),
  };
}

/** The rollout, clusters and plan that a scenario describes; a plan that is refused is an error of the scenario. */
export function fleetOf(scenario: Scenario, index = 0): Fleet {
  const { rollout, clusters, targets } = partsOf(scenario, index);
  const release = { values: { version: NEW }, attempt: 1 };
  const result = plan({ rollout, release, clusters, targets });
  if (!result.ok) throw new Error(`the scenario has no plan: ${result.problems.map((problem) => problem.message).join("; ")}`);
  return { rollout, release, plan: result.plan, clusters, targets };
}

export function clusterOf({ name, region, drained }: ModelCluster): Cluster {
  const labels = { region, ...(drained ? { drained: "true" } : {}) };
  return { key: `hub/${name}`, name, controlPlane: "hub", server: `https://${name}.invalid`, labels, registered: true };
}

/** The Application of a cluster: `app-c1` of the scenario's first rollout, `ledger-c1` of one called ledger. */
export function applicationOf(rollout: ModelRollout, index: number, cluster: string): string {
  return `${index === 0 ? "app" : rollout.name}-${cluster}`;
}

function targetOf(rollout: ModelRollout, index: number, { name }: ModelCluster, place: number): Target {
  const application = applicationOf(rollout, index, name);
  const pin = rollout.sharedPins ? `pair${place >> 1}` : name;
  const file = index === 0 ? "apps.yaml" : `${rollout.name}.yaml`;
  const edit = { file, path: `elements[cluster=${pin}].version`, kind: "value" as const, from: OLD, to: NEW };
  return { key: `hub/argocd/${application}`, application, namespace: "argocd", controlPlane: "hub", cluster: `hub/${name}`, edits: [edit] };
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
    order: stage.seeded === undefined ? { by: "name" } : { by: "seeded", seed: stage.seeded },
    bakeMs: stage.bakeMs,
    progressDeadlineMs: 15 * MINUTE,
    ...(stage.requeue === null ? {} : { requeue: { selector: labelled({ drained: "true" }), ...stage.requeue } }),
    ...(stage.grow === undefined ? {} : { grow: stage.grow }),
    ...(stage.jitterMs === undefined ? {} : { jitterMs: stage.jitterMs }),
    ...(stage.approvals === undefined ? {} : { approval: { teams: [TEAM], count: stage.approvals } }),
    ...(stage.pairs === undefined ? {} : { pairs: stage.pairs }),
    ...(stage.topology === true ? { topologyKey: "region" } : {}),
  };
}

/** As the resource says it: a cron schedule. What the model itself goes by is the time of the day. */
export function windowOf({ fromMinute, forMinutes, kind }: ModelWindow): Window {
  return { schedule: `${fromMinute % 60} ${Math.floor(fromMinute / 60)} * * *`, durationMs: forMinutes * MINUTE, timeZone: "UTC", kind };
}

function rolloutOf(model: ModelRollout): Rollout {
  const { rollback } = model;
  return {
    name: model.name,
    file: `rollouts/${model.name}.yaml`,
    mode: model.mode,
    source: { kind: "ApplicationSet", name: model.name, namespace: "argocd", controlPlanes: [], unverified: false },
    release: { kind: "version", version: NEW, attempt: 1 },
    pins: [],
    delivery: { strategy: "PullRequest", merge: model.merge, method: "squash", labels: [], reviewers: { teams: [], users: [] } },
    onNewRelease: model.onNewRelease,
    onFailure: { action: model.action, maxFailures: { count: model.maxFailures } },
    baseline: model.baseline,
    allowUnstaged: false,
    ...(model.flap === undefined ? {} : { flap: model.flap }),
    ...(model.windows === undefined ? {} : { windows: model.windows.map(windowOf) }),
    ...(model.dependsOn === undefined ? {} : { dependsOn: model.dependsOn }),
    ...(rollback === undefined
      ? {}
      : {
          rollback: {
            skipBake: rollback.skipBake,
            ...(rollback.maxUnavailable === undefined ? {} : { maxUnavailable: { count: rollback.maxUnavailable } }),
          },
        }),
    settleMs: 10_000,
    graceMs: 60_000,
    seenDeadlineMs: 15 * MINUTE,
    waitingDeadlineMs: 60 * MINUTE,
    stages: model.stages.map(stageOf),
  };
}
