import { count } from "../../base/count.ts";
import { text } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import type { Over } from "../../plan/limits.ts";
import { SETTINGS_FILE } from "../../spec/repo-config.ts";
import { close } from "../batches/batch-build.ts";
import { limiterOf, sizesOf } from "../batches/within-limits.ts";
import { type Batch, type BatchTarget, isEnded, type Run } from "../state/run.ts";
import { type Draft, pause } from "../state/run-draft.ts";
import { batchName, clustersOf, liveTargets, nameList, unitOf } from "../state/run-names.ts";
import { isMidway } from "../state/steps.ts";
import type { Blocked } from "./pull-gates.ts";

/** Where the limits stand. */

/**
 * `limits` of the repo: what all its runs may have in flight together, this batch included. Batches are cut to what the limits could ever
 * allow as they are made; one that is too large all the same, as the limits were lowered since, is built again smaller.
 */
export function limitsGate(draft: Draft, batch: Batch): Blocked | undefined {
  const { limits, others, clustersKnown } = draft.world;
  const begin = limiterOf(draft);
  if (limits === undefined || begin === undefined) return undefined;
  if (others === undefined)
    return { why: "the other runs of the repo could not be read, and limits hold over all", next: { what: "they are read" } };
  const { flying, coming, elsewhere } = beside(draft, batch, others);
  // The next weight of what is in flight adds nothing to it.
  if (coming.length === 0) return undefined;
  const alone = begin().add(sizesOf(batch));
  if (alone !== undefined) return tooLarge(draft, batch, alone, whose(elsewhere));
  const together = begin().add([...flying, ...coming].map(({ cluster }) => ({ cluster, targets: 1 })));
  if (together !== undefined)
    return { why: wouldBe(together, limits.label?.percent, whose(flying)), next: { what: "others are confirmed" } };
  if (limits.label === undefined || clustersKnown) return undefined;
  return { why: "the clusters could not be read, and a limit is by their labels", next: { what: "they are read" } };
}

/**
 * What stands against the size of a batch itself, whatever else is in flight: it is built again smaller, or can never travel. Judged before
 * people are asked, so that nobody approves what is closed. What merges alone waits for that in `limitsGate`.
 */
export function sizeGate(draft: Draft, batch: Batch): Blocked | undefined {
  const { others } = draft.world;
  const alone = limiterOf(draft)?.().add(sizesOf(batch));
  if (alone === undefined || others === undefined) return undefined;
  if (mergesAlone(draft.run, batch) && !canBeCut(draft.run, batch)) return undefined;
  const { coming, elsewhere } = beside(draft, batch, others);
  return coming.length === 0 ? undefined : tooLarge(draft, batch, alone, whose(elsewhere));
}

interface Flying {
  key: string;
  cluster: string;
}

type FlyingOf = Flying & { run: string };

/** All that is in flight, of the batch's targets those that are not, and of what is in flight that which is not the batch's. */
function beside(draft: Draft, batch: Batch, others: readonly Run[]): { flying: FlyingOf[]; coming: BatchTarget[]; elsewhere: FlyingOf[] } {
  const flying = [draft.run, ...others].flatMap((run) =>
    (isEnded(run) ? leftBehind(run, draft.now) : inFlight(run)).map((target) => ({ ...target, run: run.rollout })),
  );
  const own = liveTargets(batch);
  const ownKeys = new Set(own.map(({ key }) => key));
  const flyingKeys = new Set(flying.map(({ key }) => key));
  return {
    flying,
    coming: own.filter(({ key }) => !flyingKeys.has(key)),
    elsewhere: flying.filter(({ key }) => !ownKeys.has(key)),
  };
}

/** Targets of a run from the merge intention until confirmed, at their whole weight where there are steps, failed or left out (docs/spec.md §9.9). */
export function inFlight(run: Run): Flying[] {
  const found = new Map<string, Flying>();
  for (const batch of run.batches) {
    if (batch.merged === undefined && batch.intention === undefined) continue;
    for (const { key, cluster, phase } of batch.targets) {
      if (phase === "Merged" || phase === "Syncing" || phase === "Proposed" || isMidway(batch, { phase })) found.set(key, { key, cluster });
    }
  }
  return [...found.values()];
}

/** An aborted run looks after nothing any more: what it left in flight counts until its deadline, when it would be there or have failed. */
function leftBehind(run: Run, now: number): Flying[] {
  const waited = new Set<string>();
  for (const batch of run.batches)
    for (const { key, deadlineAt } of batch.targets) if (deadlineAt !== undefined && now < epoch(deadlineAt)) waited.add(key);
  return inFlight(run).filter((target) => waited.has(target.key));
}

function whose(flying: readonly { run: string }[]): string {
  return [...new Set(flying.map((one) => one.run))].join(", ");
}

function wouldBe({ setting, what, most }: Over, percent: number | undefined, who: string): string {
  if (setting === "limits.label") return `${what} would be in flight, and the limits allow ${most} (${percent}%)`;
  return `${what} of the repo would be in flight, and its limits allow ${most}${who === "" ? "" : ` (now: ${who})`}`;
}

/** A batch that the limits do not allow though nothing else were in flight: waiting would never end. */
function tooLarge(draft: Draft, batch: Batch, { setting, what, most }: Over, who: string): Blocked | undefined {
  const { run } = draft;
  const why = `${setting} of ${SETTINGS_FILE} allows ${most} in flight, and it has ${what}`;
  if (canBeCut(run, batch)) {
    close(draft, batch, why);
    return { why, next: { what: "it is built again, smaller" } };
  }
  if (mergesAlone(run, batch)) {
    if (who === "") return undefined;
    return { why: `${text(why)}, so it merges once nothing else is in flight (now: ${who})`, next: { what: "others are confirmed" } };
  }
  const names = nameList(run, clustersOf(liveTargets(batch)));
  const together = clustersOf(liveTargets(batch)).length > 1 ? "share a pin and travel together" : "cannot travel in parts";
  const reason = `${batchName(run, batch)} can never merge: ${text(why)} (${names}), which ${together}`;
  pause(
    draft,
    "Refused",
    "stagecoach",
    reason,
    `raise ${setting} in ${SETTINGS_FILE}, then \`/resume\`; or \`/skip CLUSTER\`; or \`/abort\``,
  );
  return { why, next: { what: `somebody raises ${setting}` } };
}

/** What puts old values back is never held for good, nor what has begun to go from weight to weight. */
function mergesAlone(run: Run, batch: Batch): boolean {
  return run.kind === "Rollback" || batch.kind === "Revert" || (batch.step?.index ?? 1) > 1;
}

/** Parts of it may travel one after the other. */
function canBeCut(run: Run, batch: Batch): boolean {
  if (batch.kind === "Revert" || (batch.step?.index ?? 1) > 1) return false;
  const clusters = clustersOf(liveTargets(batch));
  const [first] = clusters;
  if (first === undefined) return false;
  const unit = new Set(unitOf(run, first));
  return clusters.some((cluster) => !unit.has(cluster));
}

/** `2 clusters at once (limits.clusters)`, for an answer. */
export function allowed({ setting, most }: Over): string {
  return `${count(most, setting === "limits.targets" ? "target" : "cluster")} at once (${setting} of ${SETTINGS_FILE})`;
}
