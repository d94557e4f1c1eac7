/**
 * What a person should know of a release before it is merged, and only GitHub, Argo CD and the clock can tell: a window that is shut,
 * teams nobody can be in, dependencies that hold nothing, clusters that would be left out.
 */
import type { BranchRules } from "../../adapters/forge/port.ts";
import { CODEOWNERS, ownersOf, parseCodeowners } from "../../core/base/codeowners.ts";
import { matches } from "../../core/base/selector.ts";
import { iso } from "../../core/base/time.ts";
import type { Cluster, Plan } from "../../core/plan/plan-types.ts";
import type { BareBranch } from "../../core/reasons/gates.ts";
import type { Warning } from "../../core/reasons/problems/problem.ts";
import { GATE } from "../../core/report/batch/gate-check.ts";
import { PLAN_CHECK } from "../../core/report/plan/plan-check.ts";
import { hostOf } from "../../core/run/state/names.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { closedNow, neverOpening, neverTogether, nextOpenAt, type WindowSet } from "../../core/spec/windows-together.ts";
import { type Declared, declaredAt } from "../config-repo/inventory.ts";
import type { Project } from "../config-repo/project.ts";
import type { RevisionsNow } from "../config-repo/revisions.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { applicationsOf, applicationsOn } from "../resolve/draft.ts";
import { clustersOf, countedNow, planesFor, serverKey, unreachableClusters } from "../resolve/fleet.ts";
import { indexClusters } from "../resolve/targets-join.ts";
import type { Rules } from "../round/branch-rules.ts";
import type { RepoContext } from "../round/context.ts";
import { observeRevisions } from "../round/observe/named-revisions.ts";

const MOST_TEAMS = 20;

/** What binds each batch, by its stage and clusters: windows of the rollout, freezes of the repo and the server. */
type SetsOf = (stage: number, clusters: readonly string[]) => readonly WindowSet[];

/** Warns of a planned rollout. */
type PlanWarnings = (
  rollout: Rollout,
  plan: Plan,
  base: { project: Pick<Project, "rollouts">; branch: string },
  snapshot: Snapshot,
  setsOf: SetsOf,
) => Promise<Warning[]>;

type Context = Pick<RepoContext, "forge" | "planes" | "grants" | "clock" | "log" | "writer">;

interface Deps extends Pick<Context, "forge" | "planes" | "log"> {
  revisionsNow: RevisionsNow;
}

export function openPlanWarnings(
  { forge, planes, grants, clock, log, writer }: Context,
  rules: Pick<Rules, "of" | "bare">,
  revisionsNow: RevisionsNow,
): PlanWarnings {
  const deps = { forge, planes, log, revisionsNow };
  const fleet = { planes, grants };

  /** A rollout that is on no cluster of this one holds nothing back: most often another one was meant. */
  async function lonelyDependencies(
    rollout: Rollout,
    hosts: ReadonlySet<string>,
    { rollouts }: Pick<Project, "rollouts">,
    snapshot: Snapshot,
  ): Promise<Warning[]> {
    const warnings: Warning[] = [];
    for (const dependency of rollout.dependsOn ?? []) {
      const other = rollouts.find((one) => one.name === dependency.rollout);
      const theirs = other && clustersOfRollout(other, await declaredAt(snapshot, other));
      if (other === undefined || theirs === undefined || theirs.some((cluster) => hosts.has(cluster))) continue;
      warnings.push({ code: "DEPENDS_NOWHERE", dependency: other.name, rollout: rollout.name });
    }
    return warnings;
  }

  /** undefined: they cannot be seen now. */
  function clustersOfRollout(rollout: Rollout, declared: Declared | undefined): string[] | undefined {
    const { controlPlanes } = rollout.source;
    const { known, clusters } = clustersOf(fleet, controlPlanes, { declared });
    if (!known) return undefined;
    const index = indexClusters(clusters, controlPlanes);
    const seen = applicationsOf(rollout, applicationsOn(planesFor(planes, controlPlanes), rollout));
    const found = seen.map((one) => index.find(one));
    return found.flatMap((cluster) => ("missing" in cluster ? [] : [cluster.key]));
  }

  /** Clusters of the plan that the rule `quarantine` would leave out now. */
  function inQuarantine(rollout: Rollout, plan: Plan, planned: ReadonlySet<string>, declared: Declared | undefined): Warning[] {
    const { quarantine: rule, source } = rollout;
    if (rule === undefined) return [];
    const failed = unreachableClusters(planesFor(planes, source.controlPlanes));
    const isStopped = (cluster: Cluster) =>
      failed.has((cluster.on ?? cluster).key) ||
      (declared !== undefined && failed.has(serverKey(cluster.controlPlane, cluster.server))) ||
      (rule.selector !== undefined && matches(rule.selector, cluster));
    const counted = countedNow(planes, { spec: rollout, plan, joined: undefined }, clustersOf(fleet, source.controlPlanes, { declared }));
    const out = counted.filter((cluster) => planned.has(cluster.key) && isStopped(cluster));
    return out.length === 0 ? [] : [{ code: "IN_QUARANTINE", clusters: out.map((cluster) => cluster.name) }];
  }

  return async (rollout, plan, { project, branch }, snapshot, setsOf) => {
    const asked = await rules.of(branch);
    const planned = new Set(plan.stages.flatMap((stage) => [...stage.clusters, ...stage.requeued]));
    return [
      ...windowWarning(rollout, plan, setsOf, clock.now()),
      ...baseWarnings(rollout, plan, branch, await owned(asked, plan, snapshot), writer !== undefined),
      ...(rollout.mode === "Run" ? bareWarning(await rules.bare(rollout.name)) : []),
      ...unboundWarning(branch, asked),
      ...(await unresolved(deps, plan)),
      ...(await unseenTeams(deps, rollout)),
      ...(await lonelyDependencies(rollout, new Set([...planned].map((key) => hostOf({ plan }, key))), project, snapshot)),
      ...inQuarantine(rollout, plan, planned, await declaredAt(snapshot, rollout)),
    ];
  };
}

