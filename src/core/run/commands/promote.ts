/** `/promote`: ends the wait that whoever wrote it had in view, and no other. Called by `apply-commands.ts`. */
import { epoch } from "../../base/time.ts";
import type { RunReason } from "../../reasons/run.ts";
import { type Command, hasPermission } from "../../spec/commands.ts";
import { promoteStep } from "../batches/step-wait.ts";
import { approve, wantsApproval } from "../gates/approval.ts";
import { batchOf, change, changeBatch, type Draft } from "../state/draft.ts";
import { batchRef, pullRef } from "../state/names.ts";
import type { PromotableWait } from "../state/promotable-types.ts";
import { done, type Reply, refuse } from "../state/reply.ts";
import type { Batch, Run } from "../state/run.ts";
import { promotableWaits, waitMeant, waitNamed } from "./promotable.ts";

export function promoteCommand(draft: Draft, command: Command): Reply {
  const { run } = draft;
  if (command.flags.full !== undefined) return promoteFully(draft, command);
  if (run.paused !== undefined) return refuse({ code: "RUN_IS_PAUSED", because: run.paused.reason, ask: run.paused.ask });
  const own = command.batch === undefined ? undefined : batchOf(run, command.batch);
  if (own?.pull !== undefined && command.pull !== undefined && own.pull.number !== command.pull) {
    const now = promotableWaits(run).find(({ batch }) => batch === own.number);
    return refuse({
      code: "PROMOTE_ON_FORMER_PULL",
      batch: batchRef(run, own),
      pull: own.pull.number,
      current: now && waitNamed(run, now),
    });
  }
  const meant = waitMeant(run, command);
  if (meant === undefined) return refuseWithoutWait(draft, own);
  if ("late" in meant) return refuse(cameLate(run, meant));
  const batch = batchOf(run, meant.wait.batch);
  if (meant.wait.kind === "pull") return approveByCommand(draft, command, batch) ?? mergeByCommand(draft, command, batch);
  return promoteStep(draft, batch) ?? endBakeNow(draft, batch);
}

function cameLate(run: Run, { was, now }: { was?: PromotableWait | undefined; now: PromotableWait | undefined }): RunReason {
  return { code: "PROMOTE_CAME_LATE", was: was && waitNamed(run, was), current: now && waitNamed(run, now), because: run.why };
}

/** Says why there is nothing to end: on a batch's PR, of that batch alone. */
function refuseWithoutWait({ run }: Draft, own: Batch | undefined): Reply {
  const [other] = promotableWaits(run);
  if (own !== undefined && other !== undefined)
    return refuse({ code: "PROMOTE_OF_OTHER_BATCH", batch: batchRef(run, own), current: waitNamed(run, other), because: own.why });
  const open = run.batches.find((batch) => batch.phase === "Open" && batch.closing === undefined && batch.ahead !== true);
  if (open === undefined || (own !== undefined && own !== open)) return refuse({ code: "NOTHING_TO_PROMOTE", because: run.why });
  return refuse(mergesAnyway(run, open));
}

function endBakeNow(draft: Draft, batch: Batch): Reply {
  const { bake } = batch;
  if (bake === undefined || epoch(bake.until) <= draft.now) return refuse({ code: "BAKE_OVER", because: batch.why });
  changeBatch(draft, batch.number, { bake: { ...bake, until: draft.at } });
  return done({ code: "BAKE_ENDED", batch: batchRef(draft.run, batch) });
}

/** undefined: the batch wants no approval, and the command means something else. */
function approveByCommand(draft: Draft, command: Command, batch: Batch): Reply | undefined {
  if (wantsApproval(draft.run, batch) === undefined) return undefined;
  const given = approve(draft, batch, command.actor, command.teams);
  if (given === undefined) return undefined;
  if ("code" in given) return refuse(given);
  const others = (draft.run.approvals ?? []).filter((one) => one.stage !== given.stage || one.by !== given.by);
  change(draft, { approvals: [...others, given] });
  if (draft.run.spec.delivery.merge === "Manual") changeBatch(draft, batch.number, { promoted: { by: command.actor, at: draft.at } });
  return done({ code: "STAGE_APPROVED", stage: draft.run.plan.stages[batch.stage]?.name ?? "", by: command.actor });
}

/** From now on no bake, step pause or analysis of this run is waited for. Health, approvals, windows and halts are. */
function promoteFully(draft: Draft, command: Command): Reply {
  if (!hasPermission(command.permission, "maintain")) return refuse({ code: "FULL_NEEDS_MAINTAIN", rollouts: false });
  if (draft.run.promotedFully !== undefined) return refuse({ code: "FULL_GIVEN_ALREADY", by: draft.run.promotedFully.by });
  const given: RunReason = { code: "WAITS_ENDED_BY", by: command.actor };
  change(draft, { promotedFully: { by: command.actor, at: draft.at } }, given);
  for (const { number, phase, bake } of draft.run.batches) {
    if (phase === "Baking" && bake !== undefined) changeBatch(draft, number, { bake: { ...bake, until: draft.at } });
  }
  return done({ code: "FULL_DONE" });
}

function mergeByCommand(draft: Draft, command: Command, batch: Batch): Reply {
  const { mode, delivery } = draft.run.spec;
  if (mode !== "Run" || delivery.merge !== "Manual" || batch.promoted !== undefined) return refuse(mergesAnyway(draft.run, batch));
  changeBatch(draft, batch.number, { promoted: { by: command.actor, at: draft.at } });
  return done({ code: "PROMOTE_DONE", pull: pullRef(batch.pull) });
}

/** Why an open PR waits for no `/promote`. */
function mergesAnyway({ spec }: Run, { promoted, pull: opened, why: because }: Batch): RunReason {
  const pull = pullRef(opened);
  if (spec.mode !== "Run") return { code: "MODE_NEVER_MERGES", mode: spec.mode, pull };
  if (spec.delivery.merge !== "Manual") return { code: "MERGES_BY_ITSELF", pull, because };
  return { code: "PROMOTED_ALREADY", by: promoted?.by ?? "", pull, because };
}
