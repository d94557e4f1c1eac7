import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { badWindow, everOpens, type Window, windowsAt } from "./windows.ts";

const HOUR = 3_600_000;
const office: Window = { schedule: "0 9 * * 1-5", durationMs: 8 * HOUR, timeZone: "Europe/Rome", kind: "allow" };

function at(text: string): number {
  return Date.parse(text);
}

describe("windows", () => {
  test("no windows are always open", () => {
    expect(windowsAt([], at("2026-11-21T00:00:00Z"))).toEqual({ open: true });
  });

  test("an allow window opens at its beginning, to the millisecond, and closes when its duration is over", () => {
    // Monday; Rome is UTC+1 in November.
    expect(windowsAt([office], at("2026-11-23T07:59:59.999Z"))).toMatchObject({
      open: false,
      changesAt: at("2026-11-23T08:00:00Z"),
      by: office,
    });
    expect(windowsAt([office], at("2026-11-23T08:00:00Z"))).toEqual({ open: true, changesAt: at("2026-11-23T16:00:00Z") });
    expect(windowsAt([office], at("2026-11-23T15:59:59.999Z")).open).toBe(true);
    expect(windowsAt([office], at("2026-11-23T16:00:00Z")).open).toBe(false);
  });

  test("over the weekend the next opening is Monday", () => {
    expect(windowsAt([office], at("2026-11-21T12:00:00Z")).changesAt).toBe(at("2026-11-23T08:00:00Z"));
  });

  test("nine in Rome is an hour earlier in UTC once summer time has begun", () => {
    expect(windowsAt([office], at("2026-03-27T20:00:00Z")).changesAt).toBe(at("2026-03-30T07:00:00Z"));
  });

  test("a window that begins in the hour that the clocks skip opens right after it", () => {
    const night: Window = { schedule: "30 2 * * *", durationMs: HOUR, timeZone: "Europe/Rome", kind: "allow" };
    const answer = windowsAt([night], at("2026-03-29T00:00:00Z"));
    expect(answer.open).toBe(false);
    expect(answer.changesAt).toBeGreaterThanOrEqual(at("2026-03-29T01:00:00Z"));
    expect(answer.changesAt).toBeLessThanOrEqual(at("2026-03-29T02:00:00Z"));
  });

  test("a window over the night the clocks change lasts its elapsed duration", () => {
    const night: Window = { schedule: "0 22 * * *", durationMs: 8 * HOUR, timeZone: "Europe/Rome", kind: "allow" };
    // 22:00 summer time is 20:00Z; eight hours later it is 04:00Z, five in the morning by the new clock.
    expect(windowsAt([night], at("2026-10-24T21:00:00Z"))).toEqual({ open: true, changesAt: at("2026-10-25T04:00:00Z") });
  });

  test("a deny window wins over an allow window, and opens again when it ends", () => {
    const freeze: Window = { schedule: "0 12 * * *", durationMs: HOUR, timeZone: "UTC", kind: "deny" };
    const answer = windowsAt([office, freeze], at("2026-11-23T12:30:00Z"));
    expect(answer).toEqual({ open: false, changesAt: at("2026-11-23T13:00:00Z"), by: freeze });
  });

  test("only deny windows: open but for them", () => {
    const freeze: Window = { schedule: "0 0 24 12 *", durationMs: 72 * HOUR, timeZone: "UTC", kind: "deny" };
    expect(windowsAt([freeze], at("2026-11-21T00:00:00Z"))).toEqual({ open: true, changesAt: at("2026-12-24T00:00:00Z") });
    expect(windowsAt([freeze], at("2026-12-25T00:00:00Z")).changesAt).toBe(at("2026-12-27T00:00:00Z"));
  });

  test("beginnings that overlap make one long opening", () => {
    const hourly: Window = { schedule: "0 * * * *", durationMs: 90 * 60_000, timeZone: "UTC", kind: "allow" };
    expect(windowsAt([hourly], at("2026-11-23T12:30:00Z"))).toEqual({ open: true });
  });

  test("windows that never open are known, and looked for in bounded time", () => {
    const never: Window = { schedule: "0 0 30 2 *", durationMs: HOUR, timeZone: "UTC", kind: "allow" };
    const always: Window = { schedule: "* * * * *", durationMs: HOUR, timeZone: "UTC", kind: "deny" };
    expect(everOpens([never], at("2026-11-21T00:00:00Z"))).toBe(false);
    expect(everOpens([always], at("2026-11-21T00:00:00Z"))).toBe(false);
    expect(everOpens([office], at("2026-11-21T00:00:00Z"))).toBe(true);
  });

  test.each([
    [{ schedule: "0 9 * *", timeZone: "UTC" }, "Fields"],
    [{ schedule: "0 0 9 * * 1", timeZone: "UTC" }, "Fields"],
    [{ schedule: "61 9 * * *", timeZone: "UTC" }, "Value"],
    [{ schedule: "0 9 * * 1-5", timeZone: "Europe/Roma" }, "Zone"],
  ])("%o is refused: %s", (window, field) => {
    expect(badWindow(window)?.fault).toBe(field);
  });

  test("a usable window is not refused", () => {
    expect(badWindow(office)).toBeUndefined();
  });

  test("what changes at an edge was otherwise the millisecond before, whatever the windows", () => {
    const window = fc.record({
      schedule: fc.constantFrom("0 9 * * 1-5", "*/20 * * * *", "0 0 1 * *", "30 2 * * 0", "15 3 28-31 3,10 *"),
      durationMs: fc.integer({ min: 60_000, max: 40 * HOUR }),
      timeZone: fc.constantFrom("UTC", "Europe/Rome", "America/New_York", "Australia/Lord_Howe"),
      kind: fc.constantFrom("allow" as const, "deny" as const),
    });
    fc.assert(
      fc.property(
        fc.array(window, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: at("2026-01-01"), max: at("2027-01-01") }),
        (windows, now) => {
          const { open, changesAt } = windowsAt(windows, now);
          if (changesAt === undefined) return;
          expect(windowsAt(windows, changesAt - 1).open).toBe(open);
          expect(windowsAt(windows, changesAt).open).toBe(!open);
        },
      ),
      { numRuns: 100 },
    );
  });
});
