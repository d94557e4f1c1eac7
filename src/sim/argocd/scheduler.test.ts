import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Scheduler } from "./scheduler.ts";
import { manualClock } from "./testing/world.ts";

describe("the scheduler of the embedded Argo CD", () => {
  it("runs tasks by time, and those of one time in the order they came, with one timer of the clock", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ at: fc.nat(50), off: fc.boolean() }), { maxLength: 200 }), (tasks) => {
        const clock = manualClock(0);
        const scheduler = new Scheduler(clock);
        const ran: number[] = [];
        const stops = tasks.map(({ at }, index) => scheduler.after(at, () => ran.push(index)));
        for (const [index, { off }] of tasks.entries()) if (off) stops[index]?.();
        clock.advance(100);
        const expected = [...tasks.entries()].filter(([, { off }]) => !off).sort(([a, x], [b, y]) => x.at - y.at || a - b);
        expect(ran).toEqual(expected.map(([index]) => index));
      }),
    );
  });

  it("is idle when no work is under way; waiting for the clock is none", async () => {
    const clock = manualClock(0);
    const scheduler = new Scheduler(clock);
    const done: string[] = [];
    scheduler.track(
      (async () => {
        await Promise.resolve();
        done.push("before");
        await scheduler.sleep(1000);
        done.push("after");
      })(),
    );
    await scheduler.idle();
    expect(done).toEqual(["before"]);
    clock.advance(1000);
    await scheduler.idle();
    expect(done).toEqual(["before", "after"]);
  });

  it("runs nothing once it is closed", () => {
    const clock = manualClock(0);
    const scheduler = new Scheduler(clock);
    scheduler.after(10, () => expect.unreachable());
    scheduler.close();
    scheduler.after(10, () => expect.unreachable());
    clock.advance(100);
    expect(scheduler.next()).toBeUndefined();
  });
});
