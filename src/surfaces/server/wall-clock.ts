import type { Clock } from "../../core/base/time.ts";

/** The clock of this machine, for everything that runs outside of a test or of the embedded world. */
export function wallClock(): Clock {
  return {
    now: () => Date.now(),
    after(ms, wake) {
      // Longer delays than a timer can hold would ring at once.
      const timer = setTimeout(wake, Math.min(ms, 2 ** 31 - 1));
      return () => clearTimeout(timer);
    },
  };
}
