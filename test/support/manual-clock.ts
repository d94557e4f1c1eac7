import type { Clock } from "../../src/core/base/time.ts";

/** Time that moves only when told to. */
export function manualClock(start = 0): Clock & { advance(ms: number): void; waiting(): number } {
  let now = start;
  const timers = new Map<object, { at: number; wake: () => void }>();
  return {
    now: () => now,
    after(ms, wake) {
      const key = {};
      timers.set(key, { at: now + ms, wake });
      return () => timers.delete(key);
    },
    advance(ms) {
      now += ms;
      for (const [key, timer] of [...timers]) {
        if (timer.at > now) continue;
        timers.delete(key);
        timer.wake();
      }
    },
    waiting: () => timers.size,
  };
}
