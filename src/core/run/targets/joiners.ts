import { type AnyReason, sameReason } from "../../base/reason.ts";
import { matches } from "../../base/selector.ts";
import { atMost } from "../../plan/cut-batches.ts";
import { type Cluster, editKey, type PlannedTarget, targetsOfStage } from "../../plan/plan-types.ts";
import { weighLate } from "../../plan/weigh.ts";
import { runReason } from "../../reasons/run.ts";
import { change, type Draft, pause } from "../state/draft.ts";
import { clustersOut, stageOf, targetsOf } from "../state/names.ts";
import { isMoving, type Joined, type Run } from "../state/run.ts";
import type { Joiner } from "../state/world.ts";

/** Names in one sentence. */
const MOST_NAMES = 5;

/**
 * Takes in clusters that appeared during the run (docs/spec.md §9.16): an amendment beside the frozen plan for each that a stage selects, else a
 * word on why it is left as it is. Never for a rollback, which moves what its run has moved and nothing else.
 */
export function takeJoiners(draft: Draft): void {
  const { run, world } = draft;
  if (run.kind === "Rollback" || run.ending !== undefined || !world.clustersKnown) return;
  // Somebody is to be asked: of a run that is paused on something else that comes when it goes on.
  if (run.spec.joiners === "Hold" && !isMoving(run)) return;
  const taken: Joined[] = [];
  for (const joiner of world.joiners ?? []) {
    const told = judgeJoiner(draft, joiner, taken);
    if (told === undefined) continue;
    if ("code" in told) nameOnly(draft, joiner.cluster.key, told);
    else taken.push(told);
  }
  if (taken.length > 0) append(draft, weighed(draft.run, taken));
}

/** With what each weight of their stage writes there: its replicas are split as in the catch-up batches they are likely to travel in. */
function weighed(run: Run, taken: readonly Joined[]): Joined[] {
  const targets = new Map<string, PlannedTarget[]>();
  for (const [stage, own] of Map.groupBy(taken, (one) => one.stage)) {
    const late = { clusters: own.map((one) => one.cluster), targets: own.flatMap((one) => one.targets) };
    for (const target of weighLate(late, run.plan.stages[stage]?.maxUnavailable ?? 1, run.spec.stages[stage]?.steps))
      targets.set(target.cluster, [...(targets.get(target.cluster) ?? []), target]);
  }
  return taken.map((one) => ({ ...one, targets: targets.get(one.cluster) ?? one.targets }));
}

/** The amendment; or why it is not taken; undefined: it is known already, and nothing new. */
function judgeJoiner(draft: Draft, { cluster, targets }: Joiner, taken: readonly Joined[]): Joined | AnyReason | undefined {
  const { run } = draft;
  const known = new Set(targetsOf(run, cluster.key).map((target) => target.key));
  const fresh = targets.filter((target) => !known.has(target.key));
  // In the plan as uncovered: its warning names it.
  if (fresh.length === 0 || run.plan.uncovered.some((one) => one.cluster === cluster.key)) return undefined;
  if (stageOf(run, cluster.key) !== undefined) {
    return runReason("JOINER_ON_KNOWN_CLUSTER", { applications: fresh.slice(0, MOST_NAMES).map((target) => target.application) });
  }
  const stage = stageFor(draft, cluster, taken);
  if (stage === undefined) return runReason("JOINER_UNSTAGED");
  const shared = sharesPin(run, fresh);
  if (shared !== undefined) return runReason("JOINER_SHARES_PIN", { cluster: shared });
  if (run.spec.joiners === "Ignore") return runReason("JOINER_IGNORED");
  return { cluster: cluster.key, stage, targets: [...fresh], at: draft.at };
}

/** The first stage that selects it and has room, as planning would have it now. */
function stageFor(draft: Draft, cluster: Cluster, taken: readonly Joined[]): number | undefined {
  const { run, world } = draft;
  for (const [index, stage] of run.spec.stages.entries()) {
    if (!matches(stage.selector, cluster)) continue;
    const planned = run.plan.stages[index];
    if (planned === undefined) continue;
    const late = [...(run.joined ?? []), ...taken].filter((one) => one.stage === index).length;
    const has = planned.clusters.length + planned.requeued.length + late;
    const left = new Set(run.plan.uncovered.map((one) => one.cluster));
    let matched = 1;
    for (const other of world.clusters.values()) {
      const at = stageOf(run, other.key) ?? (left.has(other.key) ? index : -1);
      if (at >= index && matches(stage.selector, other)) matched += 1;
    }
    // Clusters that left meanwhile made room.
    if (has < atMost(stage.maxClusters, Math.max(matched, has + 1))) return index;
  }
  return undefined;
}

/** A cluster of the run with which one of these pins is shared. */
function sharesPin(run: Run, targets: readonly PlannedTarget[]): string | undefined {
  const pins = new Set(targets.flatMap((target) => target.edits.map(editKey)));
  for (const stage of run.plan.stages) {
    for (const target of targetsOfStage(stage)) {
      if (target.edits.some((edit) => pins.has(editKey(edit)))) return target.cluster;
    }
  }
  return undefined;
}

/** Said once. */
function nameOnly(draft: Draft, cluster: string, why: AnyReason): void {
  const before = draft.run.notJoined ?? [];
  if (before.some((one) => one.cluster === cluster && sameReason(one.why, why))) return;
  change(draft, { notJoined: [...before, { cluster, why, at: draft.at }] }, runReason("NOT_JOINED", { cluster, because: why }));
}

function append(draft: Draft, taken: readonly Joined[]): void {
  const notJoined = (draft.run.notJoined ?? []).filter((one) => !taken.some(({ cluster }) => cluster === one.cluster));
  const patch = notJoined.length === (draft.run.notJoined ?? []).length ? {} : { notJoined };
  change(draft, { joined: [...(draft.run.joined ?? []), ...taken], ...patch });
  const { run } = draft;
  const clusters = taken.map(({ cluster }) => cluster);
  draft.events.push(runReason("JOINED_RUN", { clusters }));
  if (run.spec.joiners !== "Hold") return;
  pause(draft, "Joined", "stagecoach", runReason("CLUSTERS_APPEARED", { clusters }), runReason("ASK_JOIN", { clusters }));
}

/** Those that joined and were neither tried nor left out yet. */
export function joinedToTry(run: Run): Joined[] {
  const seen = clustersOut(run);
  for (const batch of run.batches) for (const target of batch.targets) seen.add(target.cluster);
  return (run.joined ?? []).filter((one) => !seen.has(one.cluster));
}
