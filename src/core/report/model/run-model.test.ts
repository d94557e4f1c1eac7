import { describe, expect, test } from "vitest";
import { batchTarget, sampleRun } from "../../../../test/support/sample-run.ts";
import type { AnyReason, NoData } from "../../base/reason.ts";
import { iso } from "../../base/time.ts";
import { runReason, said } from "../../reasons/run.ts";
import { pullRef } from "../../run/state/names.ts";
import type { Batch, BatchTarget, Run } from "../../run/state/run.ts";
import { commandSpec } from "../../spec/commands.ts";
import type { Window } from "../../spec/windows.ts";
import { planAnswer } from "../answers.ts";
import { entriesOf } from "../reasons/entry.ts";
import { REASONS } from "../reasons/say.ts";
import { runComment } from "../run/run-comment.ts";
import { renderTree, statusWord } from "../tree/tree.ts";
import { clustersBelow } from "./counts.ts";
import { stateWord } from "./labels.ts";
import { modelOf } from "./run-model.ts";
import type { ModelNode } from "./types.ts";

const NOW = Date.parse("2026-11-21T09:04:00.000Z");

function outline(node: ModelNode, indent = ""): string[] {
  return [`${indent}${node.name}: ${node.state}`, ...node.children.flatMap((child) => outline(child, `${indent}  `))];
}

function verbs(run: Run, allowed: boolean): string[] {
  return modelOf(run, NOW).actions.flatMap((one) => (one.allowed === allowed ? [one.verb] : []));
}

