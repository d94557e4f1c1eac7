import { describe, expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import type { Pull } from "../../../adapters/forge/port.ts";
import { type RepoContext, silentLog } from "../context.ts";
import { openFormerPlaces, pullsToRead } from "./former-places.ts";

const REPOSITORY = "acme/fleet";

function desk(branches: Record<number, string>) {
  let now = 0;
  let asked = 0;
  let down = false;
  const told: number[] = [];
  const forge = {
    async pull(number: number): Promise<Pull | null> {
      asked += 1;
      if (down) throw new Error("down");
      const branch = branches[number];
      return branch === undefined ? null : ({ number, branch, headRepository: REPOSITORY } as Pull);
    },
  };
  const commands = { spokenOn: () => told.splice(0) };
  const context = { forge, commands, repository: REPOSITORY, clock: { now: () => now }, log: silentLog } as unknown as RepoContext;
  const formerPlaces = openFormerPlaces(context);
  const runs = new Map([["payments", sampleRun()]]);
  return {
    hear: (...pulls: number[]) => void told.push(...pulls),
    look: async () => (await formerPlaces(runs)).get("payments"),
    asked: () => asked,
    fail: (is: boolean) => {
      down = is;
    },
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe("where people write besides the runs in progress", () => {
  test("a former attempt's PR is its batch's, one of an older run is told so, and a PR of no run is nobody's", async () => {
    const { hear, look, asked } = desk({ 5: "stagecoach-run/payments/42/2-1-1", 6: "stagecoach-run/payments/41/1-1-1", 7: "feature" });
    expect(await look()).toBeUndefined();
    hear(5, 6, 7, 8);
    const batch = sampleRun().batches.find((one) => one.stage === 1)?.number;
    const places = [
      { number: 5, shared: false, batch },
      { number: 6, shared: false, former: 41 },
    ];
    expect(await look()).toEqual(places);
    hear(5, 7);
    expect(await look()).toEqual(places.toReversed());
    expect(asked()).toBe(4);
  });

  test("it is read for a quarter of an hour after the last word of it, and asked about again where GitHub did not answer", async () => {
    const { hear, look, pass, fail, asked } = desk({ 5: "stagecoach-run/payments/42/2-1-1" });
    fail(true);
    hear(5);
    expect(await look()).toBeUndefined();
    fail(false);
    expect(await look()).toHaveLength(1);
    pass(14 * 60_000);
    expect(await look()).toHaveLength(1);
    pass(60_000);
    expect(await look()).toBeUndefined();
    expect(asked()).toBe(2);
  });

  test("of a run in progress every PR is read, a closed one's, too; of one that is over the release PR and what was told of", () => {
    const run = sampleRun();
    const closed = { ...run, batches: run.batches.map((one) => ({ ...one, phase: "Closed" as const })) };
    const numbers = run.batches.flatMap((one) => (one.pull === undefined ? [] : [one.pull.number]));
    expect(pullsToRead(closed, []).map(({ number }) => number)).toEqual([10, ...numbers]);
    const [first = 0] = numbers;
    const former = [{ number: first, shared: false, batch: 1 }];
    expect(pullsToRead({ ...run, phase: "Succeeded" }, [], former)).toEqual([{ number: 10, shared: false }, ...former]);
    expect(pullsToRead(run, [], former)).toHaveLength(1 + numbers.length);
  });
});
