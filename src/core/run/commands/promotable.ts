/**
 * The waits that `/promote` ends, and which of them a comment can have meant: one that the run's page, or the pull request it was written on,
 * had shown by then. Called by `promote.ts`; `advance` notes what is shown, the engine's publisher tells it.
 */
import { epoch } from "../../base/time.ts";
import type { WaitNamed } from "../../reasons/refs.ts";
import type { Command } from "../../spec/commands.ts";
import { wantsApproval } from "../gates/approval.ts";
import type { Draft } from "../state/draft.ts";
import { batchRef, pullRef } from "../state/names.ts";
import type { PromotableWait, ShownWait } from "../state/promotable-types.ts";
import { type Batch, isEnded, type Run } from "../state/run.ts";

/** Somebody who reads a page and writes a comment takes so long: what changes meanwhile they cannot be held to have seen. */
const READ_MS = 15_000;
/** What was over for longer no command can have been for: none that is found as late acts. */
const KEPT_MS = 30 * 60_000;

/** The waits that `/promote` would end now, those of merged batches first. */
export function promotableWaits(run: Run): PromotableWait[] {
  if (isEnded(run)) return [];
  const merged = run.batches.flatMap((batch) => waitOfMerged(batch) ?? []);
  return [...merged, ...run.batches.flatMap((batch) => waitOfOpen(run, batch) ?? [])];
}

function waitOfMerged({ number, phase, step, bake }: Batch): PromotableWait | undefined {
  if (phase !== "Baking") return undefined;
  if (step?.wait?.from !== undefined) return { kind: "step", batch: number, since: step.wait.from };
  return bake === undefined ? undefined : { kind: "bake", batch: number, since: bake.from };
}

/** That somebody approves its stage, or has it merged. */
function waitOfOpen(run: Run, batch: Batch): PromotableWait | undefined {
  const { number, phase, pull, ahead, closing, promoted, stage } = batch;
  if (phase !== "Open" || pull === undefined || ahead === true || closing !== undefined) return undefined;
  const approval = wantsApproval(run, batch);
  const isManual = run.spec.mode === "Run" && run.spec.delivery.merge === "Manual" && promoted === undefined;
  if (approval === undefined && !isManual) return undefined;
  const amended = approval && run.amended?.find((one) => one.stage === stage)?.at;
  const since = amended !== undefined && epoch(amended) > epoch(pull.openedAt) ? amended : pull.openedAt;
  return { kind: "pull", batch: number, since };
}

export function isSameWait(a: PromotableWait, b: PromotableWait): boolean {
  return a.kind === b.kind && a.batch === b.batch && a.since === b.since;
}

/** Takes in what the run's page shows by now: since when people can read of each wait, and until when they could. */
export function noteShown(draft: Draft): void {
  const { shown } = draft.world;
  if (shown === undefined) return;
  const { waits, at } = shown;
  const known = (draft.run.shown ?? []).filter(({ overAt }) => overAt === undefined || draft.now - epoch(overAt) < KEPT_MS);
  const isThere = (one: PromotableWait) => waits.some((wait) => isSameWait(wait, one));
  const stay = known.filter((one) => one.overAt === undefined || !isThere(one));
  const over = stay.map((one): ShownWait => (one.overAt !== undefined || isThere(one) ? one : { ...one, overAt: at }));
  const fresh = waits.filter((wait) => !over.some((one) => isSameWait(one, wait))).map((wait): ShownWait => ({ ...wait, shownAt: at }));
  if (fresh.length === 0 && over.every((one, place) => one === stay[place])) return;
  draft.run = { ...draft.run, shown: [...over, ...fresh] };
  draft.observation = true;
}

/** What a `/promote` is for. `late`: for nothing that still waits; `was`: for this, which is over. */
type Meant = { wait: PromotableWait } | { late: true; was?: ShownWait | undefined; now: PromotableWait | undefined } | undefined;

/**
 * Finds the wait that whoever wrote it had in view: one that was shown for long enough; else, unless another was there right before, one that was
 * shown at all. undefined: nothing of it waits, nor did.
 */
export function waitMeant(run: Run, command: Pick<Command, "batch" | "createdAt">): Meant {
  const isMine = ({ batch }: PromotableWait) => command.batch === undefined || command.batch === batch;
  const waits = promotableWaits(run).filter(isMine);
  const at = epoch(command.createdAt);
  const shownBy = (ms: number) => waits.find((wait) => second(shownAt(run, command, wait)) <= ms);
  const read = shownBy(at - READ_MS);
  if (read !== undefined) return { wait: read };
  const inView = ({ shownAt: from, overAt }: ShownWait) =>
    second(epoch(from)) <= at && (overAt === undefined || at < epoch(overAt) + READ_MS);
  const was = (run.shown ?? []).findLast((one) => isMine(one) && inView(one) && !waits.some((wait) => isSameWait(wait, one)));
  if (was !== undefined) return { late: true, was, now: waits[0] };
  const seen = shownBy(at);
  if (seen !== undefined) return { wait: seen };
  return waits.length === 0 ? undefined : { late: true, now: waits[0] };
}

/** When people could first read of it. A pull request tells of itself; without a page only when it began is known. */
function shownAt(run: Run, command: Pick<Command, "batch">, wait: PromotableWait): number {
  if (run.trigger.pull === undefined || (wait.kind === "pull" && command.batch === wait.batch)) return epoch(wait.since);
  const known = run.shown?.find((one) => one.overAt === undefined && isSameWait(one, wait));
  return known === undefined ? Number.POSITIVE_INFINITY : epoch(known.shownAt);
}

/** GitHub's times are whole seconds. */
function second(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** A wait as reasons name it. */
export function waitNamed(run: Run, { kind, batch: number }: PromotableWait): WaitNamed {
  const batch = run.batches[number - 1];
  if (batch === undefined) throw new Error(`run ${run.rollout} #${run.number} has no batch ${number}`);
  return { kind, batch: batchRef(run, batch), pull: pullRef(batch.pull) };
}
