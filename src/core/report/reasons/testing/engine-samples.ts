import type { EngineReasons } from "../../../reasons/engine.ts";
import type { Problem } from "../../../reasons/problems/problem.ts";

const problem: Problem = {
  ...{ code: "INVENTORY_NOT_FOUND", name: "clusters.yaml", severity: "error", file: "rollouts/a.yaml", line: 3, column: 5, path: [] },
};

/** Fields that only reasons of the engine have. */
export const ENGINE_FIELDS: Readonly<Record<string, unknown>> = {
  ...{
    mebibytes: 32,
    said: "no route to host",
    set: "argocd/payments",
    files: ["a.yaml", "b.yaml"],
    follows: "env/eu-1",
    changed: "values.yaml",
    object: "ConfigMap argocd/all",
  },
  ...{ declaredIn: "apps/payments.yaml", fields: ["settle", "windows"], problem, planes: ["hub", "edge"], forbidden: false, how: "now" },
  ...{
    values: { version: "v1.4.2" },
    limit: 5000,
    rounds: 2,
    owners: 5,
    webhooks: 2,
    remaining: 12,
    resetAt: Date.parse("2026-11-21T10:00:00Z"),
    everyMs: 60_000,
  },
  ...{
    range: "1.x",
    field: "spec.project",
    places: ["spec.source.targetRevision", "spec.project"],
    pinFile: "values.yaml",
    from: "v1.4.0",
    number: 7,
  },
};

type Variants = {
  readonly [Code in keyof EngineReasons]?: readonly {
    readonly [Field in keyof EngineReasons[Code]]?: EngineReasons[Code][Field] | undefined;
  }[];
};

/** Where the engine says a code in several ways. */
export const ENGINE_VARIANTS: Variants = {
  GUARD_UNDECLARED: [{ files: [] }, { plane: undefined, files: [] }, { files: ["eu/set.yaml", "us/set.yaml"] }],
  GUARD_PIN_NOT_LIVE: [{ by: "kustomize" }, { by: "helm" }, { by: "unknown" }],
  GUARD_SET_DIFFERS: [{ parent: undefined }, { parent: "fleet" }],
  PARENT_EMPTY: [{ with: "base" }, { with: "batch" }],
  PARENT_CHANGES: [{ does: "changes" }, { does: "adds" }, { does: "removes" }],
  GUARD_SET_MADE: [{ by: "kustomize" }, { by: "helm" }, { by: "unknown" }],
  GUARD_UNRENDERED: [{ problem: { where: "spec.goTemplate", code: "DUPLICATE_NAME", name: "web" } }, { problem: undefined }],
  GUARD_DELETES: [{}, { applications: ["a", "b", "c", "d", "e"] }],
  GUARD_CHANGES: [{}, { follows: undefined }],
  GENERATE_FAILED: [{ forbidden: true }, { forbidden: false }],
  BRANCH_APART: [{ tip: { author: "bob", subject: "by hand" } }, { tip: undefined }],
  PLANE_UNSEEN_NOW: [{}, { because: undefined }],
  INVENTORY_UNREADABLE: [{}, { problem: undefined }],
  ROLLOUTS_UNREADABLE: [{ how: "notAllowed" }, { how: "failed" }, { how: "now" }],
  PLAN_KILLED: [{ by: "memory" }],
  UNSTAGED_UNTOLD: [
    ...[{ kind: "Unasked" }, { kind: "Fork" }, { kind: "Behind" }, { kind: "Missing" }, { kind: "Empty" }, { kind: "Generators" }],
    { kind: "Spec" },
  ] as const,
  UNSTAGED_PIN: [{}, { from: undefined, to: undefined }],
};
