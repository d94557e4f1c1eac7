import { hookHost } from "../../run/checks/hooks.ts";
import { analysisSpec } from "../../run/checks/step-analysis.ts";
import type { AnalysisMetric, RunAnalysis } from "../../run/state/analysis-types.ts";
import type { HookCall } from "../../run/state/hooks-types.ts";
import type { Batch, Run } from "../../run/state/run.ts";
import type { AnalysisWhen } from "../../spec/rollout.ts";
import { present } from "../markdown.ts";
import { sentenceOf } from "../reasons/say.ts";
import { shortName } from "../words.ts";

/** An analysis or a hook of a run as people read it, wherever that is. */
export interface GateLine {
  /** `analysis webcheck on eu-1`, `hook before (hooks.example.com)` */
  what: string;
  /** In words, with who has accepted it. */
  state: string;
  tone: "good" | "busy" | "wait" | "bad" | "none";
  /** What was measured, or how often it was asked. */
  measured: string;
  why: string;
  since: string;
  over: boolean;
}

const WHERE: Record<AnalysisWhen, string> = {
  BeforeStage: "analysis before the stage:",
  AfterBatch: "analysis",
  AfterStage: "analysis after the stage:",
  Background: "background analysis",
};

/** Of one batch: what was measured once its clusters were confirmed, and by its steps. */
export function gatesOfBatch(run: Run, batch: Pick<Batch, "analyses">): GateLine[] {
  return (batch.analyses ?? []).map((record) => analysisLine(run, record));
}

/** Of one stage as a whole. */
export function gatesOfStage(run: Run, stage: number): GateLine[] {
  const analyses = (run.analyses ?? []).filter((record) => record.stage === stage).map((record) => analysisLine(run, record));
  const hooks = (run.hooks ?? []).filter((call) => call.stage === stage).map((call) => hookLine(run, call));
  return [...analyses, ...hooks];
}

const TONES: Record<RunAnalysis["phase"], GateLine["tone"]> = {
  Running: "busy",
  Successful: "good",
  Failed: "bad",
  Error: "bad",
  Inconclusive: "wait",
  Stopped: "none",
};

function analysisLine(run: Run, record: RunAnalysis): GateLine {
  const names = (analysisSpec(run, record)?.templates ?? []).map(({ templateName }) => templateName).join(", ");
  const on = record.cluster === undefined ? "" : ` on ${shortName(record.cluster)}`;
  const again = record.attempt === 1 ? "" : `, attempt ${record.attempt}`;
  const accepted = record.accepted === undefined ? "" : `, accepted by @${record.accepted.by}`;
  return {
    what: `${WHERE[record.when]} ${names}${on}${again}`,
    state: `${record.phase}${accepted}`,
    tone: record.accepted === undefined ? TONES[record.phase] : "wait",
    measured: (record.metrics ?? []).map(metricWords).join("; "),
    why: sentenceOf(record.why, run),
    since: record.endedAt ?? record.startedAt,
    over: record.phase !== "Running",
  };
}

/** `webcheck: 3 ok, 2 failed, last nok` */
function metricWords(metric: AnalysisMetric): string {
  const counts = present(
    `${metric.successful} ok`,
    metric.failed > 0 && `${metric.failed} failed`,
    metric.inconclusive > 0 && `${metric.inconclusive} inconclusive`,
    metric.error > 0 && `${metric.error} not measured`,
    metric.value !== undefined && `last ${metric.value}`,
    metric.dryRun === true && "dry run",
  );
  return `${metric.name}: ${counts.join(", ")}`;
}

const HOOK_TONES: Record<HookCall["phase"], GateLine["tone"]> = {
  Calling: "busy",
  Waiting: "wait",
  Held: "wait",
  Done: "good",
  Failed: "bad",
  Error: "bad",
};

function hookLine(run: Run, call: HookCall): GateLine {
  const host = hookHost(run.spec.stages[call.stage]?.hooks?.[call.when][call.index]?.url ?? "");
  const when = call.when === "onFailure" ? "on failure" : `${call.when} the stage`;
  const accepted = call.accepted === undefined ? "" : `, passed over by @${call.accepted.by}`;
  return {
    what: `hook ${when}${host === "" ? "" : ` (${host})`}`,
    state: `${call.phase}${accepted}`,
    tone: call.accepted === undefined ? HOOK_TONES[call.phase] : "wait",
    measured: call.tries === 1 ? "asked once" : `asked ${call.tries} times`,
    why: sentenceOf(call.why, run),
    since: call.endedAt ?? call.since,
    over: call.endedAt !== undefined,
  };
}
