/** Data to say the reasons of liveness and of control planes with: fields that no other code has, and what is said in several ways. */
import type { AnyReason } from "../../../base/reason.ts";
import type { ControlPlaneReasons } from "../../../reasons/control-plane.ts";
import type { LivenessReasons } from "../../../reasons/liveness.ts";

type Table = LivenessReasons & ControlPlaneReasons;

const COMMIT = "c".repeat(40);
const REVERT = "d".repeat(40);
const failed = "2026-11-20T23:50:00.000Z";
const WAITS: AnyReason = { code: "OUT_OF_SYNC" };
const problem: AnyReason = { code: "HOST_SLOW", origin: "https://argocd.example.com", ms: 10_000 };

export const ARGOCD_FIELDS: Readonly<Record<string, unknown>> = {
  override: undefined,
  ...{ day: "2026-11-21", health: "Healthy", broken: false, fields: ["spec.project", "status.health"], grant: "p, ACCOUNT, …, allow" },
  ...{ origin: "https://argocd.example.com", seconds: 30, ms: 10_000, what: "applications", advice: undefined, namespace: "argocd" },
  ...{ comparedAt: "2026-11-21T09:00:00.000Z", mergedAt: "2026-11-21T09:01:00.000Z", endedAt: failed, failedAt: failed, triedAt: failed },
  ...{ repo: "github.com/acme/config", clause: "health", asks: COMMIT, compared: COMMIT, hydrated: REVERT, has: 2, part: "project" },
  ...{ type: "SyncError", manual: false, opensAt: undefined, retry: 2, of: 5, overdue: false, spent: false, idle: undefined, problem },
  ...{ resource: "applications.argoproj.io", tls: "SELF_SIGNED_CERT_IN_CHAIN", byte: 12, known: true },
  ...{ owner: undefined, dry: undefined, skipped: undefined, refreshAsked: undefined, behindSeconds: undefined, shortened: undefined },
  ...{ argocd: undefined, changed: "base/deployment.yaml", paths: ".", right: ".;/base/deployment.yaml" },
  ...{ objects: undefined, parent: "fleet", set: "payments", asked: undefined, mute: undefined },
};

type Variants<Codes> = {
  readonly [Code in keyof Codes]?: readonly { readonly [Field in keyof Codes[Code]]?: Codes[Code][Field] | undefined }[];
};

