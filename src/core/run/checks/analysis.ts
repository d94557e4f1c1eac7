/**
 * Analyses of a run as they are kept and followed: begun by an effect under an id, seen in the world, and journalled when
 * they begin and when they are over. What is wanted when is decided in `start-analyses.ts` and `stage-checks.ts`, what comes of a bad end in
 * `judge.ts`.
 *
 * An engine may forget what it was asked (a restart of the builtin one): the effect is then tried again, and it measures anew
 * under the same id. So nothing passes on measurements that were lost, and none is begun twice.
 */
import type { AnyReason } from "../../base/reason.ts";
import { parseTemplate } from "../../base/template.ts";
import { epoch } from "../../base/time.ts";
import type { AnalysisRef } from "../../reasons/refs.ts";
import { runReason } from "../../reasons/run.ts";
import type { StageAnalysis } from "../../spec/rollout.ts";
import type { AnalysisMetric, ObservedAnalysis, RunAnalysis } from "../state/analysis-types.ts";
import { batchOf, change, changeBatch, type Draft, wakeAt } from "../state/draft.ts";
import { batchRef, clustersOf, isOut } from "../state/names.ts";
import type { Run } from "../state/run.ts";
import { analysisSpec } from "./step-analysis.ts";

/** Where an analysis belongs: of all in one place only the last attempt is kept. */
export type AnalysisPlace = Pick<RunAnalysis, "stage" | "when" | "batch" | "step" | "cluster">;

/** How often what is being measured is shown anew. */
const SHOWN_MS = 30_000;
/** One that was told to end and is seen nowhere is taken to have ended after this. */
const UNSEEN_MS = 60_000;

const NONE: readonly RunAnalysis[] = [];

/** Every analysis of a run, those of its batches included. */
export function analysesOf(run: Pick<Run, "analyses" | "batches">): RunAnalysis[] {
  return [...(run.analyses ?? []), ...run.batches.flatMap((batch) => batch.analyses ?? NONE)];
}

function isAt(record: RunAnalysis, place: AnalysisPlace): boolean {
  return (
    record.stage === place.stage &&
    record.when === place.when &&
    record.batch === place.batch &&
    record.step === place.step &&
    (place.cluster === undefined || record.cluster === place.cluster)
  );
}

/** The analyses of a place that still matter: not those of clusters that their batch goes on without. */
export function analysesAt(run: Run, place: AnalysisPlace): RunAnalysis[] {
  const list = place.batch === undefined ? run.analyses : batchOf(run, place.batch).analyses;
  return (list ?? []).filter((record) => isAt(record, place) && !isMoot(run, record));
}

/** Of a cluster that was left out, or put off, since. */
function isMoot(run: Pick<Run, "batches">, { batch, cluster }: RunAnalysis): boolean {
  if (batch === undefined || cluster === undefined) return false;
  const targets = run.batches[batch - 1]?.targets ?? [];
  return !targets.some((target) => target.cluster === cluster && !isOut(target));
}

/** Returns an analysis as reasons name it. */
export function analysisRef(run: Run, record: AnalysisPlace): AnalysisRef {
  const templates = (analysisSpec(run, record)?.templates ?? []).map(({ templateName }) => templateName);
  const of = record.batch === undefined ? { stage: run.plan.stages[record.stage]?.name ?? "" } : batchRef(run, batchOf(run, record.batch));
  return { templates, background: record.when === "Background" || undefined, of, cluster: record.cluster };
}

/** Whether its arguments name the cluster or the Application: then it is run once for each cluster of a batch. */
function namesCluster({ args }: Pick<StageAnalysis, "args">): boolean {
  return args.some(({ value }) => {
    const parsed = parseTemplate(value);
    return (
      parsed.ok &&
      parsed.parts.some((part) => "variable" in part && /^(?:cluster|application|destination|controlPlane)\b/.test(part.variable.root))
    );
  });
}

/** Where it is measured: in the place itself, or there for each cluster of its batch that is confirmed. */
export function placesOf(run: Run, place: AnalysisPlace, analysis: StageAnalysis): AnalysisPlace[] {
  if (place.batch === undefined || !namesCluster(analysis)) return [place];
  const confirmed = batchOf(run, place.batch).targets.filter(({ phase }) => phase === "Healthy" || phase === "Baked");
  return clustersOf(confirmed).map((cluster) => ({ ...place, cluster }));
}

/** Failed where the policy is to go on all the same: it is remembered, and the run ends as Failed. */
export function isToleratedAnalysis(run: Run, { phase }: RunAnalysis): boolean {
  return run.spec.onFailure.action === "Continue" && (phase === "Failed" || phase === "Error");
}

/** Over, and not as it should be; nobody has accepted it. */
export function isBadAnalysis(run: Run, record: RunAnalysis): boolean {
  const ended = record.phase === "Failed" || record.phase === "Error" || record.phase === "Inconclusive";
  return ended && record.accepted === undefined && !isMoot(run, record);
}

