import semver from "semver";
import { epoch } from "../../core/base/time.ts";
import type { Target } from "../../core/plan/plan-types.ts";
import { jitterUntil } from "../../core/run/gates/jitter.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { Advanced } from "../../core/run/state/world.ts";
import { AUTHOR, MEMBERS } from "../generate/scenario.ts";
import { wasConfirmable } from "../world/argocd.ts";
import { BOT, lastChange, type ModelCommit, pinOf, pinValue } from "../world/git.ts";
import { freezesOn, isOpenAt, outsideOf } from "../world/windows.ts";
import type { RepoRollout, Truth } from "../world/world.ts";
import { isLoneWayBack, isWithinLimits, overLimits } from "./limits.ts";
import type { Amended, Approvals, Moment } from "./moment.ts";

/** docs/spec.md §9.10 and what else is waited for with the PR open: none of it stands against a merge that is intended now. */
export function intentionIsAllowed(moment: Moment, run: Run, batch: Batch): string[] {
  const { truth, now } = moment;
  const wrong: string[] = [];
  const say = (what: string) => wrong.push(`truth: ${run.rollout} #${run.number} began to merge batch ${batch.number} ${what}`);
  const model = truth.rollouts[moment.index]?.model;
  if (model === undefined) return [];
  // What puts clusters back waits for halts and limits, and for what was there being live.
  const forward = run.kind !== "Rollback" && batch.kind !== "Revert";
  const timely = batch.kind !== "Hotfix" && batch.kind !== "Revert";
  if (now < truth.settingsBrokenUntil) say("while the settings could not be read");
  if (forward && now < truth.unprotectedUntil) say("though others may write to the branches of ours");
  if (now < truth.guard.until) say("though the render guard said no");
  if (truth.movedTags.has(`${run.rollout} #${run.number}`) && batch.kind !== "Revert") say("though its tag was moved");
  if (isHalted(moment, batch)) say("for a cluster that is halted");
  if (run.spec.mode !== "Run") say(`though its mode is ${run.spec.mode}`);
  if (model.merge === "Manual" && batch.promoted === undefined) say("though a person is to merge it");
  if (forward && timely) for (const scope of outsideOf(truth, run, batch, now)) say(`outside of ${scope}`);
  if (timely) for (const scope of shutFor(truth, run, batch, now)) say(`in a freeze${scope}`);
  if (forward && !isApproved(moment, run, batch, model.stages[batch.stage]?.approvals)) say("without the approvals it wants");
  if (forward && model.dependsOn !== undefined) for (const missing of missingOf(moment, run, batch, model.dependsOn)) say(missing);
  if (batch.kind !== "Revert" && now < (jitterUntil(run, batch) ?? 0)) say("before its jitter was over");
  // A later weight adds nothing to what is in flight, also where the limits were lowered since the first.
  const adds = batch.step === undefined || batch.step.index === 1;
  if (adds && !isLoneWayBack(run, batch)) for (const over of overLimits(moment)) say(over);
  return wrong;
}

/** A merge may be asked for again while its intention stands; nobody passes what was shut meanwhile by that. */
export function againIsAllowed(truth: Truth, before: Run, { run, effects }: Pick<Advanced<Run>, "run" | "effects">, now: number): string[] {
  const again = effects.flatMap((one) => (one.kind === "Merge" && before.batches[one.batch - 1]?.intention !== undefined ? one.batch : []));
  return again.flatMap((number) => {
    const batch = run.batches[number - 1];
    const say = (what: string) => `truth: ${run.rollout} #${run.number} asked again for the merge of batch ${number} ${what}`;
    if (now < truth.settingsBrokenUntil) return say("while the settings could not be read");
    if (batch?.kind === "Hotfix" || batch?.kind === "Revert") return [];
    const [frozen] = batch === undefined ? [] : shutFor(truth, run, batch, now);
    if (frozen !== undefined) return say(`in a freeze${frozen}`);
    const [shut] = batch === undefined || run.kind === "Rollback" ? [] : outsideOf(truth, run, batch, now);
    return shut === undefined ? [] : say(`outside of ${shut}`);
  });
}

/** The freezes that are on for a batch, by whom they are for. */
function shutFor(truth: Truth, run: Run, batch: Batch, now: number): string[] {
  const sets = freezesOn(truth, run.rollout, run.plan.stages[batch.stage]?.name, batch, now).filter((windows) => !isOpenAt(windows, now));
  return sets.map(([one]) => (one?.region === undefined ? (one?.stage === undefined ? "" : " of its stage") : " of its clusters"));
}

function isHalted({ truth, entries, now }: Moment, batch: Batch): boolean {
  const names = batch.targets.map(({ cluster }) => truth.clusters.get(cluster)?.name ?? cluster.slice(cluster.indexOf("/") + 1));
  for (const { run } of entries) {
    for (const { clusters, until } of run?.halts ?? []) {
      if (until !== undefined && now >= epoch(until)) continue;
      if (clusters.length === 0 || names.some((name) => clusters.includes(name))) return true;
    }
  }
  return false;
}