describe("the model of a run", () => {
  test("a cluster of several Applications is as far as the one that is furthest behind", () => {
    const run = sampleRun();
    const [first, second] = run.batches as [Batch, Batch];
    const extra = { ...batchTarget("us-1", "Failed"), key: "hub/argocd/other-us-1", application: "other-us-1" };
    const model = modelOf({ ...run, batches: [first, { ...second, targets: [...second.targets, extra] }] }, NOW);
    const cluster = clustersBelow(model).find(({ name }) => name === "us-1");
    expect([cluster?.state, cluster?.children.map(({ name }) => name)]).toEqual(["Failed", ["payments-us-1", "other-us-1"]]);
    expect(modelOf(run, NOW).counts).toEqual({ clusters: 6, healthy: 2, failed: 0, requeued: 1, skipped: 0, toCome: 1 });
  });

  test("a requeued cluster waits for the stage's batches, and is looked at again at a time only after them", () => {
    const run = sampleRun();
    const requeued = (over: Partial<Run>) => clustersBelow(modelOf({ ...run, ...over }, NOW)).find(({ name }) => name === "us-4");
    expect(requeued({})).toMatchObject({ facts: ["tried after the stage's batches"], eta: undefined });
    expect(requeued({ requeued: run.requeued.map((one) => ({ ...one, attempts: 1 })) })?.eta?.p50).toBe("2026-11-21T09:30:00.000Z");
    expect(requeued({ phase: "Aborted" })?.eta).toBeUndefined();
  });

  test("has every stage, batch, cluster and Application once, with one word for what is healthy", () => {
    expect(outline(modelOf(sampleRun(), NOW))).toMatchInlineSnapshot(`
      [
        "payments #42: Progressing",
        "  canary: Healthy",
        "    batch 1 of 1: Healthy",
        "      eu-1: Healthy",
        "        payments-eu-1: Healthy",
        "      eu-2: Healthy",
        "        payments-eu-2: Healthy",
        "  everywhere else: Progressing",
        "    batch 1 of 2: Syncing",
        "      us-1: Syncing",
        "        payments-us-1: Syncing",
        "      us-2: Merged",
        "        payments-us-2: Merged",
        "    batch 2 of 2: ToCome",
        "      us-3: ToCome",
        "        payments-us-3: ToCome",
        "    us-4: Requeued",
        "      payments-us-4: Requeued",
      ]
    `);
  });

  test("what failed is left out or put off by its name, and no time that is over is waited for", () => {
    const run = sampleRun({ next: { what: said("it is merged"), deadline: iso(NOW - 1000) } });
    expect(renderTree(run, NOW, { color: false, width: 100 })).not.toContain("at the latest");
    expect(runComment(run, NOW)).not.toContain("at the latest");
    const batches = run.batches.map((batch, index) =>
      index === 0 ? batch : { ...batch, targets: [batchTarget("us-1", "Failed"), batchTarget("us-2", "Healthy")] },
    );
    const failed = { ...run, batches };
    expect(modelOf(failed, NOW).actions).toContainEqual(expect.objectContaining({ verb: "skip", args: ["us-1"], allowed: true }));
    expect(runComment(failed, NOW)).toContain("`/skip us-1`");
    expect(modelOf(run, NOW).actions.map(({ verb }) => verb)).not.toContain("skip");
  });

  describe("says at a glance who has to act", () => {
    const approval = runReason("APPROVAL_WANTED", {
      ...{ stage: "canary", teams: ["acme/sre", "acme/dba"], want: 1, have: [], lapsed: [], outdated: [], unread: false },
    });
    const pull = 12;
    const shut = runReason("WINDOW_SHUT", { where: { kind: "Rollout" } });
    const halted = runReason("CLUSTERS_HALTED", { by: "carol", clusters: [], text: "" });
    const held = (why: AnyReason) => runReason("PULL_WAITS", { pull, because: why });
    const itself = { what: runReason("NEXT_LOOKED_AGAIN") };
    const person = { what: runReason("NEXT_PERSON_MERGES", { pull, promote: true }) };

    test.each([
      ["a team", held(approval), itself, "Waiting for @acme/sre or @acme/dba", "person"],
      ["a window", held(shut), itself, "Waiting for a window", "window"],
      ["a halt", held(halted), itself, "Waiting for a halt to end", "halt"],
      ["a person whom nobody names", said("people merge it"), person, "Waiting for you", "person"],
      ["nobody: it goes on by itself", said("Argo CD has not seen it"), itself, "Progressing", undefined],
    ])("%s", (_, why, next, word, kind) => {
      const run = sampleRun({ why, next });
      const model = modelOf(run, NOW);
      expect([stateWord(model), model.waitsOn?.kind]).toEqual([word, kind]);
      expect(stateWord(modelOf({ ...run, phase: "RollingBack" }, NOW))).toMatch(/^Rolling back/);
      // The stage that it is at stands as the run does.
      expect(model.children.map(({ state }) => state)).toEqual(["Healthy", model.state]);
      const tree = renderTree(run, NOW, { color: false, width: 200 });
      const texts = [runComment(run, NOW).replaceAll("\u200b", ""), tree, statusWord(model)];
      for (const text of texts) expect(text).toContain(word);
    });

    test("a paused run asks a person, and one that is on its way to its end nobody", () => {
      expect(modelOf(sampleRun({ phase: "Paused" }), NOW)).toMatchObject({ state: "Paused", waitsOn: { kind: "person" } });
      const ending = { phase: "Aborted" as const, by: "bob", reason: said("x"), at: "2026-11-21T09:03:00.000Z" };
      expect(modelOf(sampleRun({ phase: "Paused", ending }), NOW).waitsOn).toBeUndefined();
    });
  });

  test("what failed counts from its failure, and a stage from the run's pause, not from when they began", () => {
    const at = { begun: "2026-11-21T08:50:00.000Z", failed: "2026-11-21T09:02:00.000Z", paused: "2026-11-21T09:03:00.000Z" };
    const targets = ["us-1", "us-2"].map((name, index) => ({
      ...batchTarget(name, index === 0 ? "Failed" : "Healthy"),
      since: index === 0 ? at.failed : at.begun,
    }));
    const run = sampleRun({ phase: "Paused", since: at.paused });
    const batches = run.batches.map((batch, index) => (index === 0 ? batch : { ...batch, since: at.begun, targets }));
    const [, stage] = modelOf({ ...run, batches }, NOW).children;
    expect([stage?.state, stage?.since, stage?.children[0]?.state, stage?.children[0]?.since]).toEqual([
      ...["Paused", at.paused],
      ...["Failed", at.failed],
    ]);
  });

  test("a stage says nothing of batches that are not planned yet, and counts none as done that a run left", () => {
    const run = sampleRun();
    const stages = run.plan.stages.map((stage, index) => (index === 0 ? stage : { ...stage, batches: [], requeued: stage.clusters }));
    const begun = { ...run, stage: 0, requeued: [], batches: run.batches.slice(0, 1), plan: { ...run.plan, stages } };
    const texts = [runComment(begun, NOW), planAnswer(begun, NOW, "bob")];
    for (const text of texts) expect(text).toMatch(/\| everywhere else \|.*\| not planned yet \|/);
    for (const text of texts) expect(text).not.toContain("0/0");
    const aborted = sampleRun({ phase: "Aborted", endedAt: "2026-11-21T09:03:00.000Z" });
    expect(runComment(aborted, NOW)).toMatch(/\| everywhere else \|.*\| 0\/2 \|/);
  });

  test("offers what the core would do, and says of the rest why not", () => {
    expect(verbs(sampleRun(), true)).toEqual(["pause", "rollback", "abort"]);
    const paused = { kind: "Failure" as const, by: "", reason: said("x"), at: "2026-11-21T09:00:00.000Z", ask: said("y") };
    expect(verbs(sampleRun({ phase: "Paused", paused }), true)).toEqual(["retry", "resume", "rollback", "abort"]);
    const [resume] = modelOf(sampleRun(), NOW).actions.filter(({ verb }) => verb === "resume");
    expect(resume).toMatchObject({ needs: "write", allowed: false, whyNot: { reason: { code: "NOT_PAUSED" } } });
    expect(verbs(sampleRun({ phase: "Succeeded", endedAt: "2026-11-21T09:03:00.000Z" }), true)).toEqual(["rollback"]);
  });

  test("each of what is offered has its verb, its arguments as a person types them, what it does, the right it needs, or why it is not possible", () => {
    const [first, second] = sampleRun().batches as [Batch, Batch];
    const targets = second.targets.map((target) => ({ ...target, phase: "Failed" as const }));
    const model = modelOf(sampleRun({ phase: "Paused", batches: [first, { ...second, targets }] }), NOW);
    const cluster = clustersBelow(model).find(({ name }) => name === "us-1");
    expect(cluster?.actions.map(({ verb, args, allowed }) => [verb, args, allowed])).toEqual([
      ["requeue", ["us-1"], true],
      ["skip", ["us-1"], true],
    ]);
    for (const one of [...model.actions, ...(cluster?.actions ?? [])]) {
      expect([one.effect.length > 10, one.needs, one.allowed]).toEqual([true, commandSpec(one.verb).who, one.whyNot === undefined]);
      if (one.whyNot !== undefined) expect([one.whyNot.reason.code, one.whyNot.says]).not.toContain("");
    }
  });

  test("expects an end as past batches went, and none where nothing is known or the run stands still", () => {
    const first = { ...(sampleRun().batches[0] as Batch), settledAt: "2026-11-21T09:12:00.000Z" };
    const run = sampleRun({ batches: [first, ...sampleRun().batches.slice(1)] });
    // Twelve minutes with a bake of ten: two for each of the two batches that are left, which do not bake.
    expect(modelOf(run, NOW).eta).toEqual({ p50: "2026-11-21T09:08:00.000Z", p90: "2026-11-21T09:08:00.000Z" });
    expect(modelOf({ ...run, phase: "Paused" }, NOW).eta).toBeUndefined();
    expect(modelOf(sampleRun({ batches: [] }), NOW).eta).toBeUndefined();
  });

  test("expects an end as past runs of the rollout went, as long as this one has no batch of its own to go by", () => {
    const history = {
      stages: new Map([
        ["canary", [900_000, 1_200_000]],
        ["everywhere else", [240_000, 480_000]],
      ]),
      totals: [],
    };
    const begun = sampleRun({ batches: [], stage: 0 });
    const [canary, rest] = modelOf(begun, NOW, { history }).children.map(({ eta }) => eta);
    const minutes = (time: string | undefined) => (Date.parse(time ?? "") - NOW) / 60_000;
    // Half of the runs before were faster than p50.
    expect([minutes(canary?.p50), minutes(canary?.p90)]).toEqual([15, 20]);
    expect([minutes(rest?.p50), minutes(rest?.p90)]).toEqual([19, 28]);
    expect(modelOf(begun, NOW, { history }).eta).toEqual(rest);
  });

  test("a freeze that lies in the way moves the end that is expected past it", () => {
    const history = { stages: new Map([["everywhere else", [240_000]]]), totals: [] };
    const first = { ...(sampleRun().batches[0] as Batch), settledAt: "2026-11-21T09:01:00.000Z" };
    const run = sampleRun({ batches: [first] });
    const end = (freezes: (Window & { where: { kind: "Server" } })[]) => modelOf(run, NOW, { history: { ...history, freezes } }).eta?.p50;
    expect(end([])).toBe("2026-11-21T09:08:00.000Z");
    const freeze = {
      schedule: "5 9 * * *",
      durationMs: 3 * 3_600_000,
      timeZone: "UTC",
      kind: "deny" as const,
      where: { kind: "Server" as const },
    };
    // The first of two batches begins before it, the second only once it is over.
    expect(end([freeze])).toBe("2026-11-21T12:07:00.000Z");
  });

  test("no reason of what comes next is without who brings it about", () => {
    entriesOf<{ NEXT_SAMPLE: NoData; SAMPLE: NoData }>()({
      // @ts-expect-error it must say whether a person does
      NEXT_SAMPLE: { says: "it comes" },
      SAMPLE: { says: "it is" },
    });
    const next = Object.entries(REASONS).filter(([code]) => code.startsWith("NEXT_"));
    expect(next.filter(([, { by }]) => by === undefined).map(([code]) => code)).toEqual([]);
  });

  test("expects no end while a person is waited for: nobody knows how long that takes", () => {
    const first = { ...(sampleRun().batches[0] as Batch), settledAt: "2026-11-21T09:12:00.000Z" };
    const run = sampleRun({ batches: [first, ...sampleRun().batches.slice(1)] });
    const what = runReason("NEXT_APPROVED", { pull: pullRef(first.pull), released: ["ana"], author: "ana", merger: undefined });
    const awaiting = modelOf({ ...run, next: { what } }, NOW);
    expect([awaiting.eta, ...awaiting.children.map(({ eta }) => eta)].filter((eta) => eta !== undefined)).toEqual([]);
  });

  test("a batch of which nothing is on its way any more, and some failed, has failed: also once the run was aborted", () => {
    const failing = (phases: BatchTarget["phase"][], over: Partial<Run> = {}) => {
      const [first, second] = sampleRun().batches as [Batch, Batch];
      const targets = second.targets.map((target, at) => ({ ...target, phase: phases[at] ?? target.phase }));
      const model = modelOf(sampleRun({ batches: [first, { ...second, phase: "Merged", targets }], ...over }), NOW);
      return model.children.flatMap(({ children }) => children).filter(({ kind }) => kind === "batch")[1];
    };
    expect(failing(["Failed", "Syncing"])).toMatchObject({ state: "Syncing", tone: "bad" });
    expect(failing(["Failed", "Healthy"])).toMatchObject({ state: "Failed", when: "now" });
    expect(failing(["Failed", "Failed"], { phase: "Aborted", endedAt: iso(NOW) })).toMatchObject({ state: "Failed", when: "past" });
  });

  test("the cause of a failure is what Argo CD says of the worst resources, not of the whole", () => {
    const [first, second] = sampleRun().batches as [Batch, Batch];
    const [one, ...more] = second.targets;
    if (one === undefined) throw new Error("the sample has targets");
    const why = { code: "SYNC_FAILED", phase: "Failed", spent: true, message: "one or more objects failed to apply" };
    const unwell = "Deployment web/api: SyncFailed: admission webhook denied it";
    const evidence = { verdict: "failing" as const, clause: "sync", sentence: why, readAt: iso(NOW), fields: { unwell } };
    const failing = { ...one, phase: "Failed" as const, why, evidence };
    const failed = sampleRun({ phase: "Paused", batches: [first, { ...second, targets: [failing, ...more] }] });
    expect(modelOf(failed, NOW).cause).toMatchObject({ name: "payments-us-1 on us-1", says: unwell });
  });

  test("says what Argo CD says of a failed cluster, with a link to it there", () => {
    const run = sampleRun();
    const [first, second] = run.batches as [Batch, Batch];
    const why = { code: "DEGRADED", day: "2026-11-21", seenAt: run.since, message: "Deployment web: 0 of 3 pods are ready" };
    const [one, ...more] = second.targets;
    if (one === undefined) throw new Error("the sample has targets");
    const failing = { ...one, phase: "Failed" as const, why: { code: "DEADLINE_PASSED", seen: true, because: why } };
    const failed = sampleRun({ phase: "Paused", batches: [first, { ...second, targets: [failing, ...more] }] });
    const model = modelOf(failed, NOW, { linkTo: (key) => `https://argocd.example.com/${key}` });
    expect(model.cause).toEqual({
      kind: "application",
      name: "payments-us-1 on us-1",
      says: "Deployment web: 0 of 3 pods are ready",
      link: "https://argocd.example.com/hub/argocd/payments-us-1",
    });
  });

  test("a cause that the sentence beside it holds already is marked, so that no page says it twice", () => {
    const [first, second] = sampleRun().batches as [Batch, Batch];
    const [one, ...more] = second.targets;
    if (one === undefined) throw new Error("the sample has targets");
    const why = { code: "DEGRADED", day: "2026-11-21", seenAt: iso(NOW), message: "0 of 3 pods are ready" };
    const batches = [first, { ...second, targets: [{ ...one, phase: "Failed" as const, why }, ...more] }];
    const causeFor = (why: Run["why"]) => modelOf(sampleRun({ phase: "Paused", batches, why }), NOW).cause;
    expect(causeFor(why)).toMatchObject({ says: "0 of 3 pods are ready", told: true });
    expect(causeFor(said("us-1 failed"))).toMatchObject({ says: "0 of 3 pods are ready", told: undefined });
  });

  test("a batch that failed, or that a pause holds, says nothing of what it waited for before", () => {
    const [first, second] = sampleRun().batches as [Batch, Batch];
    const next = { what: runReason("NEXT_BAKE_ENDS"), eta: iso(NOW + 60_000) };
    const shown = (batch: Partial<Batch>, over: Partial<Run> = {}) =>
      modelOf(sampleRun({ batches: [first, { ...second, next, ...batch }], ...over }), NOW).children[1]?.children[0];
    const paused = { phase: "Paused" as const, why: said("alice paused it") };
    const failed = second.targets.map((target) => ({ ...target, phase: "Failed" as const }));
    expect(shown({})?.waitsFor?.reason.code).toBe("NEXT_BAKE_ENDS");
    const over = shown({ targets: failed }, paused);
    const held = shown({ phase: "Open", merged: undefined }, paused);
    expect([over?.state, over?.waitsFor, over?.deadline, over?.eta]).toEqual(["Failed", undefined, undefined, undefined]);
    expect([held?.says, held?.waitsFor, held?.deadline]).toEqual(["alice paused it", undefined, undefined]);
  });
});