/** Puts an analysis in its place, over the last attempt there. With an event it is a transition. */
export function putAnalysis(draft: Draft, record: RunAnalysis, event?: AnyReason): void {
  const replaced = (list: readonly RunAnalysis[] | undefined) => {
    const others = list ?? [];
    const at = others.findIndex((one) => isAt(one, record) && one.cluster === record.cluster);
    return at < 0 ? [...others, record] : others.with(at, record);
  };
  if (record.batch === undefined) change(draft, { analyses: replaced(draft.run.analyses) }, event);
  else changeBatch(draft, record.batch, { analyses: replaced(batchOf(draft.run, record.batch).analyses) }, event);
}

/** As putAnalysis, where only what is shown of it changes: recorded at leisure. */
function showAnalysis(draft: Draft, record: RunAnalysis): void {
  const { transition } = draft;
  putAnalysis(draft, record);
  draft.transition = transition;
  draft.observation = true;
}

/** Takes in what engines say, and asks again for what they do not know. */
export function followAnalyses(draft: Draft): void {
  for (const record of analysesOf(draft.run)) {
    if (record.phase !== "Running") continue;
    const observed = draft.world.analyses?.get(record.id);
    if (observed !== undefined) take(draft, record, observed);
    else if (draft.world.analyses !== undefined || record.stopping !== undefined) askFor(draft, record);
  }
}

/** It is not known to be under way: it is begun, or told to end in case it is. */
function askFor(draft: Draft, record: RunAnalysis): void {
  if (record.stopping === undefined) {
    draft.effects.push({ kind: "StartAnalysis", analysis: record.id });
    // The attempt before may still be measured somewhere: nobody listens to it any more.
    if (record.attempt > 1) draft.effects.push({ kind: "StopAnalysis", analysis: analysisId(draft.run, record, record.attempt - 1) });
    wakeAt(draft, draft.now + SHOWN_MS);
    return;
  }
  const until = epoch(record.stopping.at) + UNSEEN_MS;
  if (draft.now >= until) {
    // What was measured is lost: nothing passes on that, unless nobody waits for it any more.
    const phase = record.stopping.waived === true ? "Stopped" : "Inconclusive";
    endAnalysis(draft, record, phase, runReason("ANALYSIS_END_UNSEEN", { because: record.stopping.why }));
    return;
  }
  draft.effects.push({ kind: "StopAnalysis", analysis: record.id });
  wakeAt(draft, until);
}

function take(draft: Draft, record: RunAnalysis, observed: ObservedAnalysis): void {
  const { stopping } = record;
  if (observed.phase === "Running") {
    if (stopping !== undefined) draft.effects.push({ kind: "StopAnalysis", analysis: record.id });
    wakeAt(draft, draft.now + SHOWN_MS);
    const shown = { ...record, why: observed.message, metrics: observed.metrics };
    if (!sameMetrics(record.metrics ?? [], observed.metrics)) showAnalysis(draft, shown);
    return;
  }
  const measured = { ...record, metrics: observed.metrics };
  if (stopping?.waived === true) endAnalysis(draft, measured, "Stopped", stopping.why);
  else if (stopping !== undefined && observed.phase === "Successful")
    endAnalysis(draft, measured, "Successful", runReason("ANALYSIS_CALLED_OFF", { because: stopping.why }));
  else endAnalysis(draft, measured, observed.phase, observed.message);
}

function sameMetrics(a: readonly AnalysisMetric[], b: readonly AnalysisMetric[]): boolean {
  const key = (list: readonly AnalysisMetric[]) => JSON.stringify(list.map((m) => [m.name, m.phase, m.count, m.error, m.value, m.message]));
  return key(a) === key(b);
}

export function endAnalysis(draft: Draft, record: RunAnalysis, phase: RunAnalysis["phase"], why: AnyReason): void {
  const { stopping: _, ...rest } = record;
  const analysis = analysisRef(draft.run, record);
  const event = runReason("ANALYSIS_ENDED", phase === "Successful" ? { analysis, phase } : { analysis, phase, because: why });
  putAnalysis(draft, { ...rest, phase, why, endedAt: draft.at }, event);
}

/** Tells one to end. `waived`: whatever it finds, nobody waits for it any more. */
export function stopAnalysis(draft: Draft, record: RunAnalysis, why: AnyReason, waived: boolean): void {
  if (record.phase !== "Running" || (record.stopping !== undefined && (record.stopping.waived === true || !waived))) return;
  const stopping = { why, at: draft.at, waived: waived || undefined };
  putAnalysis(draft, { ...record, stopping }, runReason("ANALYSIS_STOPPED", { analysis: analysisRef(draft.run, record), because: why }));
  draft.effects.push({ kind: "StopAnalysis", analysis: record.id });
}

export function analysisId(run: Pick<Run, "rollout" | "number">, place: AnalysisPlace, attempt: number): string {
  const of = place.cluster === undefined ? "" : `/${place.cluster}`;
  const when = place.step === undefined ? place.when : `Step${place.step + 1}`;
  return `${run.rollout}/${run.number}/${place.stage + 1}/${place.batch ?? 0}/${when}/${attempt}${of}`;
}
