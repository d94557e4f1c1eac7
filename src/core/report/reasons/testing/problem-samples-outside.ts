import type { AnalysisProblems } from "../../../reasons/problems/analysis.ts";
import type { OverLimit, PlanProblems, SharedUnit } from "../../../reasons/problems/plan.ts";
import type { RepoProblems } from "../../../reasons/problems/repo.ts";
import type { SetProblems } from "../../../reasons/problems/set.ts";
import type { Samples } from "./copy-samples.ts";

const unit: SharedUnit = { names: ["eu-1", "eu-2"], count: 2, pin: { path: "image.tag", file: "values.yaml" } };
const over: OverLimit = { setting: "limits.clusters", have: 4, most: 2 };
const LOCKED = { locks: ["charts/eu-1/Chart.lock"], of: 1 };
const WEB = { applications: ["web-eu"], files: ["envs/eu/kustomization.yaml"] };
const KEYED = { stage: "all", topologyKey: "regoin", names: unit.names, of: 2, near: "region" };
const EARLY = { values: ["v1.4.2"], clusters: ["eu-1", "eu-2"], attempt: 2 };
const SET = "appsets/payments.yaml";
const PAYMENTS = { kind: "ApplicationSet", namespace: "argocd", name: "payments" } as const;
const APPLICATION = { kind: "Application", namespace: "argocd", name: "payments" } as const;
const SELECTED = { ...APPLICATION, name: "", selector: { matchLabels: { app: "shop" }, matchExpressions: [] } };

