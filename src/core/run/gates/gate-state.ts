import type { AnyReason } from "../../base/reason.ts";
import { runReason } from "../../reasons/run.ts";
import { putsBack } from "../state/batch.ts";
import { pullRef } from "../state/names.ts";
import { type Batch, isEnded, type Next, type Run } from "../state/run.ts";
import type { Advanced, World } from "../state/world.ts";
import { changedPull } from "./sound.ts";

/**
 * What `stagecoach/gate` says on a batch's PR. passed: nothing of the run stands against merging it. waiting: something does.
 * fenced: it must not be merged now, by whomever, since the run is paused or over. merged: it is, and the check was left open.
 */
export interface GateState {
  kind: "waiting" | "passed" | "fenced" | "merged";
  why: AnyReason;
  next: Next | null;
}

/** Of a batch whose PR is open. `cleared`: as of this round, see Advanced. */
export function gateOf(run: Run, batch: Batch, cleared: boolean): GateState {
  if (isEnded(run)) return { kind: "fenced", why: runReason("PR_GATE_RUN_ENDED", { phase: run.phase, because: run.why }), next: null };
  if (run.phase === "Paused" && (!putsBack(batch) || run.ending !== undefined))
    return { kind: "fenced", why: run.paused?.reason ?? run.why, next: run.next };
  if (batch.closing !== undefined) {
    const why = runReason("PR_GATE_CLOSING", { pull: pullRef(batch.pull), because: batch.closing.why });
    return { kind: "fenced", why, next: batch.next };
  }
  // What is passed once stays so while a merge may be under way: its outcome decides.
  if (cleared || batch.intention !== undefined) return { kind: "passed", why: batch.why, next: batch.next };
  return { kind: "waiting", why: batch.why, next: batch.next };
}

/** An open PR of ours and what its gate says. */
export interface Gate {
  batch: number;
  pull: number;
  head: string;
  /** It is in a merge queue, which would merge it without asking anybody. */
  queued: boolean;
  state: GateState;
}

/** The gates of every PR of the run that is seen open. A head that somebody else pushed is never passed. */
export function gatesOf(run: Run, world: World, { cleared = [], fenced = [] }: Pick<Advanced<Run>, "cleared" | "fenced">): Gate[] {
  const gates: Gate[] = [];
  for (const batch of run.batches) {
    const pull = world.pulls.get(batch.number);
    if (pull === undefined || pull === null || pull.state !== "open" || pull.number === 0 || batch.merged !== undefined) continue;
    if (batch.phase !== "Open" && batch.phase !== "Merging") continue;
    const state = !pull.headIsOurs
      ? { kind: "fenced" as const, why: changedPull(pull), next: run.next }
      : fenced.includes(batch.number)
        ? { kind: "fenced" as const, why: batch.why, next: batch.next }
        : gateOf(run, batch, cleared.includes(batch.number));
    gates.push({ batch: batch.number, pull: pull.number, head: pull.head, queued: (pull.queue ?? null) !== null, state });
  }
  return gates;
}
