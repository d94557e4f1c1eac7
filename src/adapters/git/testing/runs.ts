import { iso } from "../../../core/base/time.ts";
import type { PlannedTarget } from "../../../core/plan/plan-types.ts";
import { said } from "../../../core/reasons/run.ts";
import type { Batch, BatchPhase, BatchTarget, Run } from "../../../core/run/state/run.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";

/** Runs as they could be, for tests and benchmarks only. */

export const START = Date.parse("2026-11-21T04:00:00Z");

const SPEC: Rollout = {
  name: "payments",
  file: "rollouts/payments.yaml",
  mode: "Run",
  source: { kind: "ApplicationSet", name: "payments", namespace: "argocd", controlPlanes: [], unverified: false },
  release: { kind: "version", version: "v1.4.2", attempt: 0 },
  pins: [
    {
      kind: "value",
      file: "appsets/payments.yaml",
      path: "spec.x[cluster={{ cluster.name }}].tag",
      create: false,
      value: "{{ release.version }}",
    },
  ],
  delivery: { strategy: "PullRequest", merge: "Auto", method: "squash", labels: ["rollout"], reviewers: { teams: [], users: [] } },
  onNewRelease: "Supersede",
  onFailure: { action: "Pause", maxFailures: { count: 0 } },
  baseline: "Strict",
  allowUnstaged: false,
  settleMs: 10_000,
  graceMs: 60_000,
  seenDeadlineMs: 900_000,
  waitingDeadlineMs: 86_400_000,
  stages: [],
};

function target(index: number): PlannedTarget {
  return {
    key: `hub/argocd/payments-cluster-${index}`,
    application: `payments-cluster-${index}`,
    cluster: `hub/cluster-${index}`,
    edits: [
      {
        file: "appsets/payments.yaml",
        path: `spec.generators[0].list.elements[cluster=cluster-${index}].targetRevision`,
        kind: "value",
        from: "v1.4.1",
        to: "v1.4.2",
      },
    ],
  };
}

/** A run over `clusters` clusters in one stage of batches of `size`, nothing begun. */
export function freshRun(clusters: number, size: number, over: Partial<Run> = {}): Run {
  const targets = Array.from({ length: clusters }, (_, index) => target(index));
  const batches = [];
  for (let from = 0; from < clusters; from += size) {
    const some = targets.slice(from, from + size);
    batches.push({ clusters: some.map(({ cluster }) => cluster), targets: some });
  }
  const stage = {
    name: "canary in EMEA",
    hash: "a1",
    maxUnavailable: size,
    clusters: targets.map(({ cluster }) => cluster),
    requeued: [],
    batches,
    requeuedTargets: [],
  };
  const release = { values: { version: "v1.4.2" }, attempt: 0 };
  return {
    format: 2,
    rollout: "payments",
    number: 1,
    release,
    trigger: { commit: "c".repeat(40), pull: 7, author: "ana", at: iso(START) },
    spec: SPEC,
    plan: { rollout: "payments", release, hash: "b2", stages: [stage], uncovered: [], warnings: [] },
    phase: "Progressing",
    since: iso(START),
    why: said("The release was merged."),
    next: { what: said("batch 1 is proposed") },
    stage: 0,
    batches: [],
    requeued: [],
    skipped: [],
    failedAccepted: [],
    commands: [],
    startedAt: iso(START),
    ...over,
  };
}

function batchTarget(planned: PlannedTarget, at: number, over: Partial<BatchTarget> = {}): BatchTarget {
  return { ...planned, phase: "Proposed", since: iso(at), why: said("Its pull request is open."), ...over };
}

/** The run with its next planned batch in `phase`. */
export function withBatch(run: Run, phase: BatchPhase, at: number, change: (target: BatchTarget) => BatchTarget = (same) => same): Run {
  const number = run.batches.length + 1;
  const planned = run.plan.stages[0]?.batches[number - 1]?.targets ?? [];
  const batch: Batch = {
    number,
    stage: 0,
    ofStage: number,
    attempt: 1,
    kind: "Planned",
    branch: `stagecoach-run/payments/${run.number}/1-${number}-1`,
    phase,
    since: iso(at),
    why: said("The stage's next batch."),
    next: { what: said("it merges once its checks pass"), deadline: iso(at + 60_000) },
    targets: planned.map((one) => change(batchTarget(one, at))),
  };
  return { ...run, batches: [...run.batches, batch] };
}

/** The run with its last batch confirmed: every target has evidence. */
export function confirmed(run: Run, at: number): Run {
  const last = run.batches.at(-1);
  if (last === undefined) return run;
  const targets = last.targets.map((one): BatchTarget => {
    const fields = { "sync.status": "Synced", "sync.revision": "d".repeat(40), "health.status": "Healthy", "operation.phase": "Succeeded" };
    const sentence = said("Live at v1.4.2 and healthy for 10s.");
    const evidence = { verdict: "live" as const, clause: "all", sentence, readAt: iso(at), resourceVersion: "812", fields };
    return { ...one, phase: "Baked", since: iso(at), why: sentence, confirmedAt: iso(at), evidence };
  });
  const merged = { commit: "e".repeat(40), at: iso(at - 30_000), by: "stagecoach[bot]" };
  const batch: Batch = {
    ...last,
    phase: "Settled",
    since: iso(at),
    why: said("Every target is confirmed."),
    next: null,
    merged,
    settledAt: iso(at),
    targets,
  };
  return { ...run, batches: [...run.batches.slice(0, -1), batch] };
}
