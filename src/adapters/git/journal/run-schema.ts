/**
 * What a run's files must hold to be acted on. Checked when they are read, since anybody with write access could have
 * touched them. Keys not named here are kept: a later version of the same format may have added them.
 */
import { z } from "zod";
import { count, resolved, time, trigger } from "./trigger-schema.ts";

/** So that no hand-made number makes us look for files without end. */
const files = z.number().int().min(0).max(100_000);
/** A reason: a code with its data. */
const words = z.union([z.string(), z.looseObject({ code: z.string() })]);
const next = z.looseObject({ what: words, eta: time.optional(), deadline: time.optional() }).nullable();
const edit = z.looseObject({
  file: z.string(),
  path: z.string(),
  kind: z.enum(["value", "clusterGenerator", "copy", "branch"]),
  from: z.string().nullable(),
  to: z.string(),
  steps: z.array(z.string()).optional(),
});
const values = z.record(z.string(), z.string());
const release = z.looseObject({ values, attempt: count });
const plannedTarget = z.looseObject({ key: z.string(), application: z.string(), cluster: z.string(), edits: z.array(edit) });
const points = z.array(z.object({ at: time, value: z.number(), phase: z.string() })).max(100);
const analysis = z.looseObject({
  id: z.string(),
  stage: count,
  when: z.string(),
  attempt: count,
  args: z.array(z.looseObject({ name: z.string(), value: z.string() })),
  phase: z.enum(["Running", "Successful", "Failed", "Inconclusive", "Error", "Stopped"]),
  why: words,
  startedAt: time,
  endedAt: time.optional(),
  metrics: z.array(z.looseObject({ name: z.string(), phase: z.string(), count, error: z.number(), points: points.optional() })).optional(),
  stopping: z.looseObject({ why: words, at: time }).optional(),
  accepted: z.looseObject({ by: z.string(), at: time }).optional(),
});
const hook = z.looseObject({
  id: z.string(),
  stage: count,
  when: z.enum(["before", "after", "onFailure"]),
  index: count,
  attempt: count,
  phase: z.enum(["Calling", "Waiting", "Held", "Done", "Failed", "Error"]),
  why: words,
  tries: count,
  errors: count,
  since: time,
  nextAt: time.optional(),
  endedAt: time.optional(),
  failures: z.array(z.looseObject({ what: words, why: words })).optional(),
  accepted: z.looseObject({ by: z.string(), at: time }).optional(),
});

const rollout = z.looseObject({
  namespace: z.string(),
  name: z.string(),
  phase: z.string(),
  message: z.string(),
  paused: z.boolean(),
  step: count.optional(),
  steps: count.optional(),
  setWeight: z.number().optional(),
  actualWeight: z.number().optional(),
  stableImages: z.array(z.string()),
  canaryImages: z.array(z.string()),
  replicas: z.looseObject({ desired: z.number(), updated: z.number(), ready: z.number(), available: z.number() }),
});
const rolloutOrder = z.looseObject({
  command: z.string(),
  text: z.string(),
  actor: z.string(),
  at: time,
  action: z.enum(["resume", "promote-full", "abort", "retry"]),
  also: words.optional(),
  left: z.array(words),
  rollouts: z.array(
    z.looseObject({
      target: z.string(),
      namespace: z.string(),
      name: z.string(),
      step: count.optional(),
      outcome: z.looseObject({ kind: z.enum(["done", "notOffered", "forbidden", "failed"]), why: words.optional() }).optional(),
    }),
  ),
});

export const runSchema = z.looseObject({
  format: z.literal(2),
  rollout: z.string(),
  number: count,
  release,
  trigger,
  phase: z.enum(["Pending", "Progressing", "Paused", "RollingBack", "Succeeded", "RolledBack", "Failed", "Aborted", "Superseded"]),
  since: time,
  why: words,
  next,
  stage: count,
  batches: files,
  resolved: z.array(resolved).optional(),
  requeued: z.array(
    z.looseObject({
      cluster: z.string(),
      stage: count,
      attempts: count,
      since: time,
      nextAt: time,
      why: words,
      until: time.optional(),
    }),
  ),
  skipped: z.array(z.looseObject({ cluster: z.string(), why: words, at: time })),
  joined: z.array(z.looseObject({ cluster: z.string(), stage: count, targets: z.array(plannedTarget), at: time })).optional(),
  notJoined: z.array(z.looseObject({ cluster: z.string(), why: words, at: time })).optional(),
  quarantined: z.array(z.looseObject({ cluster: z.string(), stage: count, why: words, since: time })).optional(),
  failedAccepted: z.array(z.string()),
  paused: z.looseObject({ kind: z.string(), by: z.string(), reason: words, at: time, ask: words }).optional(),
  commands: z.array(
    z.looseObject({
      id: z.string(),
      text: z.string(),
      actor: z.string(),
      at: time,
      outcome: z.enum(["done", "refused"]),
      message: words,
    }),
  ),
  shown: z
    .array(z.looseObject({ kind: z.enum(["bake", "step", "pull"]), batch: count, since: time, shownAt: time, overAt: time.optional() }))
    .optional(),
  rolloutOrders: z.array(rolloutOrder).optional(),
  unseen: z.array(z.looseObject({ plane: z.string(), since: time, why: words })).optional(),
  amended: z.array(z.looseObject({ stage: count, at: time })).optional(),
  startedFrom: z.string().optional(),
  analyses: z.array(analysis).optional(),
  hooks: z.array(hook).optional(),
  ...{ failedAt: time.optional(), brokenSince: time.optional() },
  startedAt: time,
  endedAt: time.optional(),
});

