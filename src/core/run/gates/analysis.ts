/** When an analysis is begun, and what waits for it: `analysis` of a stage as gates of the run. */

import { defined } from "../../base/defined.ts";
import type { AnyReason, Words } from "../../base/reason.ts";
import { parseTemplate, renderTemplate, type TemplateValues } from "../../base/template.ts";
import { epoch, type Time } from "../../base/time.ts";
import { gateReason } from "../../reasons/gates.ts";
import type { AnalysisArg, AnalysisWhen, StageAnalysis } from "../../spec/rollout.ts";
import {
  type AnalysisPlace,
  analysesAt,
  analysisId,
  analysisRef,
  endAnalysis,
  isMoot,
  putAnalysis,
  stopAnalysis,
} from "../checks/analysis.ts";
import { analysisSpec } from "../checks/step-analysis.ts";
import type { RunAnalysis } from "../state/analysis-types.ts";
import { isInTurn } from "../state/batch-kind.ts";
import { batchOf, type Draft } from "../state/draft.ts";
import { clustersOf, liveTargets } from "../state/names.ts";
import type { Batch, Run } from "../state/run.ts";
import { isMidStep } from "../state/steps.ts";
import { type Wait, wait } from "./decision.ts";

/** What a stage measures at such a moment; undefined: nothing. */
export function analysisOf(run: Run, stage: number, when: AnalysisWhen): StageAnalysis | undefined {
  const spec = run.spec.stages[stage];
  if (spec?.analysis === undefined || !spec.analysis.when.includes(when)) return undefined;
  // A rolling stage has no batch that is confirmed as a whole (docs/spec.md §9.19); lint says so.
  return when === "AfterBatch" && spec.batching === "Rolling" ? undefined : spec.analysis;
}

/** Whether its arguments name the cluster or the Application: then it is run once for each cluster of a batch. */
export function namesCluster({ args }: Pick<StageAnalysis, "args">): boolean {
  return args.some(({ value }) => {
    const parsed = parseTemplate(value);
    return parsed.ok && parsed.parts.some((part) => "variable" in part && /^(?:cluster|application)\./.test(part.variable.root));
  });
}

/**
 * Begins what the stage wants measured in this place, and says what stands against going on; undefined: nothing.
 * `newerThan`: what was begun before is measured anew.
 */
function measure(draft: Draft, place: AnalysisPlace, newerThan?: Time): Wait | undefined {
  const analysis = place.step === undefined ? analysisOf(draft.run, place.stage, place.when) : analysisSpec(draft.run, place);
  if (analysis === undefined) return undefined;
  if (waived(draft, place)) return undefined;
  let unread = false;
  for (const one of placesOf(draft, place, analysis)) unread = !begin(draft, one, analysis, newerThan) || unread;
  if (unread) return wait(gateReason("ANALYSIS_UNREAD"), { what: gateReason("NEXT_READ") });
  return standing(draft, place);
}

/** `/promote --full`: what is under way is called off, and nothing more is begun. */
function waived(draft: Draft, place: AnalysisPlace): boolean {
  const { promotedFully } = draft.run;
  if (promotedFully === undefined) return false;
  for (const record of analysesAt(draft.run, place)) stopAnalysis(draft, record, gateReason("WAITS_ENDED", { by: promotedFully.by }), true);
  return true;
}

function placesOf(draft: Draft, place: AnalysisPlace, analysis: StageAnalysis): AnalysisPlace[] {
  if (place.batch === undefined || !namesCluster(analysis)) return [place];
  const confirmed = liveTargets(batchOf(draft.run, place.batch)).filter(({ phase }) => phase === "Healthy" || phase === "Baked");
  return clustersOf(confirmed).map((cluster) => ({ ...place, cluster }));
}

/** False where it cannot be begun yet. */
function begin(draft: Draft, place: AnalysisPlace, analysis: StageAnalysis, newerThan: Time | undefined): boolean {
  const known = analysesAt(draft.run, place).find((record) => record.cluster === place.cluster);
  if (known === undefined) return startAnalysis(draft, place, analysis, 1);
  if (newerThan === undefined || epoch(known.startedAt) >= epoch(newerThan)) return true;
  return startAnalysis(draft, place, analysis, known.attempt + 1);
}

