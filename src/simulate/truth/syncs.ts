/** What the bot asks Argo CD to sync is the very change that its batch merged, where the stage says so, and nobody has stopped it. Called by `act.ts`. */
import type { Run } from "../../core/run/state/run.ts";
import type { Effect } from "../../core/run/state/world.ts";
import type { Judge } from "./judge.ts";

export function judgeSync(judge: Judge, run: Run, { target: key, commit }: Extract<Effect, { kind: "Sync" }>, now: number): void {
  const { truth, stopped, halts } = judge;
  judge.seen["syncs asked"] = (judge.seen["syncs asked"] ?? 0) + 1;
  const said = `truth: ${run.rollout} #${run.number} asks Argo CD to sync ${key}`;
  const made = truth.git.byId.get(commit);
  const target = truth.targets.get(key);
  const batch = run.batches.find((one) => one.merged?.commit === commit && one.targets.some((own) => own.key === key));
  const model = truth.rollouts.find(({ name }) => name === run.rollout)?.model;
  // What stood there already needed no PR, whoever wrote it.
  if (made === undefined || made.changes.every(([pin]) => target?.pins.includes(pin) !== true))
    judge.violations.push(`${said} at ${commit.slice(-4)}, which is no change of it`);
  else if (batch === undefined) judge.violations.push(`${said} at ${commit.slice(-4)}, which no batch of it merged for it`);
  else if (model?.stages[stageOf(run, batch.stage)]?.sync !== "Request")
    judge.violations.push(`${said}, and its stage leaves that to people`);
  if (stopped.has(`${run.rollout} #${run.number}`)) judge.violations.push(`${said} after its pause was answered`);
  const cluster = target?.cluster.slice(target.cluster.indexOf("/") + 1) ?? "";
  const holds = halts.some((halt) => now < halt.until && (halt.clusters.length === 0 || halt.clusters.includes(cluster)));
  if (holds) judge.violations.push(`${said} after a halt of its cluster was answered`);
}

/** On the way back the stages stand the other way round. */
function stageOf({ plan }: Run, index: number): number {
  return Number(plan.stages[index]?.name.replace(/\D/g, "")) - 1;
}
