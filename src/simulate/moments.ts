import { isEnded, isMoving } from "../core/run/state/run.ts";
import type { Driver } from "./driver.ts";
import { changesAfter } from "./world/argocd.ts";
import { isOpenAt, ownWindowsOn } from "./world/windows.ts";
import { targetsOf } from "./world/world.ts";

/** What a busy loop takes for a round. */
const SOON_MS = 200;
const RESYNC_MS = 300_000;
/** Of what is missed now and then, some dozens of looks fit into the days after which a run is said to hang. */
const LONGEST_MS = 2 * 3_600_000;
/** Looks in a row that came to nothing, after which resyncs come rarer. */
const PATIENT = 2;

/**
 * When the next round is: at once where something was done, else at the next event, at the time the core asked for, or at the
 * resync that comes whatever is lost. Where nothing happens for long the resyncs come rarer, so that days of waiting cost little.
 */
export function nextTime(driver: Driver, happening: number | undefined): number {
  const { truth, now } = driver;
  const { dice, chaos } = truth;
  const deaf = dice.chance(chaos.deaf);
  driver.idle = driver.busy ? 0 : driver.idle + 1;
  if (driver.busy && !deaf) return now + SOON_MS;
  if (!deaf && dice.chance(chaos.doubled)) return now + 1000;
  const rarer = isInWindow(driver) ? 0 : Math.max(0, driver.idle - PATIENT);
  const resync = now + Math.min(RESYNC_MS * 2 ** rarer, LONGEST_MS);
  const event = deaf ? Number.POSITIVE_INFINITY : eventAfter(driver, now);
  return Math.max(now + 50, Math.min(driver.wake, event, resync, happening ?? Number.POSITIVE_INFINITY));
}

/** Something waits with its windows open: a look that misses it now is not made up for before they close. */
function isInWindow({ truth, entries, now }: Driver): boolean {
  const allowing = truth.freezes.flatMap(({ model }) => (model?.kind === "allow" ? [model] : []));
  const isAllowed = allowing.length === 0 || allowing.some((model) => isOpenAt([model], now));
  return truth.rollouts.some(({ index }) => {
    const run = entries[index]?.run;
    if (run === undefined || !isMoving(run)) return false;
    return run.batches.some((batch) => {
      const own = ownWindowsOn(truth, run, batch);
      return batch.phase === "Open" && isAllowed && own.length + allowing.length > 0 && own.every((windows) => isOpenAt(windows, now));
    });
  });
}

/** Argo CD, GitHub or the settings say that something changed. */
function eventAfter({ truth, entries }: Driver, now: number): number {
  let soonest = Number.POSITIVE_INFINITY;
  const at = (time: number) => {
    if (time > now && time < soonest) soonest = time;
  };
  at(truth.argoDownUntil);
  at(truth.forgeDownUntil);
  at(truth.forge.refusing.until);
  at(truth.guard.until);
  at(truth.settingsBrokenUntil);
  at(truth.unprotectedUntil);
  for (const due of truth.outside.due) at(due);
  for (const outages of truth.outages.values()) for (const { to } of outages) at(to);
  for (const freeze of truth.freezes) at(freeze.until);
  for (const pull of truth.forge.pulls) if (pull.queue !== undefined) at(pull.queue.until);
  for (const { run } of entries) {
    if (run === undefined || isEnded(run)) continue;
    for (const batch of run.batches) {
      if (batch.merged === undefined) continue;
      for (const target of targetsOf(truth, batch)) {
        if (target !== undefined) at(changesAfter(truth.git, target, now));
      }
    }
  }
  return soonest;
}
