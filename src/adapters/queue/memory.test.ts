import { describe, expect, test } from "vitest";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { memoryQueue } from "./memory.ts";

describe("the queue of one process", () => {
  test("requests for one run that arrive together become one look", async () => {
    const seen: string[] = [];
    const queue = memoryQueue({
      clock: manualClock(),
      handler: async (repo, rollouts) => void seen.push(`${repo}:${[...rollouts].join()}`),
    });
    for (let i = 0; i < 5; i++) queue.wake({ repository: "o/r", rollout: "a" });
    queue.wake({ repository: "o/r", rollout: "b" });
    await queue.idle();
    expect(seen).toEqual(["o/r:a,b"]);
  });

  test("rounds of one repo never overlap, and what arrives during a round is looked at after it", async () => {
    let running = 0;
    let rounds = 0;
    const queue = memoryQueue({
      clock: manualClock(),
      handler: async () => {
        running += 1;
        expect(running).toBe(1);
        rounds += 1;
        if (rounds === 1) queue.wake({ repository: "o/r", rollout: "a" });
        await Promise.resolve();
        running -= 1;
      },
    });
    queue.wake({ repository: "o/r", rollout: "a" });
    await queue.idle();
    expect(rounds).toBe(2);
  });

  test("a request for later waits for its time, and the earlier of two wins", async () => {
    const clock = manualClock();
    const at: number[] = [];
    const queue = memoryQueue({ clock, handler: async () => void at.push(clock.now()) });
    queue.wake({ repository: "o/r", rollout: "a" }, 5000);
    queue.wake({ repository: "o/r", rollout: "a" }, 2000);
    await queue.idle();
    expect(at).toEqual([]);
    clock.advance(2000);
    await queue.idle();
    clock.advance(5000);
    await queue.idle();
    expect(at).toEqual([2000]);
  });

  test("a look that throws is tried again with growing delays", async () => {
    const clock = manualClock();
    const delays: number[] = [];
    let rounds = 0;
    const queue = memoryQueue({
      clock,
      handler: async () => {
        rounds += 1;
        if (rounds < 3) throw new Error("the outside is down");
      },
      onError: (_error, _repository, delay) => delays.push(delay),
    });
    queue.wake({ repository: "o/r", rollout: "a" });
    await queue.idle();
    clock.advance(1000);
    await queue.idle();
    clock.advance(2000);
    await queue.idle();
    expect([rounds, delays]).toEqual([3, [1000, 2000]]);
  });

  test("closing waits for the work under way and takes nothing new", async () => {
    let finish = (): void => undefined;
    let rounds = 0;
    const queue = memoryQueue({
      clock: manualClock(),
      handler: () => {
        rounds += 1;
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    });
    queue.wake({ repository: "o/r", rollout: null });
    await Promise.resolve();
    const closing = queue.close();
    queue.wake({ repository: "o/r", rollout: "late" });
    finish();
    await closing;
    expect(rounds).toBe(1);
  });

  test("a forgotten repo is not looked at again, not even when its last look fails, until somebody asks anew", async () => {
    const clock = manualClock();
    const seen: string[] = [];
    let fail = (): void => undefined;
    const queue = memoryQueue({
      clock,
      handler: (repository) => {
        seen.push(repository);
        return seen.length === 1
          ? new Promise((_, reject) => {
              fail = () => reject(new Error("it is gone"));
            })
          : Promise.resolve();
      },
    });
    queue.wake({ repository: "o/gone", rollout: null });
    queue.wake({ repository: "o/later", rollout: null }, 5000);
    await Promise.resolve();
    queue.forget("o/gone");
    queue.forget("o/later");
    fail();
    await queue.idle();
    clock.advance(120_000);
    await queue.idle();
    expect(seen).toEqual(["o/gone"]);
    queue.wake({ repository: "o/gone", rollout: null });
    await queue.idle();
    expect(seen).toEqual(["o/gone", "o/gone"]);
  });
});
