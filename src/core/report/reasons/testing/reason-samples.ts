/**
 * Data to say every reason of a run with. Fields are called alike in all tables, so a sample for each field does for nearly every code: a new
 * code needs nothing here, unless it has a field that no other has, or is said in several ways.
 */
import type { AnyReason } from "../../../base/reason.ts";
import type { AttentionReasons, WriteRefusals } from "../../../reasons/attention.ts";
import type { CommentReasons } from "../../../reasons/comments.ts";
import type { EngineReasons } from "../../../reasons/engine.ts";
import type { OverLimit } from "../../../reasons/problems/plan.ts";
import type { AnalysisRef, BatchRef, HookRef } from "../../../reasons/refs.ts";
import type { RunReasons } from "../../../reasons/run.ts";
import type { SettingReasons } from "../../../reasons/settings.ts";
import { ARGOCD_FIELDS, ARGOCD_VARIANTS } from "./argocd-samples.ts";
import { becauseOf } from "./because-samples.ts";
import { ENGINE_FIELDS, ENGINE_VARIANTS } from "./engine-samples.ts";
import { JOURNAL_FIELDS, JOURNAL_VARIANTS } from "./journal-samples.ts";
import { STAGE_FIELDS, STAGE_VARIANTS } from "./stage-samples.ts";

interface Reasons extends RunReasons, CommentReasons, EngineReasons, SettingReasons, AttentionReasons, WriteRefusals {}

const batch: BatchRef = { stage: "canary", number: 2, kind: "Planned" };
const analysis: AnalysisRef = { templates: ["webcheck"], of: batch };
const hook: HookRef = { number: 1, when: "before", stage: "canary", host: "hooks.example.com" };
const over: OverLimit = { setting: "limits.clusters", have: 4, most: 2 };
const clusters = ["hub/eu-1", "hub/us-1"];
const rollouts: AnyReason[] = [
  { code: "ROLLOUT_STATE", cluster: "hub/eu-1", name: "web", phase: "Paused", paused: true, step: 1, steps: 4 },
];

const unseen: AnyReason = { code: "ROLLOUT_UNSEEN", cluster: "hub/us-1", because: becauseOf("ROLLOUT_UNSEEN") };

/** A field's sample, whichever code has it. */
const FIELDS: Readonly<Record<string, unknown>> = {
  ...ARGOCD_FIELDS,
  ...{ batch, analysis, hook, over, clusters, rollouts, check: analysis, checks: [analysis, hook] },
  ...{ ask: { code: "ASK_RESUME" }, allowed: { code: "LIMIT_ALLOWS", over }, held: { code: "PAUSED_BY", by: "bob", text: "" } },
  ...{ final: true, targetBy: undefined },
  ...{ after: { index: 2, of: 3 }, number: 2, resumed: { code: "RESUMED_BY", by: "bob" } },
  ...{ by: "alice", author: "bob", released: ["bob"], teams: ["acme/sre", "acme/web"], have: [], lapsed: [], outdated: [], unread: false },
  ...{
    cluster: "hub/eu-1",
    plane: "hub",
    application: "payments-eu-1",
    applications: ["payments-eu-1"],
    sets: ["payments", "ledger"],
    child: "argocd/web",
    baseline: ["Degraded", "NeverInSync"],
  },
  ...{
    pull: 7,
    head: "3f2a91c0de44aa",
    commit: "3f2a91c0de44aa",
    branch: "stagecoach-run/payments/1/1",
    rollout: "payments",
    stage: "canary",
  },
  ...{ file: "values.yaml", path: "image.tag", place: { file: "values.yaml" }, setting: "limits.clusters" },
  ...{ mode: "Propose", phase: "Failed" },
  ...{
    url: "https://api.github.com",
    said: "timeout",
    port: 3000,
    insidePort: 3001,
    least: "30s",
    context: "eu",
    secret: "web/token",
    fault: "EACCES",
  },
  ...{ at: "2026-11-21T09:00:00.000Z", since: "2026-11-21T09:00:00.000Z", until: "2026-11-21T10:00:00.000Z", forMs: 600_000 },
  ...{ run: 41, former: 41, last: 42, attempt: 2, times: 10, most: 1, more: 0, weight: 25, want: 1, done: 2, count: 70, steps: 4, step: 1 },
  ...{ there: "v1.4.1", wanted: "v1.4.2", found: "v1.4.1", to: "v1.4.1", value: "v1.4.0", where: { kind: "Rollout" }, state: "QUEUED" },
  ...{
    command: "promote",
    needs: "maintain",
    has: "write",
    text: "errors on checkout",
    name: "eu-1",
    names: ["eu-1"],
    keys: ["a/eu-1", "b/eu-1"],
  },
  ...{
    message: "Merge commits are not allowed",
    status: "Degraded",
    variable: "cluster.labels.host",
    action: "resume",
    others: ["hub/us-1"],
  },
  ...{ back: [], left: [], failed: [], skipped: [], quarantined: [], now: ["payments #41"], known: ["eu-1"], near: "eu-1" },
  ...JOURNAL_FIELDS,
  ...{ given: "paus", flag: "forr", word: "eu-1", unseen: [], here: ["a", "b"] },
  ...ENGINE_FIELDS,
  ...{
    seen: false,
    silent: false,
    ahead: true,
    paused: true,
    promote: false,
    branches: false,
    accepted: false,
    elsewhere: false,
    error: false,
    lost: false,
  },
  ...STAGE_FIELDS,
  ...{
    bare: [{ branch: "stagecoach/journal", lacks: ["update", "deletion"] }],
    repository: "acme/fleet",
    journalBranch: "stagecoach/journal",
  },
};

