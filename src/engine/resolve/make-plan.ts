import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { defined } from "../../core/base/defined.ts";
import type { Problem } from "../../core/base/problem.ts";
import type { Plan, Release } from "../../core/plan/plan-types.ts";
import { lostWords } from "../../core/run/targets/target-unseen.ts";
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
import { locateIn, planOver } from "./plan-over.ts";
import type { SeenApplication } from "./targets-select.ts";

export type PlanProblem = Problem;

export type MadePlan =
  | { ok: true; plan: Plan }
  | { ok: false /** The outside cannot be seen now: try again. */; retry: boolean; problems: PlanProblem[] };

/**
 * Plans a release as of now: the fleet and the Applications as the control planes show them, the pins as in the snapshot. Where
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
  const hidden = whyUnseen(rollout, fleet, planes, partial);
  if (hidden !== undefined) return hidden;
  const applications = applicationsOn(planes, fleet, rollout);
  if (applications.length === 0) return noApplications(context, rollout, planes, snapshot, baseBranch);
  const seen = await withGeneratorParams(context, rollout, applications, planes, snapshot, baseBranch);
  const analyses = { builtin: context.analysis?.engine.kind !== "argo-rollouts" };
  const attempt = (branches?: BranchPlaces) =>
    snapshot.with((files) =>
      planOver({ rollout, release, applications: seen, clusters: fleet.clusters, files, analyses, ...defined({ branches }) }),
    );
  let made = await attempt();
  // Only now is it known which branches the pins mean.
  const branches = branchesOf(made).map(({ branch }) => branch);
  if (branches.length > 0) made = await attempt(await branchPlaces(context, release, branches));
  if (made.plan === undefined) return { ok: false, retry: false, problems: made.problems.filter(({ severity }) => severity === "error") };
  return { ok: true, plan: { ...made.plan, warnings: [...lostWarnings(fleet, planes), ...made.plan.warnings] } };
}

function whyUnseen(rollout: Rollout, fleet: Fleet, planes: readonly ControlPlane[], partial: boolean): MadePlan | undefined {
  if (!fleet.known && !canDoWithout(fleet, planes, partial))
    return refuse(rollout, true, fleet.why ?? "the fleet cannot be seen", "the plan is made as soon as it can");
  if (planes.length <= 1 || rollout.source.controlPlanes.length > 0) return undefined;
  const message = `there are ${planes.length} control planes and sourceRef.controlPlane names none`;
  return refuse(rollout, false, message, `name one of ${planes.map((plane) => plane.name).join(", ")}`);
}

function applicationsOn(planes: readonly ControlPlane[], fleet: Fleet, { source }: Rollout): SeenApplication[] {
  const set = source.kind === "ApplicationSet" ? { namespace: source.namespace, name: source.name } : undefined;
  // Of a plane whose first list was not through there may be a part.
  const read = planes.filter((plane) => !fleet.lost.has(plane.name) || isRemembered(plane));
  return read.flatMap((plane) => plane.applications(set).map((view) => ({ controlPlane: plane.name, view })));
}

async function noApplications(
  context: RepoContext,
  rollout: Rollout,
  planes: readonly ControlPlane[],
  snapshot: Snapshot,
  baseBranch: string,
): Promise<MadePlan> {
  const { kind, namespace, name } = rollout.source;
  const files = rollout.pins.flatMap((pin) => ("file" in pin ? [pin.file] : []));
  const set = kind === "ApplicationSet" ? await findApplicationSet(snapshot, rollout.source, files) : undefined;
  const clusters = generatorClusters(planes);
  const yields = set && (await snapshot.with((sync) => renderAt(set, clusters, sync, context.repoURL, baseBranch)));
  const hint =
    yields?.ok === true && yields.applications.length > 0
      ? "Git declares it: wait until Argo CD has synced it"
      : "check sourceRef against the ApplicationSets in Argo CD";
  const limits = limitsOf(
    context.grants,
    planes.map((plane) => plane.name),
  );
  return refuse(rollout, true, `${kind} ${namespace}/${name} has no Application in Argo CD`, limits ?? hint);
}

/** Each at its line of the rollout's file, those that stand in it. */
function located(problems: readonly Problem[], rollout: Rollout, snapshot: Snapshot): Promise<Problem[]> {
  return snapshot.with((files) => problems.map((problem) => locateIn(rollout, files, problem)));
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

/** What the outside must change about the source stands at it. */
function refuse(rollout: Rollout, retry: boolean, message: string, hint: string): MadePlan {
  const code = retry ? "SOURCE_NOT_FOUND" : "SOURCE_REF";
  const path = ["spec", "sourceRef"];
  const problem: Problem = { code, severity: "error", message, hint, file: rollout.file, line: 1, column: 1, path };
  return { ok: false, retry, problems: [problem] };
}
