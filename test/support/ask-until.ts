import type { Clock } from "../../src/core/base/time.ts";

/** Of the world's clock, which passes by itself while nobody works: however slow the machine, nothing is late by this. */
export const PATIENCE_MS = 3 * 3_600_000;
const LOOK_MS = 3000;

/** Asks until it holds; what was seen last is in the error. */
export async function askUntil<T>(clock: Clock, what: string, look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  const end = clock.now() + PATIENCE_MS;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (clock.now() > end) throw new Error(`${what}: not within ${PATIENCE_MS / 3_600_000} h; last seen ${JSON.stringify(seen)}`);
    await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
  }
}
