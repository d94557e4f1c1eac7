import { describe, expect, test } from "vitest";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { checkedClock } from "./checked-clock.ts";

const START = Date.parse("2026-11-21T09:00:00.000Z");
const QUARTER = 15 * 60_000;

/** A machine whose monotonic clock, own clock and GitHub can each go wrong. */
function machine({ wallAhead = 0 } = {}) {
  const steady = manualClock(START + wallAhead);
  const apart = { wall: 0, github: -wallAhead };
  const said: string[] = [];
  const log = { warn: (fields: object, message: string) => void said.push(`${JSON.stringify(fields)} ${message}`) };
  const clock = checkedClock(steady, { wall: () => steady.now() + apart.wall, log });
  const answered = (tookMs = 200) => {
    const hear = clock.asking();
    steady.advance(tookMs);
    hear(new Date(steady.now() + apart.github).toUTCString());
  };
  return { clock, steady, apart, said, answered, time: () => new Date(clock.now()).toISOString().slice(11, 19) };
}

describe("the clock that waits are measured by", () => {
  test("where the machine's is set ahead nothing happens to it", () => {
    const { clock, apart, answered, time, said } = machine();
    answered();
    apart.wall = QUARTER;
    answered();
    answered();
    expect([time(), clock.ahead(), said]).toEqual(["09:00:00", undefined, []]);
  });

  test("a process that begins on a machine whose clock was set ahead takes GitHub's time before anything is decided", () => {
    const { clock, answered, time, said } = machine({ wallAhead: QUARTER });
    expect(time()).toBe("09:15:00");
    answered();
    expect([time() <= "09:00:01", clock.ahead(), said.length]).toEqual([true, undefined, 1]);
  });

  test("a GitHub whose time alone runs ahead ends no wait: it is said, and holds what would merge until they agree", () => {
    const { clock, apart, answered, time, said } = machine();
    answered();
    apart.github = QUARTER;
    for (let n = 0; n < 5; n++) answered();
    expect([time(), Math.round((clock.ahead() ?? 0) / 60_000), said.length]).toEqual(["09:00:01", -15, 1]);
    apart.github = 0;
    answered();
    expect(clock.ahead()).toBeUndefined();
  });

  test("after a suspended machine two answers are enough to follow GitHub, and one is not", () => {
    const { clock, apart, answered, time } = machine();
    answered();
    [apart.github, apart.wall] = [QUARTER, QUARTER];
    answered();
    expect([time(), clock.ahead() === undefined]).toEqual(["09:00:00", false]);
    answered();
    expect([time() >= "09:14:58", clock.ahead()]).toEqual([true, undefined]);
  });

  test("on a machine whose clock was wrong from the start and that is suspended, they agree again", () => {
    const { clock, apart, answered, time } = machine({ wallAhead: QUARTER });
    answered();
    for (let times = 1; times <= 2; times++) {
      apart.github += QUARTER;
      apart.wall += QUARTER;
      answered();
      expect(clock.ahead()).toBeDefined();
      answered();
      expect(clock.ahead()).toBeUndefined();
    }
    expect(time() >= "09:29:58" && time() <= "09:30:02").toBe(true);
  });

  test("where such a machine's clock is set meanwhile, GitHub alone is not followed", () => {
    const { clock, apart, answered } = machine({ wallAhead: QUARTER });
    answered();
    apart.wall = 2 * QUARTER;
    answered();
    apart.github += QUARTER;
    for (let n = 0; n < 3; n++) answered();
    expect(clock.ahead()).toBeDefined();
  });

  test("what takes long, or has no date, tells nothing", () => {
    const { clock, steady, answered, said } = machine();
    answered(60_000);
    const hear = clock.asking();
    steady.advance(60_000);
    hear(new Date(steady.now() - 60_000).toUTCString());
    clock.asking()(null);
    clock.asking()("yesterday");
    expect([clock.ahead(), said]).toEqual([undefined, []]);
  });

  test("an answer that was asked for before the clock was set is not held against the new time", () => {
    const { clock, steady, answered } = machine({ wallAhead: QUARTER });
    const hear = clock.asking();
    answered();
    steady.advance(100);
    hear(new Date(steady.now() - QUARTER).toUTCString());
    expect(clock.ahead()).toBeUndefined();
  });
});
