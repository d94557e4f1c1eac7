/** When hooks are asked, and what waits for their answers: `hooks` of a stage as gates of the run. */

import { defined } from "../../base/defined.ts";

import { epoch, type Time } from "../../base/time.ts";
import { gateReason } from "../../reasons/gates.ts";
import { analysesOf, analysisTitle } from "../checks/analysis.ts";
import { callHook, hookCallAt, hookRef, hookTitle, isBadHook, isToleratedHook } from "../checks/hooks.ts";
import type { Draft } from "../state/draft.ts";
import type { HookCall, HookFailure } from "../state/hooks-types.ts";
import { clusterName } from "../state/names.ts";
import type { Batch, Run } from "../state/run.ts";
import { isBad } from "./analysis.ts";
import { type Wait, wait } from "./decision.ts";

/** Events of one stage's failures; more of them tell nobody anything new. */
const MOST_FAILURE_EVENTS = 50;
const MOST_NAMED = 50;

/** Before the stage's first merge, one hook after the other, once nothing else of the run stands against it. */
export function hooksBefore(draft: Draft, batch: Batch): Wait | undefined {
  return hooksGate(draft, batch.stage, "before");
}

/** Before the next stage, of one in which something has moved. A batch that catches up later asks anew. */
export function hooksAfter(draft: Draft, stage: number): Wait | undefined {
  const moved = draft.run.batches.filter((batch) => batch.stage === stage && batch.merged !== undefined);
  if (moved.length === 0) return undefined;
  const last = moved.map((batch) => batch.settledAt ?? batch.since).reduce((a, b) => (epoch(a) >= epoch(b) ? a : b));
  return hooksGate(draft, stage, "after", last);
}

function hooksGate(draft: Draft, stage: number, when: "before" | "after", newerThan?: Time): Wait | undefined {
  for (const index of (draft.run.spec.stages[stage]?.hooks?.[when] ?? []).keys()) {
    const place = { stage, when, index };
    const call = hookCallAt(draft.run, place);
    if (call === undefined) callHook(draft, place, 1);
    else if (newerThan !== undefined && epoch(call.since) < epoch(newerThan)) callHook(draft, place, call.attempt + 1);
    const now = hookCallAt(draft.run, place);
    const blocked = now === undefined ? undefined : standing(draft.run, now);
    if (blocked !== undefined) return blocked;
  }
  return undefined;
}

function standing(run: Run, call: HookCall): Wait | undefined {
  if (call.phase === "Done" || call.accepted !== undefined || isToleratedHook(run, call)) return undefined;
  const data = { hook: hookRef(run, call), because: call.why };
  if (isBadHook(call)) return wait(gateReason("HOOK_BAD", data), { what: gateReason("NEXT_COMMAND") });
  const next = defined({ what: gateReason("NEXT_HOOK_ASKED"), eta: call.nextAt });
  if (call.phase === "Held") return wait(gateReason("HOOK_HOLDS_STAGE", data), next);
  if (call.phase === "Waiting") return wait(gateReason("HOOK_UNCLEAR", data), next);
  return wait(gateReason("HOOK_AWAITED", { hook: data.hook }), { what: gateReason("NEXT_HOOK_ANSWERS") });
}

/** Tells the hooks of a stage what of it has failed since they were told last. */
export function tellFailures(draft: Draft): void {
  for (const [stage, spec] of draft.run.spec.stages.entries()) {
    const hooks = spec.hooks?.onFailure ?? [];
    if (hooks.length === 0) continue;
    const told = (draft.run.hooks ?? []).filter((call) => call.stage === stage && call.when === "onFailure");
    if (told.length >= MOST_FAILURE_EVENTS * hooks.length) continue;
    const since = Math.max(Number.NEGATIVE_INFINITY, ...told.map((call) => epoch(call.since)));
    const failures = failuresOf(draft.run, stage, since);
    if (failures.length === 0) continue;
    const attempt = Math.floor(told.length / hooks.length) + 1;
    for (const index of hooks.keys()) callHook(draft, { stage, when: "onFailure", index }, attempt, failures.slice(0, MOST_NAMED));
  }
}

/** What has failed of a stage after a moment (epoch milliseconds). */
function failuresOf(run: Run, stage: number, after: number): HookFailure[] {
  const found: HookFailure[] = [];
  for (const batch of run.batches) {
    if (batch.stage !== stage) continue;
    for (const target of batch.targets) {
      if (target.phase === "Failed" && target.excused !== true && epoch(target.since) > after)
        found.push({ what: clusterName(run, target.cluster), why: target.why });
    }
  }
  for (const record of analysesOf(run)) {
    if (record.stage === stage && isBad(run, record) && epoch(record.endedAt ?? record.startedAt) > after)
      found.push({ what: analysisTitle(run, record), why: record.why });
  }
  for (const call of run.hooks ?? []) {
    if (call.stage === stage && isBadHook(call) && epoch(call.endedAt ?? call.since) > after)
      found.push({ what: hookTitle(run, call), why: call.why });
  }
  return found.map(({ what, why }) => ({ what, why: typeof why === "string" ? why.slice(0, 500) : why }));
}
