import type { Cluster, PlannedTarget } from "../../../core/plan/plan-types.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import { hasGoneOn } from "../../../core/run/state/steps.ts";
import type { Guard, ObservedPull, ObservedTarget, World } from "../../../core/run/state/world.ts";
import type { Command } from "../../../core/spec/commands.ts";
import { declaredAt } from "../../config-repo/inventory.ts";
import type { SpecsByPlane } from "../../config-repo/rendered.ts";
import { clustersOf } from "../../resolve/fleet.ts";
import { applyEdits } from "../../resolve/pin-edit.ts";
import { buildBatchCommit, editsOf, judgeBranch } from "../act/batch-commit.ts";
import { movesBranches } from "../act/branch-moves.ts";
import type { RepoContext } from "../context.ts";
import { guardMove } from "../guard/branch-guard.ts";
import type { RepoMemory } from "../memory.ts";
import { assessTarget, healthIssuesBefore, healthIssuesOfTarget } from "./assess-targets.ts";
import { observeAnalyses } from "./observe-analysis.ts";
import { observeHealth } from "./observe-health.ts";
import { observeHooks } from "./observe-hooks.ts";
import { inventoryRemark, observeUnreachable } from "./observe-joiners.ts";
import { observePull } from "./observe-pull.ts";

export interface ObserveInput {
  run: Run;
  /** Head of the base branch. */
  base: string;
  baseBranch: string;
  commands: readonly Command[];
  /** The last run of every other rollout of the repo, as this round leaves it so far. */
  others: readonly Run[];
}

/** Looks at everything a run depends on. What cannot be seen is left out of the world, never filled in. */
export async function observe(context: RepoContext, memory: RepoMemory, input: ObserveInput): Promise<{ world: World; remarks: string[] }> {
  const { run, base, baseBranch } = input;
  await memory.queue.read(run, baseBranch);
  const before = healthIssuesBefore(context, run);
  const pulls = await observePulls(context, memory, run);
  const declared = await declaredAt(memory.commits.snapshot(base), run.spec);
  const fleet = clustersOf(context, run.spec.source.controlPlanes, { declared });
  const rollouts = await memory.rollouts.observe(run, input.commands, fleet.lost);
  const targets = await observeTargets(context, memory, run, base, baseBranch, before);
  for (const [key, looked] of rollouts) targets.set(key, { ...targets.get(key), rollouts: looked });
  const { remark, ...joiners } = await memory.observeJoiners(run, base, baseBranch, declared);
  const remarks = [...(await memory.editRemarks(run, base)), inventoryRemark(declared), remark];
  const world: World = {
    base: { commit: base },
    pulls,
    taken: await observeTaken(context, memory, run, pulls),
    targets,
    ...observeHealth(context, run, fleet.lost),
    clusters: new Map<string, Cluster>(fleet.clusters.map((cluster) => [cluster.key, cluster])),
    clustersKnown: fleet.known,
    lostPlanes: fleet.lost,
    actions: memory.actions.outcomes(run),
    commands: await memory.people.withTeams(run, input.commands),
    others: input.others,
    ...(await memory.settings.bounds(base)),
    ...(await memory.people.observeApprovals(run, pulls)),
    ...joiners,
    ...observeUnreachable(context, run, fleet.clusters),
    ...observeAnalyses(context, memory.analyses.troubles, run),
    ...observeHooks(context, run),
    // Last, since its answer is good for a minute only.
    guards: await observeGuards(context, memory, input, pulls),
  };
  return { world, remarks: remarks.filter((one) => one !== undefined) };
}

function needsPull(batch: Batch): boolean {
  return batch.phase === "Proposing" || batch.phase === "Open" || batch.phase === "Merging";
}

async function observePulls(context: RepoContext, memory: RepoMemory, run: Run): Promise<Map<number, ObservedPull | null>> {
  const pulls = new Map<number, ObservedPull | null>();
  for (const batch of run.batches) {
    if (needsPull(batch)) pulls.set(batch.number, await observePull(context, memory, run, batch));
  }
  return pulls;
}

/** Branches of ours that somebody else made: looked for only where opening the PR was tried and there is none. */
async function observeTaken(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
  pulls: ReadonlyMap<number, ObservedPull | null>,
): Promise<Map<number, string>> {
  const taken = new Map<number, string>();
  if (movesBranches(run)) return taken;
  for (const batch of run.batches) {
    if (batch.phase !== "Proposing" || pulls.get(batch.number) !== null || !memory.pulls.isProposed(batch.branch)) continue;
    const head = await context.mirror.remoteHead(batch.branch);
    if (head !== undefined && (await judgeBranch(context, memory, run, batch, head, context.writer)) === "foreign")
      taken.set(batch.number, head);
  }
  return taken;
}

async function observeGuards(
  context: RepoContext,
  memory: RepoMemory,
  input: ObserveInput,
  pulls: ReadonlyMap<number, ObservedPull | null>,
): Promise<Map<number, Guard>> {
  const guards = new Map<number, Guard>();
  const { run, base, baseBranch } = input;
  for (const batch of run.batches) {
    const pull = pulls.get(batch.number);
    if (pull === null) {
      const guard = await guardUnproposed(context, memory, input, batch);
      if (guard !== undefined) guards.set(batch.number, guard);
      continue;
    }
    if (pull?.state !== "open" || !pull.headIsOurs) continue;
    const guard = movesBranches(run)
      ? await guardMove({ ...memory, context }, run, batch, { base, baseBranch })
      : await memory.guardBatch(run, batch, { base, baseBranch, head: pull.head });
    guards.set(batch.number, guard);
  }
  return guards;
}

