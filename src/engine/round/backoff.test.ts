import { expect, test } from "vitest";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { openCircling } from "./backoff.ts";
import { silentLog } from "./context.ts";

function circled() {
  const clock = manualClock(1_000_000);
  const errors: unknown[] = [];
  const circling = openCircling({ clock, log: { ...silentLog, error: (fields: object) => void errors.push(fields) } });
  /** After so many rounds, each with the next at once: how long until the next. */
  const after = (rounds: number, found = "a"): number => {
    let wakeAt: number | undefined = 0;
    for (let n = 0; n < rounds; n++) wakeAt = circling(found, clock.now());
    return (wakeAt ?? 0) - clock.now();
  };
  return { clock, errors, circling, after };
}

test("rounds in a row that move nothing and want the next at once are slowed, longer each time, and said once", () => {
  const { errors, after } = circled();
  expect([after(51), errors]).toEqual([0, []]);
  expect([after(1), after(1), after(1), after(20)]).toEqual([1000, 2000, 4000, 300_000]);
  expect(errors).toEqual([{ rounds: 51, found: "a" }]);
});

test("rounds of which one found something else, or waits, are not", () => {
  const { clock, errors, circling, after } = circled();
  after(49);
  expect(circling("a", clock.now() + 5000)).toBe(clock.now() + 5000);
  after(49);
  expect(circling("a", undefined)).toBeUndefined();
  expect([after(49), after(49, "b"), errors]).toEqual([0, 0, []]);
});
