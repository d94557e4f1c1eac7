import { defined } from "../../core/base/defined.ts";
import type { Selector } from "../../core/base/selector.ts";
import { plan } from "../../core/plan/plan.ts";
import type { Cluster, Edit, Plan, Release, Target } from "../../core/plan/plan-types.ts";
import type { Rollout, Stage, StageAnalysis, StageHook, Step } from "../../core/spec/rollout.ts";
import type { Window } from "../../core/spec/windows.ts";
import type { Freeze } from "../../core/spec/windows-binding.ts";
import {
  type Measured,
  type ModelCluster,
  type ModelFreeze,
  type ModelRollout,
  type ModelStage,
  type ModelStep,
  type ModelWindow,
  type Scenario,
  TEAM,
} from "../generate/scenario.ts";

export const OLD = "v1";
export const NEW = "v2";
const MINUTE = 60_000;

/** One rollout as a world is made of it: its resource, and the targets with the value that each pin has at first. */
interface Fleet {
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
  const clusters = scenario.clusters.map((cluster) => clusterOf(cluster, model.counted));
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
  if (!result.ok) throw new Error(`the scenario has no plan: ${JSON.stringify(result.problems)}`);
  return { rollout, release, plan: result.plan, clusters, targets };
}

export function clusterOf({ name, region, drained }: ModelCluster, counted?: ModelRollout["counted"]): Cluster {
  const labels = defined({ region, drained: drained ? "true" : undefined });
  const own = { key: `hub/${name}`, name, controlPlane: "hub", server: `https://${name}.invalid`, labels, registered: true };
  return counted === undefined ? own : { ...own, on: hostOf(name, counted.hosts) };
}

/** The clusters themselves, where what is counted is on them; undefined: these are clusters. */
export function hostsOf(counted: ReadonlyMap<string, Cluster>): Cluster[] | undefined {
  const hosts = new Map([...counted.values()].flatMap(({ on }) => (on === undefined ? [] : [[on.key, on]])));
  return hosts.size === 0 ? undefined : [...hosts.values()];
}

const HOST_REGIONS = ["eu", "us", "ap"];

/** The cluster that `c4` is on, of so many: the same for each world. */
function hostOf(name: string, hosts: number): Cluster {
  const at = Number(name.replace(/\D/g, "")) % hosts;
  const host = `h${at + 1}`;
  const labels = { region: HOST_REGIONS[at % HOST_REGIONS.length] ?? "eu" };
  return { key: `hub/${host}`, name: host, controlPlane: "hub", server: `https://${host}.invalid`, labels, registered: true };
}

/** The Application of a cluster: `app-c1` of the scenario's first rollout, `ledger-c1` of one called ledger. */
export function applicationOf(rollout: ModelRollout, index: number, cluster: string): string {
  return `${index === 0 ? "app" : rollout.name}-${cluster}`;
}

/** `place`: in the list of clusters. */
export function targetOf(rollout: ModelRollout, index: number, { name }: Pick<ModelCluster, "name">, place: number): Target {
  const application = applicationOf(rollout, index, name);
  const pin = rollout.sharedPins ? `pair${place >> 1}` : name;
  const file = index === 0 ? "apps.yaml" : `${rollout.name}.yaml`;
  const path = `elements[cluster=${pin}]`;
  const edits: Edit[] = [{ file, path: `${path}.version`, kind: "value", from: OLD, to: NEW }];
  if (isWeighted(rollout))
    edits.push({ file, path: `${path}.weight`, kind: "value", from: "100", to: "100", weigh: { value: [{ step: "weight" }] } });
  const on = rollout.counted && hostOf(name, rollout.counted.hosts).key;
  const where = { application, namespace: "argocd", controlPlane: "hub", cluster: `hub/${name}`, ...defined({ on }) };
  return { key: `hub/argocd/${application}`, ...where, edits };
}

function isWeighted({ stages }: ModelRollout): boolean {
  return stages.some((stage) => stage.steps !== undefined);
}

function analysisOf(of: Measured, when: StageAnalysis["when"]): StageAnalysis {
  const args = of === "each" ? [{ name: "host", value: "{{ cluster.name }}" }] : [];
  return { templates: [{ templateName: "webcheck", clusterScope: false }], args, when };
}

function stepOf(step: ModelStep): Step {
  if ("weight" in step) return { kind: "setWeight", weight: step.weight };
  if ("analysis" in step) return { kind: "analysis", analysis: analysisOf(step.analysis, ["AfterBatch"]) };
  return step.pauseMs === null ? { kind: "pause" } : { kind: "pause", durationMs: step.pauseMs };
}

