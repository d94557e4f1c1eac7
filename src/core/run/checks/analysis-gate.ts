import { epoch, type Time } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import type { AnalysisWhen, StageAnalysis } from "../../spec/rollout.ts";
import { type Wait, wait } from "../state/decision.ts";
import type { Run } from "../state/run.ts";
import { type AnalysisPlace, analysesAt, analysisRef, isBadAnalysis, isToleratedAnalysis, placesOf } from "./analysis.ts";
import { analysisSpec } from "./step-analysis.ts";

/** What a stage measures at such a moment; undefined: nothing. */
export function analysisOf(run: Run, stage: number, when: AnalysisWhen): StageAnalysis | undefined {
  const spec = run.spec.stages[stage];
  if (spec?.analysis === undefined || !spec.analysis.when.includes(when)) return undefined;
  // A rolling stage has no batch that is confirmed as a whole (docs/spec.md §9.19); lint says so.
  return when === "AfterBatch" && spec.batching === "Rolling" ? undefined : spec.analysis;
}

/** What is to be measured in a place; undefined: nothing, or nobody waits for it any more. */
export function wantedAt(run: Run, place: AnalysisPlace): StageAnalysis | undefined {
  if (run.promotedFully !== undefined) return undefined;
  return place.step === undefined ? analysisOf(run, place.stage, place.when) : analysisSpec(run, place);
}

/** Waits for what is to be measured in a place. `newerThan`: what was begun before counts for nothing. undefined: it has passed. */
export function analysisGate(run: Run, place: AnalysisPlace, newerThan?: Time): Wait | undefined {
  const analysis = wantedAt(run, place);
  if (analysis === undefined) return undefined;
  // What can be begun has been: what it is run for is not known.
  if (placesOf(run, place, analysis).some((one) => !isBegun(run, one, newerThan)))
    return wait(runReason("ANALYSIS_UNREAD"), { what: runReason("NEXT_READ") });
  return underWay(run, place);
}

/** Says whether it is measured in a place, or was, by an analysis begun since then. */
export function isBegun(run: Run, place: AnalysisPlace, newerThan?: Time): boolean {
  const known = analysesAt(run, place).find((record) => record.cluster === place.cluster);
  return known !== undefined && (newerThan === undefined || epoch(known.startedAt) >= epoch(newerThan));
}

/** Waits for the analyses of a place that were begun, and for a person where one ended badly. */
export function underWay(run: Run, place: AnalysisPlace): Wait | undefined {
  const records = analysesAt(run, place);
  const bad = records.find((record) => isBadAnalysis(run, record) && !isToleratedAnalysis(run, record));
  if (bad !== undefined) {
    const why = runReason("ANALYSIS_BAD", { analysis: analysisRef(run, bad), because: bad.why });
    return wait(why, { what: runReason("NEXT_COMMAND") });
  }
  const running = records.filter((record) => record.phase === "Running");
  const [first] = running;
  if (first === undefined) return undefined;
  const why = runReason("ANALYSIS_RUNNING", { analysis: analysisRef(run, first), because: first.why, more: running.length - 1 });
  return wait(why, { what: runReason("NEXT_ANALYSIS_ENDS") });
}
