import { text } from "../../base/reason.ts";
import type { Command } from "../../spec/command.ts";
import { makeBatch } from "../batches/batch-build.ts";
import { takeRequeued } from "../batches/requeue.ts";
import { keptApart } from "../batches/stage-choose.ts";
import { limiterOf } from "../batches/within-limits.ts";
import { allowed } from "../gates/limits.ts";
import type { Draft } from "../state/run-draft.ts";
import { clusterKey, clusterName, nameList, stageOf, targetsOf } from "../state/run-names.ts";
import { named, placeOf } from "./run-clusters.ts";
import { done, type Reply, refused } from "./run-obey.ts";

/** `/hotfix CLUSTER… reason`: one batch now, out of its turn, without bake and windows (docs/spec.md §9.22). Never without health, approval, halts or limits. */
export function hotfixCommand(draft: Draft, command: Command): Reply {
  const { run } = draft;
  if (run.kind === "Rollback") return refused("this run is a rollback: its clusters go back in order");
  if (run.paused !== undefined)
    return refused(`the run is paused, and nothing merges: ${text(run.paused.reason)}. Next: ${text(run.paused.ask)}`);
  const names: string[] = [];
  for (const word of command.args) {
    if ("error" in clusterKey(run, word)) break;
    names.push(word);
  }
  const reason = command.args.slice(names.length).join(" ");
  if (names.length === 0) {
    const found = command.args[0] === undefined ? undefined : clusterKey(run, command.args[0]);
    return refused(found !== undefined && "error" in found ? found.error : "name the clusters: `/hotfix eu-1 customer down`");
  }
  if (reason === "") return refused(`say why: \`/hotfix ${names.join(" ")} customer down\``);
  const asked = named(run, names);
  if ("error" in asked) return refused(asked.error);
  const stages = new Set(asked.clusters.map((cluster) => stageOf(run, cluster)));
  const [stage] = stages;
  if (stages.size > 1 || stage === undefined) return refused("these clusters are of different stages: one command for each stage");
  for (const cluster of asked.clusters) {
    const why = cannotHotfix(draft, cluster);
    if (why !== undefined) return refused(why);
  }
  const most = run.plan.stages[stage]?.maxUnavailable ?? 1;
  if (asked.clusters.length > most) return refused(`at most ${most} of this stage may be in flight at once`);
  const sizes = asked.clusters.map((cluster) => ({ cluster, targets: targetsOf(run, cluster).length }));
  const over = limiterOf(draft)?.().add(sizes);
  if (over !== undefined) return refused(`the repo's limits allow ${allowed(over)}`);
  const apart = keptApart(draft, stage, asked.clusters);
  if (apart !== undefined) return refused(`${nameList(run, apart)} are kept apart in this stage: one command for each`);
  takeRequeued(draft, asked.clusters);
  makeBatch(draft, stage, asked.clusters, "Hotfix");
  return done(`${nameList(run, asked.clusters, 20)} next, out of turn: ${text(reason)}. Health, approvals, halts and limits hold as ever`);
}

function cannotHotfix(draft: Draft, cluster: string): string | undefined {
  const { run } = draft;
  const name = clusterName(run, cluster);
  if (run.skipped.some((one) => one.cluster === cluster)) return `${name} was left out of this run`;
  const { batch } = placeOf(run, cluster);
  if (batch === undefined) return undefined;
  return batch.merged === undefined ? `${name} is in a batch already: ${text(batch.why)}` : `${name} has moved already: ${text(batch.why)}`;
}
