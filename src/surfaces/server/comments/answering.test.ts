import { expect, test } from "vitest";
import { openAnswering, openAnswerLines } from "./answering.ts";
import { openQuota } from "./quota.ts";
import { openUnclaimed } from "./reading.ts";

const MINUTE_MS = 60_000;

test("answers of repos of one installation are given one at a time, in turn, and those of a repo whose round is under way wait", async () => {
  const place = openAnswering();
  const [a, b, c] = [place(), place(), place()];
  const given: string[] = [];
  let atOnce = 0;
  const say = (what: string) => async () => {
    atOnce += 1;
    expect(atOnce).toBe(1);
    await new Promise(setImmediate);
    given.push(what);
    atOnce -= 1;
  };
  const letGo = c.hold();
  expect(c.isOpen()).toBe(false);
  for (const what of ["1", "2", "3"]) a.later(what, say(`a${what}`));
  b.later("1", say("b1"));
  c.later("1", say("c1"));
  await Promise.all([a.settled(), b.settled()]);
  expect(given).toEqual(["a1", "b1", "a2", "a3"]);
  expect([a.isOpen(), c.isOpen()]).toEqual([false, true]);
  letGo();
  expect(c.isOpen()).toBe(true);
  await c.settled();
  expect(c.isOpen()).toBe(false);
  expect(given.at(-1)).toBe("c1");
});

test("of answers to one place the newest is given; there are never more than so many, and none after the end", async () => {
  const line = openAnswering()();
  const letGo = line.hold();
  const given: number[] = [];
  for (let n = 0; n < 2000; n++) line.later("status", async () => void given.push(n));
  const taken = Array.from({ length: 2000 }, (_, n) => line.later(`react ${n}`, async () => undefined));
  expect(taken.filter(Boolean)).toHaveLength(499);
  letGo();
  await line.settled();
  expect(given).toEqual([1999]);
  await line.close();
  expect(line.later("late", async () => void given.push(-1))).toBe(false);
});

test("somebody who steers is told during a round, too, by two words at most", async () => {
  const line = openAnswering()();
  const given: string[] = [];
  const say = (what: string) => async () => void given.push(what);
  for (const round of ["a", "b"]) {
    const letGo = line.hold();
    line.later(`${round} status`, say(`${round} status`));
    for (const word of ["eyes", "rocket", "more"]) line.later(`${round} ${word}`, say(`${round} ${word}`), true);
    await new Promise(setImmediate);
    expect(given.splice(0)).toEqual([`${round} eyes`, `${round} rocket`]);
    letGo();
    await line.settled();
    expect(given.splice(0)).toEqual([`${round} status`, `${round} more`]);
  }
});

test("an answer that fails holds up none behind it", async () => {
  const line = openAnswering()();
  const given: string[] = [];
  line.later("a", () => Promise.reject(new Error("down")));
  line.later("b", async () => void given.push("b"));
  await line.settled();
  expect(given).toEqual(["b"]);
});

test("ten answers to an account in ten minutes, said once, fifty to all; a process that begins anew comes to the same", () => {
  const asks = Array.from({ length: 200 }, (_, n) => ["mallory", `${n}`, n * 3000] as const);
  const first = openQuota();
  const outcomes = asks.map((ask) => first.take(...ask));
  expect([10, 1, 189]).toEqual(["answer", "limit", "none"].map((kind) => outcomes.filter((one) => one === kind).length));
  const second = openQuota();
  expect(asks.map((ask) => second.take(...ask))).toEqual(outcomes);
  expect(first.take("mallory", "0", 0)).toBe("answer");
  expect(first.take("mallory", "later", 11 * MINUTE_MS)).toBe("answer");
  const crowd = openQuota();
  const given = Array.from({ length: 300 }, (_, n) => crowd.take(`stranger-${n}`, `${n}`, n * 100));
  expect(given.filter((one) => one !== "none")).toHaveLength(50);
});

test("of an installation that was not heard of for long its line is forgotten, of one that was it stays", async () => {
  const lineOf = openAnswerLines(2);
  const given: string[] = [];
  const never = () => new Promise<void>(() => undefined);
  lineOf(1).later("hangs", never);
  lineOf(2).later("hangs", never);
  lineOf(1).later("waits", async () => void given.push("1"));
  lineOf(3);
  lineOf(1).later("waits", async () => void given.push("1"));
  lineOf(2).later("goes", async () => void given.push("2"));
  await new Promise(setImmediate);
  expect(given).toEqual(["2"]);
});

test("of pull requests that steered long ago nothing is kept", () => {
  const unclaimed = openUnclaimed({ now: () => 0, after: () => () => undefined });
  for (let pull = 1; pull <= 5000; pull++) unclaimed.steer(pull, "a");
  expect([unclaimed.othersThan(1, "b"), unclaimed.othersThan(5000, "b")]).toEqual([[], ["a"]]);
  for (let n = 0; n < 5000; n++) unclaimed.steer(7, `rollout-${n}`);
  expect(unclaimed.othersThan(7, "b")).toHaveLength(1000);
});
