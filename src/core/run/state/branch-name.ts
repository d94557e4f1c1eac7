import type { Batch, Run } from "./run.ts";

/** Where one batch's change is proposed: everything needed to find it again stands in the name (docs/spec.md §9.14). */
interface BatchBranch {
  rollout: string;
  /** Of the run, from 1. */
  run: number;
  /** In the plan, from 1. */
  stage: number;
  /** In its stage, from 1. */
  batch: number;
  /** From 1; raised before a branch is built again. */
  attempt: number;
  /** Of a stage with steps: which weight, from 1. */
  step?: number;
}

const PREFIX = "stagecoach-run/";

/** `stagecoach-run/payments/42/2-3-1`: run 42 of payments, stage 2, batch 3, first attempt; `2-3-1-step2`: its second weight. */
export function printBranch(branch: BatchBranch): string {
  const step = branch.step === undefined ? "" : `-step${branch.step}`;
  return `${PREFIX}${branch.rollout}/${branch.run}/${branch.stage}-${branch.batch}-${branch.attempt}${step}`;
}

/** Names all branches of a rollout's batches, for people. */
export function branchesOf(rollout: string): string {
  return `${PREFIX}${rollout}/…`;
}

/** The inverse of `printBranch`; undefined: not a branch of ours, or not spelt as we spell it. */
export function parseBranch(name: string): BatchBranch | undefined {
  const match = /^stagecoach-run\/([^/]+)\/([1-9]\d{0,8})\/([1-9]\d{0,8})-([1-9]\d{0,8})-([1-9]\d{0,8})(?:-step([1-9]\d{0,8}))?$/.exec(
    name,
  );
  if (match === null) return undefined;
  const [, rollout = "", run, stage, batch, attempt, step] = match;
  const place = { rollout, run: Number(run), stage: Number(stage), batch: Number(batch), attempt: Number(attempt) };
  return step === undefined ? place : { ...place, step: Number(step) };
}

/** Names the branch of one attempt of one batch, or of one weight of it. */
export function branchOf(
  run: Pick<Run, "rollout" | "number">,
  batch: Pick<Batch, "stage" | "ofStage" | "attempt"> & { step?: { index: number } | undefined },
): string {
  const { rollout, number } = run;
  const place = { rollout, run: number, stage: batch.stage + 1, batch: batch.ofStage, attempt: batch.attempt };
  return printBranch(batch.step === undefined ? place : { ...place, step: batch.step.index });
}