export const planSchema = z.looseObject({
  plan: z.looseObject({
    rollout: z.string(),
    release,
    hash: z.string(),
    stages: z.array(
      z.looseObject({
        name: z.string(),
        hash: z.string(),
        maxUnavailable: count,
        clusters: z.array(z.string()),
        requeued: z.array(z.string()),
        batches: z.array(z.looseObject({ clusters: z.array(z.string()), targets: z.array(plannedTarget) })),
        requeuedTargets: z.array(plannedTarget),
      }),
    ),
    uncovered: z.array(z.looseObject({ cluster: z.string(), why: words })),
    warnings: z.array(z.looseObject({ code: z.string() })),
  }),
  /** Validated as a resource when the run began, and frozen since. */
  spec: z.looseObject({ name: z.string(), file: z.string(), stages: z.array(z.looseObject({ name: z.string() })) }),
});

export const batchSchema = z.looseObject({
  number: count,
  stage: count,
  ofStage: count,
  attempt: count,
  kind: z.enum(["Planned", "CatchUp", "Hotfix", "Revert"]),
  step: z
    .looseObject({
      index: count,
      of: count,
      weight: count,
      wait: z.looseObject({ at: count, from: time.optional(), until: time.optional() }).optional(),
    })
    .optional(),
  branch: z.string(),
  ahead: z.literal(true).optional(),
  phase: z.enum(["Proposing", "Open", "Merging", "Merged", "Baking", "Settled", "Closed"]),
  since: time,
  why: words,
  next,
  pull: z.looseObject({ number: count, url: z.string(), head: z.string(), openedAt: time }).optional(),
  intention: z.looseObject({ head: z.string(), at: time }).optional(),
  merged: z.looseObject({ commit: z.string(), at: time, by: z.string() }).optional(),
  bake: z.looseObject({ from: time, until: time, restarts: count }).optional(),
  analyses: z.array(analysis).optional(),
  settledAt: time.optional(),
  shards: files,
  targets: z.array(
    z.looseObject({
      key: z.string(),
      application: z.string().optional(),
      cluster: z.string().optional(),
      edits: z.array(edit).optional(),
      phase: z.enum(["Pending", "Requeued", "Proposed", "Merged", "Syncing", "Healthy", "Baked", "Failed", "Skipped", "RolledBack"]),
      since: time,
      why: words,
      firstSeenAt: time.optional(),
      firstComparedAt: time.optional(),
      goodSince: time.optional(),
      deadlineAt: time.optional(),
      waitingSince: time.optional(),
      confirmedAt: time.optional(),
      baseline: z.array(z.string()).optional(),
      excused: z.literal(true).optional(),
      retriedAt: time.optional(),
      ...{ dippedAt: time.optional(), dips: z.array(time).optional() },
      syncAsked: z.object({ at: time, revisions: z.array(z.string()) }).optional(),
      rollouts: z.array(rollout).optional(),
      evidence: count.optional(),
    }),
  ),
});

export const evidenceSchema = z.looseObject({
  evidence: z.array(
    z.looseObject({
      target: z.string(),
      verdict: z.enum(["live", "failing", "waiting", "pending", "lost"]),
      clause: z.string(),
      sentence: words,
      readAt: time,
      fields: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    }),
  ),
});

const rejected = z.looseObject({ values, attempt: count, commit: z.string(), pull: count.optional(), at: time });
const problem = z.looseObject({ code: z.string(), severity: z.enum(["error", "warning"]), file: z.string(), line: count, column: count });
const refused = z.looseObject({ values, attempt: count, commit: z.string(), pull: count.optional(), at: time, problems: z.array(problem) });

export const indexSchema = z.looseObject({
  format: z.literal(1),
  app: z.string(),
  rollouts: z.record(
    z.string(),
    z.looseObject({
      lastRun: count,
      lastRelease: values,
      attempt: count,
      cursor: z.string(),
      rejected: rejected.optional(),
      refused: refused.optional(),
    }),
  ),
});
