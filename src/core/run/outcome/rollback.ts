import { defined } from "../../base/defined.ts";
import { nearest } from "../../base/nearest.ts";
import { epoch } from "../../base/time.ts";
import { windowOf } from "../../plan/cut-batches.ts";
import { hashPlan, hashStage } from "../../plan/hash.ts";
import { keepsApart } from "../../plan/kept-apart.ts";
import { type Edit, type Plan, type PlannedBatch, type PlannedStage, type PlannedTarget, targetsOfStage } from "../../plan/plan-types.ts";
import { valuesOfEdits } from "../../plan/values.ts";
import { type RunReason, runReason } from "../../reasons/run.ts";
import type { Rollout, Stage } from "../../spec/rollout.ts";
import { putsBack } from "../state/batch.ts";
import { clustersOf, isOut, stageOf, targetsOf, unitOf } from "../state/names.ts";
import type { BatchTarget, Run } from "../state/run.ts";

/** A run's way back: what a rollback run is started with. */
export interface Rollback {
  spec: Rollout;
  plan: Plan;
  /** Clusters that moved and cannot be put back, and why: they are named, and left as they are. */
  left: { cluster: string; why: RunReason }[];
}

/**
 * docs/spec.md §9.17: the clusters that the run has moved, in reverse: last stage first, last batch first, each pin back to what was
 * last good there, or to `to`. Windows, approvals, bakes, jitter and `dependsOn` do not apply to it; health, halts, limits and
 * GitHub's rules do. Pure; the same run gives the same plan.
 */
export function planRollback(run: Run, to?: string): Rollback | { error: RunReason } {
  const edits = run.plan.stages.flatMap((stage) => stage.batches).flatMap((batch) => batch.targets.flatMap((target) => target.edits));
  if (to !== undefined && edits.some((edit) => edit.kind === "branch")) return { error: runReason("ROLLBACK_OF_BRANCHES") };
  const asked = to === undefined ? undefined : askedBack(run, to);
  if (asked !== undefined && "code" in asked) return { error: asked };
  const left = new Map<string, RunReason>();
  const back = new Map<string, PlannedTarget>();
  for (const [key, target] of movedTargets(run)) {
    const planned = reversed(run, target, asked);
    if ("code" in planned) left.set(target.cluster, planned);
    else back.set(key, planned);
  }
  // Targets of a cluster, and clusters that share a pin, only go together.
  for (const [cluster, why] of [...left]) for (const member of unitOf(run, cluster)) if (!left.has(member)) left.set(member, why);
  const stages: { spec: Stage; planned: PlannedStage }[] = [];
  for (let index = run.plan.stages.length - 1; index >= 0; index--) {
    const stage = reverseStage(run, index, back, left);
    if (stage !== undefined) stages.push(stage);
  }
  if (stages.length === 0) return { error: runReason("ROLLBACK_OF_NOTHING", { moved: left.size > 0 }) };
  const plan: Plan = {
    rollout: run.rollout,
    ...defined({ targetBy: run.plan.targetBy }),
    release: { values: releaseBack(run, asked), attempt: run.release.attempt },
    hash: hashPlan(stages.map(({ planned }) => planned)),
    stages: stages.map(({ planned }) => planned),
    uncovered: [],
    warnings: [],
  };
  const specs = stages.map(({ spec }) => spec);
  return { spec: reverseSpec(run.spec, specs), plan, left: [...left].map(([cluster, why]) => ({ cluster, why })) };
}

/** Its way back is a run of its own, which begins as soon as this one has ended: it is asked for, and can be made. */
export function isPutBackNext(run: Run): boolean {
  return run.rollback !== undefined && !("error" in planRollback(run, run.rollback.to));
}

/** What a run has changed and not taken back, by target key, as its last batch has it. */
function movedTargets(run: Run): Map<string, BatchTarget> {
  const moved = new Map<string, BatchTarget>();
  for (const batch of run.batches) {
    if (batch.merged === undefined) continue;
    for (const target of batch.targets) {
      if (wasOutBefore(batch.merged.at, target)) continue;
      if (putsBack(batch)) moved.delete(target.key);
      // Tried again after it had moved: nothing was left to write, and it has moved all the same.
      else if (moved.has(target.key) || target.edits.some((edit) => edit.from !== edit.to)) moved.set(target.key, target);
    }
  }
  return moved;
}