type Variants = {
  readonly [Code in keyof Reasons]?: readonly { readonly [Field in keyof Reasons[Code]]?: Reasons[Code][Field] | undefined }[];
};

/** Where a code is said in several ways, or its field means something else: what differs, once for each way. */
const VARIANTS: Variants = {
  BATCH_OPENING: [
    { again: false },
    { again: true, clusters: [] },
    { branches: true, again: false },
    { branches: true, clusters: [], again: false },
  ],
  BATCH_MERGED: [{}, { by: undefined }],
  PINNED_BY_HAND: [{}, { value: undefined }],
  PIN_GONE: [{}, { file: undefined, path: "env/eu-1" }],
  PULL_CLOSED: [{}, { pull: null }],
  QUEUE_REFUSED: [
    { message: "Pull request has merge conflicts", obstacles: [{ kind: "conflict" }] },
    { failed: ['"ci"'], head: "3f2a91c0de41" },
    {},
  ],
  NEXT_OPEN: [{}, { branches: true }],

  DATABASE_AWAY: [{ said: "connect ECONNREFUSED 10.0.0.7:5432" }],
  DATABASE_LOGIN: [{ said: 'password authentication failed for user "stagecoach"' }],
  DATABASE_TLS: [{ said: "self-signed certificate in certificate chain" }],
  DATABASE_FULL: [{ said: "could not extend file: No space left on device" }],
  DATABASE_RIGHTS: [{ said: "permission denied for table deliveries" }],
  DATABASE_OLDER: [{ is: 1, wanted: 2 }],
  DATABASE_NEWER: [{ is: 3, known: 2 }],
  ANALYSIS_ENDED: [{}, { because: undefined }],
  ANALYSIS_STOPPED: [
    { analysis: { ...analysis, background: true, of: { stage: "canary" } } },
    { analysis: { ...analysis, cluster: "hub/eu-1" } },
  ],
  ANALYSIS_FAILED: [{}, { error: true }],
  ANALYSIS_ACCEPTED: [{}, { check: hook }],
  CHECKS_END_WITH_RUN: [{ ended: true }, { ended: false }],
  ASK_FAILED_CHECK: [{ again: "asks" }, { again: "measures" }],
  ASK_UNDECIDED_CHECK: [{ again: "asks" }, { again: "measures" }],
  HOOK_ASKED: [{ again: false }, { hook: undefined, again: true }],
  HOOK_ENDED: [{}, { hook: { ...hook, when: "onFailure", host: "" } }],
  HOOK_SAID: [{ said: "go" }, { said: "fail" }, { said: "wait" }],
  ...STAGE_VARIANTS,

  ...ENGINE_VARIANTS,

  COMMAND_GIVEN: [{ text: "/pause errors on checkout" }],
  COMMAND_ENDED: [{ text: "/pause errors", outcome: "done" }],
  RETRY_OF_GOING_RUN: [{}],
  COMMAND_OF_FORMER_RUN: [{}, { pull: undefined }],
  COMMAND_TOO_EARLY: [{ before: "run" }, { before: "failure" }, { before: "halt" }],
  COMMAND_TOO_LATE: [{}],
  COMMAND_OVERTAKEN: [{ by: "bob", text: "/pause errors on the checkout page" }],
  COMMAND_BEFORE_PULL: [{}],
  PAUSED_BY: [{}, { text: "" }],
  ABORTED_BY: [{}, { text: "" }],
  RESUME_DONE: [{}, { checks: [] }, { accepted: true }],
  RESUMED_WITH_ROLLOUTS: [{ rollouts: { code: "ROLLOUTS_NONE" } }],
  FULL_NEEDS_MAINTAIN: [{ rollouts: false }, { rollouts: true }],
  CLUSTERS_NOT_NAMED: [{ command: "skip" }, { command: "requeue" }, { command: "hotfix" }],
  BATCH_MADE: [{}, { ahead: undefined }],
  BATCH_LOSES_CLUSTER: [{ by: "skip" }, { by: "requeue" }, { by: "retry" }, { by: "hotfix" }],
  REQUEUE_DONE: [{}, { back: ["hub/eu-1"] }],
  HALT_DONE: [{ until: "2026-11-21 10:00 UTC" }, { clusters: [], until: undefined }],
  HALT_NOT_FOUND: [{}, { clusters: [], elsewhere: true }],
  RETRY_DONE: [{ pausedBy: undefined }, { clusters: [], checks: [], pausedBy: "bob" }, { clusters: [], pausedBy: undefined }],
  ROLLED_BACK_BY: [{ text: undefined }, { to: undefined }],
  ROLLBACK_OF_ROLLBACK: [{}],
  ROLLBACK_OF_ENDED_ROLLBACK: [{}],
  ROLLBACK_WANTS_TO: [{ given: "v1.4.1" }],
  COMMAND_FOR_WHOLE_RUN: [{ command: "retry" }],
  ROLLBACK_DONE: [{}, { left: ["hub/us-1"] }],
  ROLLOUTS_ALL_UNSEEN: [{ left: [unseen] }],
  ROLLOUT_STATE: [{}, { paused: false, step: undefined }, { phase: "Degraded" }],
  ROLLOUTS_BROKEN: [{}, { more: 2 }],
  ROLLOUTS_DONE: [
    { also: undefined },
    {
      also: { code: "RESUMED_BY", by: "bob" },
      action: "abort",
      failed: [{ cluster: "hub/eu-1", name: "web", because: becauseOf("SAID_OF") }],
      left: [becauseOf("ROLLOUT_UNSEEN")],
    },
  ],

  COMMAND_UNKNOWN: [{ near: "pause" }],
  FLAG_UNKNOWN: [
    { known: ["for", "rollout"], near: "for" },
    { known: ["rollout"], near: undefined },
  ],
  COMMENTER_NOT_IN_TEAM: [{}, { unseen: ["acme/sre"] }],

  SETTING_PROBLEM: [{ problem: { code: "NOT_LISTENABLE", given: '"1.2.3"' } }],
  SETTING_FILE: [{ fault: "ENOENT" }, {}],
  CONFIG_INVALID: [{ problems: [{ code: "DUPLICATE_KEY", severity: "error", file: "stagecoach.yaml", line: 2, column: 1, path: [] }] }],
  KUBECONFIG_CONTEXT: [{}, { known: [] }],
  GITHUB_NOT_REACHED: [{ own: true }, { own: false }],

  TARGET_FAILED: [{ baseline: false }, { baseline: true }],
  DEADLINE_PASSED: [{ seen: true }, { seen: false }],
  UNWELL_AFTERWARDS: [{}, { lost: true }],
  SYNC_ASKED: [{}],
  REFRESH_WANTED: [{ answer: "asked" }, { answer: "unavailable" }, { answer: { failed: { code: "SAID", text: "timeout" } }, seen: true }],
  PIN_DRIFT: [
    { by: { author: "bob", commit: "3f2a91c0de44aa", subject: "Revert" }, want: "v1.4.2" },
    { by: { author: "renovate[bot]", commit: "3f2a91c0de44aa", subject: "Update payments" }, want: "v1.4.2" },
    { by: { author: "ci", commit: "3f2a91c0de44aa", subject: "Merge pull request #5 from acme/kargo/promotion/prod" }, want: "v1.4.2" },
    { by: undefined, found: null, place: { branch: "env/eu-1" } },
  ],
  ASK_UNDO_DRIFT: [{ want: "v1.4.2" }],
};

/** A reason of this code in each way it is said. Reading a field that has no sample is an error. */
export function samplesOf(code: string): AnyReason[] {
  const variants: readonly object[] = (
    { ...VARIANTS, ...ARGOCD_VARIANTS, ...JOURNAL_VARIANTS } as Readonly<Record<string, readonly object[]>>
  )[code] ?? [{}];
  return variants.map((variant) => new Proxy<AnyReason>({ code, ...variant }, { get: (own, field) => read(own, String(field)) }));
}

function read(own: AnyReason, field: string): unknown {
  if (Object.hasOwn(own, field)) return own[field];
  if (field === "because") return becauseOf(own.code);
  if (!Object.hasOwn(FIELDS, field)) throw new Error(`testing/reason-samples.ts has no sample for "${field}" of ${own.code}`);
  return FIELDS[field];
}
