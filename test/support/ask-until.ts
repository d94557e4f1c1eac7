import type { Clock } from "../../src/core/base/time.ts";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import type { Run } from "../../src/core/run/state/run.ts";

/** Of the world's clock, which passes by itself while nobody works: however slow the machine, nothing is late by this. */
export const PATIENCE_MS = 3 * 3_600_000;
const LOOK_MS = 3000;

/** Asks until it holds; what was seen last is in the error. Less patience suits what costs much at each round as long as it does not hold. */
export async function askUntil<T>(
  clock: Clock,
  what: string,
  look: () => Promise<T>,
  holds: (seen: T) => boolean,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const end = clock.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (clock.now() > end) throw new Error(`${what}: not within ${patienceMs / 60_000} min; last seen ${JSON.stringify(seen)}`);
    await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
  }
}

interface Watched {
  clock: Clock;
  listeners: Set<() => void>;
  current: () => Run | undefined;
}

/** Waits, by the world's clock, until this holds of the run; what it was like if it never does. */
export function untilRun({ clock, listeners, current }: Watched, what: string, holds: (run: Run) => boolean): Promise<Run> {
  return new Promise((resolve, reject) => {
    const calm = clock.after(PATIENCE_MS, () => {
      listeners.delete(look);
      const run = current();
      const state =
        run === undefined
          ? "not there"
          : `#${run.number} ${run.phase}: ${sentenceOf(run.why, run)} (${run.batches.map((batch) => `${batch.phase}: ${sentenceOf(batch.why, run)}`).join("; ")})`;
      reject(new Error(`${what}: not within ${PATIENCE_MS / 3_600_000} h; the run is ${state}`));
    });
    listeners.add(look);
    look();
    function look(): void {
      const run = current();
      if (run === undefined || !holds(run)) return;
      calm();
      listeners.delete(look);
      resolve(run);
    }
  });
}
