import type { RenderedApplication } from "../../core/appset/index.ts";
import type { SourceView } from "../../core/argocd/views.ts";
import { isRecord } from "../../core/base/is-record.ts";
import type { Finding, Problem } from "../../core/base/problem.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { Workflow } from "../config-repo/workflow-triggers.ts";
import { silentChecks } from "./lint-outside-checks.ts";
import { ignoredPins, imageUpdater } from "./lint-outside-pins.ts";
import { baseRevisions, generatePaths, notApplied } from "./lint-outside-reads.ts";
import type { ImageUpdaterRef } from "./lint-outside-updaters.ts";

/** An Application that may be the parent of others: what applies a file of the repo to the cluster. */
export interface ParentApplication {
  name: string;
  sources: readonly SourceView[];
  /** Made by an ApplicationSet: no parent, as a rule. */
  owned: boolean;
}

/** What lint looks at outside the rollout's file. All of it may be missing: then nothing is said of it. */
export interface OutsideInput {
  rollout: Rollout;
  /** The ApplicationSet as it stands in Git. */
  set?: { file: string; object: Record<string, unknown> };
  /** What it yields; undefined where it cannot be rendered. */
  rendered?: readonly RenderedApplication[];
  /** Pins by Application name, as resolved. */
  edits: ReadonlyMap<string, readonly Edit[]>;
  /** Places of an Application's spec that change with its pins; undefined: not known. */
  pinPaths?: readonly string[];
  parents: readonly ParentApplication[];
  /** `parents` holds every Application there is. */
  seesAll: boolean;
  /** As Applications name it; undefined: not known. */
  repoURL?: string;
  /** Branch that batches are written to; undefined: not known. */
  base?: string;
  /** Files in the repo. */
  files: number;
  /** ImageUpdaters that the repo declares. */
  updaters?: readonly ImageUpdaterRef[];
  /** Checks that the base branch requires; undefined: not known. */
  required?: readonly { context: string; app?: number }[];
  /** GitHub's, at the base. */
  workflows?: readonly Workflow[];
}

/** Lint looks outside of the file, too (docs/spec.md §9.24). Problems stand at the rollout's `sourceRef` or `pins`; lines are found by their path. */
export function lintOutside(input: OutsideInput): Problem[] {
  const findings = [
    ...setPolicies(input),
    ...autoSync(input),
    ...baseRevisions(input),
    ...ignoredPins(input),
    ...imageUpdater(input),
    ...generatePaths(input),
    ...notApplied(input),
    ...silentChecks(input),
  ];
  return findings.map(({ atKey: _, severity, ...finding }) => ({
    ...finding,
    severity: severity ?? "error",
    file: input.rollout.file,
    line: 1,
    column: 1,
  }));
}

export const AT_SOURCE = ["spec", "sourceRef"];

function setPolicies({ set }: OutsideInput): Finding[] {
  const spec = specOf(set?.object);
  if (set === undefined || spec === undefined) return [];
  const findings: Finding[] = [];
  const strategy = isRecord(spec["strategy"]) ? spec["strategy"]["type"] : undefined;
  if (strategy === "RollingSync")
    findings.push({
      code: "ROLLING_SYNC",
      message: `${set.file}: spec.strategy is RollingSync, which switches auto-sync off and stages the syncs itself`,
      hint: "remove spec.strategy: the rollout's stages take its place",
      path: AT_SOURCE,
    });
  const policy = isRecord(spec["syncPolicy"]) ? spec["syncPolicy"]["applicationsSync"] : undefined;
  if (policy === "create-only" || policy === "create-delete")
    findings.push({
      code: "CREATE_ONLY",
      message: `${set.file}: applicationsSync is ${policy}, so a change in Git never reaches an Application that is there`,
      hint: "write sync or create-update",
      path: AT_SOURCE,
    });
  return findings;
}

/** `automated` of what the set yields, or of its template where it cannot be rendered. */
function autoSync({ set, rendered }: OutsideInput): Finding[] {
  if (set === undefined) return [];
  const off = rendered?.filter((application) => !isAutomated(application.spec)).map((application) => application.metadata.name);
  const template = specOf(set.object)?.["template"];
  const templateOff = isRecord(template) && isRecord(template["spec"]) && !isAutomated(template["spec"]);
  if (off === undefined ? !templateOff : off.length === 0) return [];
  const who = off === undefined || off.length === rendered?.length ? "its Applications have" : `${few(off)} have`;
  return [
    {
      code: "AUTO_SYNC_OFF",
      message: `${set.file}: ${who} no syncPolicy.automated, so every batch would wait for a person to sync it`,
      hint: "add syncPolicy: { automated: {} } to the template",
      path: AT_SOURCE,
    },
  ];
}

function isAutomated(spec: Record<string, unknown>): boolean {
  const policy = spec["syncPolicy"];
  const automated = isRecord(policy) ? policy["automated"] : undefined;
  return isRecord(automated) && automated["enabled"] !== false;
}

export function specOf(object: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  const spec = object?.["spec"];
  return isRecord(spec) ? spec : undefined;
}

export function few(names: readonly string[]): string {
  return names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}
