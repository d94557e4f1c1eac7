/** Nodes of stages and batches, those to come from the frozen plan. Called by `run-model.ts`. */
import { formatSelector } from "../../base/selector.ts";
import type { Time } from "../../base/time.ts";
import type { PlannedBatch, PlannedTarget } from "../../plan/plan-types.ts";
import { targetsOf } from "../../run/state/names.ts";
import { type Batch, type BatchTarget, isEnded, type Requeued, type Run, type TargetPhase } from "../../run/state/run.ts";
import { isMidStep } from "../../run/state/steps.ts";
import { present } from "../markdown.ts";
import { gatesOfStage } from "../plan/plan-stages.ts";
import { countedTimes } from "../reasons/phrases.ts";
import { sentenceOf } from "../reasons/say.ts";
import { targetsShown } from "../steps.ts";
import { actionsOfCluster } from "./actions.ts";
import { batchNode } from "./batch-node.ts";
import { changeOf } from "./batch-plan.ts";
import { worstCause } from "./causes.ts";
import { type Context, explainNode } from "./context.ts";
import { countsOf } from "./counts.ts";
import { analysisNode, hookNode, looseNode } from "./leaf-nodes.ts";
import { node } from "./states.ts";
import type { Counts, Eta, ModelNode, State } from "./types.ts";
import { sinceOf, standingOf } from "./waits-on.ts";

export function stageNode(context: Context, stage: number, eta: Eta | undefined): ModelNode {
  const { run } = context;
  const planned = run.plan.stages[stage];
  const opened = run.batches.filter((batch) => batch.stage === stage && isShown(run, batch));
  const moved = new Set(opened.flatMap((batch) => (batch.phase === "Closed" ? [] : placesOf(targetsShown(run, batch)))));
  const put = [...new Map(run.requeued.map((one) => [one.cluster, one])).values()].filter(
    (one) => one.stage === stage && !moved.has(one.cluster),
  );
  const loose = besideNodes(context, stage);
  const beside = besides(run).flatMap((one) => (one.stage === stage ? [one.cluster] : []));
  const elsewhere = new Set([...moved, ...put.map(({ cluster }) => cluster), ...beside]);
  const children = [
    ...opened.map((batch) => batchNode(context, batch)),
    ...batchesToCome(context, planned?.batches ?? [], elsewhere),
    ...put.map((one) => requeuedNode(context, one)),
    ...(planned?.requeued ?? [])
      .filter((cluster) => !elsewhere.has(cluster) && (stage >= run.stage || isSkipped(run, cluster)))
      .map((cluster) => putOffNode(context, cluster)),
    ...(run.analyses ?? []).filter((record) => record.stage === stage).map((record) => analysisNode(context, record)),
    ...(run.hooks ?? []).filter((call) => call.stage === stage).map((call) => hookNode(context, call)),
    ...loose,
  ];
  const counts = countsOf(children);
  return node({
    ...{ kind: "stage", name: planned?.name ?? "", since: opened[0]?.since, counts, children },
    ...stateOfStage(run, stage, counts, opened[0]?.since),
    facts: present(`at most ${planned?.maxUnavailable ?? 0} at once`),
    passes: passesOf(run, stage),
    eta,
    cause: worstCause(children.flatMap((child) => child.cause ?? [])),
  });
}

/** A run that puts values back asks for health, and for nothing that stood in the way of what it puts back. */
function passesOf({ spec, kind }: Run, stage: number): ModelNode["passes"] {
  const { mode, delivery } = spec;
  const gates = kind === "Rollback" ? gatesOfStage({ mode, delivery }, undefined) : gatesOfStage(spec, spec.stages[stage]);
  const texts = (of: "isBefore" | "isAfter") => gates.filter((gate) => gate[of]).map(({ text }) => text);
  return { before: texts("isBefore"), after: texts("isAfter") };
}

