/**
 * Looks at everything a run depends on: its PRs, its targets, the fleet, who approved it, what was written for it.
 *
 * Nothing is decided here, and nothing is filled in: what cannot be seen is left out of the world.
 */
import type { AnyReason } from "../../../core/base/reason.ts";
import { goesByLabels } from "../../../core/plan/limits.ts";
import type { Cluster } from "../../../core/plan/plan-types.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { type Batch, isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Guard, ObservedPull, World } from "../../../core/run/state/world.ts";
import type { Command } from "../../../core/spec/commands.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { type Declared, declaredAt } from "../../config-repo/inventory.ts";
import type { RevisionsNow } from "../../config-repo/revisions.ts";
import type { Settings } from "../../config-repo/settings.ts";
import { clustersElsewhere, clustersOf, countedNow } from "../../resolve/fleet.ts";
import type { BatchCommits } from "../act/batch-commit.ts";
import { movesBranches } from "../act/branch-moves.ts";
import type { RolloutActions } from "../act/rollout-actions.ts";
import type { Analyses } from "../analyses.ts";
import type { BatchPulls } from "../batch-pulls.ts";
import type { Rules } from "../branch-rules.ts";
import type { RepoContext } from "../context.ts";
import type { GuardMove } from "../guard/branch-guard.ts";
import type { GuardBatch } from "../guard/guard.ts";
import type { Hooks } from "../hooks.ts";
import type { MergeQueue } from "../merge-queue.ts";
import type { ShownWaits } from "../publish/shown-waits.ts";
import type { EditRemarks } from "./edited-midrun.ts";
import { observeRevisions } from "./named-revisions.ts";
import { observeHealth } from "./observe-health.ts";
import { type ObserveJoiners, observeUnreachable, sourceLeft } from "./observe-joiners.ts";
import type { ObservePull } from "./observe-pull.ts";
import type { TargetLooks } from "./observe-targets.ts";
import type { People } from "./people.ts";
import type { RolloutReader } from "./rollouts-seen.ts";

interface ObserveInput {
  run: Run;
  /** Head of the base branch. */
  base: string;
  baseBranch: string;
  commands: readonly Command[];
  /** The last run of every other rollout of the repo, as this round leaves it so far. */
  others: readonly Run[];
}

export type Observe = (input: ObserveInput) => Promise<{ world: World; remarks: AnyReason[] }>;

interface Parts {
  commits: Commits;
  batchCommits: BatchCommits;
  pulls: BatchPulls;
  queue: MergeQueue;
  observePull: ObservePull;
  targets: TargetLooks;
  rollouts: RolloutReader;
  actions: RolloutActions;
  observeJoiners: ObserveJoiners;
  editRemarks: EditRemarks;
  people: People;
  shownWaits: Pick<ShownWaits, "of">;
  revisionsNow: RevisionsNow;
  settings: Settings;
  rules: Pick<Rules, "bare">;
  analyses: Analyses;
  hooks: Hooks;
  guardBatch: GuardBatch;
  guardMove: GuardMove;
}

type Pulls = ReadonlyMap<number, ObservedPull | null>;

type Context = Pick<RepoContext, "mirror" | "planes" | "grants" | "clock">;

type Bounds = Awaited<ReturnType<Settings["bounds"]>> & Pick<World, "elsewhere">;

export function openObserver(context: Context, parts: Parts): Observe {
  return (input) => observe(context, parts, input);
}

async function observe(context: Context, parts: Parts, input: ObserveInput): ReturnType<Observe> {
  const { run, base, baseBranch } = input;
  await parts.queue.read(run, baseBranch);
  const before = parts.targets.healthIssuesBefore(run);
  const pulls = await observePulls(parts, run);
  const declared = await declaredAt(parts.commits.snapshot(base), run.spec);
  const fleet = clustersOf(context, run.spec.source.controlPlanes, { declared });
  const counted = countedNow(context.planes, run, fleet);
  const looked = await parts.rollouts.observe(run, input.commands, fleet.lost);
  const seen = await parts.targets.observe(run, base, baseBranch, before);
  for (const [key, own] of looked) seen.set(key, { ...seen.get(key), rollouts: own });
  const { remark, joiners } = await parts.observeJoiners(run, base, baseBranch, declared);
  const remarks = [...(await parts.editRemarks(run, base)), inventoryRemark(declared), remark, sourceLeft(context.planes, run)];
  const world: World = {
    base: { commit: base },
    pulls,
    taken: await observeTaken(context, parts, run, pulls),
    unopened: observeUnopened(parts.pulls, run),
    targets: seen,
    health: observeHealth(context.planes, run, fleet.lost),
    revisions: await observeRevisions(context, parts.revisionsNow, run),
    clusters: byKey(counted),
    fleet: counted === fleet.clusters ? undefined : byKey(fleet.clusters),
    clustersKnown: fleet.known,
    lostPlanes: fleet.lost,
    actions: parts.actions.outcomes(run),
    commands: await parts.people.withTeams(run, input.commands),
    others: input.others,
    shown: parts.shownWaits.of(run),
    clockAheadMs: context.clock.ahead?.(),
    ...(await observeBounds(context, parts, input, byKey(fleet.clusters))),
    unprotected: await observeUnprotected(parts.rules, run),
    ...(await parts.people.observeApprovals(run, pulls)),
    joiners,
    unreachable: observeUnreachable(context.planes, run, fleet.clusters, counted),
    analyses: parts.analyses.observe(run),
    hooks: parts.hooks.observe(run),
    // Last, since its answer is good for a minute only.
    guards: await observeGuards(parts, input, pulls),
  };
  return { world, remarks: remarks.filter((one) => one !== undefined) };
}

