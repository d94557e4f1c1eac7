import { epoch } from "../../core/base/time.ts";
import { type Batch, type BatchTarget, isMoving, type Run } from "../../core/run/state/run.ts";
import type { Advanced, World } from "../../core/run/state/world.ts";
import { type ModelTarget, segmentAt, segmentsOf, wasConfirmable } from "../world/argocd.ts";
import type { ModelPull } from "../world/forge.ts";
import { pinOf, pinValue } from "../world/git.ts";
import type { Truth } from "../world/world.ts";
import type { Advance } from "./moment.ts";

/** A target counts as confirmed only if it truly was healthy at that change for the settle time, some time after the merge. */
export function confirmedTruly(truth: Truth, before: Run, after: Run, now: number): string[] {
  const wrong: string[] = [];
  for (const [index, batch] of after.batches.entries()) {
    const was = before.batches[index];
    if (was === batch || batch.merged === undefined) continue;
    for (const [at, target] of batch.targets.entries()) {
      if (target.excused === true && was?.targets[at]?.excused !== true) wrong.push(...excusedTruly(truth, batch, target, now));
      if (target === was?.targets[at] || target.phase !== "Healthy" || was?.targets[at]?.phase === "Healthy") continue;
      const real = truth.targets.get(target.key);
      if (real === undefined || !wasHealthyAt(truth, real, batch, target.edits, now))
        wrong.push(`truth: ${target.key} is taken as confirmed at ${batch.merged.commit.slice(-4)} and never was`);
    }
  }
  return wrong;
}

/** docs/spec.md §9.18: outside of the budget is only what was unhealthy before its change. */
function excusedTruly(truth: Truth, batch: Batch, target: BatchTarget, now: number): string[] {
  const real = truth.targets.get(target.key);
  const until = batch.merged === undefined ? now : epoch(batch.merged.at);
  if (real === undefined || real.goneAt <= until) return [];
  const ill = segmentsOf(truth.git, real).some(
    ({ state, from, to }) => (state === "Degraded" || state === "Unreachable") && from <= until && to > until - PROPOSED_MS,
  );
  return ill ? [] : [`truth: ${target.key} failed and is excused, and was well before its change`];
}

/** Longer than any batch is proposed before it merges, but for those that wait for people. */
const PROPOSED_MS = 24 * 3_600_000;

/** Whether it truly was healthy, for the settle time, at the change of a batch. */
export function wasHealthyAt(truth: Truth, real: ModelTarget, batch: Batch, edits: readonly { to: string }[], now: number): boolean {
  if (batch.merged === undefined) return false;
  const values = edits.map((edit) => edit.to);
  return wasConfirmable(truth.git, real, { commit: batch.merged.commit, at: changedAt(batch), values }, now);
}

/** When the change came; a batch that needed no PR has its change from the commit it was found at. */
function changedAt(batch: Batch): number {
  return batch.pull === undefined || batch.merged === undefined ? 0 : epoch(batch.merged.at);
}

/** After one of our merges: judged by what is true, not by what the run believes. */
export function mergeIsSound(truth: Truth, run: Run, pull: ModelPull, now: number, queued: boolean): string[] {
  const wrong: string[] = [];
  const batch = run.batches[pull.batch - 1];
  // What was requeued may be put back while the run is paused (docs/spec.md §9.14).
  // The queue merges by itself what could not be seen, and so not be taken out of it, until somebody is told that it stands still.
  const may = queued || isMoving(run) || (batch?.kind === "Revert" && run.phase === "Paused");
  if (!may || (run.ending !== undefined && !queued)) wrong.push(`truth: merged while the journal says ${run.phase}`);
  if (batch?.intention === undefined) return [...wrong, `truth: batch ${pull.batch} merged without an intention in the journal`];
  if (batch.intention.queued === undefined && !truth.queue && now - epoch(batch.intention.at) >= 30_000)
    wrong.push(`truth: batch ${batch.number} merged on an intention that has lapsed`);
  wrong.push(...changesItsPins(truth, batch, pull));
  const rolling = run.spec.stages[batch.stage]?.batching === "Rolling";
  const flying = new Set(batch.targets.map((target) => target.cluster));
  const last = lastMerged(run, batch);
  for (const other of run.batches) {
    if (other === batch || other.merged === undefined) continue;
    for (const target of other.targets) {
      if (target.phase === "Failed" || target.phase === "Skipped" || target.phase === "Requeued" || target.phase === "RolledBack") continue;
      const real = truth.targets.get(target.key);
      if (batch.kind === "Revert" || queued) continue;
      // Since then at its next weight, or tried again.
      const stands = last.get(target.key) === other;
      // With its cluster goes its pin, also of one that was left behind before.
      const gone = !truth.clusters.has(target.cluster) && target.edits.every((edit) => pinValue(truth.git, pinOf(edit)) === null);
      if (stands && !gone && target.edits.some((edit) => pinValue(truth.git, pinOf(edit)) !== edit.to))
        wrong.push(`truth: merged while the pin of ${target.key} was changed away`);
      if (truth.git.forgotten.has(other.merged.commit)) wrong.push(`truth: merged while the commit of batch ${other.number} was gone`);
      if (real !== undefined && wasHealthyAt(truth, real, other, target.edits, now)) continue;
      if (other.stage === batch.stage) flying.add(target.cluster);
      // Out of turn is what `/hotfix` is for.
      // What is caught up on of an earlier stage does not wait for a later one.
      const inTurn =
        other.stage <= batch.stage && isInTurn(batch) && (isInTurn(other) || (other.stage === batch.stage && other.number < batch.number));
      if (inTurn && !(rolling && other.stage === batch.stage))
        wrong.push(`truth: batch ${batch.number} merged while ${target.key} was never healthy at its change`);
    }
  }
  const most = run.plan.stages[batch.stage]?.maxUnavailable ?? 0;
  if (flying.size > most) wrong.push(`truth: ${flying.size} clusters of a stage in flight, at most ${most} may`);
  return wrong;
}

