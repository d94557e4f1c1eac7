import { epoch } from "../../core/base/time.ts";
import { analysesOf } from "../../core/run/checks/analysis.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { AnalysisWhen } from "../../core/spec/rollout.ts";
import type { ModelRollout, ModelStage } from "../generate/scenario.ts";
import type { Finding } from "../world/outside.ts";
import { isInTurn } from "./checks.ts";
import type { Moment } from "./moment.ts";
import { waitsOf } from "./steps.ts";

interface Look {
  moment: Moment;
  model: ModelRollout;
  run: Run;
  wrong: string[];
}

/** What a merge that is intended now has to have behind it: every analysis and hook before it truly passed, or somebody said to go on. */
export function outsideIsWaitedFor(moment: Moment, run: Run, batch: Batch): string[] {
  const model = moment.truth.rollouts[moment.index]?.model;
  if (model === undefined || run.kind === "Rollback" || !isInTurn(batch)) return [];
  const look: Look = { moment, model, run, wrong: [] };
  const begins = !run.batches.some(
    (one) => one !== batch && one.stage === batch.stage && (one.merged !== undefined || one.intention !== undefined),
  );
  if (begins) stageBegins(look, batch.stage);
  for (const other of run.batches) if (comesBefore(run, other, batch)) batchPassed(look, other);
  if (run.stage === batch.stage) for (let stage = 0; stage < batch.stage; stage++) stagePassed(look, stage);
  return look.wrong.map((what) => `truth: ${run.rollout} #${run.number} began to merge batch ${batch.number} ${what}`);
}

function comesBefore(run: Run, other: Batch, batch: Batch): boolean {
  if (other.merged === undefined || !isInTurn(other)) return false;
  if (other.stage !== batch.stage) return other.stage < batch.stage;
  return other.number < batch.number && run.spec.stages[batch.stage]?.batching !== "Rolling";
}

function stageBegins(look: Look, stage: number): void {
  const spec = look.model.stages[stage];
  if (measures(spec, "BeforeStage")) passed(look, stage, 0, "BeforeStage", 0);
  for (let index = 0; index < (spec?.hooks?.before ?? 0); index++) agreed(look, stage, "before", index, 0);
}

/** A batch that is confirmed, at its weight or as a whole. */
function batchPassed(look: Look, { stage, number, targets, step, merged }: Batch): void {
  const spec = look.model.stages[stage];
  const confirmed = targets.filter(({ phase }) => phase === "Healthy" || phase === "Baked");
  if (spec === undefined || confirmed.length === 0) return;
  if (step !== undefined) {
    for (const [at, wait] of waitsOf(spec, step.index).entries())
      if ("analysis" in wait)
        passed(look, stage, number, `Step${at + 1}`, epoch(merged?.at ?? ""), wait.analysis === "each" ? "some" : undefined);
    if (step.index < step.of) return;
  }
  if (!measures(spec, "AfterBatch") || spec.batching === "Rolling") return;
  const since = Math.max(...confirmed.map((target) => epoch(target.confirmedAt ?? target.since)));
  if (spec.analysis?.of !== "each") passed(look, stage, number, "AfterBatch", since);
  else for (const cluster of new Set(confirmed.map((target) => target.cluster))) passed(look, stage, number, "AfterBatch", since, cluster);
}

/** A stage that is gone on from. What was put before its turn is not waited for. */
function stagePassed(look: Look, stage: number): void {
  const { run, model } = look;
  const spec = model.stages[stage];
  const inTurn = run.batches.filter((one) => one.merged !== undefined && isInTurn(one));
  const goneOnAt = Math.min(...inTurn.flatMap((one) => (one.stage > stage ? [epoch(one.merged?.at ?? "")] : [])));
  // Who joined later is caught up after the last stage, and asks for nothing anew.
  const moved = inTurn.filter((one) => one.stage === stage && epoch(one.merged?.at ?? "") <= goneOnAt);
  if (moved.length === 0) return;
  const last = Math.max(...moved.map((one) => epoch(one.settledAt ?? one.since)));
  if (measures(spec, "Background")) passed(look, stage, 0, "Background", 0);
  if (measures(spec, "AfterStage")) passed(look, stage, 0, "AfterStage", last);
  for (let index = 0; index < (spec?.hooks?.after ?? 0); index++) agreed(look, stage, "after", index, last);
}

function measures(stage: ModelStage | undefined, when: AnalysisWhen): boolean {
  return stage?.analysis?.when.includes(when) === true;
}

/** `cluster`: of which one; `some`: of at least one. */
function passed(look: Look, stage: number, batch: number, when: string, since: number, cluster?: string): void {
  const { run, moment, model } = look;
  if (run.promotedFully !== undefined) return;
  const place = `${run.rollout}/${run.number}/${stage + 1}/${batch}/${when}`;
  const found: Finding[] = [];
  for (const [key, list] of moment.truth.outside.findings) {
    const fits = cluster === "some" ? key.startsWith(`${place}/`) : key === (cluster === undefined ? place : `${place}/${cluster}`);
    if (fits) found.push(...list);
  }
  if (found.some(({ says, startedAt }) => says === "Successful" && startedAt >= since)) return;
  if (model.action === "Continue" && found.some(({ says }) => says === "Failed" || says === "Error")) return;
  const accepted = analysesOf(run).some(
    (one) => one.accepted !== undefined && one.id.startsWith(`${place}/`) && wasResumed(run, one.accepted.at),
  );
  if (!accepted)
    look.wrong.push(`and the analysis ${place}${cluster === undefined ? "" : ` of ${cluster}`} never passed${since > 0 ? " since" : ""}`);
}

function agreed(look: Look, stage: number, when: "before" | "after", index: number, since: number): void {
  const { run, moment, model } = look;
  const place = `${run.rollout}/${run.number}/${stage + 1}/${when}/${index + 1}`;
  const found = moment.truth.outside.findings.get(place) ?? [];
  if (found.some(({ says, startedAt }) => says === "go" && startedAt >= since)) return;
  if (model.action === "Continue" && found.some(({ says }) => says === "fail")) return;
  const accepted = run.hooks?.some(
    (one) => one.accepted !== undefined && one.id.startsWith(`${place}/`) && wasResumed(run, one.accepted.at),
  );
  if (accepted !== true) look.wrong.push(`and the hook ${place} never said to go on${since > 0 ? " since" : ""}`);
}

/** Somebody did say so, in the same round. */
function wasResumed(run: Run, at: string): boolean {
  return run.commands.some((one) => one.outcome === "done" && one.text.startsWith("/resume") && one.at === at);
}

/** What failed of a stage was told to its hooks by the end of the run. */
export function failuresAreTold(moment: Pick<Moment, "truth" | "index">, run: Run): string[] {
  const model = moment.truth.rollouts[moment.index]?.model;
  if (model === undefined || run.kind === "Rollback") return [];
  const wrong: string[] = [];
  for (const batch of run.batches) {
    if ((model.stages[batch.stage]?.hooks?.onFailure ?? 0) === 0) continue;
    for (const { phase, excused, cluster } of batch.targets) {
      if (phase !== "Failed" || excused === true) continue;
      const told = run.hooks?.some(
        (call) => call.when === "onFailure" && call.stage === batch.stage && call.failures?.some(({ what }) => what["cluster"] === cluster),
      );
      if (told !== true) wrong.push(`truth: ${run.rollout} #${run.number} ended, and no hook was told that ${cluster} failed`);
    }
  }
  return wrong;
}
