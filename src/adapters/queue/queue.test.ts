import { afterAll, describe, expect, test } from "vitest";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { inProcessQueue, ROUND_LIMITS } from "./in-process.ts";
import { RoundOverdue } from "./port.ts";
import { closeAll, KINDS } from "./testing/open-queue.ts";

/** What every kind of queue keeps, by the same clock. */
describe.each(KINDS)("the queue, $kind", ({ here, open: openQueue }) => {
  describe.skipIf(!here)("as any", () => {
    afterAll(closeAll);

    describe("the queue of one process", () => {
      test("requests for one run that arrive together become one look", async () => {
        const seen: string[] = [];
        const queue = await openQueue(["o/r"], {
          clock: manualClock(),
          handler: async (repo, rollouts) => void seen.push(`${repo}:${[...rollouts].join()}`),
        });
        for (let i = 0; i < 5; i++) queue.wake({ repository: "o/r", rollout: "a" });
        queue.wake({ repository: "o/r", rollout: "b" });
        await queue.idle();
        expect(seen).toEqual(["o/r:a,b"]);
      });

      test("tells how many repos are due, are looked at, and how long the first of those due has waited; not those asked for later", async () => {
        const clock = manualClock();
        const gate = Promise.withResolvers<void>();
        const queue = await openQueue(["o/a", "o/b", "o/c", "o/later"], { clock, concurrency: 1, handler: () => gate.promise });
        for (const name of ["a", "b", "c"]) queue.wake({ repository: `o/${name}`, rollout: null });
        queue.wake({ repository: "o/later", rollout: null }, 60_000);
        await new Promise(setImmediate);
        clock.advance(4000);
        expect(queue.depth()).toEqual({ due: 2, running: 1, longestMs: 4000 });
        gate.resolve();
        await queue.idle();
        expect(queue.depth()).toEqual({ due: 0, running: 0, longestMs: 0 });
      });

      test("rounds of one repo never overlap, and what arrives during a round is looked at after it", async () => {
        let running = 0;
        let rounds = 0;
        const queue = await openQueue(["o/r"], {
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
        const queue = await openQueue(["o/r"], { clock, handler: async () => void at.push(clock.now()) });
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
        const queue = await openQueue(["o/r"], {
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
        const queue = await openQueue(["o/r"], {
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
        const queue = await openQueue(["o/gone", "o/later"], {
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

    describe("500 repos, of which several hang", () => {
      const HANGING = 12;
      const LATER = HANGING * ROUND_LIMITS.placeMs;
      const names = Array.from({ length: 500 }, (_, index) => `o/${index}`);
      const hangs = (repository: string) => names.indexOf(repository) < HANGING;

      /** Those that hang are first in line, and never end by themselves. */
      async function open() {
        const clock = manualClock();
        const rounds = new Map<string, number>();
        const failed: { repository: string; error: unknown; retryInMs: number }[] = [];
        const long: string[] = [];
        const queue = await openQueue(names, {
          clock,
          handler: (repository) => {
            rounds.set(repository, (rounds.get(repository) ?? 0) + 1);
            return hangs(repository) ? new Promise(() => undefined) : Promise.resolve();
          },
          onError: (error, repository, retryInMs) => failed.push({ repository, error, retryInMs }),
          onLong: (repository) => long.push(repository),
        });
        for (const repository of names) queue.wake({ repository, rollout: null });
        return { clock, rounds, failed, long, pass };

        async function pass(ms: number): Promise<void> {
          for (let passed = 0; passed < ms; passed += 5000) {
            clock.advance(5000);
            for (let turn = 0; turn < 2000; turn++) await Promise.resolve();
          }
        }
      }

      test("no other waits for them longer than until their places are free again", async () => {
        const { rounds, long, pass } = await open();
        await pass(LATER);
        expect(names.filter((name) => !rounds.has(name))).toEqual([]);
        expect(long.sort()).toEqual(names.filter(hangs).sort());
      });

      test("a round that does not end is given up, said, and tried again later, whatever asks for it meanwhile", async () => {
        const { clock, rounds, failed, pass } = await open();
        await pass(LATER + ROUND_LIMITS.roundMs);
        expect(failed.map(({ repository }) => repository).sort()).toEqual(names.filter(hangs).sort());
        expect(failed[0]?.error).toBeInstanceOf(RoundOverdue);
        expect(failed[0]?.retryInMs).toBe(60_000);
        const before = clock.now();
        await pass(60_000);
        expect(clock.now() - before).toBe(60_000);
        expect(names.filter(hangs).map((name) => rounds.get(name))).toEqual(Array(HANGING).fill(2));
      });
    });

    test("each repo has its turn, however often another asks for one", async () => {
      const seen: string[] = [];
      const queue = await openQueue(["o/greedy", "o/a", "o/b", "o/c"], {
        clock: manualClock(),
        concurrency: 1,
        handler: async (repository) => {
          seen.push(repository);
          // The first in line is due again as soon as it was looked at.
          if (seen.length < 20) queue.wake({ repository: "o/greedy", rollout: null });
        },
      });
      for (const repository of ["o/greedy", "o/a", "o/b", "o/c"]) queue.wake({ repository, rollout: null });
      await queue.idle();
      expect(seen.slice(0, 4).sort()).toEqual(["o/a", "o/b", "o/c", "o/greedy"]);
    });

    test("what is asked of a repo whose round was given up waits until it is tried again", async () => {
      const clock = manualClock();
      const limits = { placeMs: 1000, roundMs: 5000, most: 8 };
      let rounds = 0;
      const over: boolean[] = [];
      const queue = await openQueue(["o/r"], {
        clock,
        limits,
        handler: (_repository, _rollouts, signal) => {
          rounds += 1;
          signal.addEventListener("abort", () => over.push(signal.aborted));
          return new Promise(() => undefined);
        },
      });
      queue.wake({ repository: "o/r", rollout: null });
      await Promise.resolve();
      clock.advance(5000);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      expect([rounds, over]).toEqual([1, [true]]);
      queue.wake({ repository: "o/r", rollout: null });
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      expect(rounds).toBe(1);
      clock.advance(60_000);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      expect(rounds).toBe(2);
    });

    describe("a repo whose round was given up", () => {
      const limits = { placeMs: 1000, roundMs: 5000, most: 8 };
      const hangs = () => new Promise<void>(() => undefined);

      /** Its first rounds fail, as in an outage; all others hang. */
      async function open(failing: number) {
        const clock = manualClock();
        const delays: number[] = [];
        let rounds = 0;
        const handler = () => (++rounds > failing ? hangs() : Promise.reject(new Error("the outside is down")));
        const queue = await openQueue(["o/r"], {
          clock,
          limits,
          handler,
          onError: (_error, _repository, retryInMs) => delays.push(retryInMs),
        });
        const wake = (heard: boolean) => pass(0, () => queue.wake({ repository: "o/r", rollout: null, heard }));
        return { delays, rounds: () => rounds, wake, pass, waits: () => queue.waits("o/r") };

        async function pass(ms: number, act?: () => void): Promise<void> {
          act?.();
          clock.advance(ms);
          for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        }
      }

      test("is tried again soon, however often it had failed before it hung", async () => {
        const { delays, wake, pass } = await open(6);
        await wake(false);
        for (let n = 0; n < 7; n++) await pass(60_000);
        expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]);
      });

      test("listens once to what somebody says, also to what was said while its round hung", async () => {
        const { rounds, wake, pass, waits } = await open(0);
        await wake(true);
        expect(waits()).toBe(false);
        await pass(1000);
        // It has left its place.
        expect(waits()).toBe(true);
        await pass(4000);
        expect(waits()).toBe(true);
        await wake(false);
        expect(rounds()).toBe(1);
        await wake(true);
        expect(rounds()).toBe(2);
        await wake(true);
        await pass(5000);
        expect(rounds()).toBe(3);
        await pass(5000);
        await wake(false);
        expect(rounds()).toBe(3);
      });
    });

    test("an owner's repos that hang leave room for those of others", async () => {
      const clock = manualClock();
      const seen = new Set<string>();
      const fine = Array.from({ length: 10 }, (_, n) => `fine/${n}`);
      const owners = [...["eve", "mallory"].flatMap((owner) => Array.from({ length: 40 }, (_, n) => `${owner}/${n}`)), ...fine];
      const queue = await openQueue(owners, {
        clock,
        limits: { placeMs: 1000, roundMs: 600_000, most: 8 },
        handler: async (repository) => {
          seen.add(repository);
          if (!repository.startsWith("fine/")) await new Promise(() => undefined);
        },
      });
      for (const repository of owners) queue.wake({ repository, rollout: null });
      for (let second = 0; second < 10; second++) {
        clock.advance(1000);
        for (let turn = 0; turn < 200; turn++) await Promise.resolve();
      }
      expect([...seen].filter((name) => name.startsWith("fine/"))).toHaveLength(10);
    });
  });
});

test("two thousand repos that are asked of at once are gone through for each that begins, not for each that asks", async () => {
  const MANY = 2000;
  const manual = manualClock();
  let looks = 0;
  const clock = {
    ...manual,
    now() {
      looks += 1;
      return manual.now();
    },
  };
  const seen = new Set<string>();
  const queue = inProcessQueue({ clock, handler: async (repository) => void seen.add(repository) });
  for (let n = 0; n < MANY; n++) queue.wake({ repository: `o/${n}`, rollout: null });
  await queue.idle();
  expect(seen.size).toBe(MANY);
  expect(looks).toBeLessThan(MANY * 10);
});