/** Taken out of the batch before it merged: it was not in the commit. What is put off or left out later has moved. */
function wasOutBefore(mergedAt: string, target: BatchTarget): boolean {
  return isOut(target) && epoch(target.since) < epoch(mergedAt);
}

function reversed(run: Run, target: BatchTarget, to: Asked | undefined): PlannedTarget | RunReason {
  const frozen = targetsOf(run, target.cluster).find((one) => one.key === target.key);
  const edits: Edit[] = [];
  for (const [i, edit] of target.edits.entries()) {
    const { file, path } = edit;
    const good = goodValue(run, target.key, i, frozen?.edits[i] ?? edit, to);
    if (good === undefined) return runReason("PIN_NOT_PLAIN", { file, path });
    const made = frozen?.edits[i]?.made ?? edit.made;
    if (good === null && made === undefined) return runReason("PIN_MADE_BY_RUN", { file, path });
    edits.push(backwards({ ...edit, ...defined({ made }) }, good));
  }
  return { key: target.key, application: target.application, cluster: target.cluster, ...defined({ on: frozen?.on }), edits };
}

function goodValue(run: Run, key: string, index: number, frozen: Edit, to: Asked | undefined): string | null | undefined {
  const names = valuesOfEdits(run.spec, run.release);
  const [[only, whole] = []] = Object.entries(run.release.values);
  const name = names.length > 0 ? names[index] : frozen.to === whole ? only : undefined;
  // With --to it is that version that is another: weights, and values that it does not name, go back to what they were.
  if (to === undefined || frozen.steps !== undefined || (name !== undefined && !to.has(name))) {
    const known = run.lastGood?.[key];
    return known === undefined ? frozen.from : (known[index] ?? null);
  }
  // Another value in an entry of a generator would be every cluster's that is with it.
  return name !== undefined && frozen.to === run.release.values[name] && frozen.kind === "value" ? to.get(name) : undefined;
}

/** What a rollback brings: what was good, but for what it is asked to bring. */
function releaseBack({ release, goodRelease = {} }: Run, asked: Asked | undefined): Record<string, string> {
  if (asked === undefined) return goodRelease;
  return { ...(Object.keys(release.values).length < 2 ? {} : goodRelease), ...Object.fromEntries(asked) };
}

/** What `--to` names, by name. */
type Asked = ReadonlyMap<string, string>;

