/** Times that go on by the bot's clock, in a fast world faster than the wall's. Each redraws itself alone. */
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { formatDuration, type Time } from "../../../core/base/time.ts";

interface PageClock {
  /** Epoch milliseconds of the bot's clock. */
  now(): number;
}

export const ClockContext = createContext<PageClock>({ now: () => Date.now() });

const TICK_MS = 1000;
const waiting = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

/** Calls it each second, until what is returned is called. One timer serves all, and none is left when nobody waits. */
export function eachSecond(wake: () => void): () => void {
  waiting.add(wake);
  ticking ??= setInterval(() => {
    for (const one of waiting) one();
  }, TICK_MS);
  return () => {
    waiting.delete(wake);
    if (waiting.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

/** Draws whoever calls it again each second. */
export function useNow(): number {
  const clock = useContext(ClockContext);
  const [, again] = useState(0);
  useEffect(() => eachSecond(() => again((n) => n + 1)), []);
  return clock.now();
}

/** `7m`, `1h30m`, `2d`: two units at most, since nobody reads a third. */
export function span(ms: number): string {
  const round = ms < 3_600_000 ? 1000 : ms < 86_400_000 ? 60_000 : 3_600_000;
  return formatDuration(Math.floor(Math.max(0, ms) / round) * round);
}

export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** `14:10 UTC`, with its day where that is another. */
export function clockOf(time: Time, now: number): string {
  const day = time.slice(0, 10);
  return `${day === dayOf(now) ? "" : `${day} `}${time.slice(11, 16)} UTC`;
}

export function Since({ time }: { time: Time }) {
  return (
    <time dateTime={time} title={time}>
      {span(useNow() - Date.parse(time))}
    </time>
  );
}

export function Until({ time }: { time: Time }) {
  const left = Date.parse(time) - useNow();
  return (
    <time dateTime={time} title={time}>
      {left < 1000 ? "any moment now" : `in ${span(left)}`}
    </time>
  );
}

export function Wall() {
  return <>{`${new Date(useNow()).toISOString().slice(0, 19).replace("T", " ")} UTC`}</>;
}
