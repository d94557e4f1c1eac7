import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sampleRepo } from "../testing/sample-repo.ts";
import { run } from "./simulate.ts";
import type { SimulateJson } from "./simulate-show.ts";

const ROLLOUT = "rollouts/my-app.yaml";

const here = sampleRepo();

/** Exit code and what was written. */
async function simulated(...args: string[]): Promise<{ code: number; text: string }> {
  here.clear();
  const code = await run(["my-app", "--repo", here.dir, "--inventory", join(here.dir, "inventory.yaml"), "--to", "v1.5.0", ...args]);
  return { code, text: here.out };
}

async function json(...args: string[]): Promise<SimulateJson & { code: number }> {
  const { code, text } = await simulated("-o", "json", ...args);
  return { code, ...(JSON.parse(text) as SimulateJson) };
}

describe("the text", () => {
  test("of a run that succeeds: who merges when, how long it takes, and that every invariant held", async () => {
    const { code, text } = await simulated("--runs", "5");
    expect(code).toBe(0);
    expect(text).toMatchSnapshot();
  });

  test("of a run that a bad release stops: where, and how many clusters had it", async () => {
    const { code, text } = await simulated("--fail", "eu-central-1-b=degraded", "--runs", "5");
    expect(code).toBe(1);
    expect(text).toMatchSnapshot();
  });

  test("of a run that is rolled back, in markdown", async () => {
    here.edit(ROLLOUT, "  mode: Run\n", "  mode: Run\n  onFailure: { action: Rollback }\n");
    const { code, text } = await simulated("--fail", "eu-west-1-d=stuck", "--runs", "2", "-o", "markdown");
    expect(code).toBe(1);
    expect(text).toMatchSnapshot();
  });

  test("is never wider than its columns", async () => {
    const { text } = await simulated("--fail", "us-east-1-d=flap", "--runs", "2");
    expect(Math.max(...text.split("\n").map((line) => [...line].length))).toBeLessThanOrEqual(100);
  });
});

describe("the JSON", () => {
  test("has the documented fields and no others, and the same seed gives the same bytes", async () => {
    const { text } = await simulated("-o", "json", "--runs", "4", "--seed", "7", "--fail", "any=degraded");
    expect(Object.keys(JSON.parse(text) as object)).toEqual(["seed", "runs", "phase", "timeline", "blastRadius", "duration", "violations"]);
    expect((await simulated("-o", "json", "--runs", "4", "--seed", "7", "--fail", "any=degraded")).text).toBe(text);
    expect((await simulated("-o", "json", "--runs", "4", "--seed", "8", "--fail", "any=degraded")).text).not.toBe(text);
  });

  test("tells each batch opened, merged, healthy and settled in that order, of all 12 clusters", async () => {
    const { code, phase, timeline, violations, blastRadius, duration } = await json("--runs", "3");
    expect([code, phase, violations, blastRadius]).toEqual([0, "Succeeded", [], { p50: 0, p90: 0, max: 0 }]);
    expect(duration.p90).toBeGreaterThanOrEqual(duration.p50);
    expect(duration.p50).toBeGreaterThan(20 * 60);
    const merged = timeline.filter((one) => one.what === "merged");
    expect(merged.flatMap((one) => one.clusters ?? []).sort()).toHaveLength(12);
    for (const { batch } of merged) {
      const own = timeline.filter((one) => one.batch === batch && one.what !== "waits").map((one) => one.what);
      expect(own).toEqual(["opened", "merged", "healthy", "settled"]);
    }
    expect(timeline.map((one) => one.at)).toEqual(timeline.map((one) => one.at).toSorted());
  });
});