/** The stage that a run is at stands as the run does, since then or since it began. */
function stateOfStage(
  run: Run,
  stage: number,
  { failed, skipped }: Counts,
  begun = "",
): Pick<ModelNode, "state" | "when" | "tone"> & Partial<ModelNode> {
  if (stage < run.stage)
    return failed + skipped > 0 ? { state: "Done", when: "past", tone: "warn" } : { state: "Healthy", when: "past", tone: "good" };
  if (stage > run.stage || (run.phase === "Pending" && run.batches.length === 0))
    return { state: isEnded(run) ? "NotReached" : "ToCome", when: "later", tone: "dim" };
  const since = sinceOf(run);
  return { ...standingOf(run), when: "now", since: since > begun ? since : begun };
}

/** A weight that has been followed by the next is shown there. */
function isShown(run: Run, batch: Batch): boolean {
  return !isMidStep(batch) || targetsShown(run, batch).length > 0;
}

function isSkipped(run: Run, cluster: string): boolean {
  return run.skipped.some((one) => one.cluster === cluster);
}

/** Planned batches of which clusters are left. */
function batchesToCome(context: Context, planned: readonly PlannedBatch[], elsewhere: ReadonlySet<string>): ModelNode[] {
  const state = isEnded(context.run) ? "NotReached" : "ToCome";
  return planned.flatMap((batch, index) => {
    const left = batch.clusters.filter((cluster) => !elsewhere.has(cluster));
    if (left.length === 0) return [];
    const children = left.map((cluster) =>
      plannedNode(
        context,
        cluster,
        batch.targets.filter((target) => target.cluster === cluster),
      ),
    );
    return [
      node({ kind: "batch", name: `batch ${index + 1} of ${planned.length}`, state, when: "later", counts: countsOf(children), children }),
    ];
  });
}

function plannedNode(context: Context, cluster: string, targets: readonly PlannedTarget[]): ModelNode {
  const skipped = context.run.skipped.find((one) => one.cluster === cluster);
  const state: State = skipped !== undefined ? "Skipped" : isEnded(context.run) ? "NotReached" : "ToCome";
  const children = targets.map(({ key, application, edits }) =>
    node({ kind: "application", name: application, target: key, state, when: "later", change: changeOf({ edits }, context.run) }),
  );
  const why = skipped === undefined ? {} : { ...explainNode(context, skipped.why), since: skipped.at };
  return looseNode(context, cluster, {
    state,
    when: "later",
    change: changeOf(targets[0] ?? { edits: [] }, context.run),
    children,
    ...why,
  });
}

function requeuedNode(context: Context, one: Requeued): ModelNode {
  const { run } = context;
  const later = awaitsBatches(run, one);
  const given = one.failed === true;
  return looseNode(context, one.cluster, {
    ...{ state: given ? "Failed" : "Requeued", since: one.since },
    ...explainNode(context, one.why),
    facts: present(
      later && "tried after the stage's batches",
      given && "given up",
      one.attempts > 0 && `looked at ${countedTimes(one.attempts)}`,
    ),
    eta: later || given || isEnded(run) ? undefined : { p50: one.nextAt, p90: one.nextAt },
    rule: requeueRule(run, one.stage),
    actions: actionsOfCluster(context, one.cluster),
    children: targetsOf(run, one.cluster).map(({ key, application }) =>
      node({ kind: "application", name: application, target: key, state: "Requeued" }),
    ),
  });
}

/** The label that puts off clusters of a stage, which somebody has to take away. */
function requeueRule({ spec, plan }: Run, stage: number): ModelNode["rule"] {
  const rule = spec.stages[stage]?.requeue;
  return rule && { setting: "requeue", stage: plan.stages[stage]?.name, selector: formatSelector(rule.selector) };
}

/** Put off by the plan: its turn comes after the stage's batches. */
function putOffNode(context: Context, cluster: string): ModelNode {
  const ended = isEnded(context.run);
  const skipped = context.run.skipped.find((one) => one.cluster === cluster);
  if (skipped !== undefined)
    return looseNode(context, cluster, { state: "Skipped", when: "later", since: skipped.at, ...explainNode(context, skipped.why) });
  return looseNode(context, cluster, {
    state: ended ? "NotReached" : "Requeued",
    when: "later",
    facts: ended ? [] : ["tried after the stage's batches"],
  });
}

