import { describe, expect, test } from "vitest";
import { sampleRollout } from "../../../../test/support/sample-run.ts";
import { textWidth } from "../../base/text-width.ts";
import { iso } from "../../base/time.ts";
import type { PlannedTarget } from "../../plan/plan-types.ts";
import { said } from "../../reasons/run.ts";
import type { Batch, BatchTarget, Run } from "../../run/state/run.ts";
import type { Stage } from "../../spec/rollout.ts";
import { renderTree } from "./tree.ts";

const START = Date.parse("2026-11-21T04:00:00Z");
const [STAGE] = sampleRollout().stages;
const PLAIN = { color: false, width: 100 };

function planned(name: string): PlannedTarget {
  return { key: `hub/argocd/pay-${name}`, application: `pay-${name}`, cluster: `hub/${name}`, edits: [] };
}

function stage(name: string, clusters: string[], size: number, requeued: string[] = []) {
  const batches = [];
  for (let at = 0; at < clusters.length; at += size) {
    const some = clusters.slice(at, at + size);
    batches.push({ clusters: some.map((one) => `hub/${one}`), targets: some.map(planned) });
  }
  const keys = (names: string[]) => names.map((one) => `hub/${one}`);
  return {
    name,
    hash: "",
    maxUnavailable: size,
    clusters: keys(clusters),
    requeued: keys(requeued),
    batches,
    requeuedTargets: requeued.map(planned),
  };
}

function runOf(stages: ReturnType<typeof stage>[], over: Partial<Run> = {}): Run {
  const release = { values: { version: "v2" }, attempt: 0 };
  return {
    format: 2,
    rollout: "payments",
    number: 42,
    release,
    trigger: { commit: "c", pull: 7, author: "ana", at: iso(START) },
    spec: sampleRollout({ stages: stages.map(({ name }) => ({ ...(STAGE as Stage), name })) }),
    plan: { rollout: "payments", release, hash: "", stages, uncovered: [], warnings: [] },
    phase: "Progressing",
    since: iso(START),
    why: said("batch 2 waits for Argo CD"),
    next: { what: said("eu-2 counts as failed"), deadline: iso(START + 15 * 60_000) },
    stage: 0,
    batches: [],
    requeued: [],
    skipped: [],
    failedAccepted: [],
    commands: [],
    startedAt: iso(START),
    ...over,
  };
}

function batchOf(run: Run, number: number, phase: Batch["phase"], target: Partial<BatchTarget>): Batch {
  const targets = (run.plan.stages[0]?.batches[number - 1]?.targets ?? []).map((one): BatchTarget => {
    return { ...one, phase: "Proposed", since: iso(START), why: said(""), ...target };
  });
  const pull = { number: 100 + number, url: "", head: "", openedAt: iso(START) };
  return {
    number,
    stage: 0,
    ofStage: number,
    attempt: 1,
    kind: "Planned",
    branch: "",
    phase,
    since: iso(START),
    why: said("merged"),
    next: null,
    targets,
    pull,
  };
}

