import { describe, expect, test } from "vitest";
import { batchTarget, sampleRun } from "../../../test/support/sample-run.ts";
import { said } from "../reasons/run.ts";
import type { BatchTarget, RolloutState, Run } from "../run/state/run.ts";
import { evidenceBefore } from "./batch/batch-pull.ts";
import { BODY_LIMIT } from "./escape.ts";
import { evidenceWords } from "./model/leaf-nodes.ts";
import { rolloutDetails } from "./model/rollout-words.ts";
import { modelOf } from "./model/run-model.ts";
import { rolloutsComment } from "./rollouts.ts";
import { pausedSign, rolloutsSign } from "./rollouts-sign.ts";
import { runComment } from "./run/run-comment.ts";
import { renderTree } from "./tree/tree.ts";

const NOW = Date.parse("2026-11-21T09:10:00Z");

const ROLLOUT: RolloutState = {
  namespace: "shop",
  name: "api",
  phase: "Paused",
  message: "CanaryPauseStep",
  paused: true,
  step: 1,
  steps: 4,
  setWeight: 20,
  actualWeight: 25,
  stableImages: ["ghcr.io/acme/api:v1"],
  canaryImages: ["ghcr.io/acme/api:v2"],
  replicas: { desired: 5, updated: 1, ready: 5, available: 4 },
};

function runWith(change: Partial<BatchTarget>, more: Partial<Run> = {}): Run {
  const run = sampleRun(more);
  const [first, second] = run.batches;
  if (first === undefined || second === undefined) throw new Error("the sample has two batches");
  const targets = [{ ...batchTarget("us-1", "Syncing"), ...change }, batchTarget("us-2", "Merged")];
  return { ...run, batches: [first, { ...second, targets }] };
}

const tree = (run: Run) => renderTree(run, NOW, { color: false, width: 220 });

describe("Argo Rollouts", () => {
  test("a line says step, weight, images, replicas and message", () => {
    expect(rolloutDetails(ROLLOUT)).toBe("step 1/4 · weight 20 (actual 25) · api:v1 → api:v2 · 4/5 available, 1 updated · CanaryPauseStep");
    const { step: _s, steps: _n, setWeight: _w, actualWeight: _a, ...blueGreen } = ROLLOUT;
    expect(rolloutDetails({ ...blueGreen, stableImages: [], message: "" })).toBe("canary api:v2 · 4/5 available, 1 updated");
  });

  test("stand under their target in the tree, the run's page, the batch's PR and the web page", () => {
    const run = runWith({ rollouts: [ROLLOUT] });
    expect(tree(run)).toMatch(/□ payments-us-1 .*\n.*└─ ⟳ api +॥ Paused +step 1\/4 · weight 20 \(actual 25\)/);
    const row = "| `us-1` | `api` | ⏸️ Paused | 1/4 | 20 (actual 25) | `api:v1` | `api:v2` | 4/5 available, 1 updated | CanaryPauseStep |";
    expect(runComment(run, NOW)).toContain(row);
    const [, batch] = run.batches;
    if (batch === undefined) throw new Error("the sample has two batches");
    expect(rolloutsComment(run, batch, NOW)).toContain(row);
    expect(rolloutsComment(run, batch, NOW)).toContain("As of 09:10:00 UTC.");
    const application = modelOf(run, NOW).children[1]?.children[0]?.children[0]?.children[0];
    expect(application?.children).toMatchObject([{ kind: "rollout", name: "api", state: "Paused", says: rolloutDetails(ROLLOUT) }]);
  });

  test("a comment is edited for a step or a phase, not for a pod", () => {
    const sign = (change: Partial<RolloutState>) => {
      const [, batch] = runWith({ rollouts: [{ ...ROLLOUT, ...change }] }).batches;
      return batch === undefined ? [] : [rolloutsSign(batch), pausedSign(batch)];
    };
    expect(sign({ replicas: { desired: 5, updated: 2, ready: 5, available: 5 } })).toEqual(sign({}));
    expect(sign({ step: 3 })).not.toEqual(sign({}));
    expect(sign({ paused: false, phase: "Progressing" })[1]).toBe("");
  });

  test("what clusters say notifies nobody, runs no command, breaks no table and stays within GitHub's limit", () => {
    const hostile = { ...ROLLOUT, name: "a`|b", message: "@admin | /abort\n<img src=x>", phase: "Paused|x" };
    const many = Array.from({ length: 5 }, () => ({ ...hostile, message: "@admin ".repeat(500) }));
    const targets = Array.from({ length: 200 }, (_, index) => ({ ...batchTarget(`us-${index}`, "Syncing"), rollouts: many }));
    const run = sampleRun();
    const [first, second] = run.batches;
    if (first === undefined || second === undefined) throw new Error("the sample has two batches");
    const whole = { ...run, batches: [first, { ...second, targets }] };
    const comment = rolloutsComment(whole, { ...second, targets }, NOW);
    expect(comment.length).toBeLessThan(BODY_LIMIT);
    expect(comment).not.toMatch(/@admin|<img/);
    expect(comment).toContain("970 more Rollouts are not shown here.");
    expect(runComment(whole, NOW).length).toBeLessThan(BODY_LIMIT);
    const [line = ""] = rolloutsComment(
      runWith({ rollouts: [hostile] }),
      { ...second, targets: [{ ...batchTarget("us-1", "Syncing"), rollouts: [hostile] }] },
      NOW,
    )
      .split("\n")
      .filter((text) => text.startsWith("| `us-1`"));
    expect(line.replaceAll("\\|", "").split("|")).toHaveLength(11);
    expect(tree(runWith({ rollouts: [{ ...hostile, message: "\u001b[31mred" }] }))).not.toContain("\u001b");
  });
});

