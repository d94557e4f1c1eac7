import { describe, expect, test } from "vitest";
import { plannedTarget, samplePlan, sampleRollout, sampleRun } from "../../../test/support/sample-run.ts";
import { confirmed, freshRun, START, withBatch } from "../../adapters/git/testing/runs.ts";
import { stickyMarker } from "../../engine/round/publish/publish.ts";
import type { Plan } from "../plan/plan-types.ts";
import { said } from "../reasons/run.ts";
import type { Batch, BatchTarget, RolloutState, Run } from "../run/state/run.ts";
import { planAnswer, refusalAnswer, statusAnswer } from "./answers.ts";
import { batchBody } from "./batch/batch-pull.ts";
import { deliveryText } from "./batch/batch-text.ts";
import { BODY_LIMIT } from "./escape.ts";
import { COMMENT_ROOM, fitting } from "./fit.ts";
import { planComment, problemsComment } from "./plan/plan-comment.ts";
import { rolloutsComment } from "./rollouts.ts";
import { closingSummary } from "./run/closing-summary.ts";
import { pauseNotice } from "./run/pause-notice.ts";
import { trackingIssue } from "./run/release-notice.ts";
import { runComment } from "./run/run-comment.ts";

/** No part is cut in two: folds are closed, table rows are whole. */
function expectWhole(text: string, limit: number): void {
  expect(text.length).toBeLessThanOrEqual(limit);
  expect(text.length).toBeGreaterThan(0);
  expect(text.match(/<details>/g)?.length).toBe(text.match(/<\/details>/g)?.length);
  expect((text.match(/^```/gm)?.length ?? 0) % 2).toBe(0);
  for (const line of text.split("\n")) if (line.startsWith("|")) expect(line.endsWith("|")).toBe(true);
}

describe("the first way that fits", () => {
  const say = (words: number) => ["title", "x".repeat(words), "y".repeat(30), "foot"];
  test("is taken", () => {
    expect(fitting(60, [50, 10, 5], say, "more elsewhere")).toBe(`title\n\n${"x".repeat(10)}\n\n${"y".repeat(30)}\n\nfoot`);
  });
  test("of none that fits the longest parts are left out, and that is said once", () => {
    expect(fitting(60, [500, 100], say, "more elsewhere")).toBe(`title\n\nmore elsewhere\n\n${"y".repeat(30)}\n\nfoot`);
    expect(fitting(30, [500, 100], say, "more elsewhere")).toBe("title\n\nmore elsewhere\n\nfoot");
    expect(fitting(10, [100], say, "more elsewhere")).toBe("foot");
  });
});

describe("a plan's comment has room for its marker", () => {
  test("which is found before it", () => {
    const marker = stickyMarker("p".repeat(63));
    expect(COMMENT_ROOM + `<!-- ${marker} -->\n`.length).toBeLessThanOrEqual(65_536);
  });

  function planOf(clusters: number, size: number, name: (index: number) => string): Plan {
    const targets = Array.from({ length: clusters }, (_, index) => plannedTarget(name(index)));
    const batches = [];
    for (let from = 0; from < clusters; from += size) {
      const some = targets.slice(from, from + size);
      batches.push({ clusters: some.map((one) => one.cluster), targets: some });
    }
    const keys = targets.map((one) => one.cluster);
    const stage = { name: "all", hash: "aa", maxUnavailable: size, clusters: keys, requeued: [], batches, requeuedTargets: [] };
    return { ...samplePlan(), stages: [stage] };
  }

  /** From where every target is listed to where that is too long; and some sizes far from there. */
  const sizes: [name: string, from: number, to: number][] = [
    ["cl", 710, 730],
    ["prod", 680, 700],
    ["eu-central-1", 578, 593],
  ];
  test.each(sizes)("at every size, of clusters named %s-N", (name, from, to) => {
    const lengthOf = (clusters: number) =>
      planComment(
        sampleRollout(),
        planOf(clusters, 10, (index) => `${name}-${index}`),
        "v1.4.1",
      ).length;
    const near = Array.from({ length: to - from }, (_, index) => lengthOf(from + index));
    for (const length of [...near, ...[60, 300, 1000, 3000].map(lengthOf)]) expect(length).toBeLessThanOrEqual(COMMENT_ROOM);
    expect(Math.max(...near)).toBeGreaterThan(COMMENT_ROOM - 150);
    expect(near.at(-1)).toBeLessThan(COMMENT_ROOM / 2);
  });

  test("whatever is said with it", () => {
    const [stage] = planOf(3, 1, (index) => `c-${index}`).stages;
    if (stage === undefined) throw new Error("the plan has no stage");
    const long = "*".repeat(253);
    const stages = Array.from({ length: 100 }, (_, index) => ({ ...stage, name: `${index}${long}`.slice(0, 63) }));
    const rollout = sampleRollout();
    const [first] = rollout.stages;
    if (first === undefined) throw new Error("the rollout has no stage");
    const weights = Array.from({ length: 50 }, (_, index) => ({ kind: "weight" as const, weight: index }));
    const steps = weights as unknown as NonNullable<typeof first.steps>;
    const approval = { teams: Array.from({ length: 20 }, () => long), count: 2 };
    const specs = stages.map(({ name }) => ({ ...first, name, steps, approval }));
    const against = Array.from({ length: 10 }, () => `**no** ${"|".repeat(9000)}`);
    const text = planComment({ ...rollout, stages: specs }, { ...samplePlan(), stages }, "`".repeat(300), { against });
    expectWhole(text, COMMENT_ROOM);
    expect(text).toContain("`stagecoach plan payments` shows all of it");
  });

  test("so has that of its problems", () => {
    const one = {
      ...{ code: "SYNTAX", message: "|".repeat(500), hint: "_".repeat(500), severity: "error" as const },
      ...{ file: `${"`".repeat(250)}.yaml`, line: 1, column: 1, path: [] },
    };
    expectWhole(problemsComment(Array.from({ length: 80 }, () => one)), COMMENT_ROOM);
  });
});

/** Names and messages as long as any may be, and of signs that take two. */
function longest(planned: BatchTarget, index: number, rollouts: RolloutState[] = []): BatchTarget {
  const digest = `registry.example.com/${"x".repeat(200)}@sha256:${"a".repeat(64)}`;
  const edit = {
    kind: "value" as const,
    file: `${"d/".repeat(500)}${index}.yaml`,
    path: `spec.${"|".repeat(400)}`,
    from: digest,
    to: `${digest}b`,
  };
  const fields = { reconciledAt: "x".repeat(2000) };
  const evidence = { verdict: "live" as const, clause: "all", sentence: said("_".repeat(400)), readAt: "", resourceVersion: "1", fields };
  const names = { application: `${"a".repeat(246)}-${index}`, cluster: `hub/${"c".repeat(246)}-${index}` };
  return { ...planned, ...names, why: said("|".repeat(600)), edits: [edit, edit], evidence, ...(rollouts.length > 0 ? { rollouts } : {}) };
}

function longRun(clusters: number): Run {
  const stretched = (run: Run): Run => ({
    ...run,
    batches: run.batches.map((batch) => ({ ...batch, targets: batch.targets.map((one, index) => longest(one, index)) })),
  });
  const before = stretched(confirmed(withBatch(freshRun(2 * clusters, clusters), "Proposing", START), START + 60_000));
  return stretched(withBatch(before, "Proposing", START + 120_000));
}

describe("a batch's PR", () => {
  test.each([1, 5, 20, 21, 50, 60, 250])("of %i clusters with names as long as they may be is never too long for GitHub", (clusters) => {
    const run = longRun(clusters);
    const batch = run.batches[1];
    if (batch === undefined) throw new Error("the run has no second batch");
    const text = batchBody(run, batch, START + 120_000);
    expectWhole(text, BODY_LIMIT);
    expect(text).toContain("**As planned:**");
    expect(text).toContain("you can comment now");
    if (clusters > 20) expect(text).toMatch(/The diff has/);
  });

  test.each([100, 300, 600])("of 60 clusters with names of %i characters all told neither", (length) => {
    const run = longRun(60);
    const batches = run.batches.map((batch) => ({
      ...batch,
      targets: batch.targets.map((one) => ({ ...one, edits: one.edits.map((edit) => ({ ...edit, file: "f".repeat(length) })) })),
    }));
    const [, batch] = batches;
    if (batch === undefined) throw new Error("the run has no second batch");
    const text = batchBody({ ...run, batches }, batch, START + 120_000);
    expectWhole(text, BODY_LIMIT);
    expect(text).toMatch(/\| cluster \| application \|[\s\S]*The diff has \d+ more/);
  });

  test("whatever a rollout's own template makes of it", () => {
    const run = longRun(1);
    const [batch] = run.batches;
    if (batch === undefined) throw new Error("the run has no batch");
    const body = "{{ batch.clusters }} ".repeat(450);
    const spec = { ...run.spec, delivery: { ...run.spec.delivery, body } };
    const defaults = { title: "t", body: "x".repeat(60_000), commitMessage: "m" };
    const text = deliveryText({ ...run, spec }, batch, defaults, { name: "bot", email: "bot@example.com" }).body;
    expect(text.length).toBeLessThanOrEqual(BODY_LIMIT);
    expect(text).toContain("What changes is in the diff");
  });

  test("its fold names a stage as it is called, and no name ends it", () => {
    const run = longRun(1);
    const named = (name: string) => ({ ...run, plan: { ...run.plan, stages: run.plan.stages.map((stage) => ({ ...stage, name })) } });
    const body = (name: string) => {
      const [, batch] = run.batches;
      if (batch === undefined) throw new Error("the run has no second batch");
      return batchBody(named(name), batch, START + 120_000);
    };
    expect(body("canary_eu")).toContain("<summary>Why now: batch 1 of 2 of canary_eu is healthy");
    expect(body("a</summary><b> & @bob\n\n\"x'")).toContain("of a&#60;/summary&#62;&#60;b&#62; &#38; @\u200bbob &#34;x&#39; is healthy");
  });
});

/** A run of 300 stages, of which everything is long. */
function longest300(): Run {
  const run = longRun(60);
  const [stage] = run.plan.stages;
  const [batch] = run.batches;
  if (stage === undefined || batch === undefined) throw new Error("the run has no stage");
  const stages = Array.from({ length: 300 }, (_, index) => ({ ...stage, name: `${index}${"|".repeat(60)}` }));
  const requeued = Array.from({ length: 60 }, (_, index) => ({
    cluster: `hub/${"`".repeat(200)}${index}`,
    stage: 0,
    why: said("|".repeat(800)),
    nextAt: "2026-11-21T04:00:00Z",
  }));
  const more: Batch[] = Array.from({ length: 60 }, (_, index) => ({
    ...batch,
    number: index + 1,
    phase: "Open",
    why: said("|".repeat(900)),
    pull: { number: index, url: "", head: "", openedAt: "2026-11-21T04:00:00Z" },
  }));
  const paused = {
    kind: "Refused" as const,
    by: "GitHub",
    reason: said("|".repeat(3000)),
    at: "2026-11-21T04:00:00Z",
    ask: said("do `/x` ".repeat(9000)),
  };
  const skipped = requeued.map(({ cluster, why }) => ({ cluster, why, at: "2026-11-21T04:00:00Z" }));
  const all = { ...run, plan: { ...run.plan, stages }, batches: more, why: said("_".repeat(3000)), paused, skipped };
  return { ...all, requeued: requeued as unknown as Run["requeued"] };
}

describe("every other comment is bounded, whatever the run holds", () => {
  const run = longest300();
  const remarks = Array.from({ length: 10 }, () => ({ code: "SAID", text: "_".repeat(5000) }));
  const texts: [string, () => string][] = [
    ["the live page", () => runComment(run, START, remarks)],
    ["the closing summary", () => closingSummary({ ...run, phase: "Failed", endedAt: "2026-11-21T05:00:00Z" })],
    ["what a pause asks for", () => pauseNotice(run, START)],
    ["the answer to /status", () => statusAnswer(run, START, "bob", undefined)],
    ["the answer to /plan", () => planAnswer(run, START, "bob")],
    [
      "the refusals",
      () => refusalAnswer(Array.from({ length: 200 }, () => ({ text: "`".repeat(300), author: "bob", message: "a `b` ".repeat(300) }))),
    ],
    ["one refusal", () => refusalAnswer([{ text: "/x", author: "bob", message: "a `b` ".repeat(30_000) }])],
    ["the Rollouts of a batch", () => rolloutsComment(run, rolloutsBatch(run), START)],
    [
      "the issue of a release",
      () => trackingIssue("payments", { values: { v: "`".repeat(9000) }, attempt: 1 }, { sha: "a", author: "b" }).body,
    ],
  ];
  test.each(texts)("%s", (_name, say) => {
    expectWhole(say(), COMMENT_ROOM);
  });

  test("the page of a small run says all of it", () => {
    expect(runComment(sampleRun(), START)).not.toContain("too l");
  });
});

function rolloutsBatch({ batches }: Run): Batch {
  const [batch] = batches;
  if (batch === undefined) throw new Error("the run has no batch");
  const images = [`registry.example.com/${"i".repeat(300)}`];
  const replicas = { desired: 5, available: 5, updated: 1 };
  const rollout = { namespace: "n", name: "`".repeat(253), phase: "Paused", paused: true, message: "|".repeat(900), replicas };
  const state = { ...rollout, stableImages: images, canaryImages: images } as unknown as RolloutState;
  return { ...batch, targets: batch.targets.map((one, index) => longest(one, index, [state])) };
}
