import { expect, test } from "vitest";
import { sampleRun } from "../../../test/support/sample-run.ts";
import type { Journal } from "../../adapters/git/journal/port.ts";
import { printRun } from "../../adapters/git/journal/print-run.ts";
import type { Mirror } from "../../adapters/git/port.ts";
import type { Cluster } from "../../core/plan/plan-types.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { Window } from "../../core/spec/windows.ts";
import { partsOf } from "../testing/parts.ts";

const at = (minute: number) => new Date(Date.parse("2026-11-21T08:00:00.000Z") + minute * 60_000).toISOString();

function ended(number: number, minutes: number, change: Partial<Run> = {}): Run {
  const base = sampleRun();
  const batches = base.batches.map((batch, index) => ({
    ...batch,
    pull: { number: index, url: "u", head: "a", openedAt: at(index * minutes) },
    settledAt: at((index + 1) * minutes),
  }));
  return sampleRun({ number, batches, stage: 2, phase: "Succeeded", startedAt: at(0), endedAt: at(2 * minutes), ...change });
}

function journalOf(runs: readonly Run[], broken: Record<string, string> = {}, freezes: Window[] = []) {
  const files = new Map(runs.flatMap((run) => [...printRun(run).files]));
  for (const [path, text] of Object.entries(broken)) files.set(path, text);
  let reads = 0;
  const mirror: Partial<Mirror> = {
    listFiles: async (_commit, prefix = "") => [...files.keys()].filter((path) => path.startsWith(`${prefix}/`)),
    async readFiles(_commit, paths) {
      reads += 1;
      return new Map(paths.map((path) => [path, files.get(path) ?? null]));
    },
  };
  const memory = partsOf({ mirror: mirror as Mirror, journal: { head: () => "head" } as Journal, freezes });
  const ask = (last: number) => memory.durationsOf("head", "payments", last);
  return { ask, reads: () => reads, past: memory.pastRuns };
}

test("the stages of past runs are timed from the journal as it is written, and each run is read once", async () => {
  const { ask, reads } = journalOf([ended(1, 10), ended(2, 20)]);
  const history = await ask(2);
  expect(history.stages.get("canary")).toEqual([1_200_000, 600_000]);
  expect(history.totals).toEqual([2_400_000, 1_200_000]);
  const before = reads();
  expect(await ask(2)).toEqual(history);
  expect(reads()).toBe(before);
});

const seen = (run: Run) => ({ advanced: { run }, world: { clusters: new Map<string, Cluster>(), clustersKnown: true } });

test("of a run under way the runs before it are read once, however often it is looked at, and of one that has ended none", async () => {
  const { past, reads } = journalOf([ended(1, 10), ended(2, 20)]);
  const third = sampleRun({ number: 3 });
  expect(past.of(third).totals).toEqual([]);
  await past.read([seen(third)], "base");
  expect(past.of(third).totals).toEqual([2_400_000, 1_200_000]);
  const before = reads();
  await past.read([third, ended(2, 20)].map(seen), "base");
  expect([reads(), past.of(sampleRun({ number: 4 })).totals]).toEqual([before, []]);
});

test("waits for the freezes of the repo and of the server are left out, as on the release's pull request", async () => {
  const settings = "freezes:\n  - { schedule: '10 8 * * *', duration: 3m, timeZone: UTC, kind: deny }\n";
  const ours = { schedule: "0 8 * * *", durationMs: 300_000, timeZone: "UTC", kind: "deny" } as const;
  // Each batch waits from its pull request until it is settled: five minutes of ours, then three of the repo's.
  const batches = ended(1, 10).batches.map(({ merged: _, ...batch }) => batch);
  const { past } = journalOf([ended(1, 10, { batches })], { ".github/stagecoach.yaml": settings }, [ours]);
  const second = sampleRun({ number: 2 });
  await past.read([seen(second)], "base");
  expect(past.of(second).totals).toEqual([720_000]);
  // What lies ahead of the run waits for them, too.
  expect(past.of(second).freezes?.map(({ where }) => where)).toEqual([
    { kind: "File", file: ".github/stagecoach.yaml" },
    { kind: "Server" },
  ]);
});

test("a run under way counts for nothing, and one that is broken or folded away is left out", async () => {
  const { endedAt: _, ...open } = ended(4, 5);
  const { ask } = journalOf([ended(2, 20), { ...open, phase: "Progressing" }], {
    "runs/payments/3/run.yaml": "a: [",
    "runs/payments/3/plan.yaml": "\u0000",
  });
  expect((await ask(4)).totals).toEqual([2_400_000]);
});

test("without a journal there is no history", async () => {
  expect((await journalOf([]).ask(0)).totals).toEqual([]);
});
