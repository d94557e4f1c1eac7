import type { BreachReasons } from "../../../reasons/breaches.ts";
import type { MergeObstacle, PullNeed } from "../../../reasons/gates.ts";
import type { BatchRef } from "../../../reasons/refs.ts";
import type { RunReasons } from "../../../reasons/run.ts";

type Ways<Table> = {
  readonly [Code in keyof Table]?: readonly { readonly [Field in keyof Table[Code]]?: Table[Code][Field] | undefined }[];
};

const pending: PullNeed = { kind: "check", name: "ci", state: "pending" };
const batch: BatchRef = { stage: "canary", number: 2, kind: "Planned" };

const OBSTACLES: readonly MergeObstacle[] = [
  ...(["silent", "pending", "failed"] as const).map((state): MergeObstacle => ({ kind: "check", name: "ci", state })),
  { kind: "checks", some: 1, of: 2, failed: true },
  { kind: "codeOwner" },
  { kind: "codeOwner", who: "acme/sre" },
  { kind: "deployment" },
  { kind: "deployment", environment: "production" },
  { kind: "method", method: "squash" },
  { kind: "state", state: "blocked" },
  ...(["lastPush", "changesRequested", "conversations", "behind", "codeScanning", "draft", "closed", "conflict", "gone"] as const).map(
    (kind) => ({ kind }),
  ),
  ...(["signatures", "linear", "queue", "pullRequest", "workflows", "permissions", "protection", "archive"] as const).map((kind) => ({
    kind,
  })),
  { kind: "locked" },
  { kind: "ruleset" },
];

/** Samples for fields of stages, ends and breaches that no other code has. */
export const STAGE_FIELDS = {
  ...{ obstacles: [{ kind: "method", method: "merge" }], unlinked: [], reviewed: [], merger: undefined },
  ...{
    confirmed: 1,
    of: 3,
    wait: { templates: ["webcheck"] },
    about: "apart",
    attempts: 3,
    values: ["v1.4.3"],
    open: [7, batch],
    moved: true,
  },
  ...{ cannot: { code: "ROLLBACK_OF_BRANCHES" }, excused: [], other: 1, target: "hub/argocd/payments-eu-1", before: 50, ended: true },
  ...{ effect: "StartAnalysis", permission: "read" },
  ...{
    host: "metrics.example.com",
    header: "x-forwarded-for",
    address: "10.4.0.1",
    method: "POST",
    bytes: 65_536,
    provider: "datadog",
    job: "webcheck-1",
  },
  ...{ was: { kind: "bake", batch: { ...batch, number: 1 }, pull: 8 }, current: { kind: "bake", batch, pull: 9 } },
};

const REVISION = { revision: "v1.4.2", repo: "github.com/acme/fleet", from: "3f2a91c0de44aa" };

