import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { defined } from "../../../core/base/defined.ts";
import { readOrNull } from "../../../core/base/repo-files.ts";
import { nearPath } from "../../../core/base/slip.ts";
import { type NextBatch, nextBatch } from "../../../core/plan/next.ts";
import type { Cluster, Plan, Release } from "../../../core/plan/plan-types.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import type { RulesNow } from "../../../core/report/plan/rules-data.ts";
import { parseRepoConfig } from "../../../core/spec/parse/config.ts";
import { freezesOf, SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { otherBase } from "../../../engine/config-repo/base-branch.ts";
import { readRelease } from "../../../engine/config-repo/release.ts";
import type { SeenApplication } from "../../../engine/resolve/draft.ts";
import { locateIn, planOver } from "../../../engine/resolve/plan-over.ts";
import type { Checkout } from "../lint/lint-checkout.ts";
import { defaultBranchOf } from "../lint/origin.ts";
import { strangeKeysIn, strangersIn } from "./named-clusters.ts";
import { fleetOf } from "./plan-inputs.ts";

export interface PlanMade {
  /** Absent where there are errors. */
  plan?: Plan;
  /** Those it was planned over; with the plan. */
  clusters?: readonly Cluster[];
  /** Those that were found of its source. */
  applications?: readonly SeenApplication[];
  /** There are no clusters but these, and all have their names. */
  whole?: boolean;
  next: NextBatch | null;
  /** Errors and warnings; the plan's own warnings are in the plan. */
  problems: Problem[];
}

/** Plans a rollout over a checkout and, where given, an inventory. `to` overrides the release's values by name. */
export function makePlan(
  rollout: Rollout,
  checkout: Checkout,
  inventory: Inventory | undefined,
  to: Readonly<Record<string, string>>,
): PlanMade {
  const problems: Problem[] = otherBase(rollout, defaultBranchOf(checkout));
  const release = releaseOf(rollout, checkout, to, problems);
  const fleet = fleetOf(rollout, checkout, inventory);
  problems.push(...fleet.problems);
  const { applications, clusters } = fleet;
  const made = planOver({ rollout, applications, clusters, files: checkout, ...defined({ release }) });
  problems.push(...strangersIn(rollout, checkout, made.clusters, fleet.whole), ...strangeKeysIn(rollout, checkout, made.clusters));
  const placed = problems.map((problem) => (problem.line > 1 ? problem : locateIn(rollout, checkout, problem)));
  const located = [...placed, ...made.problems];
  if (made.plan === undefined || located.some((problem) => problem.severity === "error"))
    return { applications, next: null, problems: located };
  const next = nextBatch(made.plan, rollout, made.targets, made.clusters);
  return { plan: made.plan, clusters: made.clusters, applications, whole: fleet.whole, next, problems: located };
}

/** A commit or a tag that only Git's history tells: a checkout is planned with a name for it, so that its pins are looked at. */
function standIn({ release }: Rollout): { version: string | undefined } {
  if (release?.kind === "commit") return { version: "merge-commit" };
  return { version: release?.kind === "tag" ? `newest-tag-in ${release.range}` : undefined };
}

function releaseOf(rollout: Rollout, checkout: Checkout, to: Readonly<Record<string, string>>, problems: Problem[]): Release | undefined {
  const given = Object.keys(to).length > 0;
  if (rollout.release === undefined) return given ? { values: { ...to }, attempt: 1 } : undefined;
  if (given && (rollout.release.kind !== "values" || Object.keys(rollout.release.values).every((name) => to[name] !== undefined))) {
    return { values: { ...to }, attempt: rollout.release.attempt };
  }
  try {
    const read = readRelease(rollout, (path) => checkout.read(path), standIn(rollout));
    if (read.ok) return { ...read.release, values: { ...read.release.values, ...to } };
    const { file, why, line, column } = read;
    problems.push({
      code: "RELEASE_NOT_FOUND",
      ...(why.kind === "NoFile" ? { ...why, near: nearPath(why.name, checkout.paths()) } : why),
      severity: "error",
      file: line === undefined ? rollout.file : file,
      line: line ?? 1,
      column: column ?? 1,
      path: ["spec", "release"],
    });
  } catch (error) {
    problems.push({
      code: "RELEASE_NOT_FOUND",
      kind: "Unreadable",
      said: error instanceof Error ? error.message : "unknown reason",
      severity: "error",
      file: rollout.file,
      line: 1,
      column: 1,
      path: ["spec", "release"],
    });
  }
  return undefined;
}

/** As the checkout has them; what the base branch asks of a pull request only GitHub knows. */
export function rulesNow(checkout: Checkout): RulesNow {
  const { limits, freezes } = parseRepoConfig(readOrNull(checkout, SETTINGS_FILE), SETTINGS_FILE).bounds;
  return defined({ now: Date.now(), limits, freezes: freezesOf(freezes) });
}
