import type { AnyReason } from "../../base/reason.ts";
import { matches } from "../../base/selector.ts";
import { epoch } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { putsBack } from "../state/batch.ts";
import { change, type Draft, pause, wakeAt } from "../state/draft.ts";
import { clusterCount, clustersOf, liveTargets, unitOf } from "../state/names.ts";
import { isMoving, type Run } from "../state/run.ts";
import { lostPlane, lostWords, planeOf } from "../targets/unseen.ts";
import { rebuild } from "./build.ts";
import { close } from "./close.ts";

/**
 * Says why a cluster is to be left out by the rule `quarantine` now; undefined: it is not. A control plane that cannot be read counts only
 * after `grace`: a bot that has just started has not read any yet.
 */
export function quarantineWhy(draft: Draft, cluster: string): AnyReason | undefined {
  const { run, world } = draft;
  const rule = run.spec.quarantine;
  if (rule === undefined) return undefined;
  const because = world.unreachable?.get(cluster);
  if (because !== undefined) return runReason("QUARANTINE_UNREACHABLE", { because });
  const lost = lostPlane(draft, cluster);
  if (lost !== undefined) {
    const from = epoch(lost.since) + run.spec.graceMs;
    if (draft.now >= from) return lostWords(planeOf(cluster), lost);
    wakeAt(draft, from);
    return undefined;
  }
  const seen = world.clusters.get(cluster);
  return rule.selector !== undefined && seen !== undefined && matches(rule.selector, seen) ? runReason("QUARANTINE_MATCHED") : undefined;
}

/** How many clusters may be in quarantine: a percentage is of the run's clusters, rounded up. */
function quarantineBudget(run: Run): number {
  const max = run.spec.quarantine?.max;
  if (max === undefined) return 0;
  return "count" in max ? max.count : Math.ceil((max.percent * clusterCount(run)) / 100);
}

/** Leaves out clusters that are unreachable, with all that share their pins, and gives back the others. */
export function leaveUnreachable(draft: Draft, stage: number, clusters: readonly string[]): string[] {
  if (draft.run.spec.quarantine === undefined) return [...clusters];
  const out = new Map<string, AnyReason>();
  for (const cluster of clusters) {
    const why = quarantineWhy(draft, cluster);
    if (why === undefined) continue;
    for (const member of unitOf(draft.run, cluster)) {
      if (!out.has(member) && clusters.includes(member))
        out.set(member, member === cluster ? why : runReason("QUARANTINED_WITH", { cluster, because: why }));
    }
  }
  if (out.size > 0) quarantine(draft, stage, out);
  return clusters.filter((cluster) => !out.has(cluster));
}

function quarantine(draft: Draft, stage: number, out: ReadonlyMap<string, AnyReason>): void {
  const kept = (draft.run.quarantined ?? []).filter((one) => !out.has(one.cluster));
  const added = [...out].map(([cluster, why]) => ({ cluster, stage, why, since: draft.at }));
  const requeued = draft.run.requeued.filter((one) => !out.has(one.cluster));
  const [because] = out.values();
  const event = because && runReason("QUARANTINED", { clusters: [...out.keys()], because });
  change(draft, { quarantined: [...kept, ...added], requeued }, event);
}

/** More clusters are in quarantine than may be, and somebody has not been asked about one of them. */
export function wantsWord(run: Run): boolean {
  const inside = run.quarantined ?? [];
  return inside.length > quarantineBudget(run) && inside.some((one) => one.asked !== true);
}

/** Pauses a run that has more clusters in quarantine than it may, once for each that is added. */
export function judgeQuarantine(draft: Draft): void {
  const { run } = draft;
  const inside = run.quarantined ?? [];
  const because = inside.at(-1)?.why;
  if (because === undefined || !wantsWord(run) || !isMoving(run)) return;
  const clusters = inside.map((one) => one.cluster);
  const reason = runReason("QUARANTINE_FULL", { clusters, most: quarantineBudget(run), because });
  change(draft, { quarantined: inside.map((one) => ({ ...one, asked: true as const })) });
  pause(draft, "Quarantine", "stagecoach", reason, runReason("ASK_QUARANTINE"));
}

/** Takes such clusters out of batches that are not being merged yet: their PRs are closed, and built again without them. */
export function leaveUnreachableOpen(draft: Draft): void {
  if (draft.run.spec.quarantine === undefined) return;
  for (const batch of draft.run.batches) {
    const unseen = batch.phase === "Proposing" && draft.world.pulls.get(batch.number) === null;
    const open = batch.phase === "Open" && batch.intention === undefined;
    if (!(unseen || open) || batch.closing !== undefined || putsBack(batch)) continue;
    const clusters = clustersOf(liveTargets(batch));
    if (leaveUnreachable(draft, batch.stage, clusters).length === clusters.length) continue;
    if (unseen) rebuild(draft, batch);
    else close(draft, batch, runReason("QUARANTINED_IN_BATCH"));
  }
}

/** Lists the clusters of a stage that are back and are to be caught up. */
export function listReturned(draft: Draft, stage: number): string[] {
  const { run, world } = draft;
  if (run.spec.quarantine?.onReturn !== "CatchUp") return [];
  const inside = (run.quarantined ?? []).filter((one) => one.stage === stage).map(({ cluster }) => cluster);
  return inside.filter((cluster) => {
    if (lostPlane(draft, cluster) !== undefined || (!world.clustersKnown && !world.clusters.has(cluster))) return false;
    return unitOf(run, cluster).every((member) => quarantineWhy(draft, member) === undefined);
  });
}

/** They are tried now, or are out of the run for another reason. */
export function release(draft: Draft, clusters: readonly string[]): void {
  const before = draft.run.quarantined ?? [];
  const left = before.filter((one) => !clusters.includes(one.cluster));
  if (left.length !== before.length) change(draft, { quarantined: left });
}