/** Where a code is said in several ways, or its field means something else: what differs, once for each way. */
export const ARGOCD_VARIANTS: Variants<Table> = {
  SYNC_UNSAFE: [
    ...(["Hydrated", "NoRevision", "NoBefore", "NotAllowed", "Gone", "Automated", "Busy"] as const).map((kind) => ({ kind })),
    ...(["Moved", "Done", "NoSync", "More", "Rendering", "Window", "Plane"] as const).map((kind) => ({ kind })),
  ],
  CHANGE_LIVE: [
    { seen: [COMMIT, "v1.4.2"], more: 87, since: failed, cluster: undefined },
    { seen: [], since: undefined, cluster: "2026-11-21T09:00:00.000Z" },
    { seen: [COMMIT], more: 0, since: failed, cluster: "unasked", objects: "shown" },
    { seen: [COMMIT], more: 0, cluster: undefined, objects: "untold" },
    { seen: [COMMIT], more: 0, cluster: undefined, objects: "unread" },
  ],
  CLUSTERS_UNASKED: [{ all: true }, { all: false }],
  CLOCK_AHEAD: [{ because: WAITS }, { because: WAITS, broken: true }],
  CONTENT_UNREAD: [
    { required: true, because: WAITS },
    { required: false, because: WAITS },
  ],
  FAILING_UNCONFIRMED: [{ because: WAITS }],
  READ_FAILED: [{ because: WAITS }],
  OWNER_ENDS: [{ state: "gone" }, { state: "deleting" }],
  CHANGE_NOT_IN_SPEC: [{}, { owner: { name: "payments", because: { code: "OWNER_SAYS", message: "no such file" } } }],
  SPEC_AWAITS: [
    { because: WAITS, step: "compare", asked: { at: "2026-11-21T09:00:00.000Z", answer: "asked" } },
    { because: WAITS, step: "compare", asked: { at: "2026-11-21T09:00:00.000Z", answer: "unavailable" } },
    { because: WAITS, step: "compare", asked: { at: "2026-11-21T09:00:00.000Z", answer: { failed: { code: "SAID", text: "HTTP 403" } } } },
    { because: WAITS, step: "apply", set: undefined },
    { because: WAITS, step: "byHand" },
    { because: WAITS, step: "generate", mute: true },
    { because: WAITS, step: "unseen" },
  ],
  SPEC_DIFFERS: (["destination", "project", "ignoreDifferences", "sourceHydrator", "sources"] as const).map((part) => ({ part })),
  SOURCES_COUNT_DIFFERS: [{ wanted: 1 }],
  REVISION_NOT_IN_SPEC: [{}, { dry: true }],
  STATUS_STALE: [{}, { skipped: true, refreshAsked: true }],
  COMPARED_TO_OLDER_SPEC: [{}, { at: undefined }],
  COMPARED_BEFORE_MERGE: [{}, { behindSeconds: 30 }],
  NAME_SHOWN: [{ seen: "main" }],
  COMMIT_NOT_SEEN: [{ seen: REVERT, commit: COMMIT }],
  COMMIT_UNDECIDED: [{ seen: REVERT, commit: COMMIT }],
  PIN_CHANGED_SINCE: [
    { seen: REVERT, commit: COMMIT, by: REVERT },
    { seen: REVERT, commit: COMMIT, by: REVERT, override: "envs/eu/.argocd-source-web-eu.yaml" },
  ],
  OTHER_REVISION_SEEN: [{ seen: REVERT }, { seen: "", wanted: "abc1234", shortened: true }],
  HYDRATED_NOT_COMPARED: [{}, { hydrated: undefined, compared: "" }],
  HYDRATED_FROM_OLDER: [{ dry: REVERT }],
  HYDRATION_FAILED: [{}, { message: undefined }],
  NOT_HYDRATED: [{ wanted: undefined }, { now: undefined }, { now: COMMIT }],
  SYNC_AWAITS_WINDOW: [{}, { opensAt: "2026-11-21T22:00:00Z" }],
  OPERATION_GOES_ON: [{ phase: "running" }, { phase: "terminating", since: undefined }],
  SYNC_RETRIES: [{}, { of: undefined, message: undefined }, { overdue: true }],
  SYNC_FAILED: [{ phase: "Failed" }, { phase: "Error", message: undefined, spent: true }],
  CLUSTER_UNREACHABLE: [{ againAt: undefined }, { triedAt: undefined, message: undefined, againAt: undefined }, { againAt: failed }],
  SYNC_STATUS: [{ status: "Unknown" }, { status: undefined }],
  OUT_OF_SYNC: [{}, { idle: "open" }, { idle: "unseen" }],
  SYNC_WINDOW_CLOSED: [{}, { opensAt: "2026-11-21T22:00:00Z", manual: true }],
  CONDITION_BAD: [{}, { message: undefined, spent: true }],
  DEGRADED: [{ seenAt: failed }, { since: undefined, seenAt: failed }],
  HEALTH: [{ status: "Progressing" }, { status: undefined, message: undefined }],
  IMAGE_NOT_SHOWN: [{ wanted: "ghcr.io/acme/web:v2", shown: ["ghcr.io/acme/web:v1"] }],
  EARLIER_READ_DIFFERS: [{ by: "uid" }, { by: "resourceVersion" }, { by: "absence" }],

  COLLECTION_LOST: [{}, { advice: { code: "ADVISE_TOKEN" } }],
  NO_ARGOCD_LIST: [{}, { message: undefined }],
  ADVISE_INSTALL: [{ path: "/apis/argoproj.io/v1alpha1/applications" }],
  ADVISE_ROLE: [{}, { namespace: undefined }],
  ADDRESS_UNUSABLE: (["noUrl", "scheme", "password", "unencrypted"] as const).map((one) => ({ problem: one })),
  TOKEN_UNUSABLE: [{ problem: "empty", file: undefined }, { problem: "invalid" }, { problem: { unreadable: "ENOENT" } }],
  KUBECONFIG_UNUSABLE: [{ problem: "none" }, { problem: "noContext" }, { problem: "noAddress" }],
  HOST_STATUS: [{ status: 502 }],
  ANSWER_NO_JSON: [{}, { argocd: true }],
  ANSWER_TOO_LARGE: [{ what: "answer" }, { what: "answer", origin: undefined }, { what: "event" }, { what: "object" }, { what: "head" }],
  ANSWER_BROKEN: [{}, { byte: undefined }],
  ANSWER_OTHER_REVISION: [{ asked: "c".repeat(40), answered: "d".repeat(40) }],
  ACTION_NOT_OFFERED: [{ known: true }, { known: false }],
};
