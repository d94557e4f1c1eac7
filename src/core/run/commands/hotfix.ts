import type { RunReason } from "../../reasons/run.ts";
import type { Command } from "../../spec/commands.ts";
import { makeBatch } from "../batches/build.ts";
import { keptApart } from "../batches/choose.ts";
import { takeRequeued } from "../batches/requeue.ts";
import { allowedBy, plannedSizes, stageLimiterOf } from "../gates/limits.ts";
import type { Draft } from "../state/draft.ts";
import { clusterKey, stageOf } from "../state/names.ts";
import { done, type Reply, refuse } from "../state/reply.ts";
import { clustersNamed, mustWait, placeOf, reopen } from "./clusters.ts";

/** `/hotfix CLUSTER… reason`: one batch now, out of its turn, without bake and windows (docs/spec.md §9.22). Never without health, approval, halts or limits. */
export function hotfixCommand(draft: Draft, command: Command): Reply {
  const { run } = draft;
  if (run.kind === "Rollback") return refuse({ code: "HOTFIX_OF_ROLLBACK" });
  if (run.paused !== undefined) return refuse({ code: "HOTFIX_WHILE_PAUSED", because: run.paused.reason, ask: run.paused.ask });
  const names: string[] = [];
  for (const word of command.args) {
    if ("error" in clusterKey(run, word)) break;
    names.push(word);
  }
  const reason = command.args.slice(names.length).join(" ");
  if (names.length === 0) {
    const found = command.args[0] === undefined ? undefined : clusterKey(run, command.args[0]);
    return refuse(found !== undefined && "error" in found ? found.error : ({ code: "CLUSTERS_NOT_NAMED", command: "hotfix" } as RunReason));
  }
  if (reason === "") return refuse({ code: "HOTFIX_WANTS_REASON", names });
  const asked = clustersNamed(run, names);
  if ("error" in asked) return refuse(asked.error);
  const stages = new Set(asked.clusters.map((cluster) => stageOf(run, cluster)));
  const [stage] = stages;
  if (stages.size > 1 || stage === undefined) return refuse({ code: "HOTFIX_STAGES_DIFFER" });
  for (const cluster of asked.clusters) {
    const why = cannotHotfix(draft, cluster);
    if (why !== undefined) return refuse(why);
  }
  const most = run.plan.stages[stage]?.maxUnavailable ?? 1;
  if (asked.clusters.length > most) return refuse({ code: "HOTFIX_TOO_LARGE", most });
  const over = stageLimiterOf(draft, stage)?.().add(plannedSizes(run, asked.clusters));
  if (over !== undefined) return refuse({ code: "HOTFIX_OVER_LIMITS", allowed: allowedBy(over) });
  const apart = keptApart(draft, stage, asked.clusters);
  if (apart !== undefined) return refuse({ code: "CLUSTERS_KEPT_APART", clusters: [...apart] });
  const ahead = asked.clusters.map((cluster) => placeOf(run, cluster)).filter(({ batch }) => batch?.ahead === true);
  if (ahead.length > 0 && mustWait(draft, command, ahead)) return "later";
  takeRequeued(draft, asked.clusters);
  makeBatch(draft, stage, asked.clusters, "Hotfix");
  reopen(draft, ahead, { code: "BATCH_LOSES_CLUSTER", by: "hotfix" });
  return done({ code: "HOTFIX_DONE", clusters: asked.clusters, text: reason });
}

function cannotHotfix(draft: Draft, cluster: string): RunReason | undefined {
  const { run } = draft;
  if (run.skipped.some((one) => one.cluster === cluster)) return { code: "LEFT_OUT_ALREADY", cluster };
  const { batch } = placeOf(run, cluster);
  if (batch === undefined || batch.ahead === true) return undefined;
  return { code: batch.merged === undefined ? "IN_BATCH_ALREADY" : "MOVED_ALREADY", cluster, because: batch.why };
}
