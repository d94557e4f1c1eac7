/**
 * Analyses of a run as they are kept and followed: begun by an effect under an id, seen in the world, and journalled when
 * they begin and when they are over. What is wanted when is decided in gate-analysis.ts, what comes of a bad end in
 * run-analysis-judge.ts.
 *
 * An engine may forget what it was asked (a restart of the builtin one): the effect is then tried again, and it measures anew
 * under the same id. So nothing passes on measurements that were lost, and none is begun twice.
 */

import { defined } from "../../base/defined.ts";
import { reasonsOf, type Words } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import type { CheckReasons } from "../../reasons/checks.ts";
import type { AnalysisRef } from "../../reasons/refs.ts";
import type { AnalysisWhen } from "../../spec/rollout.ts";
import type { AnalysisMetric, ObservedAnalysis, RunAnalysis } from "../state/analysis-types.ts";
import { batchOf, change, changeBatch, type Draft, wakeAt } from "../state/draft.ts";
import { batchName, batchRef, clusterName, isOut } from "../state/names.ts";
import type { Run } from "../state/run.ts";
import { analysisSpec } from "./step-analysis.ts";

const check = reasonsOf<CheckReasons>();

/** Where an analysis belongs: of all in one place only the last attempt is kept. */
export interface AnalysisPlace {
  stage: number;
  when: AnalysisWhen;
  batch?: number | undefined;
  step?: number | undefined;
  cluster?: string | undefined;
}

/** How often what is being measured is shown anew. */
const SHOWN_MS = 30_000;
/** One that was told to end and is seen nowhere is taken to have ended after this. */
const UNSEEN_MS = 60_000;

/** Every analysis of a run, those of its batches included. */
export function analysesOf(run: Pick<Run, "analyses" | "batches">): RunAnalysis[] {
  return [...(run.analyses ?? []), ...run.batches.flatMap((batch) => batch.analyses ?? [])];
}

export function isAt(record: RunAnalysis, place: AnalysisPlace): boolean {
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
export function isMoot(run: Pick<Run, "batches">, { batch, cluster }: RunAnalysis): boolean {
  if (batch === undefined || cluster === undefined) return false;
  const targets = run.batches[batch - 1]?.targets ?? [];
  return !targets.some((target) => target.cluster === cluster && !isOut(target));
}

/** Returns an analysis as reasons name it. */
export function analysisRef(run: Run, record: AnalysisPlace): AnalysisRef {
  const templates = (analysisSpec(run, record)?.templates ?? []).map(({ templateName }) => templateName);
  const of = record.batch === undefined ? { stage: run.plan.stages[record.stage]?.name ?? "" } : batchRef(run, batchOf(run, record.batch));
  return defined({ templates, background: record.when === "Background" ? (true as const) : undefined, of, cluster: record.cluster });
}

/** `analysis of batch 2 of stage "eu-west-1"`, in the words of who asked for it. */
export function analysisTitle(run: Run, record: AnalysisPlace): string {
  const names = (analysisSpec(run, record)?.templates ?? []).map(({ templateName }) => templateName).join(", ");
  const of =
    record.batch === undefined ? `stage "${run.plan.stages[record.stage]?.name ?? ""}"` : batchName(run, batchOf(run, record.batch));
  const where = record.cluster === undefined ? "" : ` on ${clusterName(run, record.cluster)}`;
  const word = record.when === "Background" ? "background analysis" : "analysis";
  return `${word} ${names} of ${of}${where}`;
}

/** Puts an analysis in its place, over the last attempt there. With an event it is a transition. */
export function putAnalysis(draft: Draft, record: RunAnalysis, event: Words): void {
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
  const events = draft.events.length;
  putAnalysis(draft, record, "");
  draft.events.length = events;
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
    endAnalysis(draft, record, phase, check("ANALYSIS_END_UNSEEN", { because: record.stopping.why }));
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
    endAnalysis(draft, measured, "Successful", check("ANALYSIS_CALLED_OFF", { because: stopping.why }));
  else endAnalysis(draft, measured, observed.phase, observed.message);
}

function sameMetrics(a: readonly AnalysisMetric[], b: readonly AnalysisMetric[]): boolean {
  const key = (list: readonly AnalysisMetric[]) => JSON.stringify(list.map((m) => [m.name, m.phase, m.count, m.error, m.value, m.message]));
  return key(a) === key(b);
}

export function endAnalysis(draft: Draft, record: RunAnalysis, phase: RunAnalysis["phase"], why: Words): void {
  const { stopping: _, ...rest } = record;
  const analysis = analysisRef(draft.run, record);
  const event = check("ANALYSIS_ENDED", phase === "Successful" ? { analysis, phase } : { analysis, phase, because: why });
  putAnalysis(draft, { ...rest, phase, why, endedAt: draft.at }, event);
}

/** Tells one to end. `waived`: whatever it finds, nobody waits for it any more. */
export function stopAnalysis(draft: Draft, record: RunAnalysis, why: Words, waived: boolean): void {
  if (record.phase !== "Running" || (record.stopping !== undefined && (record.stopping.waived === true || !waived))) return;
  const stopping = { why, at: draft.at, ...(waived ? { waived: true as const } : {}) };
  putAnalysis(draft, { ...record, stopping }, check("ANALYSIS_STOPPED", { analysis: analysisRef(draft.run, record), because: why }));
  draft.effects.push({ kind: "StopAnalysis", analysis: record.id });
}

/** Every analysis that is under way is called off: the run is ending. */
export function callOffAnalyses(draft: Draft, why: Words): void {
  for (const record of analysesOf(draft.run)) stopAnalysis(draft, record, why, true);
}

export function analysisId(run: Pick<Run, "rollout" | "number">, place: AnalysisPlace, attempt: number): string {
  const of = place.cluster === undefined ? "" : `/${place.cluster}`;
  const when = place.step === undefined ? place.when : `Step${place.step + 1}`;
  return `${run.rollout}/${run.number}/${place.stage + 1}/${place.batch ?? 0}/${when}/${attempt}${of}`;
}
