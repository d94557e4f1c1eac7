import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "../../../../test/support/any-text.ts";
import { iso } from "../../../core/base/time.ts";
import { said } from "../../../core/reasons/run.ts";
import type { Batch, BatchTarget, Evidence, Run } from "../../../core/run/state/run.ts";
import { confirmed, freshRun, START, withBatch } from "../testing/runs.ts";
import { printRun, type RunFiles } from "./print-run.ts";
import { JournalFileError, readRun } from "./read-run.ts";

function readBack(files: ReadonlyMap<string, string>, prior?: RunFiles): Promise<RunFiles | undefined> {
  const read = async (paths: readonly string[]) => new Map(paths.map((path) => [path, files.get(path) ?? null]));
  return readRun(read, "payments", 1, prior);
}

/** Texts that YAML could take for something else, or for our rows. */
const text = fc.oneof(
  anyText(40),
  fc.constantFrom(
    "on",
    "no",
    "3.10",
    "0044289",
    "~",
    "",
    "a: b",
    "- x",
    '- {"a":1}',
    'x\n  - {"a":1}\n',
    "@@row:0@@",
    "#",
    "2026-11-21",
    "é\u2028",
  ),
);
const time = fc.integer({ min: 0, max: 4e12 }).map(iso);
const evidence: fc.Arbitrary<Evidence> = fc.record(
  {
    verdict: fc.constantFrom("live", "failing", "waiting", "pending", "lost"),
    clause: text,
    sentence: text.map(said),
    readAt: time,
    resourceVersion: text,
    fields: fc.dictionary(
      text.filter((key) => key !== "__proto__"),
      fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
      { maxKeys: 3 },
    ),
  },
  { requiredKeys: ["verdict", "clause", "sentence", "readAt", "fields"] },
);
const change = fc.record({
  why: text,
  phase: fc.constantFrom<BatchTarget["phase"]>("Merged", "Failed", "Skipped"),
  evidence: fc.option(evidence, { nil: undefined }),
});

function touched(run: Run, changes: readonly { why: string; phase: BatchTarget["phase"]; evidence: Evidence | undefined }[]): Run {
  let at = 0;
  const batches = run.batches.map((batch): Batch => {
    const targets = batch.targets.map((one): BatchTarget => {
      const made = changes[at++ % Math.max(1, changes.length)];
      if (made === undefined) return one;
      const { evidence: found, why, phase } = made;
      const rest = { phase, why: said(why) };
      const { evidence: _, ...before } = one;
      return found === undefined ? { ...before, ...rest } : { ...before, ...rest, evidence: found };
    });
    return { ...batch, why: changes[0] === undefined ? batch.why : said(changes[0].why), targets };
  });
  return { ...run, batches };
}