/** Of plans, of what stands outside of a rollout's file, and of analyses. */
export const OUTSIDE_SAMPLES: Samples<keyof (PlanProblems & RepoProblems & SetProblems & AnalysisProblems)> = {
  UNIT_SPANS_STAGES: [{ stage: "canary", unit }],
  UNIT_TOO_LARGE: [{ stage: "canary", unit, size: 1 }],
  UNIT_TOPOLOGY: [{ stage: "canary", unit: { names: ["a", "b", "c", "d", "e"], count: 9 }, topologyKey: "region" }],
  LIMITS_TOO_LOW: [
    { stage: "all", unit: { names: ["eu-1"], count: 1 }, over: { setting: "limits.targets", have: 3, most: 2 }, others: 0 },
    { stage: "all", unit, over, others: 2 },
    { stage: "all", unit, over: { ...over, setting: "spec.limits.selected[0].clusters", only: { selector: "env=prod" } }, others: 0 },
  ],
  WEIGHT_PIN_SHARED: [{ clusters: ["eu-1", "eu-2"], pinPath: "weight", pinFile: "values.yaml", values: ["2", "1"] }],
  UNKNOWN_CLUSTER: [
    { kind: "Target", application: "payments-eu-1", cluster: "eu-1" },
    { kind: "Destination", destination: "eu-1" },
    { kind: "Undeclared", destination: "eu-11", inventory: "clusters.yaml", near: "eu-1" },
  ],
  TEMPLATE_VALUE: [
    { variable: "cluster.labels.region" },
    { variable: "params.x" },
    { variable: "release.values.x" },
    { variable: "params.clsuter", near: "params.cluster" },
  ],
  PIN_FILE_MISSING: [{ pinFile: "sets/a.yaml" }, { pinFile: "sets", isFolder: true }, { pinFile: "sets/b.yaml", near: "sets/a.yaml" }],
  PIN_FILE_UNREADABLE: [{ pinFile: "a.yaml", said: "it is, or is behind, a symbolic link, and the bot follows none" }],
  RELEASE_COMMIT: [{ version: "v9" }, { version: undefined }],
  BRANCH_NAME: [{ branch: "env/eu 1" }, { branch: "main", ours: true }],
  BRANCH_MISSING: [{ branch: "env/eu-1" }],
  NO_TARGETS: [{ source: PAYMENTS }, { source: APPLICATION }, { source: SELECTED }],
  EMPTY_STAGE: [
    { stage: "canary", selector: "tier=canary" },
    { stage: "canary", selector: undefined },
  ],
  UNKNOWN_LABEL: [
    { stage: "canary", key: "area", value: "emae", near: "emea" },
    { stage: "canary", key: "raea", near: "area" },
    { stage: "canary", key: "raea", near: "area", git: true },
    { setting: "freezes[0]", key: "env", value: "prd", near: "prod" },
    { setting: "spec.windows[0]", key: "env", value: "gold" },
  ],
  NOT_KEPT_APART: [KEYED, { ...KEYED, of: 12, near: undefined }, { ...KEYED, names: ["eu-1"], of: 12 }],
  UNKNOWN_NAME: [
    { kind: "Fleet", stage: "canary", name: "us-east-1-z", near: "us-east-1-a", known: ["us-east-1-a"], of: 1 },
    { kind: "Git", stage: "canary", name: "hub", known: ["us-east-1-a", "us-east-1-b"], of: 12 },
  ],
  GOES_DOWN: [
    { moves: [{ application: "payments-eu-1", from: "3.0", to: "2.0" }], count: 1 },
    { moves: ["a", "b", "c", "d"].map((one) => ({ application: `payments-${one}`, from: "v3.0.0", to: "v2.9.1" })), count: 12 },
  ],
  REACHES_NOBODY: [{ of: 12 }, { of: 12, key: "regoin", near: "region" }, { of: 12, key: "env=prd", near: "env=prod" }],
  COVERAGE: [{ clusters: ["us-east-1-d"], of: 12 }],
  IN_CLUSTER: [{ clusters: ["in-cluster"] }],
  UNKNOWN_PAIR: [
    { stage: "all", name: "eu-1-standbi", near: "eu-1-standby" },
    { stage: "all", name: "x" },
  ],
  MANY_BATCHES: [
    { batches: 60, stepped: false },
    { batches: 90, stepped: true },
  ],
  STAGES_IN_BOTH: [{ stages: ["dev", "production"], names: ["a", "b"] }],
  BATCHES_CUT: [{ stage: "everywhere else", over, batches: 6, uncut: 3 }],
  LABELS_GUESSED: [{ given: false }, { given: true }],
  SYNC_NOT_GRANTED: [{ planes: ["hub-eu"] }],
  PROOF_UNREADABLE: [{ planes: ["hub-eu"] }],
  RELEASE_BEFORE_ADOPTION: [EARLY, { ...EARLY, clusters: ["eu-1"] }],
  BASE_NOT_DEFAULT: [{ base: "live", defaultBranch: "main" }],
  BASE_REVISION: [
    { kind: "Generator", set: SET, revision: "release", base: "main" },
    { kind: "Parent", parent: "root", set: SET, revision: "live", base: "main" },
    { kind: "Source", applications: ["a", "b", "c", "d"], revision: "live", base: "main" },
    { kind: "OtherRepo", applications: ["a"], reads: "https://github.com/acme/old", repoURL: "https://github.com/acme/fleet" },
  ],
  CHART_LOCKED: [LOCKED, { ...LOCKED, of: 3 }],
  HYDRATED_ELSEWHERE: [
    { applications: ["web-eu-1"], shared: undefined },
    { applications: ["web-eu-1", "web-us-1"], shared: "github.com/acme/rendered env/prod" },
  ],
  NO_GENERATE_PATHS: [
    { applications: 340, files: 12_000, annotation: "argocd.argoproj.io/manifest-generate-paths", right: ".;/envs/eu-1.yaml" },
  ],
  PATHS_NOT_COVERED: [
    {
      applications: ["web-eu", "web-us"],
      annotation: "argocd.argoproj.io/manifest-generate-paths",
      changed: "a",
      paths: ".",
      right: ".;/a",
    },
  ],
  PIN_WITHOUT_EFFECT: [WEB, { ...WEB, override: "envs/eu/.argocd-source-web-eu.yaml" }],
  PIN_IMAGES_DIFFER: [{ pinPath: "images[0]", images: ["shop", "proxy"].map((image) => ({ image, application: `${image}-1` })) }],
  NOT_APPLIED: [{ set: SET }],
  PARENT_BY_HAND: [{ parent: "apps", set: SET }],
  SET_AMBIGUOUS: [{ set: "payments", files: [SET, "old/payments.yaml"] }],
  SETS_OVERLAP: [{ applications: ["payments-eu-1"], sets: ["payments", "ledger"] }],
  SET_FED: [{ set: "payments", template: "fleet/templates/set.yaml", pinned: "fleet/values.yaml" }],
  APPLICATION_CHANGED: [{ applications: ["shop-dev", "shop-prod"], folder: "apps/dev", by: "namePrefix" }],
  BATCH_REFUSED: [{ applications: ["payments-eu-1"], said: "ApplicationSet argocd/payments is not in hub" }],
  READ_OUTSIDE: [
    { changed: "values/shared.yaml", application: "ledger", others: 0 },
    { changed: "values/shared.yaml", application: "ledger", others: 2 },
  ],
  PARENT_READS: [{ changed: "fleet/values.yaml", parent: "fleet" }],
  SET_BROKEN: [
    { kind: "Yaml", set: "payments", said: "Flow sequence must end with a ]" },
    { kind: "Json", set: "payments", said: "Missing , or : between flow map entries" },
    { kind: "Slip", set: "payments", slip: { kind: "BracketOpen", sign: "[", close: "]" } },
    { kind: "Render", set: SET, problem: { code: "INVALID", kind: "NoTemplate", where: "spec.template" } },
  ],
  ROLLING_SYNC: [{ set: SET }],
  CREATE_ONLY: [{ set: SET, policy: "create-only" }],
  AUTO_SYNC_OFF: [
    { set: SET, applications: undefined },
    { set: SET, applications: ["payments-eu-1"] },
  ],
  IGNORED_PIN: [{ set: SET, ignored: "/spec/source/targetRevision", change: "spec.source.targetRevision" }],
  IMAGE_UPDATER: [
    {
      kind: "Annotation",
      set: SET,
      applications: ["payments-eu-1"],
      annotation: "argocd-image-updater.argoproj.io/image-list",
    },
    { kind: "Annotation", set: undefined, applications: ["payments-eu-1"], annotation: "x/image-list" },
    { kind: "Resource", declaredIn: "updaters.yaml", name: "images", applications: ["payments-eu-1"] },
  ],
  KARGO_WRITES: [
    { kind: "Annotation", set: SET, applications: ["payments-eu-1"], annotation: "kargo.akuity.io/authorized-stage" },
    { kind: "Step", declaredIn: "kargo/dev.yaml", by: "Stage", name: "dev", step: "yaml-update", written: "envs/dev/values.yaml" },
  ],
  RENOVATE_WRITES: [
    { declaredIn: "renovate.json", manager: "kustomize", written: "envs/dev/kustomization.yaml", change: "images[0].newTag" },
  ],
  SILENT_CHECK: [{ check: "ci", changed: ["values/eu-1.yaml"], workflows: [".github/workflows/ci.yaml"] }],
  RELEASE_NOT_FOUND: [
    { kind: "Unreadable", said: 'it leads out of the repo by ".."' },
    { kind: "Unsaid", rollout: "payments" },
    { kind: "NoCommit" },
    { kind: "Empty", at: "image.tag" },
    { kind: "NoTag", range: "^1.4", prefix: "payments-" },
    { kind: "NoFile", name: "releases/x.yaml", rollout: "payments", rolloutFile: "rollouts/payments.yaml" },
    { kind: "NoFile", name: "release/x.yaml", rollout: "payments", rolloutFile: "rollouts/payments.yaml", near: "releases/x.yaml" },
    { kind: "Pin", because: { code: "PIN_NOT_FOUND", kind: "Empty", what: "value", pinPath: "image.tag", writable: true } },
  ],
  SOURCE_NOT_FOUND: [
    { kind: "NotInRepo", source: PAYMENTS, inventory: false },
    { kind: "NotInRepo", source: PAYMENTS, inventory: false, near: "ApplicationSet argocd/payment" },
    { kind: "NotInRepo", source: APPLICATION, inventory: true },
    { kind: "NotInRepo", source: { ...SELECTED, kind: "ApplicationSet" }, inventory: true, unread: { file: "all.yaml", bytes: 5e7 } },
    { kind: "NotInArgo", source: { ...PAYMENTS, name: "", names: ["a", "b"] }, declared: true, grants: undefined },
    { kind: "NotInArgo", source: PAYMENTS, declared: false, grants: undefined, near: "payment" },
    { kind: "Fleet", said: undefined },
  ],
  CONTROL_PLANE_NOT_GRANTED: [{ granted: ["hub-eu"], asked: "hub-us" }, { granted: [] }],
  PROJECT_NOT_GRANTED: [{ controlPlane: "hub-eu", projects: ["payments-*"] }],
  PLANE_LOST: [
    {
      said: "control plane hub-us cannot be seen since 2026-11-21 14:05:00 UTC: the token is not accepted: give one that has not expired",
      clusters: 40,
    },
    { said: "control plane hub-us cannot be seen since 2026-11-21 14:05:00 UTC: forbidden", clusters: undefined },
  ],
  REVISION_UNRESOLVED: [
    { kind: "Absent", revision: "v1.4.2", repo: "github.com/acme/fleet" },
    { kind: "Hidden", revision: "v1.4.2", repo: "git.example.com/acme/app" },
  ],
  IN_QUARANTINE: [{ clusters: ["eu-4"] }],
  METHOD_FORBIDDEN: [{ branch: "main", method: "squash", allowed: ["merge", "rebase"] }],
  BASE_WANTS_PERSON: [
    { branch: "main", batches: 9, reviews: 2, codeOwners: true, lastPush: true },
    { branch: "main", batches: 9, reviews: 0, codeOwners: true, owners: { names: ["@acme/platform"], batches: 4 }, lastPush: false },
    { branch: "main", batches: 1, reviews: 1, codeOwners: false, lastPush: false },
  ],
  BASE_WANTS_SIGNED: [{ branch: "main", batches: 9 }],
  BRANCHES_UNPROTECTED: [{ bare: [{ branch: "stagecoach/journal", lacks: ["creation", "update", "deletion"] }] }],
  RULES_PASSED_BY: [{ branch: "stagecoach/journal", who: ["everybody with write", "team 42"] }],
  APP_PASSES_NOT: [{ branch: "stagecoach/journal" }],
  CHECK_UNBOUND: [{ branch: "main", checks: ["stagecoach/gate"] }],
  TEAM_UNSEEN: [{ teams: ["srre"] }],
  DEPENDS_NOWHERE: [{ dependency: "ledger", rollout: "payments" }],
  WINDOW_CLOSED: [
    { rule: { kind: "deny", schedule: "0 0 20 12 *", timeZone: "UTC" }, until: "2027-01-07T00:00:00.000Z" },
    { rule: { kind: "allow", schedule: "0 9 * * 1-5", timeZone: "UTC" }, until: undefined },
    { rule: undefined, until: undefined },
  ],
  UNSTAGED: [{}],
  ANALYSIS_ROLLING: [{}],
  ANALYSIS_ARG: [
    { kind: "Unknown", name: "hots", known: ["host"], near: "host" },
    { kind: "Unknown", name: "x", known: [] },
    { kind: "NoValue", name: "host" },
    { kind: "Twice", name: "host" },
    { kind: "Param", variable: "params.x" },
    { kind: "Param", variable: "application.path" },
    { kind: "Vague", variable: "application.labels.env", needs: "application" },
    { kind: "OfCluster", variable: "cluster.name", whole: ["AfterStage"] },
  ],
  ANALYSIS_TEMPLATE: [
    { kind: "None", templateKind: "AnalysisTemplate", name: "webchek", known: ["webcheck"], near: "webcheck" },
    { kind: "None", templateKind: "AnalysisTemplate", name: "x", known: [], perhaps: true },
    { kind: "NoFile", name: "analysis/x.yaml" },
    { kind: "SameMetric", name: "latency" },
    { kind: "Nothing" },
    { kind: "Circle", names: ["a", "b", "a"] },
    { kind: "Unreadable", templateKind: "AnalysisTemplate", name: "web", said: "Invalid input" },
  ],
  ANALYSIS_VALUE: [
    { kind: "FewerThanLimits", count: 1, least: 3 },
    { kind: "NotWhole", field: "count", given: "1.5", least: 0, metric: "latency" },
    { kind: "Undecided" },
    { kind: "FewerThanInconclusive", count: 3, limit: 4 },
    { kind: "NoInterval", count: 3 },
    { kind: "NoMetric", rule: "dryRun", pattern: "x", known: ["webcheck"] },
    { kind: "BadPattern", rule: "dryRun", said: "error parsing regexp: missing closing ): `(`", most: 200 },
    { kind: "BadPattern", rule: "dryRun", said: undefined, most: 200 },
    { kind: "Namespace", namespace: "globex-analyses" },
    { kind: "Refused", said: "metrics is required" },
  ],
  ANALYSIS_EMPTY: [{}],
  ANALYSIS_DUPLICATE: [{ name: "webcheck" }],
  ANALYSIS_UNKNOWN_ARG: [{ name: "hots" }, { name: "hots", near: "host" }, { name: "hots", metric: "latency" }],
  ANALYSIS_PROVIDER: [{ kind: "Provider", provider: "datadog", known: ["web", "prometheus", "job"] }, { kind: "Sigv4" }],
  ANALYSIS_CONDITION: [
    { field: "successCondition", because: { code: "EXPR_UNKNOWN_NAME", name: "results", at: 0 } },
    { field: "successCondition", because: { code: "EXPR_UNKNOWN_NAME", name: "results", at: 0 }, metric: "latency" },
  ],
  ANALYSIS_JSONPATH: [{ because: { code: "PATH_SEVERAL", path: "{range .items[*]}" } }],
  ANALYSIS_SECRET: [{ name: "token", secret: "web/token" }],
  ANALYSIS_ENDLESS: [
    { metric: "webcheck", ofStep: false },
    { metric: "webcheck", ofStep: true },
  ],
};