/** What has been left out of, put off from or added to a stage: an approval is given to it as it was then. */
function amendments(run: Run, stage: number): string {
  const clusters = new Set<string>([...(run.plan.stages[stage]?.clusters ?? []), ...(run.plan.stages[stage]?.requeued ?? [])]);
  const own = (list: readonly { cluster: string }[]) =>
    list
      .map((one) => one.cluster)
      .filter((cluster) => clusters.has(cluster))
      .sort()
      .join();
  return `${own(run.skipped)} ${own(run.requeued)}`;
}

export function noteAmendments(amended: Amended, before: Run | undefined, run: Run, now: number): void {
  if (before === undefined || (before.skipped === run.skipped && before.requeued === run.requeued)) return;
  for (const stage of run.plan.stages.keys())
    if (amendments(before, stage) !== amendments(run, stage)) amended.set(`${run.rollout} #${run.number} ${stage}`, now);
}

export function noteApprovals(approvals: Approvals, before: Run | undefined, run: Run): void {
  if (before === undefined || run.commands === before.commands) return;
  const known = new Set(before.commands.map((one) => one.id));
  for (const { id, text, actor, outcome } of run.commands) {
    if (known.has(id) || outcome !== "done" || !text.startsWith("/promote") || text.includes("--full")) continue;
    const list = approvals.get(`${run.rollout} #${run.number}`) ?? [];
    for (const batch of before.batches) {
      if (batch.merged === undefined) list.push({ stage: batch.stage, by: actor, amended: amendments(run, batch.stage) });
    }
    approvals.set(`${run.rollout} #${run.number}`, list);
  }
}

function isApproved({ truth, approvals, amended: changed }: Moment, run: Run, batch: Batch, wanted: number | undefined): boolean {
  if (wanted === undefined) return true;
  const begun = run.batches.some(
    (one) =>
      one.number !== batch.number &&
      one.stage === batch.stage &&
      ((one.approved === true && one.merged !== undefined) || one.intention !== undefined),
  );
  if (begun) return true;
  const people = new Set<string>();
  const amended = amendments(run, batch.stage);
  for (const one of approvals.get(`${run.rollout} #${run.number}`) ?? [])
    if (one.stage === batch.stage && one.amended === amended) people.add(one.by);
  const pull = truth.forge.byBranch.get(batch.branch);
  const changedAt = changed.get(`${run.rollout} #${run.number} ${batch.stage}`) ?? 0;
  for (const [by, review] of pull?.reviews ?? []) if (review.head === pull?.head && review.at > changedAt) people.add(by);
  const { merger = AUTHOR, unlinked, reviewers = [] } = run.trigger;
  const may = (by: string) => by !== AUTHOR && by !== merger;
  const members = [...people].filter((by) => MEMBERS.includes(by) && may(by));
  const all = new Set([...members, ...reviewers.filter(may)]);
  return members.length >= wanted && (unlinked === undefined || all.size > wanted);
}

/** Says, for each cluster, which rollouts should be there first and are not, by what Git and Argo CD truly say. */
function missingOf(moment: Moment, run: Run, batch: Batch, dependsOn: readonly { rollout: string; atLeast: string }[]): string[] {
  const { truth, entries, now } = moment;
  const wrong: string[] = [];
  for (const { rollout, atLeast } of dependsOn) {
    const first = truth.rollouts.find((one) => one.name === rollout);
    const other = first === undefined ? undefined : entries[first.index]?.run;
    if (first === undefined || other === undefined) continue;
    const wanted = atLeast === "SameVersion" ? (run.release.values["version"] ?? "") : atLeast;
    const suffices = (value: string) => value === wanted || (atLeast !== "SameVersion" && isAtLeast(value, wanted));
    for (const cluster of new Set(batch.targets.map((target) => target.cluster)))
      for (const target of firstOf(moment, first, other, run, cluster))
        if (isMissing(truth, target, suffices, now)) wrong.push(`although ${rollout} is not at ${wanted} in ${cluster}`);
  }
  return wrong;
}

/** Tells whether a batch goes before what its `dependsOn` has on the same clusters in other stages. */
export function goesBeforeOtherStages(moment: Moment, run: Run, batch: Batch): boolean {
  const { truth, entries, now } = moment;
  const wanted = run.release.values["version"];
  return (truth.rollouts[moment.index]?.model?.dependsOn ?? []).some(({ rollout }) => {
    const first = truth.rollouts.find((one) => one.name === rollout);
    const other = first && entries[first.index]?.run;
    if (first?.model?.counted?.by !== "application" || other === undefined) return false;
    return batch.targets.some(({ cluster }) => {
      const host = truth.clusters.get(cluster)?.on?.key;
      const alike = firstOf(moment, first, other, run, cluster);
      const beside = first.targets.filter(({ on, cluster: there }) => on === host && stageNames(other).has(there));
      return beside.some((target) => !alike.includes(target) && isMissing(truth, target, (value) => value === wanted, now));
    });
  });
}

/**
 * What is waited for: the same cluster or namespace. Of Applications the environment's: on the same cluster those in the stage of the same
 * name; where it has none there, all of them.
 */