/** False where its arguments cannot be filled in yet. */
export function startAnalysis(draft: Draft, place: AnalysisPlace, analysis: StageAnalysis, attempt: number): boolean {
  const args = filled(draft, place, analysis);
  if (args === "unread") return false;
  const { stage, when, batch, step, cluster } = place;
  const record: RunAnalysis = {
    ...defined({ id: analysisId(draft.run, place, attempt), stage, when, batch, step, cluster }),
    attempt,
    args: "missing" in args ? [] : args.args,
    phase: "Running",
    why: gateReason("ANALYSIS_BEGUN"),
    startedAt: draft.at,
  };
  if ("missing" in args) {
    endAnalysis(draft, record, "Error", args.missing);
    return true;
  }
  putAnalysis(draft, record, gateReason("ANALYSIS_BEGINS", { analysis: analysisRef(draft.run, record), attempt }));
  if (attempt > 1) overtake(draft, analysisId(draft.run, place, attempt - 1));
  draft.effects.push({ kind: "StartAnalysis", analysis: record.id });
  return true;
}

/** The attempt before is not asked for any more, were it in this very round, and ends where it is under way. */
function overtake(draft: Draft, before: string): void {
  const at = draft.effects.findIndex((effect) => effect.kind === "StartAnalysis" && effect.analysis === before);
  if (at >= 0) draft.effects.splice(at, 1);
  draft.effects.push({ kind: "StopAnalysis", analysis: before });
}

/** The arguments as they are now, by the rules of pins' templates. */
function filled(draft: Draft, place: AnalysisPlace, { args }: StageAnalysis): { args: AnalysisArg[] } | { missing: AnyReason } | "unread" {
  const values = valuesFor(draft, place);
  const done: AnalysisArg[] = [];
  for (const { name, value } of args) {
    const parsed = parseTemplate(value);
    if (!parsed.ok) {
      const because = { code: "BAD_TEMPLATE", ...parsed.fault };
      return { missing: gateReason("ANALYSIS_ARGUMENT", { name, because }) };
    }
    const rendered = renderTemplate(parsed.parts, values.values);
    if (rendered.ok) done.push({ name, value: rendered.text });
    else if (place.cluster !== undefined && !values.known) return "unread";
    else {
      const data = { name, variable: rendered.missing, cluster: place.batch === undefined ? undefined : place.cluster };
      return { missing: gateReason("ANALYSIS_ARGUMENT_MISSING", defined(data)) };
    }
  }
  return { args: done };
}

function valuesFor(draft: Draft, place: AnalysisPlace): { values: TemplateValues; known: boolean } {
  const { run, world } = draft;
  const none = { cluster: { name: "", server: "", labels: {} }, application: { name: "", namespace: "" } };
  const common = { params: {}, release: run.release.values };
  if (place.cluster === undefined || place.batch === undefined) return { values: { ...none, ...common }, known: true };
  const seen = world.clusters.get(place.cluster);
  const target = batchOf(run, place.batch).targets.find((one) => one.cluster === place.cluster);
  const [, namespace = ""] = (target?.key ?? "").split("/");
  const name = place.cluster.slice(place.cluster.indexOf("/") + 1);
  const cluster = { name, server: seen?.server ?? "", labels: seen?.labels ?? {} };
  const application = { name: target?.application ?? "", namespace };
  return { values: { cluster, application, ...common }, known: seen !== undefined || world.clustersKnown };
}

/** Failed where the policy is to go on all the same: it is remembered, and the run ends as Failed. */
export function isTolerated(run: Run, { phase }: Pick<RunAnalysis, "phase">): boolean {
  return run.spec.onFailure.action === "Continue" && (phase === "Failed" || phase === "Error");
}

/** Over, and not as it should be; nobody has accepted it. */
export function isBad(run: Run, record: RunAnalysis): boolean {
  const ended = record.phase === "Failed" || record.phase === "Error" || record.phase === "Inconclusive";
  return ended && record.accepted === undefined && !isMoot(run, record);
}