const BESIDE = { Joined: "Joined", Quarantined: "Quarantined", "Not in this run": "NotInRun", Skipped: "Skipped" } as const;

/** Clusters of one stage, or of none, that stand beside the batches. */
export function besideNodes(context: Context, stage: number | undefined): ModelNode[] {
  const rows = besides(context.run).filter((one) => one.stage === stage);
  const selector = context.run.spec.quarantine?.selector;
  const rule = selector && { setting: "quarantine" as const, selector: formatSelector(selector) };
  return rows.map(({ cluster, status, since, why }) =>
    looseNode(context, cluster, { state: BESIDE[status], since, says: why, rule: status === "Quarantined" ? rule : undefined }),
  );
}

/** Clusters that are in a batch for good: not those that it only put back, to be tried again. */
function placesOf(targets: readonly BatchTarget[]): string[] {
  return targets.flatMap(({ phase, cluster }) => (phase === "RolledBack" ? [] : [cluster]));
}

/** Whether a requeued cluster waits for the stage's own batches still: until they are over nobody looks at it. */
function awaitsBatches(run: Run, one: Requeued): boolean {
  if (one.failed === true || one.attempts > 0 || isEnded(run) || run.stage > one.stage) return false;
  const batches = run.batches.filter((batch) => batch.stage === one.stage);
  if (batches.some((batch) => batch.phase !== "Settled" && batch.phase !== "Closed")) return true;
  const taken = new Set([
    ...batches.flatMap((batch) => (batch.phase === "Closed" ? [] : batch.targets.map((target) => target.cluster))),
    ...run.requeued.map((other) => other.cluster),
    ...run.skipped.map((other) => other.cluster),
  ]);
  return run.plan.stages[one.stage]?.clusters.some((cluster) => !taken.has(cluster)) === true;
}

/** A cluster that stands beside the batches, as every report shows it. */
interface Beside {
  cluster: string;
  /** Absent: no stage has it. */
  stage?: number;
  status: "Joined" | "Quarantined" | "Not in this run" | "Skipped";
  phase: TargetPhase;
  since: Time;
  why: string;
}

/** Lists clusters beside the batches: those that joined, those in quarantine, and those not taken. */
export function besides(run: Run): Beside[] {
  const moved = new Set(run.batches.flatMap((batch) => batch.targets.map((target) => target.cluster)));
  const shown = new Set([...run.requeued, ...run.skipped].map((one) => one.cluster));
  const rows: Beside[] = [];
  for (const { cluster, stage, at } of run.joined ?? []) {
    const left = run.skipped.find((one) => one.cluster === cluster);
    if (left !== undefined && !moved.has(cluster))
      rows.push({ cluster, stage, status: "Skipped", phase: "Skipped", since: left.at, why: sentenceOf(left.why, run) });
    if (moved.has(cluster) || shown.has(cluster)) continue;
    const why = `appeared during the run: ${isEnded(run) ? "the run ended before it was caught up" : "caught up after the last stage"}`;
    rows.push({ cluster, stage, status: "Joined", phase: "Pending", since: at, why });
  }
  for (const { cluster, stage, since, why } of run.quarantined ?? []) {
    const back = run.spec.quarantine?.onReturn === "Skip" || isEnded(run) ? "" : "; caught up after the last stage if it is back by then";
    rows.push({ cluster, stage, status: "Quarantined", phase: "Skipped", since, why: `${sentenceOf(why, run)}${back}` });
  }
  for (const { cluster, why, at } of run.notJoined ?? []) {
    rows.push({ cluster, status: "Not in this run", phase: "Skipped", since: at, why: sentenceOf(why, run) });
  }
  return rows;
}