/** What `--to` asks for: the version, or `image=v1,chart=1.2.0` of a release of several values. The others go back to what was good. */
function askedBack(run: Run, to: string): Asked | RunReason {
  const known = Object.keys(run.release.values);
  if (known.length < 2) return new Map([[known[0] ?? "version", to]]);
  const asked = new Map<string, string>();
  for (const part of to.split(",")) {
    const [, name = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(part) ?? [];
    if (!known.includes(name) || value === "")
      return runReason("ROLLBACK_VALUE", { given: part, known: known.toSorted(), near: nearest(name, known) });
    asked.set(name, value);
  }
  return asked;
}

/** Of a cluster between two entries of a generator, too: it goes to the entry that holds the value. `good` null: it goes, as the run made it. */
export function backwards(edit: Edit, good: string | null): Edit {
  const { copied } = edit;
  const { create: _c, removes, ...plain } = edit;
  if (good === null) return { ...plain, from: edit.to, to: "", removes: true };
  if (removes === true) return { ...plain, create: true, from: null, to: good };
  // What it was before the run, or longer ago: how many files that makes nobody has counted.
  const counted =
    good === edit.from && copied !== undefined ? { added: copied.removed, removed: copied.added } : { added: 0, changed: 0, removed: 0 };
  const back = copied === undefined ? {} : { copied: { ...copied, ...counted } };
  const forced = edit.kind === "branch" ? { forced: true as const } : {};
  return { ...edit, ...forced, from: edit.to, to: good, ...defined({ steps: edit.steps && [good] }), ...back };
}

function reverseStage(
  run: Run,
  index: number,
  back: ReadonlyMap<string, PlannedTarget>,
  left: ReadonlyMap<string, unknown>,
): { spec: Stage; planned: PlannedStage } | undefined {
  const spec = run.spec.stages[index];
  const before = run.plan.stages[index];
  if (spec === undefined || before === undefined) return undefined;
  const groups = groupsOf(run, index, (cluster) => !left.has(cluster) && targetsOf(run, cluster).some((t) => back.has(t.key)));
  const clusters = groups.flat();
  if (clusters.length === 0) return undefined;
  const size =
    run.spec.rollback?.maxUnavailable === undefined ? before.maxUnavailable : windowOf(run.spec.rollback.maxUnavailable, clusters.length);
  // Clusters that are kept apart never moved in one batch, and do not go back in one.
  const apart = keepsApart(spec) ? groups.flatMap((group) => regroup(run, group, size)) : regroup(run, clusters, size);
  const cut = run.spec.rollback?.maxUnavailable === undefined ? groups : apart;
  const batches = cut.map((group) => toBatch(group, run, back));
  const most = Math.max(size, ...batches.map((batch) => batch.clusters.length));
  const plain = reverseStageSpec(spec, run.spec.rollback?.skipBake ?? true);
  const planned = { name: before.name, maxUnavailable: most, clusters, requeued: [], batches, requeuedTargets: [] };
  return { spec: plain, planned: { ...planned, hash: hashStage(planned, plain) } };
}

/** The stage's clusters as its batches moved them, last batch first; each cluster once. */
function groupsOf(run: Run, stage: number, wanted: (cluster: string) => boolean): string[][] {
  const seen = new Set<string>();
  const groups: string[][] = [];
  for (const batch of run.batches.toReversed()) {
    if (batch.merged === undefined) continue;
    const group = clustersOf(batch.targets).filter((cluster) => stageOf(run, cluster) === stage && !seen.has(cluster) && wanted(cluster));
    for (const cluster of group) seen.add(cluster);
    if (group.length > 0) groups.push(group.toReversed());
  }
  return groups;
}

function regroup(run: Run, clusters: readonly string[], size: number): string[][] {
  const groups: string[][] = [];
  const seen = new Set<string>();
  for (const cluster of clusters) {
    if (seen.has(cluster)) continue;
    const unit = unitOf(run, cluster).filter((member) => clusters.includes(member));
    for (const member of unit) seen.add(member);
    const last = groups.at(-1);
    if (last === undefined || last.length + unit.length > size) groups.push([...unit]);
    else last.push(...unit);
  }
  return groups;
}

function toBatch(clusters: string[], run: Run, back: ReadonlyMap<string, PlannedTarget>): PlannedBatch {
  const targets = clusters.flatMap((cluster) => targetsOf(run, cluster).flatMap((t) => back.get(t.key) ?? []));
  return { clusters, targets };
}

function reverseStageSpec(spec: Stage, skipBake: boolean): Stage {
  const { requeue: _r, grow: _g, jitterMs: _j, approval: _a, analysis: _m, hooks: _h, steps: _s, windows: _w, ...kept } = spec;
  return { ...kept, batching: "Fixed", bakeMs: skipBake ? 0 : spec.bakeMs };
}

/** A rollback that fails stops and asks, whatever the rollout tolerates on its way forward. */
function reverseSpec(spec: Rollout, stages: Stage[]): Rollout {
  const { windows: _w, dependsOn: _d, ...kept } = spec;
  return { ...kept, stages, onFailure: { action: "Pause", maxFailures: { count: 0 } } };
}

/**
 * What was last good at a run's targets, where that is not what stands there when it starts: a run before it that did not
 * succeed had moved them.
 */
export function lastGoodFor(plan: Plan, before: Run | undefined): Record<string, (string | null)[]> | undefined {
  if (before === undefined || before.phase === "Succeeded" || before.phase === "RolledBack") return undefined;
  const moved = goodBefore(before);
  const good: Record<string, (string | null)[]> = {};
  for (const stage of plan.stages) {
    for (const target of targetsOfStage(stage)) {
      const last = moved[target.key];
      if (last !== undefined) good[target.key] = last;
    }
  }
  return Object.keys(good).length === 0 ? undefined : good;
}

/** What was last good before a run, of the targets where that is not what stands there: those it has moved, and those that a run before it had. */
export function goodBefore(run: Run): Record<string, (string | null)[]> {
  const good: Record<string, (string | null)[]> = { ...run.lastGood };
  for (const [key, target] of movedTargets(run)) {
    const frozen = targetsOf(run, target.cluster).find((one) => one.key === key) ?? target;
    good[key] ??= frozen.edits.map((edit) => edit.from);
  }
  return good;
}

/** The release that is good when a run starts: what the run before it was, where it succeeded, or else what was good then. */
export function goodReleaseFor(before: Run | undefined, declared: Record<string, string>): Record<string, string> {
  if (before === undefined) return declared;
  return before.phase === "Succeeded" || before.phase === "RolledBack" ? before.release.values : (before.goodRelease ?? declared);
}
