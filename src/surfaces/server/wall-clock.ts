import type { Clock } from "../../core/base/time.ts";

/** The clock of this machine, for everything that runs outside of a test or of the embedded world. It begins at the machine's time, and only goes on. */
export function wallClock(): Clock {
  const start = Date.now() - performance.now();
  return {
    now: () => Math.floor(start + performance.now()),
    after(ms, wake) {
      // Longer delays than a timer can hold would ring at once.
      const timer = setTimeout(wake, Math.min(ms, 2 ** 31 - 1));
      return () => clearTimeout(timer);
    },
  };
}
