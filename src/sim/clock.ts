import type { Clock } from "../core/base/time.ts";

/** A clock that says how many times as fast as the wall's it is, for what is drawn by it. */
export type WorldClock = Clock & { readonly speed: number };

/** A clock for the embedded world that runs `speed` times as fast as the wall's; timers follow it. Starts at the wall's time. */
export function fastClock(speed = 1, start = Date.now()): WorldClock {
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
