import type { Clock } from "../core/base/time.ts";

/** A clock that says how many times as fast as the wall's it is, for what is drawn by it. `pace` changes that, where it can be changed. */
export type WorldClock = Clock & { readonly speed: number; pace?(speed: number): void };

interface Timer {
  at: number;
  wake: () => void;
  handle?: NodeJS.Timeout;
}

/** A clock for the embedded world that runs `speed` times as fast as the wall's; timers follow it. Starts at the wall's time. */
export function fastClock(speed = 1, start = Date.now()): WorldClock & Required<Pick<WorldClock, "pace">> {
  let rate = speed;
  let [base, origin] = [start, performance.now()];
  const timers = new Set<Timer>();
  const now = () => base + (performance.now() - origin) * rate;

  function arm(timer: Timer): void {
    const wake = () => {
      timers.delete(timer);
      timer.wake();
    };
    timer.handle = setTimeout(wake, Math.max(0, Math.min((timer.at - now()) / rate, 2 ** 31 - 1)));
  }

  return {
    get speed() {
      return rate;
    },
    now,
    after(ms, wake) {
      const timer: Timer = { at: now() + ms, wake };
      timers.add(timer);
      arm(timer);
      return () => {
        clearTimeout(timer.handle);
        timers.delete(timer);
      };
    },
    pace(wanted) {
      if (wanted === rate) return;
      [base, origin] = [now(), performance.now()];
      rate = wanted;
      for (const timer of timers) {
        clearTimeout(timer.handle);
        arm(timer);
      }
    },
  };
}
