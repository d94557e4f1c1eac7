import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { nearest } from "../../core/base/nearest.ts";
import type { Cluster, Plan, Release } from "../../core/plan/plan-types.ts";
import { selectorTypos } from "../../core/plan/selector-typos.ts";
import { type Problem, type ProblemReason, problemIn } from "../../core/reasons/problems/problem.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import { lostWords } from "../../core/run/targets/unseen.ts";
import type { Rollout, SourceRef } from "../../core/spec/rollout.ts";
import { findApplicationSet, generatorClusters } from "../config-repo/appset-in-git.ts";
import { withGeneratorParams } from "../config-repo/generator-params.ts";
import { declaredAt } from "../config-repo/inventory.ts";
import { renderApart } from "../config-repo/render-set.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { branchesOf } from "../round/act/branch-moves.ts";
import type { RepoContext } from "../round/context.ts";
import { limitsOf } from "../round/observe/grants.ts";
import { type BranchPlaces, branchPlaces } from "./branch-release.ts";
import { applicationsOf, applicationsOn, type SeenApplication } from "./draft.ts";
import { clustersOf, type Fleet, isRemembered, planesFor } from "./fleet.ts";
import { locateIn, planOver } from "./plan-over.ts";
import { atName, setRef } from "./source-sets.ts";

type PlanProblem = Problem;

export type MadePlan =
  /** `clusters`: those that its targets are on, with their labels. */
  | { ok: true; plan: Plan; clusters: readonly Cluster[] }
  | { ok: false /** The outside cannot be seen now: try again. */; retry: boolean; problems: PlanProblem[] };

/**
 * Plans a release as of now: the fleet and the Applications as the control planes show them, the pins as in the snapshot. Where
 * one of several planes cannot be read now, its part is planned as it was last read, with a warning; one that was never
 * read since the start leaves the plan half, which is a plan to look at (`partial`) and none to run.
 */
export type MakePlan = (
  rollout: Rollout,
  release: Release,
  snapshot: Snapshot,
  baseBranch: string,
  options?: { partial?: boolean },
) => Promise<MadePlan>;

type Context = Pick<RepoContext, "planes" | "grants" | "mirror" | "analysis" | "repoURL" | "journalBranch">;

export function openPlanner(context: Context): MakePlan {
  const analyses = { builtin: context.analysis?.engine.kind !== "argo-rollouts" };
  return async (rollout, release, snapshot, baseBranch, { partial = false } = {}) => {
    const names = rollout.source.controlPlanes;
    const declared = await declaredAt(snapshot, rollout);
    if (declared?.ok === false) return { ok: false, retry: false, problems: await located(declared.problems, rollout, snapshot) };
    const fleet = clustersOf(context, names, { remembered: true, declared });
    const planes = planesFor(context.planes, names);
    const blind = rollout.proof === "content" ? planes.filter((plane) => plane.content === undefined).map(({ name }) => name) : [];
    if (blind.length > 0) {
      const problem = problemIn(rollout.file, { code: "PROOF_UNREADABLE", planes: blind }, ["spec", "proof"]);
      return { ok: false, retry: false, problems: await located([problem], rollout, snapshot) };
    }
    const mute = planes.filter((plane) => plane.sync === undefined).map(({ name }) => name);
    const asking = rollout.stages.findIndex(({ sync }) => sync === "Request");
    if (asking >= 0 && mute.length > 0) {
      const problem = problemIn(rollout.file, { code: "SYNC_NOT_GRANTED", planes: mute }, ["spec", "stages", asking, "sync"]);
      return { ok: false, retry: false, problems: await located([problem], rollout, snapshot) };
    }
    const hidden = whyUnseen(rollout, fleet, planes, partial);
    if (hidden !== undefined) return hidden;
    // Of a plane whose first list was not through there may be a part.
    const applications = applicationsOn(
      planes.filter((plane) => !fleet.lost.has(plane.name) || isRemembered(plane)),
      rollout,
    );
    const absent = await absentSources(context, { rollout, planes, applications, snapshot, baseBranch });
    if (absent.length > 0) return { ok: false, retry: true, problems: await located(absent, rollout, snapshot) };
    const seen = await withGeneratorParams(context, rollout, applications, planes, snapshot, baseBranch);
    const attempt = (branches?: BranchPlaces) =>
      snapshot.with((files) => planOver({ rollout, release, applications: seen, clusters: fleet.clusters, files, analyses, branches }));
    let made = await attempt();
    // Only now is it known which branches the pins mean.
    const branches = branchesOf(made).map(({ branch }) => branch);
    if (branches.length > 0) {
      const { mirror, journalBranch } = context;
      made = await attempt(await branchPlaces(mirror, release, branches, { baseBranch, journalBranch }));
    }
    if (made.plan === undefined) return { ok: false, retry: false, problems: made.problems.filter(({ severity }) => severity === "error") };
    return { ok: true, clusters: made.clusters, plan: { ...made.plan, warnings: [...lostWarnings(fleet, planes), ...made.plan.warnings] } };
  };
}

