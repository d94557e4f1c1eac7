import { describe, expect, test } from "vitest";
import { batchTarget, sampleRun } from "../../../../test/support/sample-run.ts";
import { drive } from "../../../simulate/drive.ts";
import { generate } from "../../../simulate/generate/generate.ts";
import { epoch } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import { isEnded, type Run } from "../../run/state/run.ts";
import { destinationsOf } from "../../spec/notifications.ts";
import { SITUATIONS } from "../testing/situations.ts";
import { type NotifyEvent, type Told, toldSchema, untold } from "./events.ts";

const NOW = epoch("2026-11-21T09:10:00.000Z");
const later = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString();

/** What is told of one state after the other. */
function follow(...runs: Run[]): string[][] {
  let told: Told | undefined;
  return runs.map((run) => {
    const found = untold(told, run, NOW);
    told = toldSchema.parse(JSON.parse(JSON.stringify(found.told)));
    return found.events.map(({ event, stage }) => (stage === undefined ? event : `${event} in ${stage}`));
  });
}

const pause = (at: string, kind: NonNullable<Run["paused"]>["kind"] = "Failure") => ({
  phase: "Paused" as const,
  paused: { kind, by: "stagecoach", reason: said("stopped"), at, ask: said("do something") },
});

describe("events of a run", () => {
  test("it starts, waits for a person, goes on, and ends: each once, however often it is looked at", () => {
    const run = sampleRun();
    const paused = { ...run, ...pause(later(1)) };
    const ended = { ...run, phase: "Succeeded" as const, endedAt: later(9) };
    expect(follow(run, run, paused, paused, run, run, ended, ended)).toEqual([
      ["run.started"],
      [],
      ["failed in everywhere else", "needs-you in everywhere else"],
      [],
      ["resumed in everywhere else"],
      [],
      ["ended"],
      [],
    ]);
  });

  test("a second pause is told as the first was; who paused by command is told of going on alone", () => {
    const run = sampleRun();
    const seen = follow(run, { ...run, ...pause(later(1), "Moved") }, run, { ...run, ...pause(later(2), "Moved") }, run);
    expect(
      seen
        .slice(1)
        .flat()
        .map((one) => one.split(" ")[0]),
    ).toEqual(["needs-you", "resumed", "needs-you", "resumed"]);
    expect(follow(run, { ...run, ...pause(later(1), "Command") }, run).slice(1)).toEqual([[], ["resumed in everywhere else"]]);
  });

  test("what fails of one batch is one event, and another after `/retry`; what is excused is none", () => {
    const run = sampleRun();
    const failing = (...targets: ReturnType<typeof batchTarget>[]) => ({
      ...run,
      batches: run.batches.map((batch, index) => (index === 0 ? { ...batch, targets } : batch)),
    });
    const one = batchTarget("eu-1", "Failed");
    const other = { ...batchTarget("eu-2", "Failed"), since: later(1) };
    const again = { ...other, retriedAt: later(2), since: later(3) };
    const excused = { ...one, excused: true as const };
    expect(follow(run, failing(one), failing(one, other), failing(again), failing(excused)).slice(1)).toEqual([
      ["failed in canary"],
      [],
      ["failed in canary"],
      [],
    ]);
  });

  test("an end that `/retry` takes back is told as going on, and its later end again", () => {
    const run = sampleRun();
    const failed = { ...run, phase: "Failed" as const, endedAt: later(1) };
    const over = { ...run, phase: "Succeeded" as const, endedAt: later(5) };
    expect(follow(failed, run, over)).toEqual([["run.started", "failed", "ended"], ["resumed in everywhere else"], ["ended"]]);
    // The next run is no going on of the one before.
    expect(follow(failed, { ...run, number: run.number + 1 })[1]).toEqual(["run.started"]);
  });

  test("a freeze is told once for each time that it holds, and a halt once, over runs", () => {
    const run = sampleRun();
    const shut = said("") as { code: string };
    const frozen = (eta: string): Run => ({
      ...run,
      why: { ...shut, code: "WINDOW_SHUT", where: { kind: "Server" }, window: { schedule: "0 0 * * *", kind: "deny" } },
      next: { what: { code: "NEXT_WINDOW" }, eta },
    });
    expect(
      follow(run, frozen(later(60)), run, frozen(later(60)), frozen(later(600)))
        .slice(1)
        .map((one) => one.length),
    ).toEqual([1, 0, 0, 1]);
    const halts = [{ clusters: [], reason: "incident", by: "ann", at: later(1) }];
    expect(follow(run, { ...run, halts }, { ...run, number: run.number + 1, halts })).toEqual([
      ["run.started"],
      ["freeze"],
      ["run.started"],
    ]);
  });

  test.each(Object.entries(SITUATIONS))("what is told of a run that is found: %s", (name, situation) => {
    const { run, now } = situation();
    const wanted: Record<string, string[]> = {
      "waiting for approval": ["run.started", "needs-you"],
      failed: ["run.started", "failed", "needs-you"],
      done: ["run.started", "ended"],
    };
    expect(untold(undefined, run, now).events.map(({ event }) => event)).toEqual(wanted[name] ?? ["run.started"]);
  });

  test("over random runs each start, end and pause is told once, and nothing twice", () => {
    const seen: Record<string, number> = {};
    for (let seed = 4_000; seed < 4_040; seed++) {
      const told = new Map<string, Told>();
      const all: NotifyEvent[] = [];
      const wanted = new Set<string>();
      const watch = (runs: readonly (Run | undefined)[], now: number) => {
        for (const run of runs) {
          if (run === undefined) continue;
          const found = untold(told.get(run.rollout), run, now);
          told.set(run.rollout, found.told);
          all.push(...found.events);
          const name = `${run.rollout}/${run.number}`;
          wanted.add(`${name}/run.started/${run.startedAt}`);
          if (run.endedAt !== undefined) wanted.add(`${name}/ended/${run.endedAt}`);
          if (run.paused !== undefined && run.paused.kind !== "Command" && run.ending === undefined && !isEnded(run))
            wanted.add(`${name}/needs-you/${run.paused.at}`);
        }
      };
      drive(generate(seed), { watch });
      const ids = all.map(({ id }) => id);
      expect(ids.length, `seed ${seed}`).toBe(new Set(ids).size);
      expect(
        [...wanted].filter((id) => !ids.includes(id)),
        `seed ${seed}`,
      ).toEqual([]);
      for (const { event } of all) seen[event] = (seen[event] ?? 0) + 1;
    }
    // A generator that never met a thing would prove nothing about it.
    expect(Object.keys(seen).toSorted()).toEqual(["ended", "failed", "freeze", "needs-you", "resumed", "rolled-back", "run.started"]);
  });
});

test("who is told: by event, rollout and stage, each destination once", () => {
  const rules = [
    { to: "all" },
    { to: "calls", events: ["needs-you" as const, "failed" as const], stages: ["prod"] },
    { to: "team", rollouts: ["payments"] },
    { to: "team", events: ["failed" as const] },
  ];
  const told = (event: "failed" | "ended", rollout?: string, stage?: string) => destinationsOf(rules, { event, rollout, stage });
  expect(told("failed", "payments", "prod")).toEqual(["all", "calls", "team"]);
  expect(told("failed", "ledger", "canary")).toEqual(["all", "team"]);
  expect(told("ended", "ledger")).toEqual(["all"]);
  expect(told("failed", "ledger")).toEqual(["all", "calls", "team"]);
});