describe("faults", () => {
  test("degraded, unreachable and stuck stop the run at their batch; the clusters before it and of it had the release", async () => {
    for (const fault of ["degraded", "unreachable", "stuck"]) {
      const { code, phase, blastRadius, timeline } = await json("--fail", `eu-west-1-b=${fault}`, "--runs", "2");
      expect([fault, code, phase, blastRadius.max]).toEqual([fault, 1, "Paused", 3]);
      expect(timeline.find((one) => one.what === "failed")?.clusters).toEqual(["eu-west-1-b"]);
    }
  });

  test("a flapping cluster is caught by its bake, and passes without one", async () => {
    expect((await json("--fail", "us-east-1-a=flap", "--runs", "2")).phase).toBe("Paused");
    here.edit(ROLLOUT, /bake: \S+/g, "bake: 0s");
    expect((await json("--fail", "us-east-1-a=flap", "--runs", "2")).phase).toBe("Succeeded");
  });

  test("one that begins with a later batch is noticed then, though its cluster was well before", async () => {
    const { phase, timeline } = await json("--fail", "eu-west-1-a=degraded@3", "--runs", "1");
    expect(phase).toBe("Paused");
    expect(timeline.find((one) => one.what === "failed")).toMatchObject({ batch: 1, clusters: ["eu-west-1-a"] });
    expect(timeline.filter((one) => one.what === "merged").map((one) => one.batch)).toEqual([1, 2, 3]);
  });

  test("a rollback moves back what had moved, and the blast radius is of when it stopped", async () => {
    here.edit(ROLLOUT, "  mode: Run\n", "  mode: Run\n  onFailure: { action: Rollback }\n");
    const { code, phase, blastRadius, timeline } = await json("--fail", "eu-west-1-d=degraded", "--runs", "2");
    expect([code, phase, blastRadius.max]).toEqual([1, "RolledBack", 4]);
    const back = timeline.slice(timeline.findIndex((one) => one.what === "rollback"));
    expect(back.filter((one) => one.what === "merged").flatMap((one) => one.clusters ?? [])).toHaveLength(4);
  });

  test("a budget tolerates one: the run goes on, and nothing stopped it", async () => {
    here.edit(ROLLOUT, "  mode: Run\n", "  mode: Run\n  onFailure: { maxFailures: 1 }\n");
    const { phase, blastRadius, timeline } = await json("--fail", "eu-west-1-d=degraded", "--runs", "1");
    expect([phase, blastRadius.max]).toEqual(["Succeeded", 0]);
    expect(timeline.some((one) => one.what === "failed")).toBe(true);
  });

  test("a cluster that is put off comes back, and does not where it cannot be reached", async () => {
    expect((await json("--runs", "2")).phase).toBe("Succeeded");
    const { phase, timeline } = await json("--runs", "1", "--fail", "eu-west-1-c=unreachable");
    expect(phase).toBe("Paused");
    expect(timeline.at(-1)?.why).toContain("eu-west-1-c");
  });

  test.each([
    ["eu-wst-1-a=degraded", /no cluster "eu-wst-1-a" \(did you mean eu-west-1-a\?\)/],
    ["eu-west-1-a=degrade", /no fault \(did you mean degraded\?\); there are degraded, stuck, unreachable, flap/],
    ["eu-west-1-a=stuck@10", /the plan has 9 batches, there is no batch 10/],
    ["eu-west-1-a=stuck@0", /from 1/],
    ["eu-west-1-a", /write CLUSTER=FAULT/],
  ])("%s is wrong usage", async (fault, message) => {
    await expect(simulated("--fail", fault)).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(message) });
  });
});

describe("what is waited for", () => {
  test("a freeze of the repo's settings holds the first merge until it is over", async () => {
    mkdirSync(join(here.dir, ".github"), { recursive: true });
    const freeze = '{ schedule: "0 0 5 1 *", duration: 30h, timeZone: UTC, kind: deny }';
    writeFileSync(join(here.dir, ".github/stagecoach.yaml"), `freezes:\n  - ${freeze}\n`);
    const { phase, timeline } = await json("--runs", "1");
    expect(phase).toBe("Succeeded");
    expect(timeline.find((one) => one.what === "merged")?.at).toMatch(/^2026-01-06T06:00/);
    expect(timeline.find((one) => one.what === "waits")?.why).toContain("0 0 5 1 *");
  });

  test("settings with an error are told with their place, and nothing is simulated", async () => {
    mkdirSync(join(here.dir, ".github"), { recursive: true });
    writeFileSync(join(here.dir, ".github/stagecoach.yaml"), "limits: { clusters: 0 }\n");
    expect(await simulated()).toEqual({ code: 1, text: "" });
    expect(here.err).toMatch(/stagecoach\.yaml:1:\d+/);
  });

  test("people merge where the rollout's mode leaves it to them, ten minutes after each pull request", async () => {
    here.edit(ROLLOUT, "mode: Run", "mode: Propose");
    const { code, timeline } = await json("--runs", "1");
    expect(code).toBe(0);
    const at = (what: string) => Date.parse(timeline.find((one) => one.what === what)?.at ?? "");
    expect(Math.round((at("merged") - at("opened")) / 60_000)).toBe(10);
  });
});

describe("wrong usage", () => {
  test.each([
    [["--runs", "0"], /--runs wants a whole number from 1/],
    [["--seed", "-1"], /--seed wants/],
    [["--output", "wide"], /wide/],
  ])("%j", async (args, message) => {
    await expect(simulated(...args)).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(message) });
  });

  test("a rollout that is not there is told with the nearest name", async () => {
    await expect(run(["my-ap", "--repo", here.dir])).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/did you mean my-app\?/),
    });
  });
});

test("--to NAME=VALUE is one of several values, and of a release that has no such value wrong usage", async () => {
  await expect(simulated("--to", "image=v2")).rejects.toMatchObject({
    exitCode: 2,
    message: 'the release of my-app has no value "image"; write the version alone',
  });
  here.edit(ROLLOUT, /release:\n {4}from:\n.*\n.*\n/, "release: { values: { version: v1.4.1, side: v7 } }\n");
  expect((await simulated("--to", "side=v8", "--runs", "1")).text).toContain("my-app → v1.5.0, v8 ");
});