function whyUnseen(rollout: Rollout, fleet: Fleet, planes: readonly ControlPlane[], partial: boolean): MadePlan | undefined {
  if (!fleet.known && !canDoWithout(fleet, planes, partial))
    return refuse(rollout, true, { code: "SOURCE_NOT_FOUND", kind: "Fleet", said: fleet.why.map((why) => sentenceOf(why)).join("; ") });
  if (planes.length <= 1 || rollout.source.controlPlanes.length > 0) return undefined;
  return refuse(rollout, false, { code: "SOURCE_REF", kind: "NoPlane", known: planes.map((plane) => plane.name) });
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
    return [{ code: "PLANE_LOST", said: sentenceOf(lostWords(plane.name, lost)), clusters: isRemembered(plane) ? clusters : undefined }];
  });
}

/** What the outside must change about the source stands at it. */
function refuse(rollout: Rollout, retry: boolean, reason: ProblemReason): MadePlan {
  const problem: Problem = { ...reason, severity: "error", file: rollout.file, line: 1, column: 1, path: ["spec", "sourceRef", "name"] };
  return { ok: false, retry, problems: [problem] };
}

// What of a rollout's source Argo CD does not have, with what was most likely meant.

interface Question {
  rollout: Rollout;
  planes: readonly ControlPlane[];
  /** What these have of the source, or all there is to select from. */
  applications: readonly SeenApplication[];
  snapshot: Snapshot;
  baseBranch: string;
}

/** Empty: each set that is named is there, and there are Applications. */
async function absentSources(context: Pick<RepoContext, "repoURL" | "grants">, question: Question): Promise<Problem[]> {
  const { rollout, planes, applications } = question;
  const { source } = rollout;
  const isSeveral = source.kind === "ApplicationSet" && source.name === "";
  const own = isSeveral ? applicationsOf(rollout, applications) : applications;
  const owners = new Set(own.map(({ view }) => view.owner?.name));
  const isSeen = (name: string) => owners.has(name) || planes.some((plane) => plane.applicationSet(source.namespace, name) !== undefined);
  const missing = (source.names ?? []).filter((name) => !isSeen(name)).map((name) => setRef(source, name, source.namespace));
  const absent = missing.length > 0 ? missing : own.length === 0 ? [source] : [];
  return Promise.all(absent.map((one) => notInArgo(context, question, one)));
}

async function notInArgo(
  { repoURL, grants: granted }: Pick<RepoContext, "repoURL" | "grants">,
  { rollout, planes, snapshot, baseBranch }: Question,
  source: SourceRef,
): Promise<Problem> {
  const files = rollout.pins.flatMap((pin) => ("file" in pin ? [pin.file] : []));
  const set = source.kind === "ApplicationSet" && source.name !== "" ? await findApplicationSet(snapshot, source, files) : undefined;
  const clusters = generatorClusters(planes);
  const yields = set && (await snapshot.with((sync) => renderApart(set, clusters, sync, repoURL, baseBranch)));
  const declared = yields?.ok === true && yields.applications.length > 0;
  const grants = limitsOf(
    granted,
    planes.map((plane) => plane.name),
  );
  const data = { kind: "NotInArgo", source, declared, grants, near: declared ? undefined : nearSet(planes, source) } as const;
  return problemIn(rollout.file, { code: "SOURCE_NOT_FOUND", ...data }, atName(rollout, source.name));
}

/** A set that there is, by its Applications; of a selector the label that some such set has. */
function nearSet(planes: readonly ControlPlane[], { kind, namespace, name, selector }: SourceRef): string | undefined {
  if (kind !== "ApplicationSet") return undefined;
  const every = { kind, name: "", namespace, controlPlanes: [], unverified: false, selector: { matchLabels: {}, matchExpressions: [] } };
  const there = new Map<string, Readonly<Record<string, string>>>();
  for (const { view, setLabels = {} } of applicationsOn(planes, { source: every }))
    if (view.owner?.kind === "ApplicationSet" && view.namespace === namespace) there.set(view.owner.name, setLabels);
  if (name !== "") return nearest(name, there.keys());
  const [typo] =
    selector === undefined
      ? []
      : selectorTypos(
          selector,
          [...there].map(([one, labels]) => ({ name: one, labels })),
        );
  return typo && (typo.value === undefined ? typo.near : `${typo.key}=${typo.near}`);
}
