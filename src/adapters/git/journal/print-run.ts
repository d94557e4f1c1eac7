/**
 * Prints a run to its files. The same run gives the same texts, and what has not changed is not printed again. `read-run.ts` is the way
 * back.
 */
import type { PlannedTarget } from "../../../core/plan/plan-types.ts";
import type { Batch, BatchTarget, Evidence, Run } from "../../../core/run/state/run.ts";
import { batchFile, evidenceFile, planFile, runFile } from "./run-paths.ts";
import { printYaml } from "./yaml-rows.ts";

/** A run and the files it is kept in, so that the next printing writes only what differs. */
export interface RunFiles {
  run: Run;
  /** Path → text. */
  files: ReadonlyMap<string, string>;
  /** By batch, in order: where the evidence of its targets is kept. */
  shards: readonly Shards[];
}

/** Evidence is written once: new evidence goes to new shards, and the batch's file says in which one a target's is. */
export interface Shards {
  count: number;
  of: ReadonlyMap<string, { shard: number; evidence: Evidence }>;
}

const SHARD_SIZE = 200;
const ROWS = new Set([
  "targets",
  "requeuedTargets",
  "requeued",
  "skipped",
  "joined",
  "notJoined",
  "quarantined",
  "commands",
  "uncovered",
  "evidence",
]);
const RUN_KEYS = "format rollout number release trigger phase since why next stage batches paused startedAt endedAt".split(" ");
const BATCH_KEYS = "number stage ofStage attempt kind branch phase since why next pull intention merged bake settledAt shards".split(" ");
const NO_SHARDS: Shards = { count: 0, of: new Map() };

/**
 * The files of a run. With those of before, what is the same object is not printed again, and shards already written
 * stay as they are. `readRunFiles` is the way back.
 */
export function printRun(run: Run, prior?: RunFiles): RunFiles {
  const { rollout, number, spec, plan, batches, ...rest } = run;
  const files = new Map<string, string>();
  const reuse = (path: string, same: boolean, print: () => string): void => {
    const text = same ? prior?.files.get(path) : undefined;
    files.set(path, text ?? print());
  };
  files.set(runFile(rollout, number), printYaml(ordered({ rollout, number, batches: batches.length, ...rest }, RUN_KEYS), ROWS));
  const frozen = prior !== undefined && prior.run.plan === plan && prior.run.spec === spec;
  reuse(planFile(rollout, number), frozen, () => printYaml({ plan, spec }, ROWS));

  const planned = plannedTargets(run);
  const shards: Shards[] = [];
  for (const [at, batch] of batches.entries()) {
    const before = prior?.shards[at] ?? NO_SHARDS;
    const same = prior?.run.batches[at] === batch && frozen;
    const kept = same ? before : addEvidence(run, batch, before, files);
    for (let shard = 1; shard <= before.count; shard++) {
      const path = evidenceFile(rollout, number, batch.number, shard);
      files.set(path, prior?.files.get(path) ?? "");
    }
    reuse(batchFile(rollout, number, batch.number), same, () => printBatch(batch, kept, planned));
    shards.push(kept);
  }
  return { run, files, shards };
}

/** Writes shards for evidence that is in none yet. */
function addEvidence(run: Run, batch: Batch, before: Shards, files: Map<string, string>): Shards {
  const fresh: { target: string; evidence: Evidence }[] = [];
  for (const { key, evidence } of batch.targets) {
    if (evidence !== undefined && !sameData(before.of.get(key)?.evidence, evidence)) fresh.push({ target: key, evidence });
  }
  if (fresh.length === 0) return before;
  const of = new Map(before.of);
  let count = before.count;
  for (let from = 0; from < fresh.length; from += SHARD_SIZE) {
    count += 1;
    const rows = fresh.slice(from, from + SHARD_SIZE);
    for (const { target, evidence } of rows) of.set(target, { shard: count, evidence });
    const path = evidenceFile(run.rollout, run.number, batch.number, count);
    const evidence = rows.map(({ target, evidence: found }) => ({ target, ...found }));
    files.set(path, printYaml({ batch: batch.number, shard: count, evidence }, ROWS));
  }
  return { count, of };
}

function printBatch(batch: Batch, shards: Shards, planned: ReadonlyMap<string, PlannedTarget>): string {
  const { targets, ...head } = batch;
  const rows = targets.map((target) => printTarget(target, shards, planned.get(target.key)));
  return printYaml({ ...ordered({ ...head, shards: shards.count }, BATCH_KEYS), targets: rows }, ROWS);
}

/** What the frozen plan says of the target already is not said again: a batch's file holds what changes. */
function printTarget(target: BatchTarget, shards: Shards, planned: PlannedTarget | undefined): Record<string, unknown> {
  const { key, application, cluster, edits, evidence, ...rest } = target;
  const row: Record<string, unknown> = { key };
  if (planned?.application !== application) row["application"] = application;
  if (planned?.cluster !== cluster) row["cluster"] = cluster;
  if (!sameData(planned?.edits, edits)) row["edits"] = edits;
  Object.assign(row, rest);
  if (evidence !== undefined) row["evidence"] = shards.of.get(key)?.shard;
  return row;
}

/** Targets of the plan by key. The first one counts where a key is there twice. */
export function plannedTargets(run: Pick<Run, "plan">): Map<string, PlannedTarget> {
  const planned = new Map<string, PlannedTarget>();
  for (const stage of run.plan.stages) {
    for (const targets of [...stage.batches.map((batch) => batch.targets), stage.requeuedTargets]) {
      for (const target of targets) if (!planned.has(target.key)) planned.set(target.key, target);
    }
  }
  return planned;
}

function sameData(a: unknown, b: unknown): boolean {
  return a === b || (a !== undefined && JSON.stringify(a) === JSON.stringify(b));
}

/** The named keys first and in that order, then the others as they come: the same data gives the same text. */
function ordered(value: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const key of [...keys, ...Object.keys(value)]) {
    if (value[key] !== undefined) result[key] = value[key];
  }
  return result;
}