function hooksOf(count: number): StageHook[] {
  return Array.from({ length: count }, (_, index) => ({ url: `https://hooks.invalid/${index + 1}`, timeoutMs: 10_000 }));
}

function labelled(labels: Record<string, string>): Selector {
  return { matchLabels: labels, matchExpressions: [] };
}

function stageOf(stage: ModelStage, index: number): Stage {
  return defined({
    name: `stage ${index + 1}`,
    selector: labelled(stage.region === null ? {} : { region: stage.region }),
    maxClusters: { percent: 100 },
    maxUnavailable: { count: stage.maxUnavailable },
    batching: stage.batching,
    order: stage.seeded === undefined ? { by: "name" } : { by: "seeded", seed: stage.seeded },
    bakeMs: stage.bakeMs,
    progressDeadlineMs: 15 * MINUTE,
    requeue: stage.requeue === null ? undefined : { selector: labelled({ drained: "true" }), ...stage.requeue },
    grow: stage.grow,
    jitterMs: stage.jitterMs,
    approval: stage.approvals === undefined ? undefined : { teams: [TEAM], count: stage.approvals, notBy: ["author", "merger"] },
    pairs: stage.pairs,
    topologyKey: stage.topology === true ? "region" : undefined,
    analysis: stage.analysis === undefined ? undefined : analysisOf(stage.analysis.of, stage.analysis.when),
    hooks: stage.hooks === undefined ? undefined : stageHooks(stage.hooks),
    steps: stage.steps === undefined ? undefined : stage.steps.map(stepOf),
    windows: stage.windows === undefined ? undefined : stage.windows.map(freezeOf),
    sync: stage.sync,
  });
}

function stageHooks({ before, after, onFailure }: NonNullable<ModelStage["hooks"]>): NonNullable<Stage["hooks"]> {
  return { before: hooksOf(before), after: hooksOf(after), onFailure: hooksOf(onFailure) };
}

/** As the resource says it: a cron schedule. What the model itself goes by is the time of the day. */
export function windowOf({ fromMinute, forMinutes, kind }: ModelWindow): Window {
  return { schedule: `${fromMinute % 60} ${Math.floor(fromMinute / 60)} * * *`, durationMs: forMinutes * MINUTE, timeZone: "UTC", kind };
}

export function freezeOf({ region, stage, rollout, ...window }: ModelFreeze): Freeze {
  return defined({
    ...windowOf(window),
    selector: region === undefined ? undefined : labelled({ region }),
    stages: stage === undefined ? undefined : [stage],
    rollouts: rollout === undefined ? undefined : [rollout],
  });
}

function rolloutOf(model: ModelRollout): Rollout {
  const { rollback, quarantine } = model;
  return defined({
    name: model.name,
    file: `rollouts/${model.name}.yaml`,
    targetBy: model.counted?.by,
    mode: model.mode,
    source: { kind: "ApplicationSet", name: model.name, namespace: "argocd", controlPlanes: [], unverified: false },
    release: { kind: "version", version: NEW, attempt: 1 },
    pins: [],
    delivery: {
      strategy: "PullRequest",
      merge: model.merge,
      method: "squash",
      ahead: model.ahead === true ? undefined : false,
      labels: [],
      reviewers: { teams: [], users: [] },
    },
    onNewRelease: model.onNewRelease,
    onFailure: { action: model.action, maxFailures: { count: model.maxFailures } },
    baseline: model.baseline,
    allowUnstaged: false,
    flap: model.flap,
    ...{ windows: model.windows?.map(freezeOf), limits: model.limits },
    dependsOn: model.dependsOn,
    rollback:
      rollback === undefined
        ? undefined
        : defined({
            skipBake: rollback.skipBake,
            maxUnavailable: rollback.maxUnavailable === undefined ? undefined : { count: rollback.maxUnavailable },
          }),
    weightPins: isWeighted(model) ? [] : undefined,
    joiners: model.joiners,
    quarantine: quarantine === undefined ? undefined : quarantineOf(quarantine),
    settleMs: 10_000,
    graceMs: 60_000,
    seenDeadlineMs: 15 * MINUTE,
    waitingDeadlineMs: 60 * MINUTE,
    stages: model.stages.map(stageOf),
  });
}

function quarantineOf({ max, onReturn, drained }: NonNullable<ModelRollout["quarantine"]>): NonNullable<Rollout["quarantine"]> {
  return defined({ max: { count: max }, onReturn, selector: drained ? labelled({ drained: "true" }) : undefined });
}