/** The ways in which these are said. */
export const STAGE_VARIANTS: Ways<RunReasons & BreachReasons> = {
  PROMOTE_CAME_LATE: [
    {},
    { was: { kind: "pull", batch, pull: 8 }, current: { kind: "pull", batch: { ...batch, stage: "eu" }, pull: 9 } },
    { was: { kind: "step", batch, pull: 8 }, current: undefined },
    { was: undefined },
  ],
  PROMOTE_ON_FORMER_PULL: [{}, { current: undefined }],
  PROMOTE_OF_OTHER_BATCH: [{}, { current: { kind: "step", batch, pull: null } }],
  BATCH_SETTLED_WITH: [{ failed: ["hub/eu-1"] }, { failed: ["hub/eu-1"], excused: ["hub/us-1"] }],
  WAIT_BEGINS: [{ again: false }, { wait: { forMs: 600_000 }, again: true }, { wait: {}, again: false }],
  CLUSTERS_UNREAD: [{ about: "apart" }, { about: "putOff" }, { about: "requeued" }],
  NEXT_PROMOTED: [{}, { after: { forMs: 600_000 } }, { after: null }],
  WAY_BACK: [{ clusters: 1 }, { clusters: 5 }, { clusters: 5, branches: true }],
  ROLLBACK_OF_NOTHING: [{ moved: true }, { moved: false }],
  ROLLBACK_VALUE: [
    { given: "v1.4.0", known: ["chart", "image"], near: undefined },
    { given: "imag=v1", known: ["chart", "image"], near: "image" },
  ],
  MERGE_OVER_UNCONFIRMED: [
    { how: { phase: "Syncing" } },
    { how: { verdict: "pending" } },
    { how: "beyondBudget" },
    { how: "unproven" },
    { how: "unmerged" },
    { how: "older" },
  ],
  END_AND_PHASE_DIFFER: [{}, { ended: false }],
  RUN_THROUGH: [
    { phase: "Succeeded", checks: [] },
    { phase: "RolledBack", checks: [], skipped: ["hub/eu-1"] },
    { phase: "Failed", failed: ["hub/eu-1"], quarantined: ["hub/us-1"] },
    { phase: "Succeeded", checks: [], failed: ["hub/eu-1"] },
  ],
  RUN_ENDED: [{ phase: "Succeeded" }, { phase: "RolledBack" }, { phase: "Failed" }, { phase: "Aborted" }],
  REVISION_MOVED: [
    { ...REVISION, to: "8d01c5b7ee92f1", first: undefined, cluster: undefined },
    { ...REVISION, to: "8d01c5b7ee92f1", first: "hub/eu-1", cluster: "hub/us-1" },
    { ...REVISION, to: undefined, first: undefined, cluster: undefined },
  ],
  REVISION_UNREAD: [REVISION],
  REVISIONS_UNREAD: [{}],
  APPROVAL_WANTED: [
    {},
    { want: 2, have: ["carol"], lapsed: [{ by: "dave", because: { code: "APPROVER_LEFT" } }], outdated: ["erin"], unread: true },
    { unlinked: ["3f2a91c0de44aa"], have: ["carol"], reviewed: ["dave"] },
  ],
  PULL_CHANGED: [{ retargeted: undefined }, { retargeted: "release" }],
  CLUSTERS_HALTED: [{}, { clusters: [], text: "" }],
  LIMITS_FULL: [
    {},
    { now: [] },
    { over: { setting: "limits.label", have: 2, most: 1, label: { key: "region", value: "eu", percent: 25 } } },
  ],
  BATCH_NEVER_FITS: [{}, { clusters: ["hub/eu-1"] }],
  LIMIT_ALLOWS: [
    {},
    { over: { setting: "spec.limits.clusters", have: 2, most: 1 } },
    { over: { setting: "limits.targets", have: 4, most: 1 } },
  ],
  WINDOW_SHUT: [
    { window: { schedule: "0 9 * * 1-5", durationMs: 28_800_000, timeZone: "Europe/Rome", kind: "allow" } },
    {
      where: { kind: "File", file: ".github/stagecoach.yaml", only: { selector: "region=eu", stages: ["prod"] } },
      window: { schedule: "0 0 20 12 *", durationMs: 604_800_000, timeZone: "UTC", kind: "deny", at: { path: "freezes[1]" } },
    },
    {
      where: { kind: "Stage", stage: "prod" },
      window: {
        ...{ schedule: "0 9 * * 2", durationMs: 28_800_000, timeZone: "Europe/Rome", kind: "allow" },
        at: { path: "spec.stages[1].windows[0]", file: "rollouts/payments.yaml" },
      },
    },
    { window: undefined },
  ],
  WINDOWS_NEVER_OPEN: [{ where: [{ kind: "Rollout" }] }],
  WINDOWS_NEVER_TOGETHER: [{ where: [{ kind: "Rollout" }, { kind: "Server" }] }],
  PULL_QUEUED: [{ place: 2 }],
  CLUSTERS_PUT_OFF: [{}, { clusters: ["hub/eu-1"] }],
  GITHUB_BLOCKS: [{}],
  GITHUB_ANSWERED: [
    {},
    { obstacles: [], message: "Something that GitHub has never said before" },
    {
      obstacles: [
        { kind: "checks", some: 3, of: 4, failed: false },
        { kind: "reviews", want: 1 },
      ],
      message: "3 of 4 required status checks are pending.",
    },
    ...OBSTACLES.map((one) => ({ obstacles: [one] })),
  ],
  GITHUB_REFUSES: [{}, { obstacles: [], message: "" }],
  GITHUB_WANTS: [
    { needs: [{ ...pending, state: "silent" }], silent: true },
    { needs: [pending, { ...pending, state: "failed" }, { ...pending, state: "silent" }, { kind: "reviews", have: 0, want: 1 }] },
    { needs: [{ kind: "changesRequested", by: ["bob"] }, { kind: "codeOwners" }, { kind: "lastPush" }, { kind: "signatures" }] },
    { needs: [{ kind: "method", method: "squash", allowed: ["merge", "rebase"] }] },
  ],
  ANALYSIS_RUNNING: [{}, { more: 2 }],
  ANALYSIS_ARGUMENT: [{ name: "host" }],
  ANALYSIS_BEGINS: [{ attempt: 1 }, {}],
  ANALYSIS_ARGUMENT_MISSING: [{ name: "host" }, { name: "host", cluster: undefined }],
  NEXT_WINDOW: [{ opens: undefined }, { opens: { at: "2026-11-24T08:00:00.000Z", timeZone: "Europe/Rome" } }],
  NEXT_WINDOWS_CHANGED: [
    { where: [{ kind: "Rollout" }, { kind: "Server" }], all: true },
    { where: [{ kind: "Rollout" }, { kind: "Server" }], all: false },
  ],
  NEXT_PERSON_MERGES: [{}, { promote: true }, { pull: null, promote: true }],
  NEXT_CHECK_REPORTS: [{ check: "ci" }],
  ASK_GITHUB_CHANGE: (["mergeMethod", "signatures", "workflows", "permissions", "ruleset", "protection", "archive", "named"] as const).map(
    (change) => ({ change }),
  ),
  MEASURE_NO_FIELD: [{ field: "prometheus.query" }],
  MEASURE_NO_JSON: [{ type: "text/html" }],
  MEASURE_TIMEOUT: [{ given: "soon" }],
  OUTBOUND_REDIRECTS_AWAY: [{ to: "login.example.com" }],
  OUTBOUND_REDIRECTS: [{ most: 3 }],
  MEASURE_TOO_DEEP: [{ most: 100 }],
  NEXT_APPROVED: [{ teams: ["acme/sre"] }, { teams: ["acme/sre", "acme/leads"], left: 2 }, { released: [] }, { merger: "dave" }],
};