async function observePulls({ observePull }: Parts, run: Run): Promise<Map<number, ObservedPull | null>> {
  const pulls = new Map<number, ObservedPull | null>();
  for (const batch of run.batches) {
    if (batch.phase === "Proposing" || batch.phase === "Open" || batch.phase === "Merging")
      pulls.set(batch.number, await observePull(run, batch));
  }
  return pulls;
}

/** Branches of ours that somebody else made: looked for only where opening the PR was tried and there is none. */
async function observeTaken({ mirror }: Context, parts: Parts, run: Run, pulls: Pulls): Promise<Map<number, string>> {
  const taken = new Map<number, string>();
  if (movesBranches(run)) return taken;
  for (const batch of run.batches) {
    if (batch.phase !== "Proposing" || pulls.get(batch.number) !== null || !parts.pulls.isProposed(batch.branch)) continue;
    const head = await mirror.remoteHead(batch.branch);
    if (head !== undefined && (await parts.batchCommits.judgeBranch(run, batch, head)) === "foreign") taken.set(batch.number, head);
  }
  return taken;
}

/** Of a run that is paused nothing is remembered: after `/resume` it is tried anew. */
function observeUnopened(pulls: BatchPulls, run: Run): World["unopened"] {
  const refused = run.batches.flatMap(({ number, branch, phase }) => {
    if (run.paused !== undefined || phase !== "Proposing") pulls.forgetOpening(branch);
    const found = pulls.unopened(branch);
    return found === undefined ? [] : [[number, found] as const];
  });
  return refused.length === 0 ? undefined : new Map(refused);
}

async function observeGuards(parts: Parts, { run, base, baseBranch }: ObserveInput, pulls: Pulls): Promise<Map<number, Guard>> {
  const guards = new Map<number, Guard>();
  for (const batch of run.batches) {
    const pull = pulls.get(batch.number);
    if (pull === undefined) continue;
    const head = await headToGuard(parts.batchCommits, run, batch, pull, base);
    if (head === undefined) continue;
    const at = { base, baseBranch, head, unpushed: pull === null ? (true as const) : undefined };
    guards.set(batch.number, movesBranches(run) ? await parts.guardMove(run, batch, at) : await parts.guardBatch(run, batch, at));
  }
  return guards;
}

/** What the settings say, and whose labels limits go by besides those of the run's own clusters. */
async function observeBounds(
  context: Context,
  { settings, commits }: Parts,
  { others, base }: ObserveInput,
  known: ReadonlyMap<string, Cluster>,
): Promise<Bounds> {
  const bounds = await settings.bounds(base);
  if (bounds.limits === undefined || !goesByLabels(bounds.limits)) return bounds;
  const flying = others.filter(({ batches }) =>
    batches.some((one) => (one.merged ?? one.intention) !== undefined && one.phase !== "Settled"),
  );
  const declared = flying.map(async (run) => ({ run, declared: await declaredAt(commits.snapshot(base), run.spec) }));
  return { ...bounds, elsewhere: clustersElsewhere(context, await Promise.all(declared), known) };
}

function byKey(clusters: readonly Cluster[]): Map<string, Cluster> {
  return new Map(clusters.map((cluster) => [cluster.key, cluster]));
}

/** Whoever merges by himself sees for himself what he merges: nothing is asked of a run that leaves it to people. */
async function observeUnprotected(rules: Pick<Rules, "bare">, run: Run): Promise<World["unprotected"]> {
  if (run.spec.mode !== "Run" || isEnded(run)) return undefined;
  const bare = await rules.bare(run.rollout);
  if (bare === undefined) return "unread";
  return bare.length === 0 ? undefined : bare;
}

/** Says on the run's page what is wrong with its own inventory as it is on the base now. */
function inventoryRemark(declared: Declared | undefined): AnyReason | undefined {
  const [problem] = declared?.ok === false ? declared.problems : [];
  return problem && engineReason("INVENTORY_UNREAD", { problem });
}

/**
 * What would be merged: the head of its PR. docs/spec.md §9.4: judged before there is a PR, too, on the commit it would hold, which
 * stays in the mirror until it is pushed. undefined: nothing that is ours, or its pins cannot be edited here, which proposing it says.
 */
export async function headToGuard(
  commits: BatchCommits,
  run: Run,
  batch: Batch,
  pull: ObservedPull | null,
  base: string,
): Promise<string | undefined> {
  if (pull !== null) return pull.state === "open" && pull.headIsOurs ? pull.head : undefined;
  return batch.phase === "Proposing" && !movesBranches(run) ? commits.build(run, batch, base) : undefined;
}
