import type { Clock } from "../core/base/time.ts";

/** A clock for the embedded world that runs `speed` times as fast as the wall's; timers follow it. Starts at the wall's time. */
export function fastClock(speed = 1, start = Date.now()): Clock & { readonly speed: number } {
  const origin = performance.now();
  return {
    speed,
    now: () => start + (performance.now() - origin) * speed,
    after(ms, wake) {
      const timer = setTimeout(wake, Math.max(0, Math.min(ms / speed, 2 ** 31 - 1)));
      return () => clearTimeout(timer);
    },
  };
}
