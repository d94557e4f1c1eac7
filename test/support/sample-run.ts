import { defined } from "../../src/core/base/defined.ts";
import type { Plan, PlannedTarget } from "../../src/core/plan/plan-types.ts";
import { said } from "../../src/core/reasons/run.ts";
import type { Batch, BatchTarget, Run } from "../../src/core/run/state/run.ts";
import type { Rollout } from "../../src/core/spec/rollout.ts";

/** A rollout with everything filled in, to vary from. */
export function sampleRollout(change: Partial<Rollout> = {}): Rollout {
  const everything = { matchLabels: {}, matchExpressions: [] };
  const stage = {
    selector: everything,
    maxClusters: { percent: 100 },
    maxUnavailable: { count: 2 },
    batching: "Fixed" as const,
    order: { by: "name" as const },
    bakeMs: 0,
    progressDeadlineMs: 900_000,
  };
  return {
    name: "payments",
    file: "rollouts/payments.yaml",
    mode: "Run",
    source: { kind: "ApplicationSet", name: "payments", namespace: "argocd", controlPlanes: [], unverified: false },
    release: { kind: "from", file: "releases/payments.yaml", path: "version", attempt: 1 },
    pins: [{ kind: "value", file: "appsets/payments.yaml", path: "p", create: false, value: "{{ release.version }}" }],
    delivery: { strategy: "PullRequest", merge: "Auto", method: "squash", labels: [], reviewers: { teams: [], users: [] } },
    onNewRelease: "Supersede",
    onFailure: { action: "Pause", maxFailures: { count: 0 } },
    baseline: "Strict",
    allowUnstaged: false,
    settleMs: 10_000,
    graceMs: 60_000,
    seenDeadlineMs: 900_000,
    waitingDeadlineMs: 86_400_000,
    stages: [
      { ...stage, name: "canary", bakeMs: 600_000 },
      {
        ...stage,
        name: "everywhere else",
        requeue: { selector: { matchLabels: { drained: "true" }, matchExpressions: [] }, attempts: 5, intervalMs: 1_800_000 },
      },
    ],
    ...change,
  };
}

export function plannedTarget(cluster: string): PlannedTarget {
  return {
    key: `hub/argocd/payments-${cluster}`,
    application: `payments-${cluster}`,
    cluster: `hub/${cluster}`,
    edits: [
      {
        kind: "value",
        file: "appsets/payments.yaml",
        path: `spec.generators[0].list.elements[cluster=${cluster}].targetRevision`,
        from: "v1.4.1",
        to: "v1.4.2",
      },
    ],
  };
}

export function samplePlan(): Plan {
  const batch = (...clusters: string[]) => ({ clusters: clusters.map((c) => `hub/${c}`), targets: clusters.map(plannedTarget) });
  return {
    rollout: "payments",
    release: { values: { version: "v1.4.2" }, attempt: 1 },
    hash: "5b6c1f0e9a7d4b33",
    stages: [
      {
        name: "canary",
        hash: "aa",
        maxUnavailable: 2,
        clusters: ["hub/eu-1", "hub/eu-2"],
        requeued: [],
        batches: [batch("eu-1", "eu-2")],
        requeuedTargets: [],
      },
      {
        name: "everywhere else",
        hash: "bb",
        maxUnavailable: 2,
        clusters: ["hub/us-1", "hub/us-2", "hub/us-3"],
        requeued: ["hub/us-4"],
        batches: [batch("us-1", "us-2"), batch("us-3")],
        requeuedTargets: [plannedTarget("us-4")],
      },
    ],
    uncovered: [{ cluster: "hub/ap-1", why: { code: "NotSelected" } }],
    warnings: [{ code: "COVERAGE", clusters: ["ap-1"], of: 5 }],
  };
}

const AT = "2026-11-21T09:00:00.000Z";

