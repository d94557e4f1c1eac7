import { expect, test } from "vitest";
import { openWritePacer } from "./write-pacer.ts";

/** Time that passes only where somebody waits for it. */
function world(turnOfAll?: (now: number) => number) {
  let now = 0;
  const pacer = openWritePacer({
    now: () => now,
    turnOfAll: async () => turnOfAll?.(now) ?? 0,
    sleep: async (ms) => {
      // Whoever was let go before writes that down first.
      await new Promise((resolve) => setImmediate(resolve));
      now += ms;
    },
  });
  const sent: [string, number][] = [];
  const write = async (name: string, by?: number) => {
    const inTime = await pacer.turn(by);
    sent.push([inTime ? name : `not ${name}`, now]);
  };
  return { pacer, sent, write, pass: (ms: number) => (now += ms) };
}

test("nobody is held up before it is asked for", async () => {
  const { sent, write } = world();
  await Promise.all([write("a"), write("b"), write("c", 4000)]);
  expect(sent).toEqual([
    ["a", 0],
    ["b", 0],
    ["c", 0],
  ]);
});

test("any two are a second apart, also from what was sent before, and merges go first", async () => {
  const { pacer, sent, write, pass } = world();
  await write("before");
  pass(300);
  pacer.pace();
  const rest = Array.from({ length: 12 }, (_, index) => write(`check ${index}`));
  await Promise.all([...rest, write("merge", 4300), write("another", 4300)]);
  expect(sent.slice(0, 4)).toEqual([
    ["before", 0],
    ["merge", 1000],
    ["another", 2000],
    ["check 0", 3000],
  ]);
  for (const [index, [, at]] of sent.entries()) expect(at).toBe(index * 1000);
  expect(sent).toHaveLength(15);
});

test("what is too late is told so, and takes no place of another", async () => {
  const { pacer, sent, write } = world();
  pacer.pace();
  await write("first");
  await Promise.all([1, 2, 3, 4, 5, 6].map((merge) => write(`merge ${merge}`, 4000)));
  await write("check");
  expect(sent.map(([name, at]) => `${name} at ${at}`)).toEqual([
    "first at 0",
    "merge 1 at 1000",
    "merge 2 at 2000",
    "merge 3 at 3000",
    "merge 4 at 4000",
    "not merge 5 at 5000",
    "not merge 6 at 5000",
    "check at 5000",
  ]);
});

test("whoever waits for other replicas goes at their turn, a turn each; a merge waits for none, and takes one", async () => {
  const turns = [2500, 0, 1800, 0];
  const taken: number[] = [];
  const { pacer, sent, write } = world((now) => {
    taken.push(now);
    return turns.shift() ?? 0;
  });
  pacer.pace();
  const checks = [write("check 1"), write("check 2")];
  await Promise.all([...checks, write("merge", 4000)]);
  expect(sent).toEqual([
    ["merge", 0],
    ["check 1", 2500],
    ["check 2", 4300],
  ]);
  expect(taken).toEqual([0, 0, 2500]);
});

test("a merge that comes while another write waits for its turn is sent at once", async () => {
  const asleep = Promise.withResolvers<void>();
  const pacer = openWritePacer({
    ...{ now: () => 0, turnOfAll: async () => 9000 },
    sleep: () => {
      asleep.resolve();
      return new Promise(() => undefined);
    },
  });
  pacer.pace();
  void pacer.turn();
  await asleep.promise;
  expect(await pacer.turn(4000)).toBe(true);
});
