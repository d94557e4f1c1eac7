/** Nodes of clusters, Applications, Argo Rollouts, analyses and hooks: what stands below a batch or a stage. Called by `stage-nodes.ts`. */
import { hasCode } from "../../base/reason.ts";
import { hookHost } from "../../run/checks/hooks.ts";
import { analysisSpec } from "../../run/checks/step-analysis.ts";
import type { RunAnalysis } from "../../run/state/analysis-types.ts";
import type { HookCall } from "../../run/state/hooks-types.ts";
import { clusterName } from "../../run/state/names.ts";
import type { Batch, BatchTarget, Evidence, RolloutState, TargetPhase } from "../../run/state/run.ts";
import { isMidway } from "../../run/state/steps.ts";
import type { AnalysisWhen } from "../../spec/rollout.ts";
import { present } from "../markdown.ts";
import { countedTimes } from "../reasons/phrases.ts";
import { changeOf } from "./batch-plan.ts";
import { causeOfCheck, causeOfTarget } from "./causes.ts";
import { type Context, explainNode } from "./context.ts";
import { isState } from "./labels.ts";
import { boundsOf, limitOf } from "./limits.ts";
import { rolloutDetails, rolloutPhase } from "./rollout-words.ts";
import { node, TARGET_STATES } from "./states.ts";
import type { ModelNode, State } from "./types.ts";

/** The one that says most about a cluster comes first: a cluster is as far as its least advanced Application. */
const WORST_FIRST: readonly TargetPhase[] = [
  ...(["Failed", "RolledBack", "Requeued", "Pending", "Proposed", "Merged", "Syncing", "Healthy", "Skipped", "Baked"] as const),
];

const OVER: ReadonlySet<TargetPhase> = new Set(["Baked", "Skipped", "Failed", "RolledBack"]);

/** A cluster in a batch, with those of its Applications that the batch has. */
export function clusterNode(context: Context, batch: Batch, cluster: string, targets: readonly BatchTarget[]): ModelNode {
  const [worst] = targets.toSorted((a, b) => WORST_FIRST.indexOf(a.phase) - WORST_FIRST.indexOf(b.phase));
  if (worst === undefined) throw new Error("a cluster of a batch has no target");
  return {
    ...targetNode(context, batch, worst, { kind: "cluster", name: clusterName(context.run, cluster) }),
    when: batch.phase === "Settled" || batch.phase === "Closed" || OVER.has(worst.phase) ? "past" : "now",
    children: targets.map((target) => applicationNode(context, batch, target)),
  };
}

function applicationNode(context: Context, batch: Batch, target: BatchTarget): ModelNode {
  const { evidence } = target;
  return {
    ...targetNode(context, batch, target, { kind: "application", name: target.application }),
    ...{ target: target.key, waitingSince: target.waitingSince, excused: target.excused },
    evidence: evidence && { readAt: evidence.readAt, notes: evidenceWords(evidence) },
    children: (target.rollouts ?? []).map(rolloutNode),
  };
}

function targetNode(context: Context, batch: Batch, target: BatchTarget, given: Pick<ModelNode, "kind" | "name">): ModelNode {
  const { phase, since, excused, evidence } = target;
  const url = context.linkTo(target.key);
  // What was seen of it says more than that it is over, but of one that failed as it had been before, and what was left out.
  const why = excused === true || phase === "Skipped" ? target.why : (evidence?.sentence ?? target.why);
  return node({
    ...given,
    ...{ state: isMidway(batch, target) ? "AtWeight" : TARGET_STATES[phase], since, when: OVER.has(phase) ? "past" : "now" },
    ...explainNode(context, why),
    // That its pull request is open is all there is to say, and its state.
    ...(hasCode(why, "TARGET_IN_PULL") ? { says: "" } : undefined),
    change: changeOf(target, context.run),
    facts: present(excused === true && "as before its batch", given.kind === "application" && context.live.get(target.key)),
    links: url === undefined ? [] : [{ name: "Argo CD", url }],
    deadline: OVER.has(phase) ? undefined : target.deadlineAt,
    cause: phase === "Failed" ? causeOfTarget(context, target) : undefined,
  });
}

/** Fields of the evidence that the sentence does not tell. All others are in the journal. */
const WORDS: Record<string, (value: string) => string> = {
  clockAheadSeconds: (value) => `The cluster's clock is ${value}s ahead.`,
  clockBehindSeconds: (value) => `The cluster's clock is ${value}s behind.`,
  syncWindow: (value) => `Its sync window: ${value}.`,
  refreshRequested: () => "Argo CD is asked to refresh it.",
};

