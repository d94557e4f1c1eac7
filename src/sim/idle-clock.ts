/**
 * A clock for tests that hold the whole embedded world in one process: its time passes while nobody works. Waiting costs
 * next to nothing then, and a slow or busy machine makes nothing late: what a world second is full of is done within it.
 */
import { performance } from "node:perf_hooks";
import { cellsUnderWay } from "../adapters/cell/cell.ts";
import { commandsUnderWay } from "../adapters/git/launch/launcher.ts";
import { statementsUnderWay } from "../adapters/queue/postgres/database.ts";
import type { WorldClock } from "./clock.ts";

/** World ms that pass in a wall ms in which something was done. */
const BUSY = 5;
/** The same once nothing is done. */
const IDLE = 5000;
/** The same while PostgreSQL is asked something: within seconds of the world it has to have answered, or leases are lost. */
const ASKED = 50;
/** Nothing may be on its way between two ends of a socket, either: so many looks in a row must find nobody working. */
const QUIET_LOOKS = 2;
/** Somebody has worked for longer than this since the last look. A look that is late for want of a processor saw nobody work. */
const WORKED_MS = 2;
/** A late look counts for no more wall ms: those that wait for a processor as we did had no more, either. */
const MOST_MS = 4;

interface Timer {
  at: number;
  wake: () => void;
}

export function idleClock(start = Date.now(), pace = IDLE): WorldClock & { stop(): void } {
  let now = start;
  let looked = performance.now();
  let events = 0;
  let { active } = performance.eventLoopUtilization();
  let quiet = 0;
  const timers = new Set<Timer>();
  let next: NodeJS.Timeout | undefined;

  function look(): void {
    const [wall, seen] = [performance.now(), performance.nodeTiming.uvMetricsInfo.events];
    const worked = performance.eventLoopUtilization().active;
    const still = seen === events && worked - active < WORKED_MS && !isAnythingUnderWay();
    quiet = still ? quiet + 1 : 0;
    const elapsed = Math.min(wall - looked, MOST_MS);
    [looked, events, active] = [wall, seen, worked];
    const most = statementsUnderWay() > 0 ? Math.min(pace, ASKED) : pace;
    pass(elapsed * (quiet > QUIET_LOOKS ? most : BUSY));
    next = setTimeout(look, 1);
    next.unref();
  }

  /** Never past the next timer: what it wakes may have something to do first. */
  function pass(ms: number): void {
    const due = Math.min(...[...timers].map(({ at }) => at));
    now = Math.max(now, Math.min(now + ms, due));
    for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
      if (timer.at > now) break;
      if (timers.delete(timer)) timer.wake();
    }
  }

  look();
  return {
    speed: 120,
    // Whole milliseconds, as a machine has them: times are written so, and what is due at a fraction of one would be due again and again.
    now: () => Math.floor(now),
    after(ms, wake) {
      // Of a fraction the next whole one: who asks what it is then would find it not yet due, and wait for the rest of it in steps as small.
      const timer = { at: Math.ceil(Math.floor(now) + Math.max(0, ms)), wake };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    stop: () => clearTimeout(next),
  };
}

/** Other processes, or threads that read and write files, work for this one. */
function isAnythingUnderWay(): boolean {
  return commandsUnderWay() + cellsUnderWay() > 0 || process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq"));
}
