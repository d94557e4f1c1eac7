import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { lintAnalyses } from "../../core/analysis/lint.ts";
import type { Problem } from "../../core/base/problem.ts";
import { plan } from "../../core/plan/plan.ts";
import type { Plan, Release } from "../../core/plan/plan-types.ts";
import { measuresAnything } from "../../core/run/checks/step-analysis.ts";
import { lostWords } from "../../core/run/targets/target-unseen.ts";
import { locateInRollout } from "../../core/spec/parse/locate.ts";
import { parseRepoConfig } from "../../core/spec/parse/parse.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { findApplicationSet, generatorClusters, renderAt } from "../config-repo/appset-in-git.ts";
import { withGeneratorParams } from "../config-repo/generator-params.ts";
import { declaredAt } from "../config-repo/inventory.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { branchesOf } from "../round/act/branch-moves.ts";
import type { RepoContext } from "../round/context.ts";
import { limitsOf } from "../round/observe/grants.ts";
import { type BranchPlaces, branchPlaces } from "./branch-release.ts";
import { clustersOf, type Fleet, isRemembered, planesFor } from "./fleet.ts";
import { resolveTargets } from "./targets.ts";

export type PlanProblem = Problem;

export type MadePlan =
  | { ok: true; plan: Plan }
  | { ok: false /** The outside cannot be seen now: try again. */; retry: boolean; problems: PlanProblem[] };

/**
 * The plan of a release as of now: the fleet and the Applications as the control planes show them, the pins as in the snapshot. Where
 * one of several planes cannot be read now, its part is planned as it was last read, with a warning; one that was never
 * read since the start leaves the plan half, which is a plan to look at (`partial`) and none to run.
 */
export async function makePlan(
  context: RepoContext,
  rollout: Rollout,
  release: Release,
  snapshot: Snapshot,
  baseBranch: string,
  { partial = false }: { partial?: boolean } = {},
): Promise<MadePlan> {
  const names = rollout.source.controlPlanes;
  const declared = await declaredAt(snapshot, rollout);
  if (declared?.ok === false) return { ok: false, retry: false, problems: await located(declared.problems, rollout, snapshot) };
  const fleet = clustersOf(context, names, { remembered: true, declared });
  const planes = planesFor(context, names);
  if (!fleet.known && !canDoWithout(fleet, planes, partial))
    return refuse(rollout, true, fleet.why ?? "the fleet cannot be seen", "the plan is made as soon as it can");
  if (planes.length > 1 && names.length === 0) {
    return refuse(
      rollout,
      false,
      `there are ${planes.length} control planes and sourceRef.controlPlane names none`,
      `name one of ${planes.map((p) => p.name).join(", ")}`,
    );
  }
  // Of a plane whose first list was not through there may be a part.
  const read = planes.filter((plane) => !fleet.lost.has(plane.name) || isRemembered(plane));
  const applications = read.flatMap((plane) =>
    (rollout.source.kind === "ApplicationSet"
      ? plane.applications({ namespace: rollout.source.namespace, name: rollout.source.name })
      : plane.applications()
    ).map((view) => ({ controlPlane: plane.name, view })),
  );
  if (applications.length === 0) {
    const set =
      rollout.source.kind === "ApplicationSet"
        ? await findApplicationSet(
            snapshot,
            rollout.source,
            rollout.pins.flatMap((pin) => ("file" in pin ? [pin.file] : [])),
          )
        : undefined;
    const yields =
      set === undefined
        ? undefined
        : await snapshot.with((files) => renderAt(set, generatorClusters(planes), files, context.repoURL, baseBranch));
    const hint =
      yields?.ok === true && yields.applications.length > 0
        ? "Git declares it: wait until Argo CD has synced it"
        : "check sourceRef against the ApplicationSets in Argo CD";
    const limits = limitsOf(
      context.grants,
      planes.map((plane) => plane.name),
    );
    return refuse(
      rollout,
      true,
      `${rollout.source.kind} ${rollout.source.namespace}/${rollout.source.name} has no Application in Argo CD`,
      limits ?? hint,
    );
  }
  const seen = await withGeneratorParams(context, rollout, applications, planes, snapshot, baseBranch);
  const resolve = (branches?: BranchPlaces) =>
    snapshot.with((files) =>
      resolveTargets({
        rollout,
        release,
        applications: seen,
        clusters: fleet.clusters,
        readFile: (path) => files.read(path),
        ...(branches === undefined ? {} : { branches }),
      }),
    );
  let resolved = await resolve();
  // Only now is it known which branches the pins mean.
  const branches = branchesOf(resolved).map(({ branch }) => branch);
  if (branches.length > 0) resolved = await resolve(await branchPlaces(context, release, branches));
  const measured = await analysisProblems(context, rollout, snapshot);
  const errors = [...resolved.problems, ...measured].filter((problem) => problem.severity === "error");
  if (errors.length > 0) return { ok: false, retry: false, problems: errors };
  const { limits } = parseRepoConfig(await snapshot.read(SETTINGS_FILE), SETTINGS_FILE).bounds;
  const made = plan({ rollout, release, clusters: resolved.clusters, targets: resolved.targets, limits });
  if (made.ok) return { ok: true, plan: { ...made.plan, warnings: [...lostWarnings(fleet, planes), ...made.plan.warnings] } };
  return { ok: false, retry: false, problems: await located(made.problems, rollout, snapshot) };
}

