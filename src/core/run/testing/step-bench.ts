import { iso } from "../../base/time.ts";
import { plan } from "../../plan/plan.ts";
import type { Cluster, Target } from "../../plan/plan-types.ts";
import { said } from "../../reasons/run.ts";
import type { Rollout, Step } from "../../spec/rollout.ts";
import { startRun } from "../start.ts";
import type { Run, Verdict } from "../state/run.ts";
import { AT, BASE, type Bench, guard, MERGE, merged, pull, round, SECOND, see } from "./bench.ts";

export const OLD = "v1";
export const NEW = "v2";

/** 20 → pause → 60 → pause for 10m → 100: the seed's, without its analysis. */
export const CANARY: Step[] = [
  { kind: "setWeight", weight: 20 },
  { kind: "pause" },
  { kind: "setWeight", weight: 60 },
  { kind: "pause", durationMs: 600_000 },
];

interface StepBench {
  steps?: Step[];
  maxUnavailable?: number;
  /** Of weight pins with `{{ step.replicas }}`. */
  replicas?: number;
  change?: (rollout: Rollout) => void;
}

/** Clusters c1, c2, … with a version and a weight that is at 100 for the old one; nothing is observed yet but that. */
export function stepBench(clusters: number, options: StepBench = {}): Bench {
  const rollout = rolloutOf(options);
  options.change?.(rollout);
  const known = Array.from({ length: clusters }, (_, index) => clusterOf(`c${index + 1}`));
  const targets = known.map(({ name }) => targetOf(name, options.replicas));
  const release = { values: { version: NEW }, attempt: 1 };
  const made = plan({ rollout, release, clusters: known, targets });
  if (!made.ok) throw new Error(JSON.stringify(made.problems));
  const trigger = { commit: BASE, pull: 1, author: "alice", at: iso(AT) };
  const run = startRun({ rollout, number: 42, release, trigger, plan: made.plan, now: AT });
  return {
    run,
    now: AT,
    world: {
      base: { commit: BASE },
      pulls: new Map(),
      guards: new Map(),
      targets: new Map(targets.map(({ key }) => [key, { pins: [OLD, "100"] }])),
      clusters: new Map(known.map((cluster) => [cluster.key, cluster])),
      revisions: [],
      clustersKnown: true,
      others: [],
      commands: [],
    },
    last: { run, effects: [], change: "none", events: [] },
    health: new Map(),
  };
}

function clusterOf(name: string): Cluster {
  return { key: `hub/${name}`, name, controlPlane: "hub", server: `https://${name}.invalid`, labels: {}, registered: true };
}

function targetOf(name: string, replicas: number | undefined): Target {
  const weigh = replicas === undefined ? { value: [{ step: "weight" as const }] } : { value: [{ step: "replicas" as const }], replicas };
  return {
    key: `hub/argocd/app-${name}`,
    application: `app-${name}`,
    namespace: "argocd",
    controlPlane: "hub",
    cluster: `hub/${name}`,
    edits: [
      { file: "apps.yaml", path: `elements[cluster=${name}].version`, kind: "value", from: OLD, to: NEW },
      { file: "apps.yaml", path: `elements[cluster=${name}].weight`, kind: "value", from: "100", to: "100", weigh },
    ],
  };
}

function rolloutOf({ steps = CANARY, maxUnavailable = 2 }: StepBench): Rollout {
  return {
    name: "payments",
    file: "rollouts/payments.yaml",
    mode: "Run",
    source: { kind: "ApplicationSet", name: "payments", namespace: "argocd", controlPlanes: [], unverified: false },
    release: { kind: "version", version: NEW, attempt: 1 },
    pins: [],
    weightPins: [],
    delivery: { strategy: "PullRequest", merge: "Auto", method: "squash", labels: [], reviewers: { teams: [], users: [] } },
    onNewRelease: "Supersede",
    onFailure: { action: "Pause", maxFailures: { count: 0 } },
    baseline: "Strict",
    allowUnstaged: false,
    settleMs: 10_000,
    graceMs: 60_000,
    seenDeadlineMs: 900_000,
    waitingDeadlineMs: 3_600_000,
    stages: [
      {
        name: "canary",
        selector: { matchLabels: {}, matchExpressions: [] },
        maxClusters: { percent: 100 },
        maxUnavailable: { count: maxUnavailable },
        batching: "Fixed",
        order: { by: "name" },
        steps,
        bakeMs: 0,
        progressDeadlineMs: 900_000,
      },
    ],
  };
}

/** Argo CD's verdict on the change of this batch; the base holds what the batch last merged there wrote. */
export function judgeAt(
  self: Bench,
  batch: number,
  cluster: string,
  verdict: Verdict,
  clause = verdict === "live" ? "all" : "health",
): void {
  const sentence = said(`${cluster} is ${verdict}.`);
  const evidence = { verdict, clause, sentence, readAt: iso(self.now + SECOND), fields: {} };
  const assessment = { verdict, clause, sentence, wantsRefresh: false, firstSeenAt: iso(self.now), evidence };
  see(self, cluster, { batch, inHistory: true, assessment });
}

/** The pins of a cluster at the base. */
export function pinned(self: Bench, cluster: string, version: string, weight: string): void {
  see(self, cluster, { pins: [version, weight] });
}

export function clustersIn(run: Run, batch: number): string[] {
  return [...new Set(run.batches[batch - 1]?.targets.map(({ cluster }) => cluster.slice(4)) ?? [])];
}

/** The batch's PR is opened and merged, and the base holds what it wrote. */
export function mergeStep(self: Bench, batch: number): void {
  if (self.run.batches.length < batch) round(self);
  pull(self, batch);
  round(self);
  guard(self, batch);
  round(self);
  merged(self, batch, { commit: `${batch}${MERGE.slice(1)}`, at: iso(self.now) });
  for (const { cluster, edits } of self.run.batches[batch - 1]?.targets ?? [])
    see(self, cluster.slice(4), { pins: edits.map(({ to }) => to), inHistory: true });
  round(self);
}

/** As `mergeStep`, and every cluster of it is confirmed. */
export function bringStep(self: Bench, batch: number): void {
  mergeStep(self, batch);
  for (const cluster of clustersIn(self.run, batch)) judgeAt(self, batch, cluster, "live");
  round(self);
}
