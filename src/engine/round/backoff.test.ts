import { expect, test } from "vitest";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { openCircling } from "./backoff.ts";
import { silentLog } from "./context.ts";
import { openRound } from "./round.ts";

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

test("a repository's rounds go by it, for as long as neither its base nor its journal moves", async () => {
  const { clock, circling } = circled();
  const heads = { base: "b1", journal: "j1" };
  const state = { index: new Map(), broken: new Map() };
  const parts = {
    ...{ circling, remote: { hasNews: false, read: async () => heads }, standBy: async () => [] },
    ...{ journals: { read: async () => ({ state, held: {}, again: clock.now() }) }, attention: { publish: async () => Infinity } },
  };
  const round = openRound({ clock, log: silentLog } as never, parts as never);
  const after = async (rounds: number) => {
    for (let n = 1; n < rounds; n++) await round("main");
    return ((await round("main")).wakeAt ?? 0) - clock.now();
  };
  expect([await after(51), await after(2)]).toEqual([0, 2000]);
  heads.journal = "j2";
  expect(await after(51)).toBe(0);
});
