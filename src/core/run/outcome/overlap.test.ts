import { expect, test } from "vitest";
import { said } from "../../reasons/run.ts";
import type { Pause } from "../state/run.ts";
import { MOST_SUPERSEDED, onOverlap, supersededBefore } from "./overlap.ts";

const paused = (kind: Pause["kind"]): { paused: Pause } => ({ paused: { kind, by: "", reason: said(""), at: "", ask: said("") } });

test.each([
  ["Supersede takes a run's place", "Supersede", {}, "Supersede"],
  ["Supersede takes a paused one's, too", "Supersede", paused("Command"), "Supersede"],
  ["Queue waits for a run", "Queue", {}, "Queue"],
  ["Queue waits for a run that a person paused", "Queue", paused("Command"), "Queue"],
  ["Queue takes the place of one that is paused on a failure", "Queue", paused("Failure"), "Supersede"],
  ["Reject rejects", "Reject", {}, "Reject"],
  ["Reject rejects although the run has failed: a person decides first", "Reject", paused("Failure"), "Reject"],
  ["a rollback is not cut short", "Supersede", { kind: "Rollback" as const }, "Queue"],
  ["a rollback that has failed is", "Supersede", { kind: "Rollback" as const, ...paused("Failure") }, "Supersede"],
  ["after three in a row that never ended, one is let through", "Supersede", { superseded: MOST_SUPERSEDED }, "Queue"],
] as const)("%s", (_name, policy, run, expected) => {
  expect(onOverlap(policy, run)).toBe(expected);
});

test("runs that were superseded are counted in a row", () => {
  let superseded = 0;
  for (let run = 1; run <= 4; run++) superseded = supersededBefore({ phase: "Superseded", superseded });
  expect(superseded).toBe(4);
  expect(supersededBefore({ phase: "Succeeded", superseded })).toBe(0);
  expect(supersededBefore(undefined)).toBe(0);
});
