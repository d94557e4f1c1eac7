import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fastClock } from "./clock.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a clock whose pace is changed goes on from where it was, and so do its timers", () => {
  const clock = fastClock(100, 0);
  const woken: string[] = [];
  clock.after(200_000, () => woken.push("later"));
  const off = clock.after(200_000, () => woken.push("never"));
  vi.advanceTimersByTime(1000);
  expect(clock.now()).toBe(100_000);
  clock.pace(1);
  vi.advanceTimersByTime(60_000);
  expect([clock.now(), clock.speed, woken]).toEqual([160_000, 1, []]);
  off();
  clock.pace(100);
  vi.advanceTimersByTime(400);
  expect([clock.now(), woken]).toEqual([200_000, ["later"]]);
});
