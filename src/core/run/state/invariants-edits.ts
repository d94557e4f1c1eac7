/** Invariant 4 of a run (docs/spec.md §3), as far as the run itself tells: what its batches write. See invariants.ts. */
import { targetsOfStage } from "../../plan/plan-types.ts";
import { type Breach, breach } from "../../reasons/breaches.ts";
import { WORTH_REMEMBERING } from "./batch.ts";
import type { Batch, BatchTarget, Run } from "./run.ts";

/** `invariant`: its number in docs/spec.md §3. */
export type Report = (invariant: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8, breach: Breach) => void;

/** 4. As far as the run itself tells: a batch's edits are those that the frozen plan has for its targets, all of them and no others. */
export function batchesChangeTheirPins(run: Run, report: Report): void {
  for (const batch of run.batches) {
    const known = sound.get(batch);
    if (known !== undefined && known.plan === run.plan && known.joined === run.joined) continue;
    const wrong = wrongEdits(run, batch);
    for (const one of wrong) report(4, one);
    const isRemembered = wrong.length === 0 && batch.targets.length >= WORTH_REMEMBERING;
    if (isRemembered) sound.set(batch, { plan: run.plan, joined: run.joined });
  }
}

/** Batches that were found to be right by a plan and who joined: none of them is ever changed in place. */
const sound = new WeakMap<Batch, { plan: Run["plan"]; joined: Run["joined"] | undefined }>();

function wrongEdits(run: Run, batch: Batch): Breach[] {
  const wrong: Breach[] = [];
  const planned = plannedEdits(run);
  const joined = run.joined && new Map(run.joined.flatMap((one) => one.targets.map((target) => [target.key, target.edits])));
  for (const target of batch.targets) {
    const wanted = planned.get(target.key) ?? joined?.get(target.key);
    const data = { number: batch.number, target: target.key };
    if (wanted === undefined) wrong.push(breach("TARGET_NOT_PLANNED", data));
    else if (batch.kind === "Revert") {
      if (!putsBack(wanted, target)) wrong.push(breach("PUT_BACK_OTHERWISE", data));
    } else if (!sameEdits(atStep(wanted, batch), target)) wrong.push(breach("EDITED_OTHERWISE", data));
  }
  return wrong;
}

const planned = new WeakMap<object, Map<string, BatchTarget["edits"]>>();

/** By target key; a plan never changes, so it is looked through once. */
function plannedEdits(run: Run): Map<string, BatchTarget["edits"]> {
  const known = planned.get(run.plan);
  if (known !== undefined) return known;
  const edits = new Map<string, BatchTarget["edits"]>();
  for (const stage of run.plan.stages) {
    for (const target of targetsOfStage(stage)) edits.set(target.key, target.edits);
  }
  planned.set(run.plan, edits);
  return edits;
}

/** The same places, and never the release itself. */
function putsBack(edits: BatchTarget["edits"], target: BatchTarget): boolean {
  const same = edits.map((edit, index) => ({ ...edit, to: target.edits[index]?.to ?? edit.to }));
  return sameEdits(same, target) && edits.some((edit, index) => target.edits[index]?.to !== edit.to);
}

/** The plan has what a weight pin gets at each step of a stage; a batch of one step writes that one's. */
function atStep(edits: BatchTarget["edits"], { step }: Batch): BatchTarget["edits"] {
  return step === undefined ? edits : edits.map((edit) => ({ ...edit, to: edit.steps?.[step.index - 1] ?? edit.to }));
}

/** No cluster of a batch gets to a weight that is not more than the one it merged before. */
export function weightsGrow(run: Run, report: Report): void {
  const last = new Map<string, number>();
  for (const batch of run.batches) {
    const { step } = batch;
    if (step === undefined || batch.merged === undefined) continue;
    for (const target of batch.targets) {
      const key = `${batch.stage} ${batch.ofStage} ${target.key}`;
      const before = last.get(key);
      if (before !== undefined && step.weight <= before)
        report(4, breach("WEIGHT_NOT_GROWN", { number: batch.number, target: target.key, weight: step.weight, before }));
      last.set(key, step.weight);
    }
  }
}

function sameEdits(edits: BatchTarget["edits"], target: BatchTarget): boolean {
  if (edits === target.edits) return true;
  if (edits.length !== target.edits.length) return false;
  return edits.every((edit, index) => {
    const other = target.edits[index];
    return other !== undefined && edit.file === other.file && edit.path === other.path && edit.to === other.to && edit.part === other.part;
  });
}
