import { type Draft, say, wakeAt } from "../state/draft.ts";
import { clusterName, liveTargets, nameList } from "../state/names.ts";
import { hasGoneOn } from "../state/steps.ts";
import { joinedToTry } from "../targets/joiners.ts";
import { seesClusterOf } from "../targets/unseen.ts";
import { makeBatch } from "./build.ts";
import { release, returned } from "./quarantine.ts";
import { requeue } from "./requeue.ts";

/**
 * After the last stage: clusters that joined, and those that are back from quarantine, are put to the end of their stage and
 * looked at there as every requeued one is. What is not back by then stays as it is, and is named.
 */
export function callLate(draft: Draft): void {
  const { run } = draft;
  for (const [stage] of run.plan.stages.entries()) {
    const joined = joinedToTry(run).filter((one) => one.stage === stage);
    if (joined.length > 0) {
      const names = joined.map((one) => one.cluster);
      requeue(draft, stage, names, "joined during the run: caught up after the last stage");
    }
    const back = returned(draft).filter((one) => one.stage === stage);
    if (back.length === 0) continue;
    const names = back.map((one) => one.cluster);
    release(draft, names);
    requeue(draft, stage, names, "is back from quarantine: caught up after the last stage");
    draft.events.push(`${nameList(run, names)} back from quarantine`);
  }
}

/** The release values are put back by a rollback's last batch; where all of its clusters were left out, by a batch of its own. False: it was just made. */
export function isRestored(draft: Draft): boolean {
  const { run } = draft;
  if (run.restore === undefined || run.batches.some((batch) => batch.also !== undefined)) return true;
  makeBatch(draft, run.plan.stages.length - 1, [], "Planned");
  return false;
}

/** How soon what could not be read is looked at again. */
const AGAIN_MS = 30_000;

/**
 * Before a run ends well: a cluster that was confirmed and is registered still, without its pin, is leaving or somebody's mistake,
 * and which of both is waited for. What cannot be read may be either.
 */
export function isPinMissing(draft: Draft): boolean {
  const { run, world } = draft;
  for (const batch of run.batches) {
    if (batch.merged === undefined) continue;
    for (const target of liveTargets(batch)) {
      if (target.phase === "Failed" || hasGoneOn(batch, target)) continue;
      const pins = world.targets.get(target.key)?.pins;
      const name = clusterName(run, target.cluster);
      if (pins === undefined) {
        say(draft, `waiting for the pins of ${name} to be read`, { what: "they are read" });
        wakeAt(draft, draft.now + AGAIN_MS);
        return true;
      }
      const left = seesClusterOf(draft, target.cluster) && !world.clusters.has(target.cluster);
      if (!pins.includes(null) || left) continue;
      say(draft, `the pin of ${name} is gone: waiting whether its Application goes too`, { what: "looked at again" });
      return true;
    }
  }
  return false;
}