/** SPEC §9.11: what was confirmed before is well at the very moment at which the next one begins to merge. */
export function followsTheWell(truth: Truth, run: Run, batch: Batch, now: number): string[] {
  if (!isInTurn(batch)) return [];
  const phases = new Map<string, string>();
  for (const other of run.batches) {
    if (other === batch || other.merged === undefined || other.phase === "Closed") continue;
    for (const { key, phase } of other.targets) phases.set(key, phase);
  }
  const wrong: string[] = [];
  for (const [key, phase] of phases) {
    const real = truth.targets.get(key);
    if (real === undefined || (phase !== "Healthy" && phase !== "Baked")) continue;
    const state = now >= real.goneAt ? "gone" : segmentAt(truth.git, real, now)?.state;
    if (state === "Degraded" || state === "Unreachable" || state === "gone")
      wrong.push(`truth: ${run.rollout} #${run.number} merges batch ${batch.number} although ${key}, confirmed before it, is ${state}`);
  }
  return wrong;
}

/** By target, the batch that changed it last; this one is merging. */
function lastMerged(run: Run, batch: Batch): Map<string, Batch> {
  const last = new Map<string, Batch>();
  for (const one of run.batches) if (one.merged !== undefined && one !== batch) for (const { key } of one.targets) last.set(key, one);
  for (const { key } of batch.targets) last.set(key, batch);
  return last;
}

export function isInTurn(batch: Batch): boolean {
  return batch.kind !== "Hotfix" && batch.kind !== "Revert";
}

/** Invariant 4, by what the commit truly holds. */
function changesItsPins(truth: Truth, batch: Batch, pull: ModelPull): string[] {
  const wrong: string[] = [];
  const edits = [...batch.targets.flatMap((target) => target.edits), ...(batch.also ?? [])];
  const mine = new Set(edits.map(pinOf));
  const made = truth.git.byId.get(pull.merged?.commit ?? "");
  for (const [pin] of made?.changes ?? [])
    if (!mine.has(pin)) wrong.push(`truth: the commit of batch ${batch.number} changes ${pin}, which is none of its pins`);
  for (const edit of edits)
    if (pinValue(truth.git, pinOf(edit)) !== edit.to)
      wrong.push(`truth: batch ${batch.number} merged, and ${pinOf(edit)} is not at its value`);
  return wrong;
}

const ENOUGH: Record<string, readonly string[]> = {
  read: ["read", "triage", "write", "maintain", "admin"],
  write: ["write", "maintain", "admin"],
  maintain: ["maintain", "admin"],
};

const LEAST: Record<string, string> = {
  status: "read",
  plan: "read",
  help: "read",
  rollback: "maintain",
  halt: "maintain",
  hotfix: "maintain",
};

/** What an account without the permission says changes nothing: the same round without its commands ends the same. */
export function strangersChangeNothing(advance: Advance, before: Run, world: World, advanced: Advanced<Run>, now: number): string[] {
  if (world.commands.length === 0) return [];
  const known = new Set(before.commands.map((command) => command.id));
  const strange = world.commands.filter((one) => {
    const least = one.flags["full"] === undefined ? (LEAST[one.name] ?? "write") : "maintain";
    return !known.has(one.id) && ENOUGH[least]?.includes(one.permission) === false;
  });
  if (strange.length === 0) return [];
  const without = advance(before, { ...world, commands: world.commands.filter((one) => !strange.includes(one)) }, now);
  if (essence(without) === essence(advanced)) return [];
  return [`invariant 7: ${strange.map((one) => `"${one.text}" of ${one.actor}`).join(", ")} changed what happens`];
}

function essence({ run, effects }: Advanced<Run>): string {
  const { plan: _, spec: __, commands: ___, ...rest } = run;
  return JSON.stringify([rest, effects.filter((effect) => effect.kind !== "Answer")]);
}