interface Asked extends BranchRules {
  /** Of the files of batches, and how many batches change files of theirs. */
  owners?: { names: readonly string[]; batches: number } | undefined;
}

const MOST_OWNERS = 5;

/** A rule about code owners asks for nothing where nobody owns what the batches change, by the base's file. */
async function owned(base: BranchRules | undefined, plan: Plan, snapshot: Snapshot): Promise<Asked | undefined> {
  if (base === undefined || !base.codeOwners) return base;
  const texts = await Promise.all(CODEOWNERS.map(async (place) => await snapshot.read(place)));
  const lines = parseCodeowners(texts.find((text) => text !== null) ?? "");
  const all = plan.stages.flatMap((stage) => stage.batches);
  const names = all.map(({ targets }) => targets.flatMap(({ edits }) => edits.flatMap(({ file }) => ownersOf(lines, file))));
  const owners = { names: [...new Set(names.flat())].slice(0, MOST_OWNERS), batches: names.filter((one) => one.length > 0).length };
  return { ...base, codeOwners: owners.batches > 0, owners: owners.batches > 0 ? owners : undefined };
}

/** What the base branch asks of every batch that only a person can give, or nobody: GitHub says it at the first one otherwise. */
function baseWarnings({ mode, delivery }: Rollout, plan: Plan, branch: string, base: Asked | undefined, signed: boolean): Warning[] {
  if (base === undefined || delivery.strategy !== "PullRequest" || mode !== "Run") return [];
  const batches = plan.stages.reduce((sum, stage) => sum + stage.batches.length, 0);
  const { approvals: reviews, codeOwners, owners, lastPushApproval: lastPush, signatures } = base;
  const warnings: Warning[] = [];
  if (delivery.merge === "Auto" && (reviews > 0 || codeOwners || lastPush))
    warnings.push({ code: "BASE_WANTS_PERSON", branch, batches, reviews, codeOwners, owners, lastPush });
  if (signatures && !signed) warnings.push({ code: "BASE_WANTS_SIGNED", branch, batches });
  return warnings;
}

function bareWarning(bare: readonly BareBranch[] | undefined): Warning[] {
  return bare === undefined || bare.length === 0 ? [] : [{ code: "BRANCHES_UNPROTECTED", bare }];
}

/** Checks of ours that count from whoever posts them. */
export function unboundWarning(branch: string, base: BranchRules | undefined): Warning[] {
  const own: readonly string[] = [GATE, PLAN_CHECK];
  const checks = (base?.requiredChecks ?? []).filter(({ context, app }) => own.includes(context) && app === undefined);
  return checks.length === 0 ? [] : [{ code: "CHECK_UNBOUND", branch, checks: checks.map(({ context }) => context) }];
}

/** Windows and freezes under which some batch never merges, or that would hold the first one now. */
export function windowWarning(rollout: Pick<Rollout, "mode">, { stages }: Pick<Plan, "stages">, setsOf: SetsOf, now: number): Warning[] {
  if (rollout.mode === "Observe") return [];
  const each = new Set(stages.flatMap(({ batches }, stage) => batches.map(({ clusters }) => setsOf(stage, clusters))));
  for (const sets of each) {
    const shut = neverOpening(sets, now);
    if (shut.length > 0) return [{ code: "WINDOW_NEVER_OPENS", kind: "Shut", whose: shut }];
    const apart = neverTogether(sets, now);
    if (apart !== undefined) return [{ code: "WINDOW_NEVER_OPENS", kind: "Apart", whose: apart }];
  }
  const [first] = each;
  const closed = first && closedNow(first, now);
  if (first === undefined || closed === undefined) return [];
  const { by } = closed;
  const opening = nextOpenAt(first, now);
  const at = opening !== undefined && "at" in opening ? opening.at : closed.changesAt;
  const rule = by && { kind: by.kind, schedule: by.schedule, timeZone: by.timeZone };
  return [{ code: "WINDOW_CLOSED", rule, until: at === undefined ? undefined : iso(at) }];
}

/** A team is asked for by one membership: the answer tells a team without that member from one that cannot be seen. */
async function unseenTeams({ forge, log }: Pick<Deps, "forge" | "log">, { stages }: Rollout): Promise<Warning[]> {
  const teams = [...new Set(stages.flatMap((stage) => stage.approval?.teams ?? []))].slice(0, MOST_TEAMS);
  const unseen: string[] = [];
  for (const team of teams) {
    try {
      if ((await forge.inTeam(team, "ghost")) === undefined) unseen.push(team);
    } catch (error) {
      log.warn({ team, error: String(error) }, "a team could not be looked for");
    }
  }
  return unseen.length === 0 ? [] : [{ code: "TEAM_UNSEEN", teams: unseen }];
}

/** Tags that the run could not hold on to from its start: what it knows of them begins with what Argo CD shows for the first cluster. */
async function unresolved({ planes, revisionsNow }: Pick<Deps, "planes" | "revisionsNow">, plan: Plan): Promise<Warning[]> {
  const seen = await observeRevisions({ planes }, revisionsNow, { plan, batches: [], resolved: undefined, paused: undefined });
  return (seen ?? []).flatMap(({ repoURL: repo, revision, commit }) => {
    if (commit !== null && commit !== "hidden") return [];
    return [{ code: "REVISION_UNRESOLVED" as const, kind: commit === null ? ("Absent" as const) : ("Hidden" as const), revision, repo }];
  });
}
