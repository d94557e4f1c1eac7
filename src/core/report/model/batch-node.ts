/** The node of a batch that has been begun, with what is below it. Called by `stage-nodes.ts`. */
import type { Time } from "../../base/time.ts";
import { putsBack } from "../../run/state/batch.ts";
import { type Batch, type BatchTarget, isEnded, type TargetPhase } from "../../run/state/run.ts";
import { isMidStep } from "../../run/state/steps.ts";
import { linksOf } from "../links.ts";
import { present } from "../markdown.ts";
import { clock } from "../reasons/phrases.ts";
import { targetsShown } from "../steps.ts";
import { actionsOfCluster } from "./actions.ts";
import { batchNodeName, changeOf, eachOnce } from "./batch-plan.ts";
import { worstCause } from "./causes.ts";
import { awaitedOf, type Context, explainNode } from "./context.ts";
import { countsOf } from "./counts.ts";
import { etaOfBatch } from "./eta.ts";
import { gatesOf } from "./gates.ts";
import { analysisNode, clusterNode } from "./leaf-nodes.ts";
import { BATCH_STATES, node } from "./states.ts";
import type { Change, ModelNode } from "./types.ts";
import { waitsOn } from "./waits-on.ts";

export function batchNode(context: Context, batch: Batch): ModelNode {
  const { run } = context;
  const here = targetsShown(run, batch);
  const over = batch.phase === "Settled" || batch.phase === "Closed" || isEnded(run);
  const failed = batch.targets.filter((target) => target.phase === "Failed").length;
  const skipped = here.filter((target) => target.phase === "Skipped").length;
  const children = childrenOf(context, batch, here);
  const { pull, merged } = batch;
  const state = stateOfBatch(batch, { here, failed, skipped, left: !isMidStep(batch) && here.length === 0 });
  return node({
    ...{ kind: "batch", name: batchNodeName(run, batch), number: batch.number, ...state, since: batch.since, children },
    ...standing(context, batch, { over, failed: state.state === "Failed", children }),
    when: over ? "past" : "now",
    ...(state.state === "Failed" ? { since: failedSince(here) } : undefined),
    waitsOn: over || state.state === "Failed" || run.phase === "Paused" ? undefined : waitsOn(batch.why, batch.next),
    counts: countsOf(children),
    checking: batch.phase === "Baking" && failed === 0 && batch.bake !== undefined ? `baking until ${clock(batch.bake.until)}` : undefined,
    links: linksOf({ [`#${pull?.number}`]: pull?.number === 0 ? undefined : pull?.url, page: context.page(run, batch.number) }),
    change: changeOfAll(context, batch.targets),
    gates: over || merged !== undefined ? undefined : gatesOf(context, batch),
    passed: { openedAt: pull?.openedAt, mergedAt: merged?.at, mergedBy: merged?.by, commit: merged?.commit, doneAt: batch.settledAt },
    facts: present(
      batch.attempt > 1 && `attempt ${batch.attempt}`,
      over && merged !== undefined && `merged as ${merged.commit.slice(0, 7)}`,
      failed > 0 && `${failed} failed`,
      state.state === "Done" && skipped > 0 && `${skipped} skipped`,
      over && here.length === 0 && batch.targets.length > 0 && !isMidStep(batch) && "its clusters went to the end of the stage",
    ),
    cause: worstCause(children.flatMap((child) => child.cause ?? [])),
  });
}

/** It has failed since the last of its clusters has: until then something of it was on its way. */
function failedSince(here: readonly BatchTarget[]): Time | undefined {
  return here
    .flatMap(({ phase, since }) => (phase === "Failed" ? [since] : []))
    .toSorted()
    .at(-1);
}

/** What becomes of the version of each; undefined: not the same of all. */
function changeOfAll({ run }: Context, targets: readonly BatchTarget[]): Change | undefined {
  const [change, ...others] = eachOnce(targets.flatMap((target) => changeOf(target, run) ?? []));
  return others.length === 0 ? change : undefined;
}

function childrenOf(context: Context, batch: Batch, here: readonly BatchTarget[]): ModelNode[] {
  const clusters = Map.groupBy(here, (target) => target.cluster);
  return [
    ...[...clusters].map(([cluster, targets]) => withActions(context, cluster, clusterNode(context, batch, cluster, targets))),
    ...(batch.analyses ?? []).map((record) => analysisNode(context, record)),
  ];
}

function withActions(context: Context, cluster: string, made: ModelNode): ModelNode {
  return made.state === "Failed" ? { ...made, actions: actionsOfCluster(context, cluster) } : made;
}

/** Why it stands as it does, and what comes next of it; what failed, and what a pause holds, waits for nothing that it waited for before. */
function standing(
  context: Context,
  batch: Batch,
  { over, failed, children }: { over: boolean; failed: boolean; children: readonly ModelNode[] },
): Pick<ModelNode, "reason" | "subject" | "says" | "waitsFor" | "eta" | "deadline"> {
  const { run } = context;
  if (failed) {
    const worst = children.find(({ kind, state }) => kind === "cluster" && state === "Failed");
    return { reason: worst?.reason, subject: worst?.subject, says: "" };
  }
  const eta = etaOfBatch(context, batch);
  if (over) return { reason: batch.why, says: "", eta };
  // Nothing merges while the run is paused.
  if (run.phase === "Paused" && batch.merged === undefined && !putsBack(batch)) return { ...explainNode(context, run.why), eta };
  return { ...explainNode(context, batch.why), waitsFor: awaitedOf(context, batch.next), eta, deadline: batch.next?.deadline };
}

/** Its change is there, or never will be. */
const STILL: ReadonlySet<TargetPhase> = new Set(["Healthy", "Baked", "Failed", "Skipped", "RolledBack", "Requeued"]);

/** `left`: all its clusters have. Some failed, and nothing of it is on its way any more: it failed, however much of it is healthy. */
function stateOfBatch(
  { phase, merged }: Batch,
  { here, failed, skipped, left }: { here: readonly BatchTarget[]; failed: number; skipped: number; left: boolean },
): Pick<ModelNode, "state"> & Partial<ModelNode> {
  // What nobody brought up is not told as healthy, though nothing of it is left to do.
  if (skipped > 0 && skipped === here.length && merged !== undefined) return { state: "Skipped" };
  if (phase === "Settled" && failed + skipped > 0) return { state: "Done" };
  if (phase === "Settled" && left) return { state: "Done", tone: "dim" };
  if (phase === "Settled" || phase === "Closed" || failed === 0 || merged === undefined) return { state: BATCH_STATES[phase] };
  return here.every((target) => STILL.has(target.phase)) ? { state: "Failed" } : { state: "Syncing", tone: "bad" };
}
