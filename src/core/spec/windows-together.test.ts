import { describe, expect, test } from "vitest";
import { idleMs } from "../../../test/support/cpu-time.ts";
import { checkTogether } from "./rules/pace.ts";
import type { Window } from "./windows.ts";
import { type PlacedFreeze, windowSets as setsOf } from "./windows-binding.ts";
import { closedBetween, neverTogether, nextOpenAt, nextOpening, project } from "./windows-together.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const at = (text: string) => Date.parse(text);
const OFFICE: Window = { schedule: "0 9 * * 1-5", durationMs: 8 * HOUR, timeZone: "Europe/Rome", kind: "allow" };
const freeze = (schedule: string, hours: number, timeZone = "UTC") => ({
  schedule,
  durationMs: hours * HOUR,
  timeZone,
  kind: "deny" as const,
  where: { kind: "File" as const, file: ".github/stagecoach.yaml" },
});

function windowSets(windows: Window[], freezes: PlacedFreeze[]) {
  return setsOf({ rollout: { name: "payments", windows, stages: [] }, stage: 0, clusters: [] }, freezes);
}

function done(sets: ReturnType<typeof windowSets>, from: string, pieces: number, eachMs: number): [string, number] {
  const { doneAt, waitedMs } = project(sets, at(from), pieces, eachMs);
  return [new Date(doneAt).toISOString(), waitedMs / HOUR];
}

describe("work that begins only while windows are open", () => {
  const office = windowSets([OFFICE], []);

  test("takes what it takes where nothing is closed", () => {
    expect(done(windowSets([], []), "2026-11-23T10:00:00Z", 3, 10 * MINUTE)).toEqual(["2026-11-23T10:30:00.000Z", 0]);
    expect(done(office, "2026-11-23T10:00:00Z", 3, 10 * MINUTE)).toEqual(["2026-11-23T10:30:00.000Z", 0]);
  });

  test("waits over the night and the weekend, for each piece that does not fit; what has begun goes on past the closing", () => {
    // Friday: 15:30 and 16:15 in Rome's winter are 14:30 and 15:15 UTC; the window ends at 16:00 UTC.
    expect(done(office, "2026-11-20T14:30:00Z", 2, 45 * MINUTE)).toEqual(["2026-11-20T16:00:00.000Z", 0]);
    expect(done(office, "2026-11-20T14:30:00Z", 3, 45 * MINUTE)).toEqual(["2026-11-23T08:45:00.000Z", 64]);
    expect(done(office, "2026-11-20T15:30:00Z", 2, 45 * MINUTE)[0]).toBe("2026-11-23T08:45:00.000Z");
  });

  test("the night the clocks change the wait is an hour longer, or shorter", () => {
    const wait = (friday: string) => done(office, friday, 1, 0)[1];
    // Friday 17:00 to Monday 09:00 in Rome is 64 hours on the wall.
    expect(wait("2026-03-20T16:00:00Z")).toBe(64);
    expect(wait("2026-03-27T16:00:00Z")).toBe(63);
    expect(wait("2026-10-23T15:00:00Z")).toBe(65);
    const newYork = windowSets([{ ...OFFICE, timeZone: "America/New_York" }], []);
    expect(done(newYork, "2026-03-06T22:00:00Z", 1, 0)[1]).toBe(63);
    expect(done(newYork, "2026-10-30T21:00:00Z", 1, 0)[1]).toBe(65);
  });

  test("a freeze is waited for as well, and both must be open at once", () => {
    const sets = windowSets([OFFICE], [freeze("0 0 23 11 *", 24 + 10, "Europe/Rome")]);
    // Frozen from Monday 00:00 to Tuesday 10:00 in Rome: the window of Tuesday is open an hour by then.
    expect(done(sets, "2026-11-21T12:00:00Z", 1, 5 * MINUTE)).toEqual(["2026-11-24T09:05:00.000Z", 69]);
    expect(nextOpening(sets, at("2026-11-24T08:30:00Z"))).toEqual({ at: at("2026-11-24T09:00:00Z"), until: at("2026-11-24T16:00:00Z") });
  });

  test("windows that never open are told, not waited for", () => {
    const sets = windowSets([OFFICE], [freeze("0 0 * * *", 24)]);
    expect(project(sets, at("2026-11-21T12:00:00Z"), 2, HOUR)).toEqual({
      doneAt: at("2026-11-21T14:00:00Z"),
      waitedMs: 0,
      opens: false,
    });
    expect(nextOpening(sets, at("2026-11-21T12:00:00Z"))).toBeUndefined();
  });

  // The first half of each hour, and a freeze over it in every month but December: some fourteen thousand changes before they meet.
  const halves: Window = { schedule: "0 * * * *", durationMs: 30 * MINUTE, timeZone: "UTC", kind: "allow" };
  const often = windowSets([halves], [{ ...freeze("0 * * 1-11 *", 0), durationMs: 30 * MINUTE }]);

  test("windows that change too often to be looked through are not said never to meet", () => {
    const from = at("2026-01-01T00:10:00Z");
    const found = nextOpening(often, from);
    expect(found).toEqual({ lookedUntil: expect.any(Number) });
    expect(nextOpenAt(often, from)).toEqual(found);
    expect(neverTogether(often, from)).toBeUndefined();
    expect(
      checkTogether(
        { name: "payments", windows: [halves], stages: [{ name: "all" }] },
        [{ ...freeze("0 * * 1-11 *", 0), durationMs: 30 * MINUTE }],
        "c.yaml",
      ),
    ).toEqual([]);
    // They do meet, and near enough that is found.
    expect(nextOpening(often, at("2026-11-29T00:10:00Z"))).toMatchObject({ at: at("2026-12-01T00:00:00Z") });
    expect(project(often, from, 1, HOUR)).toMatchObject({ opens: false });
  });

  test("ten thousand pieces are projected at once", () => {
    const ms = idleMs(() => {
      const { opens, doneAt } = project(office, at("2026-11-23T08:00:00Z"), 10_000, MINUTE);
      // 480 a day: twenty days and 400 minutes more, which are four weeks of five.
      expect([opens, new Date(doneAt).toISOString()]).toEqual([true, "2026-12-21T14:40:00.000Z"]);
    });
    expect(ms).toBeLessThan(2000);
  });
});

describe("how long windows were closed", () => {
  test("is what of a time lies outside of them", () => {
    const office = windowSets([OFFICE], []);
    expect(closedBetween(office, at("2026-11-20T15:00:00Z"), at("2026-11-23T09:00:00Z")) / HOUR).toBe(64);
    expect(closedBetween(office, at("2026-11-23T09:00:00Z"), at("2026-11-23T10:00:00Z"))).toBe(0);
    expect(closedBetween(office, at("2026-11-21T09:00:00Z"), at("2026-11-21T10:00:00Z"))).toBe(HOUR);
    expect(closedBetween(windowSets([], [freeze("0 0 * * *", 24)]), at("2026-11-21T09:00:00Z"), at("2026-11-21T10:00:00Z"))).toBe(HOUR);
    expect(closedBetween(windowSets([], []), at("2026-11-21T09:00:00Z"), at("2027-11-21T10:00:00Z"))).toBe(0);
  });
});
