import { formatSelector } from "../../../core/base/selector.ts";
import { formatDuration } from "../../../core/base/time.ts";
import { changesNothing } from "../../../core/plan/plan-types.ts";
import { isByHand, labelsWithout, PEOPLE_MS } from "./simulate-people.ts";
import type { SimulateInput } from "./simulate-run.ts";
import { names } from "./simulate-show.ts";

/** What is taken for granted, told where it matters. */
export function notesOf({ rollout, plan, faults, clusters }: SimulateInput): string[] {
  const { stages, dependsOn = [] } = rollout;
  const notes: string[] = [];
  const out = plan.uncovered.length;
  const waits = formatDuration(PEOPLE_MS);
  const byHand = isByHand(rollout);
  const steps = stages.flatMap((stage) => stage.steps ?? []);
  const asked = byHand || stages.some((stage) => stage.approval) || steps.some((step) => step.kind === "pause" && !step.durationMs);
  const measured = stages.some((stage) => stage.analysis ?? stage.hooks) || steps.some((step) => step.kind === "analysis");
  if (out > 0) notes.push(`${out} ${out === 1 ? "cluster is" : "clusters are"} in no stage: stagecoach plan ${rollout.name} says why.`);
  if (changesNothing(plan)) notes.push("Every cluster has this release already, so nothing changes: --to VERSION simulates another.");
  if (rollout.mode === "Observe")
    notes.push("mode is Observe: the bot starts no run and opens no pull request. This is how it would go with mode: Propose.");
  if (byHand) {
    const why = { Run: ": merge is Manual", Propose: ": mode is Propose", Observe: "" }[rollout.mode];
    notes.push(`Here a person merges each pull request, ${waits} after it was opened${why}.`);
  }
  if (asked) notes.push(`People approve and promote what waits for them after ${waits}; nobody answers a run that stops.`);
  if (measured) notes.push("Every analysis succeeds after 15s, every hook says to go on.");
  if (dependsOn.length > 0) notes.push(`What it depends on is there: ${dependsOn.map((one) => one.rollout).join(", ")}.`);
  notes.push(...notesOfPutOff({ rollout, plan, faults, clusters }));
  return notes;
}

/** Who of those that are put off comes back, and who cannot. */
function notesOfPutOff({ rollout, plan, faults, clusters }: Pick<SimulateInput, "rollout" | "plan" | "faults" | "clusters">): string[] {
  const notes: string[] = [];
  let back = false;
  for (const [index, { requeued }] of plan.stages.entries()) {
    const selector = rollout.stages[index]?.requeue?.selector;
    if (selector === undefined) continue;
    const never: string[] = [];
    for (const key of requeued) {
      const cluster = clusters.find((one) => one.key === key);
      if (cluster !== undefined && labelsWithout(selector, cluster) === undefined) never.push(cluster.name);
      else if (!faults.some((fault) => fault.cluster === key && fault.kind === "unreachable")) back = true;
    }
    const come = never.length === 1 ? "comes" : "come";
    const why = `requeue.selector (${formatSelector(selector)}) matches whatever labels they have`;
    if (never.length > 0) notes.push(`${names(never)} never ${come} back: ${why}.`);
  }
  if (back) notes.push("Clusters that are put off come back before their last look; with --fail CLUSTER=unreachable they do not.");
  return notes;
}
