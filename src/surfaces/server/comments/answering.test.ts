import { expect, test } from "vitest";
import { openAnswering } from "./answering.ts";
import { openQuota } from "./quota.ts";

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
  for (const what of ["1", "2", "3"]) a.later(what, say(`a${what}`));
  b.later("1", say("b1"));
  c.later("1", say("c1"));
  await Promise.all([a.settled(), b.settled()]);
  expect(given).toEqual(["a1", "b1", "a2", "a3"]);
  letGo();
  await c.settled();
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