export function batchTarget(cluster: string, phase: BatchTarget["phase"]): BatchTarget {
  return defined({
    ...plannedTarget(cluster),
    phase,
    since: AT,
    why: said(`${cluster} is ${phase.toLowerCase()}`),
    evidence:
      phase === "Baked" || phase === "Healthy"
        ? {
            verdict: "live" as const,
            clause: "all",
            sentence: said("live at 1f2e3d4 and healthy"),
            readAt: AT,
            resourceVersion: "42",
            fields: { "status.sync.revision": "1f2e3d4" },
          }
        : undefined,
  });
}

/** In its second stage: the canary is settled, two clusters are syncing, one is requeued. */
export function sampleRun(change: Partial<Run> = {}): Run {
  const first: Batch = {
    number: 1,
    stage: 0,
    ofStage: 1,
    attempt: 1,
    kind: "Planned",
    branch: "stagecoach-run/payments/42/1-1-1",
    phase: "Settled",
    since: AT,
    why: said("every target is live and healthy"),
    next: null,
    targets: [batchTarget("eu-1", "Baked"), batchTarget("eu-2", "Baked")],
    pull: { number: 11, url: "https://github.example/o/r/pull/11", head: "a".repeat(40), openedAt: AT },
    merged: { commit: "b".repeat(40), at: AT, by: "stagecoach[bot]" },
    settledAt: AT,
  };
  const second: Batch = {
    ...first,
    number: 2,
    stage: 1,
    branch: "stagecoach-run/payments/42/2-1-1",
    phase: "Merged",
    why: said("waiting for us-1, us-2 to become live (0 of 2 confirmed)"),
    next: { what: said("us-1 and us-2 count as failed"), deadline: "2026-11-21T09:15:00.000Z" },
    targets: [batchTarget("us-1", "Syncing"), batchTarget("us-2", "Merged")],
    pull: { number: 12, url: "https://github.example/o/r/pull/12", head: "c".repeat(40), openedAt: AT },
    merged: { commit: "d".repeat(40), at: AT, by: "stagecoach[bot]" },
  };
  delete second.settledAt;
  return {
    format: 2,
    rollout: "payments",
    number: 42,
    release: { values: { version: "v1.4.2" }, attempt: 1 },
    trigger: { commit: "e".repeat(40), pull: 10, author: "alice", at: AT },
    spec: sampleRollout(),
    plan: samplePlan(),
    phase: "Progressing",
    since: AT,
    why: said("waiting for us-1, us-2 to become live (0 of 2 confirmed)"),
    next: { what: said("us-1 and us-2 count as failed"), deadline: "2026-11-21T09:15:00.000Z" },
    stage: 1,
    batches: [first, second],
    requeued: [
      {
        cluster: "hub/us-4",
        stage: 1,
        attempts: 0,
        since: AT,
        nextAt: "2026-11-21T09:30:00.000Z",
        why: said("it matches the stage's requeue selector."),
      },
    ],
    skipped: [],
    failedAccepted: [],
    commands: [],
    startedAt: "2026-11-21T08:50:00.000Z",
    ...change,
  };
}

/** The same with an analysis of its second batch that failed at its last measurement. */
export function measuredRun(): Run {
  const run = sampleRun();
  const values = [0.4, 0.9, 0.6, 1.2, 2.4, 7.5];
  const points = values.map((value, minute) => ({
    at: `2026-11-21T09:0${minute}:00.000Z`,
    value,
    phase: value > 5 ? "Failed" : "Successful",
  }));
  const metric = { name: "error-rate", phase: "Failed", count: 6, successful: 5, failed: 1, inconclusive: 0, error: 0, value: "[7.5]" };
  const analysis = {
    ...{ id: "payments/42/2/2/AfterBatch/1", stage: 1, when: "AfterBatch" as const, batch: 2, attempt: 1, args: [] },
    ...{ phase: "Failed" as const, why: said("error-rate: 1 measurement failed"), startedAt: AT, endedAt: "2026-11-21T09:05:00.000Z" },
    metrics: [{ ...metric, successCondition: "result[0] <= 5", points }],
  };
  return { ...run, batches: run.batches.map((batch) => (batch.number === 2 ? { ...batch, analyses: [analysis] } : batch)) };
}
