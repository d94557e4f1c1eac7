import { expect, test } from "vitest";
import { openRules } from "./branch-rules.ts";

const WRITE = ["creation", "update", "deletion"];
const MINUTE = 60_000;

/** Rules whose reads answer or fail as the test wants. */
function open() {
  const self = { now: 0, asked: 0, rules: WRITE, fails: (_branch: string) => false };
  const rulesOn = async (branch: string) => {
    self.asked++;
    if (self.fails(branch)) throw new Error("502");
    return self.rules;
  };
  const context = { forge: { rulesOn }, clock: { now: () => self.now }, journalBranch: "stagecoach/journal", log: { warn: () => {} } };
  const rules = openRules(context as unknown as Parameters<typeof openRules>[0]);
  return Object.assign(self, { bare: () => rules.bare("payments") });
}

test("a read that fails leaves what was known for a quarter of an hour", async () => {
  const self = open();
  expect(await self.bare()).toEqual([]);
  self.fails = () => true;
  self.now = 14 * MINUTE;
  expect(await self.bare()).toEqual([]);
  self.now = 15 * MINUTE;
  expect(await self.bare()).toBeUndefined();
});

test("after failures nothing is asked for longer each time, half a minute at most, and then again", async () => {
  const self = open();
  self.fails = () => true;
  const times: number[] = [];
  for (self.now = 0; self.now <= 100_000; self.now += 500) {
    const { asked } = self;
    expect(await self.bare()).toBeUndefined();
    if (self.asked > asked) times.push(self.now / 1000);
  }
  expect(times).toEqual([0, 2, 6, 14, 30, 60, 90]);
  self.fails = () => false;
  self.now = 120_000;
  expect(await self.bare()).toEqual([]);
});

test("what is missing on one branch is said though the other cannot be read", async () => {
  const self = open();
  self.rules = [];
  self.fails = (branch) => branch !== "stagecoach/journal";
  expect(await self.bare()).toEqual([{ branch: "stagecoach/journal", lacks: WRITE }]);
});
