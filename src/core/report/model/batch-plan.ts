/** What a batch is to do, as it is known when it is opened: where it stands in its run, what it changes, its gates, what follows it. */
import type { Edit } from "../../plan/plan-types.ts";
import { namedEdits, valuesOfEdits } from "../../plan/values.ts";
import type { Batch, BatchTarget, Run } from "../../run/state/run.ts";
import { isMidStep } from "../../run/state/steps.ts";
import { BATCH_NOUNS, stepPhrase } from "../reasons/phrases.ts";
import { batchesOfStage, pinValue, releaseName, stageName } from "../words.ts";
import type { Context } from "./context.ts";
import { gatesOf } from "./gates.ts";
import type { BatchPlace, BatchPlan, Change } from "./types.ts";

export function batchPlan(context: Context, batch: Batch): BatchPlan {
  const { run } = context;
  return {
    place: placeOf(run, batch),
    changes: changesOf(batch, valuesOfEdits(run.spec, run.release)),
    // Where there is one weight alone it changes nothing.
    weight: batch.step === undefined || batch.step.of === 1 ? undefined : batch.step.weight,
    mode: run.spec.mode,
    gates: gatesOf(context, batch),
    follows: followsOf(run, batch),
  };
}

export function placeOf(run: Run, batch: Batch): BatchPlace {
  return {
    ...{ stage: stageName(run, batch.stage), number: batch.stage + 1, of: run.plan.stages.length, batch: batchNodeName(run, batch) },
    run: { rollout: run.rollout, number: run.number, kind: run.kind },
    release: releaseName(run.release.values),
    pull: run.trigger.pull,
  };
}

/** Each value that becomes another, once. A weight is told by itself. */
function changesOf({ targets }: Batch, names: ReturnType<typeof valuesOfEdits>): (Change & { value?: string | undefined })[] {
  const changes = targets.flatMap(({ edits }) =>
    edits.flatMap((edit, i) => (edit.from !== edit.to && edit.steps === undefined ? [{ ...changeBy(edit), value: names[i] }] : [])),
  );
  return eachOnce(changes);
}

/** Of changes that are alike, the last. */
export function eachOnce<T extends Change & { value?: string | undefined }>(changes: readonly T[]): T[] {
  return [...new Map(changes.map((change) => [JSON.stringify([change.value, change.from, change.to]), change])).values()];
}

/** Of a target that has its value already, nothing. Of a release of several values those that change, by name. */
export function changeOf({ edits }: Pick<BatchTarget, "edits">, { spec, release }: Pick<Run, "spec" | "release">): Change | undefined {
  const changed = namedEdits(edits, valuesOfEdits(spec, release)).filter(([, { from, to }]) => from !== to);
  if (changed.length === 0) {
    const edit = edits.find(({ from, to }) => from !== to);
    return edit && changeBy(edit);
  }
  const text = (which: "from" | "to") =>
    releaseName(
      Object.fromEntries(changed.flatMap(([name, edit]) => (edit[which] === null ? [] : [[name, pinValue(edit, which)]]))),
      "named",
    );
  return changed.every(([, { from }]) => from === null) ? { to: text("to") } : { from: text("from"), to: text("to") };
}

/** What an edit does to a version; of a value that was not there before, `to` alone. */
function changeBy(edit: Edit): Change {
  const to = pinValue(edit, "to");
  return edit.from === null ? { to } : { from: pinValue(edit, "from"), to };
}

function followsOf(run: Run, batch: Batch): string {
  if (isMidStep(batch)) return `opens step ${(batch.step?.index ?? 0) + 1} of ${batch.step?.of ?? 0}`;
  if (batch.kind !== "Planned") return "goes on with the run";
  const of = batchesOfStage(run, batch.stage);
  if (batch.ofStage < of) return `opens batch ${batch.ofStage + 1} of ${of}`;
  const next = run.plan.stages.slice(batch.stage + 1).find((stage) => stage.clusters.length + stage.requeued.length > 0);
  return next === undefined ? "finishes the run" : `goes on to stage "${next.name}"`;
}

/** It stands inside its stage, so the stage is not named again. */
export function batchNodeName(run: Run, { kind, ...batch }: Batch): string {
  return kind !== "Planned" ? BATCH_NOUNS[kind] : `batch ${batch.ofStage} of ${batchesOfStage(run, batch.stage)}${stepPhrase(batch)}`;
}