/**
 * docs/spec.md §9.4: judged before there is a PR too, on the commit it would hold, which stays in the mirror until it is pushed.
 * undefined: the batch is not waiting for its PR, opens none, or its pins cannot be edited here, which proposing it says.
 */
export async function guardUnproposed(
  context: RepoContext,
  memory: RepoMemory,
  { run, base, baseBranch }: Pick<ObserveInput, "run" | "base" | "baseBranch">,
  batch: Batch,
): Promise<Guard | undefined> {
  if (batch.phase !== "Proposing" || movesBranches(run)) return undefined;
  const edited = await memory.commits.snapshot(base).with((files) => applyEdits(editsOf(batch), (path) => files.read(path)));
  if (!edited.ok) return undefined;
  const head = await buildBatchCommit(context, memory, run, batch, base);
  return memory.guardBatch(run, batch, { base, baseBranch, head });
}

async function observeTargets(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
  base: string,
  baseBranch: string,
  before: ReadonlyMap<string, string[]>,
): Promise<Map<string, ObservedTarget>> {
  const seen = new Map<string, ObservedTarget>();
  const rendered = memory.renderer(run, baseBranch);
  const atBase = await rendered(base);
  // How a target was before its change matters only where that is tolerated.
  const ailing = (key: string) => {
    const healthIssues = run.spec.baseline === "Tolerate" ? (before.get(key) ?? healthIssuesOfTarget(context, key)) : undefined;
    return healthIssues === undefined ? {} : { healthIssues };
  };
  for (const upcoming of upcomingBatches(run)) {
    for (const [key, pins] of await memory.pins.at(base, upcoming)) seen.set(key, { pins, ...ailing(key) });
  }
  for (const batch of run.batches) {
    // At their next weight: what they are watched for stands there.
    if (batch.phase === "Closed" || batch.targets.every((target) => hasGoneOn(batch, target))) continue;
    const pins = await memory.pins.at(base, batch);
    const change = batch.merged;
    // A settled batch is held against today's base; only one still being judged needs the spec as it was at its merge.
    const around =
      change !== undefined && batch.phase !== "Settled" && !movesBranches(run) ? await renderAround(context, rendered, change.commit) : {};
    const specs = { before: undefined, atChange: undefined, ...around, atBase };
    // A release commit that branches were moved to need not be in the base; that they still hold it is their pins' value.
    const inHistory = change === undefined ? undefined : movesBranches(run) || (await memory.commits.isInHistory(change.commit, base));
    // The mirror does not have it yet: the next round fetches.
    if (change !== undefined && inHistory === undefined) memory.remote.expire();
    const assessments = await memory.withFacts((facts) =>
      batch.targets.map((target) => assessTarget(context, memory, run, batch, target, specs, facts)),
    );
    for (const [index, target] of batch.targets.entries()) {
      if (hasGoneOn(batch, target)) continue;
      const values = pins.get(target.key);
      const assessment = assessments[index];
      const nudge = memory.refresher.last(target.key);
      const drift = change === undefined ? undefined : await memory.pins.driftOf(base, target, values, change.commit);
      seen.set(target.key, {
        // Until this batch has merged, what is seen is of the weight before it.
        ...(change === undefined ? seen.get(target.key) : { batch: batch.number }),
        ...(assessment === undefined ? {} : { assessment }),
        ...(values === undefined ? {} : { pins: values }),
        ...(drift === undefined ? {} : { drift }),
        ...(inHistory === undefined ? {} : { inHistory }),
        ...(nudge === undefined ? {} : { nudge }),
        ...ailing(target.key),
      });
    }
  }
  return seen;
}

async function renderAround(context: RepoContext, rendered: (commit: string) => Promise<SpecsByPlane | undefined>, commit: string) {
  const parent = (await context.mirror.commitInfo(commit))?.parents[0];
  return { before: parent === undefined ? undefined : await rendered(parent), atChange: await rendered(commit) };
}

/** The batches that may be made next, so that making one and proposing it takes one round: their pins are read ahead. */
function upcomingBatches(run: Run): { branch: string; targets: readonly PlannedTarget[] }[] {
  const moved = new Set(run.batches.flatMap((batch) => (batch.phase === "Closed" ? [] : batch.targets.map((target) => target.key))));
  const upcoming: { branch: string; targets: readonly PlannedTarget[] }[] = [];
  const late = (run.joined ?? []).flatMap((one) => one.targets).filter((target) => !moved.has(target.key));
  if (late.length > 0) upcoming.push({ branch: `joined ${run.rollout}/${run.number}/${late.length}`, targets: late });
  for (const index of [run.stage, run.stage + 1]) {
    const stage = run.plan.stages[index];
    const next = stage?.batches.findIndex((batch) => batch.targets.some((target) => !moved.has(target.key))) ?? -1;
    const batch = stage?.batches[next];
    if (batch !== undefined) upcoming.push({ branch: `upcoming ${run.rollout}/${run.number}/${index}-${next}`, targets: batch.targets });
    if (stage !== undefined && stage.requeuedTargets.length > 0) {
      upcoming.push({ branch: `requeued ${run.rollout}/${run.number}/${index}`, targets: stage.requeuedTargets.slice(0, 1000) });
    }
  }
  return upcoming;
}