/** Each at its line of the rollout's file, those that stand in it. */
function located(problems: readonly Problem[], rollout: Rollout, snapshot: Snapshot): Promise<Problem[]> {
  return snapshot.with((files) =>
    problems.map((problem) => (problem.file === rollout.file ? locateInRollout(problem, rollout, (path) => files.read(path)) : problem)),
  );
}

/** Some plane can be read, and the others could before: nobody is left out of the plan without a word. */
function canDoWithout(fleet: Fleet, planes: readonly ControlPlane[], partial: boolean): boolean {
  if (fleet.lost.size === 0 || fleet.lost.size === planes.length) return false;
  return partial || planes.every((plane) => !fleet.lost.has(plane.name) || isRemembered(plane));
}

function lostWarnings(fleet: Fleet, planes: readonly ControlPlane[]): Plan["warnings"] {
  return planes.flatMap((plane) => {
    const lost = fleet.lost.get(plane.name);
    if (lost === undefined) return [];
    const clusters = fleet.clusters.filter((cluster) => cluster.controlPlane === plane.name).length;
    const known = isRemembered(plane)
      ? `its ${clusters} clusters are planned as they were last read, and batches with one of them wait until it is back`
      : "it was not read since the start, so its clusters are missing here, and no run starts before it is back";
    return [{ code: "PLANE_LOST", message: `${lostWords(plane.name, lost)}; ${known}` }];
  });
}

/** Analyses that could never be run are found before anything moves. */
async function analysisProblems(context: RepoContext, rollout: Rollout, snapshot: Snapshot): Promise<Problem[]> {
  if (!rollout.stages.some(measuresAnything)) return [];
  const builtin = context.analysis?.engine.kind !== "argo-rollouts";
  return snapshot.with((files) =>
    lintAnalyses(rollout, files, { builtin }).map((problem) =>
      problem.file === rollout.file ? locateInRollout(problem, rollout, (path) => files.read(path)) : problem,
    ),
  );
}

/** What the outside must change about the source stands at it. */
function refuse(rollout: Rollout, retry: boolean, message: string, hint: string): MadePlan {
  const code = retry ? "SOURCE_NOT_FOUND" : "SOURCE_REF";
  const path = ["spec", "sourceRef"];
  const problem: Problem = { code, severity: "error", message, hint, file: rollout.file, line: 1, column: 1, path };
  return { ok: false, retry, problems: [problem] };
}