test("a run that /rollback ended is told by that, in the model and wherever its state stands; one that /abort ended, as aborted", () => {
  const ended = sampleRun({ phase: "Aborted", endedAt: "2026-11-21T09:03:00.000Z" });
  const rollback = { by: "bob", reason: said("@bob rolls it back"), at: ended.since };
  expect([modelOf(ended, 0).state, modelOf({ ...ended, rollback }, 0).state]).toEqual(["Aborted", "RolledBack"]);
});

test("a batch whose only cluster was skipped is not told as healthy, nor a stage of which one was", () => {
  const run = sampleRun();
  const [first] = run.batches;
  if (first === undefined) throw new Error("the sample has batches");
  const of = (...phases: BatchTarget["phase"][]) => {
    const targets = phases.map((phase, index) => batchTarget(`eu-${index + 1}`, phase));
    const [stage] = modelOf({ ...run, batches: [{ ...first, targets }] }, 0).children;
    const batch = stage?.children[0];
    return [stage?.state, batch?.state, batch?.facts.at(-1)];
  };
  expect(of("Skipped", "Skipped").slice(0, 2)).toEqual(["Done", "Skipped"]);
  expect(of("Baked", "Skipped")).toEqual(["Done", "Done", "1 skipped"]);
  expect(of("Baked", "Baked").slice(0, 2)).toEqual(["Healthy", "Healthy"]);
});