function firstOf({ truth }: Moment, { model, targets }: RepoRollout, other: Run, run: Run, cluster: string): Target[] {
  const theirs = stageNames(other);
  const taken = targets.filter((target) => theirs.has(target.cluster));
  if (model?.counted?.by !== "application") return taken.filter((target) => target.cluster === cluster);
  const host = truth.clusters.get(cluster)?.on?.key;
  const beside = taken.filter(({ on }) => on === host);
  const own = stageNames(run).get(cluster);
  const alike = beside.filter((target) => theirs.get(target.cluster) === own);
  return alike.length > 0 ? alike : beside;
}

/** The stage that each of a run's clusters is in, also of those that were put off or joined. */
function stageNames({ plan, joined = [] }: Run): Map<string, string> {
  const names = new Map<string, string>();
  for (const { name, clusters, requeued } of plan.stages) for (const cluster of [...clusters, ...requeued]) names.set(cluster, name);
  for (const { cluster, stage } of joined) names.set(cluster, plan.stages[stage]?.name ?? "");
  return names;
}

/** Tells whether a target that was brought where it is by us is at too low a version, or not healthy at it. */
function isMissing(truth: Truth, target: Target, suffices: (value: string) => boolean, now: number): boolean {
  const real = truth.targets.get(target.key);
  const changes = target.edits.map((edit) => lastChange(truth.git, pinOf(edit)));
  // What people write there, or write back, is not the other rollout's doing.
  if (real === undefined || changes.some((change) => change !== undefined && change.index > 0 && !isMerge(truth, change))) return false;
  const values = target.edits.map((edit) => pinValue(truth.git, pinOf(edit)) ?? "");
  const versions = values.filter((_, place) => target.edits[place]?.weigh === undefined);
  const [change] = changes;
  if (!versions.every(suffices)) return true;
  if (change === undefined || change.index === 0) return false;
  return !wasConfirmable(truth.git, real, { commit: change.id, at: change.at, values }, now);
}

/** A merge of ours, not what an operator has put back in the bot's name. */
function isMerge({ forge }: Truth, { id, by }: ModelCommit): boolean {
  return by === BOT && forge.pulls.some((pull) => pull.merged?.commit === id);
}

function isAtLeast(value: string, wanted: string): boolean {
  const [have, least] = [semver.coerce(value), semver.coerce(wanted)];
  return have !== null && least !== null && semver.gte(have, least);
}

/** A batch that has just been made: none kept apart is in it together, and it has not grown past what the batches before it earned. */
export function batchIsCutRight(truth: Truth, index: number, before: Run | undefined, run: Run, batch: Batch): string[] {
  const stage = truth.rollouts[index]?.model?.stages[stageIndex(run, batch)];
  if (stage === undefined) return [];
  const wrong: string[] = [...isWithinLimits(truth, run, batch)];
  const clusters = [...new Set(batch.targets.map((target) => target.cluster))];
  const names = clusters.map((cluster) => cluster.slice(cluster.indexOf("/") + 1));
  for (const pair of stage.pairs ?? []) {
    const both = pair.filter((name) => names.includes(name));
    if (both.length > 1) wrong.push(`truth: batch ${batch.number} of ${run.rollout} holds ${both.join(" and ")}, which are kept apart`);
  }
  const regions = names.flatMap((_, place) => truth.clusters.get(clusters[place] ?? "")?.labels["region"] ?? []);
  if (stage.topology === true && new Set(regions).size < regions.length)
    wrong.push(`truth: batch ${batch.number} of ${run.rollout} holds two clusters of one region`);
  if (stage.grow === undefined || batch.kind !== "Planned" || run.kind === "Rollback" || before === undefined) return wrong;
  // The same clusters at their next weight.
  if (batch.step !== undefined && batch.step.index > 1) return wrong;
  const earned = grown(run, batch.stage, stage.grow, stage.maxUnavailable);
  const shared = new Set(batch.targets.map(({ edits }) => (edits[0] === undefined ? "" : pinOf(edits[0])))).size === 1;
  if (clusters.length > earned && !shared)
    wrong.push(`truth: batch ${batch.number} holds ${clusters.length} clusters, and ${earned} were earned`);
  return wrong;
}

/** A rollback's stages are those of its run in reverse, without those that moved nothing. */
function stageIndex(run: Run, batch: Batch): number {
  const name = run.plan.stages[batch.stage]?.name ?? "";
  return Number(name.slice("stage ".length)) - 1;
}

function grown(run: Run, stage: number, { start, factor }: { start: number; factor: number }, most: number): number {
  let clean = 0;
  for (const batch of run.batches) {
    if (batch.stage !== stage || batch.kind !== "Planned" || batch.settledAt === undefined) continue;
    const midway = batch.step !== undefined && batch.step.index < batch.step.of;
    clean = batch.targets.some((target) => target.phase === "Failed") ? 0 : clean + (midway ? 0 : 1);
  }
  return Math.max(1, Math.min(most, Math.floor(start * factor ** clean)));
}