/** What a verdict was given on besides its sentence, in sentences. */
export function evidenceWords({ fields }: Pick<Evidence, "fields">): string[] {
  return Object.entries(fields).flatMap(([name, value]) => (Object.hasOwn(WORDS, name) ? (WORDS[name]?.(String(value)) ?? []) : []));
}

function rolloutNode(rollout: RolloutState): ModelNode {
  const phase = rolloutPhase(rollout);
  const state: State = phase === "Suspended" ? "Paused" : isState(phase) ? phase : "Unknown";
  const { name, ...argoRollout } = rollout;
  return node({ kind: "rollout", name, state, says: rolloutDetails(rollout), argoRollout });
}

const WHERE: Record<AnalysisWhen, string> = {
  BeforeStage: "analysis before the stage:",
  AfterBatch: "analysis",
  AfterStage: "analysis after the stage:",
  Background: "background analysis",
};

const ANALYSIS_STATES: Record<RunAnalysis["phase"], State> = {
  Running: "Running",
  Successful: "Passed",
  Failed: "Failed",
  Error: "Error",
  Inconclusive: "Inconclusive",
  Stopped: "Stopped",
};

export function analysisNode(context: Context, record: RunAnalysis): ModelNode {
  const { run } = context;
  const names = (analysisSpec(run, record)?.templates ?? []).map(({ templateName }) => templateName).join(", ");
  const on = record.cluster === undefined ? "" : ` on ${clusterName(run, record.cluster)}`;
  const state = record.accepted === undefined ? ANALYSIS_STATES[record.phase] : "Accepted";
  return node({
    ...{ kind: "check", name: `${WHERE[record.when]} ${names}${on}`, state, since: record.endedAt ?? record.startedAt },
    ...explainNode(context, record.why),
    when: state === "Passed" || state === "Stopped" ? "past" : "now",
    facts: present(
      record.accepted !== undefined && `accepted by @${record.accepted.by}`,
      record.attempt > 1 && `attempt ${record.attempt}`,
      (record.metrics ?? []).map(metricWords).join("; "),
    ),
    cause: causeOfCheck(context, record),
    metrics: chartsOf(record.metrics ?? []),
  });
}

function chartsOf(metrics: NonNullable<RunAnalysis["metrics"]>): ModelNode["metrics"] {
  const charts = metrics.flatMap((metric) => {
    const { name, phase, points } = metric;
    return points === undefined ? [] : [{ name, phase, limit: limitOf(metric), ...boundsOf(metric), points }];
  });
  return charts.length === 0 ? undefined : charts;
}

/** `webcheck: 3 ok, 2 failed, last nok` */
function metricWords(metric: NonNullable<RunAnalysis["metrics"]>[number]): string {
  const counts = present(
    `${metric.successful} ok`,
    metric.failed > 0 && `${metric.failed} failed`,
    metric.inconclusive > 0 && `${metric.inconclusive} inconclusive`,
    metric.error > 0 && `${metric.error} not measured`,
    metric.value !== undefined && `last ${metric.value}`,
    metric.value !== undefined && limitOf(metric),
    metric.dryRun === true && "dry run",
  );
  return `${metric.name}: ${counts.join(", ")}`;
}

const HOOK_STATES: Record<HookCall["phase"], State> = {
  Calling: "Running",
  Waiting: "Waiting",
  Held: "Held",
  Done: "Passed",
  Failed: "Failed",
  Error: "Error",
};

export function hookNode(context: Context, call: HookCall): ModelNode {
  const { run } = context;
  const host = hookHost(run.spec.stages[call.stage]?.hooks?.[call.when][call.index]?.url ?? "");
  const when = call.when === "onFailure" ? "on failure" : `${call.when} the stage`;
  const state = call.accepted === undefined ? HOOK_STATES[call.phase] : "Accepted";
  return node({
    ...{ kind: "check", name: `hook ${when}${host === "" ? "" : ` (${host})`}`, state, since: call.endedAt ?? call.since },
    ...explainNode(context, call.why),
    when: state === "Passed" ? "past" : "now",
    facts: present(call.accepted !== undefined && `passed over by @${call.accepted.by}`, `asked ${countedTimes(call.tries)}`),
    cause: causeOfCheck(context, call),
  });
}

/** A cluster that no batch holds. */
export function looseNode(context: Context, cluster: string, given: Partial<ModelNode> & Pick<ModelNode, "state">): ModelNode {
  return node({ kind: "cluster", name: clusterName(context.run, cluster), ...given });
}