describe("a run and its files", () => {
  test("whatever a run says, it is read back the same, also when it was written step by step", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { minLength: 1, maxLength: 7 }), { minLength: 1, maxLength: 4 }),
        text,
        async (steps, why) => {
          let run = freshRun(7, 3, {
            why: said(why),
            next: { what: said(why) },
            skipped: [{ cluster: why, why: said(why), at: iso(START) }],
          });
          let written: RunFiles | undefined;
          for (const step of steps) {
            run = touched(run.batches.length < 3 ? withBatch(run, "Open", START) : run, step);
            written = printRun(run, written);
            const back = await readBack(written.files);
            expect(back?.run).toEqual(run);
            expect(printRun(back?.run ?? run, back).files).toEqual(written.files);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test("a transition writes the run and its batch; the plan and shards of evidence are written once", () => {
    const first = withBatch(freshRun(1000, 300), "Open", START);
    const written = printRun(first);
    const second = confirmed(first, START + 1000);
    const again = printRun(second, written);
    const changed = [...again.files.keys()].filter((path) => again.files.get(path) !== written.files.get(path));
    expect(changed).toEqual([
      "runs/payments/1/evidence/001-1.yaml",
      "runs/payments/1/evidence/001-2.yaml",
      "runs/payments/1/batches/001.yaml",
    ]);
    const third = printRun(confirmed(withBatch(second, "Open", START), START + 2000), again);
    for (const path of changed) expect(third.files.get(path)).toBe(again.files.get(path));
    expect(third.files.get("runs/payments/1/plan.yaml")).toBe(written.files.get("runs/payments/1/plan.yaml"));
  });

  test("files that did not change give the very objects of before", async () => {
    const written = printRun(confirmed(withBatch(withBatch(freshRun(6, 3), "Open", START), "Open", START), START));
    const back = await readBack(written.files);
    const next = { ...(back?.run ?? written.run), why: said("Something new.") };
    const again = await readBack(printRun(next, back).files, back);
    expect(again?.run).toEqual(next);
    expect(again?.run.plan).toBe(back?.run.plan);
    expect(again?.run.batches[0]).toBe(back?.run.batches[0]);
  });

  test("the files are what an auditor can read", () => {
    const written = printRun(confirmed(withBatch(freshRun(2, 1), "Open", START), START + 60_000));
    expect(written.files.get("runs/payments/1/run.yaml")).toMatchInlineSnapshot(`
      "format: 2
      rollout: payments
      number: 1
      release:
        values:
          version: v1.4.2
        attempt: 0
      trigger:
        commit: cccccccccccccccccccccccccccccccccccccccc
        pull: 7
        author: ana
        at: 2026-11-21T04:00:00.000Z
      phase: Progressing
      since: 2026-11-21T04:00:00.000Z
      why:
        code: SAID
        text: The release was merged.
      next:
        what:
          code: SAID
          text: batch 1 is proposed
      stage: 0
      batches: 1
      startedAt: 2026-11-21T04:00:00.000Z
      requeued: []
      skipped: []
      failedAccepted: []
      commands: []
      "
    `);
    expect(written.files.get("runs/payments/1/batches/001.yaml")).toMatchInlineSnapshot(`
      "number: 1
      stage: 0
      ofStage: 1
      attempt: 1
      kind: Planned
      branch: stagecoach-run/payments/1/1-1-1
      phase: Settled
      since: 2026-11-21T04:01:00.000Z
      why:
        code: SAID
        text: Every target is confirmed.
      next: null
      merged:
        commit: eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee
        at: 2026-11-21T04:00:30.000Z
        by: stagecoach[bot]
      settledAt: 2026-11-21T04:01:00.000Z
      shards: 1
      targets:
        - {"key":"hub/argocd/payments-cluster-0","phase":"Baked","since":"2026-11-21T04:01:00.000Z","why":{"code":"SAID","text":"Live at v1.4.2 and healthy for 10s."},"confirmedAt":"2026-11-21T04:01:00.000Z","evidence":1}
      "
    `);
    expect(written.files.get("runs/payments/1/evidence/001-1.yaml")).toMatchInlineSnapshot(`
      "batch: 1
      shard: 1
      evidence:
        - {"target":"hub/argocd/payments-cluster-0","verdict":"live","clause":"all","sentence":{"code":"SAID","text":"Live at v1.4.2 and healthy for 10s."},"readAt":"2026-11-21T04:01:00.000Z","resourceVersion":"812","fields":{"sync.status":"Synced","sync.revision":"dddddddddddddddddddddddddddddddddddddddd","health.status":"Healthy","operation.phase":"Succeeded"}}
      "
    `);
  });
});

describe("files broken by hand", () => {
  const good = printRun(confirmed(withBatch(freshRun(4, 2), "Open", START), START)).files;
  const run = "runs/payments/1/run.yaml";
  const plan = "runs/payments/1/plan.yaml";
  const batch = "runs/payments/1/batches/001.yaml";
  const shard = "runs/payments/1/evidence/001-1.yaml";
  const edit = (path: string, from: RegExp | string, to: string) => new Map(good).set(path, (good.get(path) ?? "").replace(from, to));
  const without = (path: string) => new Map([...good].filter(([name]) => name !== path));

  test.each<[string, Map<string, string>, string, RegExp]>([
    ["an unknown format", edit(run, "format: 2", "format: 7"), run, /"has":"7","reads":2/],
    ["a format of before the first release", edit(run, "format: 2", "format: 1"), run, /JOURNAL_FORMAT_OLD/],
    ["no format", edit(run, "format: 2\n", ""), run, /"has":"none"/],
    ["text that is no YAML", edit(run, "why:", "why: [\n"), run, /line \d+/],
    ["a phase nobody knows", edit(run, "phase: Progressing", "phase: Flying"), run, /phase/],
    ["a time that is none", edit(run, /startedAt: .*/, "startedAt: soon"), run, /startedAt: is no time/],
    ["another run's number", edit(run, "number: 1", "number: 2"), run, /JOURNAL_OTHER_RUN.*"run":2/],
    ["batches without end", edit(run, "batches: 1", "batches: 999999999"), run, /batches/],
    ["a plan that is gone", without(plan), plan, /JOURNAL_NO_FILE/],
    ["a batch that is gone", without(batch), batch, /JOURNAL_NO_FILE/],
    ["a shard that is gone", without(shard), shard, /JOURNAL_NO_FILE/],
    ["a target the plan does not know", edit(batch, "payments-cluster-0", "payments-cluster-99"), batch, /JOURNAL_TARGET/],
    ["evidence that is not in its shard", edit(shard, "payments-cluster-0", "payments-cluster-9"), batch, /JOURNAL_EVIDENCE/],
    ["an alias", edit(run, /phase: .*/, "phase: &a x\nother: *a"), run, /alias/],
    ["a key given twice", edit(run, "number: 1", "number: 1\nnumber: 1"), run, /unique/],
  ])("%s is said with the file, and stops this run alone", async (_, files, file, why) => {
    const error = await readBack(files).catch((problem) => problem);
    expect(error).toBeInstanceOf(JournalFileError);
    expect(error).toMatchObject({ file, message: expect.stringMatching(why) });
  });

  test("an alias bomb is refused at once", async () => {
    const bomb = `a: &a [x,x]\n${"bcdefghijklmnopqrstuvwxyz".replace(/./g, (at) => `${at}: &${at} [*${String.fromCharCode(at.charCodeAt(0) - 1)},*${String.fromCharCode(at.charCodeAt(0) - 1)}]\n`)}`;
    await expect(readBack(new Map(good).set(run, bomb))).rejects.toThrow(/alias/);
  });

  test("a hand edit in plain block YAML is read like the rows we write", async () => {
    const files = edit(
      batch,
      /- \{"key":"hub\/argocd\/payments-cluster-0".*/,
      "- key: hub/argocd/payments-cluster-0\n    phase: Skipped\n    since: 2026-11-21T04:00:00.000Z\n    why: By hand.",
    );
    const back = await readBack(files);
    expect(back?.run.batches[0]?.targets[0]).toMatchObject({ phase: "Skipped", why: "By hand.", cluster: "hub/cluster-0" });
  });
});