function standing(draft: Draft, place: AnalysisPlace): Wait | undefined {
  const { run } = draft;
  const records = analysesAt(run, place);
  const bad = records.find((record) => isBad(run, record) && !isTolerated(run, record));
  if (bad !== undefined) {
    const why = gateReason("ANALYSIS_BAD", { analysis: analysisRef(run, bad), because: bad.why });
    return wait(why, { what: gateReason("NEXT_COMMAND") });
  }
  const running = records.filter((record) => record.phase === "Running");
  const [first] = running;
  if (first === undefined) return undefined;
  const why = gateReason("ANALYSIS_RUNNING", { analysis: analysisRef(run, first), because: first.why, more: running.length - 1 });
  return wait(why, { what: gateReason("NEXT_ANALYSIS_ENDS") });
}

/** Before the stage's first merge, once nothing else of the run stands against it. */
export function beforeStage(draft: Draft, batch: Batch): Wait | undefined {
  return measure(draft, { stage: batch.stage, when: "BeforeStage" });
}

/** True where a batch that is confirmed is measured: it stays in its bake for as long as that takes. */
export function measuresBatch(run: Run, batch: Batch): boolean {
  return (
    isInTurn(batch) && !isMidStep(batch) && run.promotedFully === undefined && analysisOf(run, batch.stage, "AfterBatch") !== undefined
  );
}

/** Of a batch whose every cluster is confirmed. `bakeOver`: what is measured until it is stopped is stopped. */
export function afterBatch(draft: Draft, batch: Batch, bakeOver: boolean): Wait | undefined {
  if (!isInTurn(batch) || isMidStep(batch)) return undefined;
  const place = { stage: batch.stage, when: "AfterBatch" as const, batch: batch.number };
  // An unhealthy moment begins the bake anew, and with it what is measured beside it.
  const blocked = measure(draft, place, batch.bake?.from);
  if (blocked !== undefined && bakeOver) endWhatIsEndless(draft, place, gateReason("BAKE_IS_OVER"));
  return blocked;
}

/** The analysis among the steps that follow the weight of a batch, as its wait `step`, measured since then. undefined: it has passed. */
export function afterWeight(draft: Draft, { number, stage }: Batch, step: number, since: Time): Wait | undefined {
  return measure(draft, { stage, when: "AfterBatch", batch: number, step }, since);
}

/** Never before everything that counts was measured once: nothing passes unmeasured. */
function endWhatIsEndless(draft: Draft, place: AnalysisPlace, why: Words, always = false): void {
  for (const record of analysesAt(draft.run, place)) {
    const observed = draft.world.analyses?.get(record.id);
    if (record.phase !== "Running" || observed?.phase !== "Running" || (!always && observed.endless !== true)) continue;
    if (observed.metrics.every((metric) => metric.dryRun === true || metric.count > 0)) stopAnalysis(draft, record, why, false);
  }
}

/** From the stage's first merge on; begun anew by a later merge where it has ended by itself. */
export function inBackground(draft: Draft): void {
  const { stage } = draft.run;
  const analysis = analysisOf(draft.run, stage, "Background");
  if (analysis === undefined) return;
  const place = { stage, when: "Background" as const };
  if (waived(draft, place)) return;
  const merges = draft.run.batches.flatMap((batch) =>
    batch.stage === stage && batch.merged !== undefined ? [epoch(batch.merged.at)] : [],
  );
  if (merges.length === 0) return;
  const [known] = analysesAt(draft.run, place);
  if (known === undefined) startAnalysis(draft, place, analysis, 1);
  else if (known.phase === "Successful" && epoch(known.endedAt ?? known.startedAt) < Math.max(...merges))
    startAnalysis(draft, place, analysis, known.attempt + 1);
}

/** A stage that is done otherwise: its background ends, and then it is measured once more. */
export function afterStage(draft: Draft, stage: number): Wait | undefined {
  const moved = draft.run.batches.filter((batch) => batch.stage === stage && batch.merged !== undefined);
  if (moved.length === 0) return undefined;
  const background = { stage, when: "Background" as const };
  endWhatIsEndless(draft, background, gateReason("STAGE_IS_DONE"), true);
  const blocked = standing(draft, background);
  if (blocked !== undefined && draft.run.promotedFully === undefined) return blocked;
  const last = moved.map((batch) => batch.settledAt ?? batch.since).reduce((a, b) => (epoch(a) >= epoch(b) ? a : b));
  return measure(draft, { stage, when: "AfterStage" }, last);
}
