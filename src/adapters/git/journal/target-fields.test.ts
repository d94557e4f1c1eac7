import { describe, expect, test } from "vitest";
import { said } from "../../../core/reasons/run.ts";
import type { BatchTarget, RolloutOrder, RolloutState, Run } from "../../../core/run/state/run.ts";
import { freshRun, START, withBatch } from "../testing/runs.ts";
import { printRun } from "./print-run.ts";
import { readRun } from "./read-run.ts";

const AT = "2026-11-21T09:00:00.000Z";
const ROLLOUT: RolloutState = {
  namespace: "shop",
  name: "api",
  phase: "Paused",
  message: "CanaryPauseStep",
  paused: true,
  step: 1,
  steps: 4,
  stableImages: ["api:v1"],
  canaryImages: ["api:v2"],
  replicas: { desired: 5, updated: 1, ready: 5, available: 5 },
};
const ORDER: RolloutOrder = {
  command: "7#0",
  text: "/promote --rollouts",
  actor: "alice",
  at: AT,
  action: "resume",
  left: [],
  rollouts: [{ target: "hub/argocd/a", namespace: "shop", name: "api", step: 1, outcome: { kind: "forbidden", why: said("no right") } }],
};

function runWith(change: Partial<BatchTarget>, more: Partial<Run> = {}): Run {
  const run = withBatch(freshRun(2, 2), "Merged", START);
  const batches = run.batches.map((batch) => ({ ...batch, targets: batch.targets.map((target) => ({ ...target, ...change })) }));
  return { ...run, ...more, batches };
}

function back(run: Run): Promise<Run | undefined> {
  const { files } = printRun(run);
  const read = async (paths: readonly string[]) => new Map(paths.map((path) => [path, files.get(path) ?? null]));
  return readRun(read, run.rollout, run.number).then((found) => found?.run);
}

describe("what the journal keeps of targets, Rollouts and lost control planes", () => {
  const whole: Partial<BatchTarget> = {
    baseline: ["Degraded"],
    excused: true,
    retriedAt: AT,
    dippedAt: AT,
    dips: [AT],
    syncAsked: { at: AT, revisions: ["c".repeat(40)] },
    rollouts: [ROLLOUT],
  };

  test("is read as it was written", async () => {
    const run = runWith(whole, { rolloutOrders: [ORDER], unseen: [{ plane: "hub", since: AT, why: said("forbidden") }] });
    expect(await back(run)).toEqual(run);
  });

  const broken: [string, Run][] = [
    ["a baseline that is a text", runWith({ baseline: "Degraded" as unknown as string[] })],
    ["excused that is no yes", runWith({ excused: "yes" as unknown as true })],
    ["a dip at no time", runWith({ dips: ["yesterday"] })],
    ["a sync asked for at no time", runWith({ syncAsked: { at: "soon", revisions: [] } })],
    ["dippedAt at no time", runWith({ dippedAt: "soon" })],
    ["a Rollout without images", runWith({ rollouts: [{ ...ROLLOUT, canaryImages: undefined as unknown as string[] }] })],
    ["an order of an action there is not", runWith({}, { rolloutOrders: [{ ...ORDER, action: "delete" as "abort" }] })],
    ["a control plane lost at no time", runWith({}, { unseen: [{ plane: "hub", since: "x", why: said("") }] })],
  ];
  test.each(broken)("%s stops that run, naming the file", async (_name, run) => {
    await expect(back(run)).rejects.toThrow();
  });
});
