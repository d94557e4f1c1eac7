/** Begins analyses: with their arguments as they are at that moment, once for each cluster where these name it, and anew where asked to. */
import { parseTemplate, renderTemplate, type TemplateValues } from "../../base/template.ts";
import type { Time } from "../../base/time.ts";
import { type RunReason, runReason } from "../../reasons/run.ts";
import type { AnalysisArg, StageAnalysis } from "../../spec/rollout.ts";
import type { RunAnalysis } from "../state/analysis-types.ts";
import { batchOf, type Draft } from "../state/draft.ts";
import { hostOf } from "../state/names.ts";
import { planeOf } from "../targets/unseen.ts";
import { type AnalysisPlace, analysesAt, analysisId, analysisRef, endAnalysis, placesOf, putAnalysis, stopAnalysis } from "./analysis.ts";
import { isBegun, wantedAt } from "./analysis-gate.ts";

/** Begins what is to be measured in a place and is not yet. `newerThan`: what was begun before is measured anew. */
export function measure(draft: Draft, place: AnalysisPlace, newerThan?: Time): void {
  const { promotedFully } = draft.run;
  if (promotedFully !== undefined) {
    // What is under way is called off.
    const why = runReason("WAITS_ENDED", { by: promotedFully.by });
    for (const record of analysesAt(draft.run, place)) stopAnalysis(draft, record, why, true);
  }
  const analysis = wantedAt(draft.run, place);
  if (analysis === undefined) return;
  for (const one of placesOf(draft.run, place, analysis)) {
    if (isBegun(draft.run, one, newerThan)) continue;
    const before = analysesAt(draft.run, one).find((record) => record.cluster === one.cluster);
    startAnalysis(draft, one, analysis, (before?.attempt ?? 0) + 1);
  }
}

/** False where its arguments cannot be filled in yet. */
export function startAnalysis(draft: Draft, place: AnalysisPlace, analysis: StageAnalysis, attempt: number): boolean {
  const args = filled(draft, place, analysis);
  if (args === "unread") return false;
  const { stage, when, batch, step, cluster } = place;
  const id = analysisId(draft.run, place, attempt);
  const begun = { phase: "Running", why: runReason("ANALYSIS_BEGUN"), startedAt: draft.at } as const;
  const record: RunAnalysis = { id, stage, when, batch, step, cluster, attempt, args: "code" in args ? [] : args, ...begun };
  if ("code" in args) {
    endAnalysis(draft, record, "Error", args);
    return true;
  }
  putAnalysis(draft, record, runReason("ANALYSIS_BEGINS", { analysis: analysisRef(draft.run, record), attempt }));
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

/** The arguments as they are now, by the rules of pins' templates; or why one cannot be filled in. */
function filled(draft: Draft, place: AnalysisPlace, { args }: StageAnalysis): AnalysisArg[] | RunReason | "unread" {
  const { values, known } = valuesFor(draft, place);
  const done: AnalysisArg[] = [];
  for (const { name, value } of args) {
    const parsed = parseTemplate(value);
    if (!parsed.ok) return runReason("ANALYSIS_ARGUMENT", { name, because: { code: "BAD_TEMPLATE", ...parsed.fault } });
    const rendered = renderTemplate(parsed.parts, values);
    if (rendered.ok) done.push({ name, value: rendered.text });
    else if (place.cluster !== undefined && !known) return "unread";
    else {
      const cluster = place.batch === undefined ? undefined : place.cluster;
      return runReason("ANALYSIS_ARGUMENT_MISSING", { name, variable: rendered.missing, cluster });
    }
  }
  return done;
}

function valuesFor({ run, world }: Draft, place: AnalysisPlace): { values: TemplateValues; known: boolean } {
  const none = { cluster: { name: "", server: "", labels: {} }, application: { name: "", namespace: "" }, destination: {} };
  const plane = place.cluster === undefined ? "" : planeOf(place.cluster);
  const common = { controlPlane: { name: plane, labels: {} }, params: {}, release: run.release.values };
  if (place.cluster === undefined || place.batch === undefined) return { values: { ...none, ...common }, known: true };
  const seen = world.clusters.get(place.cluster);
  const target = batchOf(run, place.batch).targets.find((one) => one.cluster === place.cluster);
  const [, namespace = ""] = (target?.key ?? "").split("/");
  const host = hostOf(run, place.cluster);
  const labels = (seen?.on ?? seen)?.labels ?? {};
  const cluster = { name: host.slice(host.indexOf("/") + 1), server: seen?.server ?? "", labels };
  const application = {
    name: target?.application ?? "",
    namespace,
    ...(run.plan.targetBy === "application" ? { labels: seen?.labels ?? {} } : {}),
  };
  const destination = { namespace: seen?.labels["stagecoach.dev/namespace"] };
  const values = { cluster, application, destination, ...common };
  return { values, known: seen !== undefined || world.clustersKnown };
}
