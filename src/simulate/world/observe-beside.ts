import { defined } from "../../core/base/defined.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import type { Target } from "../../core/plan/plan-types.ts";
import { said } from "../../core/reasons/run.ts";
import { analysesOf } from "../../core/run/checks/analysis.ts";
import { measuresAnything } from "../../core/run/checks/step-analysis.ts";
import type { ObservedAnalysis } from "../../core/run/state/analysis-types.ts";
import { type HookAnswer, hookTryKey } from "../../core/run/state/hooks-types.ts";
import { isEnded, type Run } from "../../core/run/state/run.ts";
import type { Joiner, World } from "../../core/run/state/world.ts";
import { pinOf, pinValue } from "./git.ts";
import { observeAnswer, observeMeasuring } from "./outside.ts";
import { isUnreachable, type Truth } from "./world.ts";

type Beside = Pick<World, "analyses" | "hooks" | "joiners" | "unreachable">;

/** What is seen beside Git, GitHub and the run's own targets: analyses, hooks, clusters that appeared or cannot be reached. */
export function observeBeside(truth: Truth, run: Run, now: number): Beside {
  const beside: Beside = {};
  const missing = () => truth.dice.chance(truth.chaos.missing);
  if (run.spec.stages.some(measuresAnything) && !missing()) beside.analyses = analyses(truth, run, now);
  if (run.hooks !== undefined && !missing()) beside.hooks = answers(truth, run, now);
  const up = now >= truth.argoDownUntil;
  if (up && run.spec.quarantine !== undefined) beside.unreachable = unreachable(truth, now);
  if (!isEnded(run) && run.ending === undefined && run.kind !== "Rollback" && !missing())
    beside.joiners = up ? joiners(truth, run, now) : [];
  return beside;
}

function analyses(truth: Truth, run: Run, now: number): Map<string, ObservedAnalysis> {
  const seen = new Map<string, ObservedAnalysis>();
  for (const { id, phase } of analysesOf(run)) {
    const observed = phase === "Running" ? observeMeasuring(truth.outside, id, now) : undefined;
    if (observed !== undefined) seen.set(id, observed);
  }
  return seen;
}

function answers(truth: Truth, run: Run, now: number): Map<string, HookAnswer> {
  const seen = new Map<string, HookAnswer>();
  for (const { id, tries, phase } of run.hooks ?? []) {
    const answer = phase === "Calling" ? observeAnswer(truth.outside, id, tries, now) : undefined;
    if (answer !== undefined) seen.set(hookTryKey(id, tries), answer);
  }
  return seen;
}

function unreachable(truth: Truth, now: number): Map<string, AnyReason> {
  const seen = new Map<string, AnyReason>();
  for (const cluster of truth.outages.keys())
    if (truth.clusters.has(cluster) && isUnreachable(truth, cluster, now)) seen.set(cluster, said("connection refused"));
  return seen;
}

const known = new WeakMap<object, { among: readonly Target[]; count: number; without: Target[] }>();

/** Targets that the frozen plan does not have; it never changes, and targets are only ever added. */
function unplanned({ plan }: Run, among: readonly Target[]): readonly Target[] {
  const before = known.get(plan);
  if (before !== undefined && before.among === among && before.count === among.length) return before.without;
  const keys = new Set<string>();
  for (const stage of plan.stages) {
    for (const batch of stage.batches) for (const { key } of batch.targets) keys.add(key);
    for (const { key } of stage.requeuedTargets) keys.add(key);
  }
  const without = among.filter(({ key }) => !keys.has(key));
  known.set(plan, { among, count: among.length, without });
  return without;
}

/** Clusters with Applications of the rollout that the run does not know, their pins as they are now. */
function joiners(truth: Truth, run: Run, now: number): Joiner[] {
  const found: Joiner[] = [];
  const rollout = truth.rollouts.find((one) => one.name === run.rollout);
  for (const { key, application, cluster: at, on, edits } of unplanned(run, rollout?.targets ?? [])) {
    if (run.joined?.some((one) => one.targets.some((target) => target.key === key)) === true) continue;
    const cluster = truth.clusters.get(at);
    if (cluster === undefined || now >= (truth.targets.get(key)?.goneAt ?? 0)) continue;
    const version = run.release.values["version"] ?? "";
    const asRead = edits.map((edit) => ({
      ...edit,
      from: pinValue(truth.git, pinOf(edit)),
      to: edit.weigh === undefined ? version : "100",
    }));
    if (asRead.every((edit) => edit.from !== null))
      found.push({ cluster, targets: [{ key, application, cluster: at, ...defined({ on }), edits: asRead }] });
  }
  return found;
}