describe("messages reach every report", () => {
  const waits: [string, string][] = [
    ["a person", "It is OutOfSync and auto-sync is off: a person who may sync it must press Sync in Argo CD."],
    ["a sync window", "It is OutOfSync and waits for a sync window: it opens at 2026-11-22T06:00:00.000Z."],
    ["a retry", "Its sync failed and is tried again at 09:12:00 UTC (2 of 5)."],
    ["an attempt used up", "Argo CD makes no second attempt at this revision: sync it by hand, or push a fix."],
    ["a lost cluster", "Argo CD cannot reach cluster us-1 (tried at 09:09:00 UTC): connection refused."],
    ["a stale status", "Stale: Argo CD last compared at 08:59:00 UTC. Argo CD was asked to compare again at 09:09:30 UTC."],
    ["a lost control plane", "control plane hub cannot be seen since 2026-11-21 09:05:00 UTC: the token is not accepted"],
  ];
  test.each(waits)("waiting for %s", (_what, sentence) => {
    const why = `waiting for us-1 to become healthy (0 of 2 are): ${sentence}`;
    const run = runWith({ why: said(sentence) }, { why: said(why) });
    const plain = (text: string) => text.replaceAll("\\", "");
    expect(tree(run)).toContain(sentence);
    expect(plain(runComment(run, NOW))).toContain(sentence);
    const model = modelOf(run, NOW);
    expect([model.says, model.children[1]?.children[0]?.children[0]?.says]).toEqual([why, sentence]);
  });

  test("a settled batch with a failure tells it on the next batch's PR, with the fields in words", () => {
    const run = sampleRun();
    const [first, second] = run.batches;
    if (first === undefined || second === undefined) throw new Error("the sample has two batches");
    const evidence = {
      verdict: "failing" as const,
      clause: "health",
      sentence: said("It is Degraded."),
      readAt: "2026-11-21T09:00:00.000Z",
      fields: { clockAheadSeconds: 3, syncWindow: "closed until 06:00", goodSince: "09:00", health: "Degraded" },
    };
    const failed: BatchTarget = {
      ...batchTarget("eu-1", "Failed"),
      excused: true,
      why: said("as before its batch (baseline: Degraded), and no worse"),
      evidence,
    };
    const text = evidenceBefore({ ...run, batches: [{ ...first, targets: [failed] }, second] }, second, NOW);
    expect(text).toContain("Failed, as before its batch");
    expect(text).toContain("The cluster's clock is 3s ahead. Its sync window: closed until 06:00.");
  });
});

test("what failed as it had been before its batch is told apart everywhere", () => {
  const run = runWith({
    phase: "Failed",
    excused: true,
    why: said("as before its batch (baseline: Degraded), and no worse: It is Degraded."),
  });
  expect(tree(run)).toContain("as before its batch");
  expect(runComment(run, NOW)).toContain("❌ Failed, as before its batch");
  expect(modelOf(run, NOW).children[1]?.children[0]?.children[0]).toMatchObject({
    state: "Failed",
    facts: expect.arrayContaining(["as before its batch"]),
    says: expect.stringContaining("baseline: Degraded"),
  });
});

test("a control plane that cannot be seen stands in the run's page, the tree and the web page", () => {
  const unseen = [{ plane: "hub", since: "2026-11-21T09:05:00.000Z", why: said("forbidden; grant list on applications") }];
  const run = runWith({}, { unseen });
  expect(runComment(run, NOW)).toContain(
    "Stagecoach has not reached control plane hub since 09:05:00 UTC: forbidden; grant list on applications. us-1, us-2 wait for it",
  );
  expect(tree(run)).toContain("control plane hub · for 5m · forbidden; grant list on applications");
  expect(modelOf(run, NOW).controlPlanes).toMatchObject([
    { name: "hub", state: "Unseen", says: "forbidden; grant list on applications", facts: ["us-1, us-2 wait for it"] },
  ]);
});

test("of the evidence what the sentence does not tell is said in words, and no name of a field", () => {
  const fields = { health: "Healthy", clockBehindSeconds: 2, refreshRequested: true, toString: "odd" };
  expect(evidenceWords({ fields })).toEqual(["The cluster's clock is 2s behind.", "Argo CD is asked to refresh it."]);
});