describe("the tree of a run", () => {
  test("shows what is done, what goes on and why, what is put off, and what the plan still holds", () => {
    let run = runOf([stage("canary", ["eu-1", "eu-2", "eu-3"], 1, ["eu-9"]), stage("rest", ["us-1"], 1)]);
    const first = batchOf(run, 1, "Settled", { phase: "Baked" });
    const second = batchOf(run, 2, "Merged", { phase: "Syncing", why: said("the change is not seen yet") });
    const requeued = {
      cluster: "hub/eu-9",
      stage: 0,
      attempts: 2,
      since: iso(START),
      nextAt: iso(START + 30 * 60_000),
      why: said("drained"),
    };
    run = { ...run, batches: [first, second], requeued: [requeued] };
    const live = new Map([["hub/argocd/pay-eu-2", "OutOfSync Healthy"]]);
    expect(renderTree(run, START + 125_000, { ...PLAIN, live })).toMatchInlineSnapshot(`
      "Run:      payments #42
      Release:  v2 · PR #7 · by ana
      Status:   ◌ Progressing · running for 2m5s
      Why:      batch 2 waits for Argo CD
      Next:     eu-2 counts as failed (at the latest in 12m55s)
      Progress: ━━━━━━──────────────────────── 1/5 clusters healthy · 1 requeued · 2 to come

      NAME                    STATUS         AGE     INFO
      ⟳ payments #42          ◌ Progressing  2m5s
      ├─ # 1 canary           ◌ Progressing  2m5s    1/4 healthy
      │  ├─ ⧉ batch 1 of 3    ✔ Healthy      2m5s    PR #101
      │  │  └─ ⎈ eu-1         ✔ Healthy      2m5s
      │  │     └─ □ pay-eu-1  ✔ Healthy      2m5s
      │  ├─ ⧉ batch 2 of 3    ● Syncing      2m5s    PR #102 · merged
      │  │  └─ ⎈ eu-2         ● Syncing      2m5s
      │  │     └─ □ pay-eu-2  ● Syncing      2m5s    OutOfSync Healthy · the change is not seen yet
      │  ├─ ⧉ batch 3 of 3    ○ To come
      │  │  └─ ⎈ eu-3         ○ To come
      │  │     └─ □ pay-eu-3  ○ To come
      │  └─ ⎈ eu-9            ↻ Requeued     2m5s    looked at twice · looked at again in 27m55s · drained
      └─ # 2 rest             ○ To come              1 cluster
         └─ ⧉ batch 1 of 1    ○ To come
            └─ ⎈ us-1         ○ To come
               └─ □ pay-us-1  ○ To come
      "
    `);
  });

  test("a requeued cluster's turn comes after the stage's batches; only then is there a next look", () => {
    const requeued = { cluster: "hub/eu-9", stage: 0, attempts: 0, since: iso(START), nextAt: iso(START), why: said("drained") };
    let run = runOf([stage("canary", ["eu-1"], 1, ["eu-9"])], { requeued: [requeued] });
    expect(renderTree(run, START, PLAIN)).toContain("after the stage's batches · drained");
    run = { ...run, batches: [batchOf(run, 1, "Merged", { phase: "Syncing" })] };
    expect(renderTree(run, START, PLAIN)).toContain("after the stage's batches · drained");
    run = { ...run, batches: [batchOf(run, 1, "Settled", { phase: "Baked" })] };
    expect(renderTree(run, START, PLAIN)).toContain("looked at again now · drained");
    expect(renderTree({ ...run, phase: "Aborted" }, START, PLAIN)).not.toContain("looked at again");
  });

  test("says the reasons of what waits in words", () => {
    const requeued = {
      cluster: "hub/eu-9",
      stage: 0,
      attempts: 1,
      since: iso(START),
      nextAt: iso(START),
      why: { code: "PUT_OFF_BY", by: "bo" },
    };
    let run = runOf([stage("canary", ["eu-1"], 1, ["eu-9"])], { requeued: [requeued] });
    run = { ...run, batches: [batchOf(run, 1, "Merged", { phase: "Syncing", why: { code: "NOT_READ_SINCE_MERGE" } })] };
    const text = renderTree(run, START, { ...PLAIN, width: 200 });
    expect(text).toContain("@bo put it off");
    expect(text).toContain("the change is merged; Stagecoach has not read Argo CD since");
  });

  test("a pull request that the sentence names is named once", () => {
    const run = runOf([stage("canary", ["eu-1"], 1)]);
    const why = {
      code: "PULL_WAITS",
      pull: 101,
      because: { code: "BATCH_BEFORE", batch: { stage: "canary", number: 1, kind: "Planned" } },
    };
    const text = renderTree({ ...run, batches: [{ ...batchOf(run, 1, "Open", {}), why }] }, START, { ...PLAIN, width: 200 });
    expect(text).toContain(" PR #101 is open; waiting until ");
    expect(text.match(/#101/g)).toHaveLength(1);
  });

  test("a paused run says what is asked for", () => {
    const paused = { kind: "Command", by: "bo", reason: said("look first"), at: iso(START), ask: said("comment /resume") } as const;
    const text = renderTree(runOf([stage("canary", ["eu-1"], 1)], { phase: "Paused", paused }), START, PLAIN);
    expect(text).toContain("॥ Paused");
    expect(text).toContain("Asks:     comment /resume");
  });

  test.each([12, 80, 200, 2000])("%i clusters stay within 40 lines of tree, failures named first", (clusters) => {
    const names = Array.from({ length: clusters }, (_, at) => `c${at}`);
    let run = runOf([stage("canary", names, Math.ceil(clusters / 4)), ...["b", "c"].map((name) => stage(name, [`${name}1`], 1))]);
    const failing = batchOf(run, 2, "Merged", { phase: "Syncing" });
    const last = failing.targets.at(-1);
    const targets = failing.targets.map(
      (one): BatchTarget => (one === last ? { ...one, phase: "Failed", why: said("CrashLoopBackOff") } : one),
    );
    run = { ...run, batches: [batchOf(run, 1, "Settled", { phase: "Baked" }), { ...failing, targets }] };
    const text = renderTree(run, START + 1000, PLAIN);
    expect(text.split("NAME")[1]?.trim().split("\n").length).toBeLessThanOrEqual(41);
    expect(text).toContain(`${last?.cluster.slice(4)} `);
    expect(text).toContain("✖ Failed");
  });

  test.each([14, 24, 50])("a terminal of %i rows shows the whole header, what goes on now, and no line more", (rows) => {
    const names = (stageName: string) => Array.from({ length: 8 }, (_, at) => `${stageName}${at}`);
    let run = runOf(["a", "b", "c", "d"].map((name) => stage(name, names(name), 2)));
    run = { ...run, batches: [batchOf(run, 1, "Settled", { phase: "Baked" }), batchOf(run, 2, "Merged", { phase: "Syncing" })] };
    const lines = renderTree(run, START, { ...PLAIN, rows })
      .trimEnd()
      .split("\n");
    expect(lines.length).toBeLessThanOrEqual(rows);
    expect(lines[0]).toBe("Run:      payments #42");
    expect(lines.join("\n")).toMatch(/NAME[\s\S]*# 1 a /);
    const wholeStages = lines.filter((line) => /[├└]─ # /.test(line));
    expect(wholeStages.length).toBe(4);
  });

  test("what no folding makes fit is cut, and said so", () => {
    const run = runOf(["a", "b", "c", "d"].map((name) => stage(name, [`${name}1`], 1)));
    const lines = renderTree(run, START, { ...PLAIN, rows: 11 })
      .trimEnd()
      .split("\n");
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe("… 3 more lines");
  });

  test("no line is wider than the terminal, and text from outside cannot steer it", () => {
    const evil = "\u001b[2J\u001b[31mred\u0007\nnew line ";
    let run = runOf([stage(`${evil}${"x".repeat(100)}`, ["eu-1", "eu-2"], 1)], { why: said(evil.repeat(30)) });
    run = { ...run, batches: [batchOf(run, 1, "Merged", { phase: "Failed", why: said(evil.repeat(20)) })] };
    for (const width of [20, 40, 59, 60, 80, 140]) {
      const text = renderTree(run, START, { color: false, width });
      for (const line of text.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(width);
      expect(text).not.toContain("\u001b");
      expect(text).not.toContain("\u0007");
    }
  });

  test("colours are there only where asked for, and add nothing else", () => {
    const run = runOf([stage("canary", ["eu-1"], 1)]);
    const colored = renderTree(run, START, { color: true, width: 100 });
    expect(colored).toContain("\u001b[36m◌ Progressing");
    const colors = new RegExp(`${String.fromCharCode(27)}\\[\\d*m`, "g");
    expect(colored.replace(colors, "")).toBe(renderTree(run, START, PLAIN));
  });
});
