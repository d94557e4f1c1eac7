import { describe, expect, test } from "vitest";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { sampleRun } from "../../../test/support/sample-run.ts";
import { ForgeError } from "../../adapters/forge/port.ts";
import type { JournalChange } from "../../adapters/git/journal/port.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { runReason } from "../../core/reasons/run.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { Advanced } from "../../core/run/state/world.ts";
import { fixedHeads } from "../testing/fixed-heads.ts";
import { openAttention } from "./attention.ts";
import { type RepoContext, silentLog } from "./context.ts";
import type { Decision } from "./decide.ts";
import { Recorder } from "./record.ts";

const CONFIRMED = runReason("TARGET_CONFIRMED", { cluster: "hub/eu-1", application: "web-eu-1" });

function desk(answer: () => "recorded" | "lost" = () => "recorded", { young = false, cannotAnchor = false } = {}) {
  const clock = manualClock(Date.parse("2026-11-21T09:00:00.000Z"));
  const commits: JournalChange[] = [];
  async function record(change: JournalChange): Promise<"recorded" | "lost"> {
    commits.push(change);
    return answer();
  }
  const anchored: number[] = [];
  async function anchor(): Promise<void> {
    anchored.push(commits.length);
    if (cannotAnchor) throw new ForgeError("Forbidden", 403, "Resource not accessible by integration");
  }
  const journal = { record, anchor, head: () => "j1" };
  const forge = { repo: async () => ({ archived: false }) };
  const told: [Run | undefined, Run][] = [];
  const onRecorded: RepoContext["onRecorded"] = (before, run) => void told.push([before, run]);
  const own = { onRecorded, journal, journalBranch: "stagecoach/journal", clock, log: silentLog, forge, repository: "acme/fleet" };
  const context = own as unknown as RepoContext;
  const attention = openAttention(context, "acme/fleet");
  const recorder = new Recorder(context, fixedHeads({}), attention);
  // Past the time in which it records at once what brings a run on.
  if (!young) clock.advance(60_000);
  return { clock, commits, anchored, attention, recorder, told };
}

function decided(before: Run, run: Run, change: Advanced<Run>["change"], events: AnyReason[] = []): Decision {
  return { before, advanced: { run, change, events, effects: [] } } as unknown as Decision;
}

describe("what is observed of a run", () => {
  test("is recorded at once by a process that has just begun, where it brings the run on: it may be killed in a moment", async () => {
    const { commits, recorder } = desk(undefined, { young: true });
    const journalled = sampleRun();
    await recorder.record([], [decided(journalled, { ...journalled, why: runReason("RUN_BEGINS") }, "observation")]);
    expect(commits).toEqual([]);
    const good = journalled.batches.map((batch) => ({
      ...batch,
      targets: batch.targets.map((target) => ({ ...target, goodSince: journalled.since })),
    }));
    await recorder.record([], [decided(journalled, { ...journalled, batches: good }, "observation")]);
    expect(commits).toHaveLength(1);
  });

  test("is recorded at once where what was recorded as good is not any more: a later process would count from it", async () => {
    const { commits, recorder } = desk();
    const journalled = sampleRun();
    const [first, ...others] = journalled.batches;
    if (first === undefined) throw new Error("the sample has batches");
    const goodSince = journalled.since;
    const good = { ...journalled, batches: [{ ...first, targets: first.targets.map((target) => ({ ...target, goodSince })) }, ...others] };
    await recorder.record([], [decided(good, { ...good, why: runReason("RUN_BEGINS") }, "observation")]);
    expect(commits).toEqual([]);
    await recorder.record([], [decided(good, { ...good, batches: journalled.batches }, "observation")]);
    expect(commits).toHaveLength(1);
  });

  test("is no commit of its own while something is waited for: it goes with what comes of it, and is told there", async () => {
    const { commits, recorder } = desk();
    const journalled = sampleRun();
    const seen = { ...journalled, why: runReason("RUN_BEGINS") };
    await recorder.record([], [decided(journalled, seen, "observation", [CONFIRMED])]);
    expect(commits).toEqual([]);
    const settled = { ...seen, stage: 1 };
    await recorder.record([], [decided(recorder.asLastSeen(journalled), settled, "transition")]);
    expect(commits.map(({ runs, subject }) => [runs[0], subject])).toEqual([[settled, expect.stringContaining("eu-1 is healthy")]]);
    expect(recorder.asLastSeen(settled)).toBe(settled);
  });

  test("is not counted anew at each look: the next one goes on from what this process saw last", async () => {
    const { recorder } = desk();
    const journalled = sampleRun();
    const seen = { ...journalled, why: runReason("RUN_BEGINS") };
    await recorder.record([], [decided(journalled, seen, "observation")]);
    expect(recorder.asLastSeen(journalled)).toBe(seen);
    // Another replica has recorded since: what it wrote counts.
    const theirs = { ...journalled, stage: 1 };
    expect(recorder.asLastSeen(theirs)).toBe(theirs);
  });

  test("is recorded within two minutes where something has happened, since a restart would begin it anew", async () => {
    const { clock, commits, recorder } = desk();
    const journalled = sampleRun();
    const seen = { ...journalled, why: runReason("RUN_BEGINS") };
    await recorder.record([], [decided(journalled, seen, "observation", [CONFIRMED])]);
    expect(recorder.dueAt()).toBe(clock.now() + 120_000);
    clock.advance(120_000);
    await recorder.record([], [decided(recorder.asLastSeen(journalled), seen, "none")]);
    expect(commits.map(({ runs }) => runs[0])).toEqual([seen]);
    expect(recorder.dueAt()).toBe(Number.POSITIVE_INFINITY);
  });

  test("is no commit for that a pull request was opened or merged: GitHub tells that again as it was", async () => {
    const { clock, commits, recorder } = desk();
    const journalled = sampleRun();
    const batch = { kind: "Planned" as const, stage: "canary", number: 1 };
    const merged = runReason("BATCH_MERGED", { batch, pull: 7, commit: "c".repeat(40) });
    const seen = { ...journalled, why: runReason("RUN_BEGINS") };
    await recorder.record([], [decided(journalled, seen, "observation", [merged, runReason("BATCH_PROPOSED", { batch, pull: 8 })])]);
    expect(recorder.dueAt()).toBe(Number.POSITIVE_INFINITY);
    clock.advance(200_000);
    await recorder.record([], [decided(recorder.asLastSeen(journalled), seen, "none")]);
    expect(commits).toEqual([]);
  });

  test("goes with what is recorded of another run, which may rest on it", async () => {
    const { commits, recorder } = desk();
    const [one, other] = [sampleRun(), { ...sampleRun(), rollout: "other" }];
    const seen = { ...one, why: runReason("RUN_BEGINS") };
    await recorder.record([], [decided(one, seen, "observation", [CONFIRMED]), decided(other, other, "none")]);
    const moved = { ...other, stage: 1 };
    await recorder.record([], [decided(recorder.asLastSeen(one), seen, "none"), decided(other, moved, "transition")]);
    expect(commits.map(({ runs }) => runs)).toEqual([[seen, moved]]);
    expect(recorder.asLastSeen(one)).toBe(one);
  });

  test("is recorded after five minutes, though nothing new is seen", async () => {
    const { clock, commits, recorder } = desk();
    const journalled = sampleRun();
    const seen = { ...journalled, why: runReason("RUN_BEGINS") };
    await recorder.record([], [decided(journalled, seen, "observation")]);
    clock.advance(299_000);
    await recorder.record([], [decided(seen, seen, "none")]);
    expect(commits).toHaveLength(0);
    clock.advance(1000);
    await recorder.record([], [decided(seen, seen, "none")]);
    expect(commits.map(({ runs }) => runs[0])).toEqual([seen]);
    await recorder.record([], [decided(seen, seen, "none")]);
    expect(commits).toHaveLength(1);
  });
});

describe("a commit of the journal that is not taken", () => {
  const transition = () => [decided(sampleRun(), { ...sampleRun(), stage: 1 }, "transition")];

  test("because GitHub refuses it is tried again later and later, whoever wakes the round, and is said until one is taken", async () => {
    let refuses = true;
    const { clock, commits, recorder, attention } = desk(() => {
      if (refuses) throw new ForgeError("Invalid", 422, "Repository rule violations found");
      return "recorded";
    });
    for (let second = 0; second < 600; second++) {
      expect(await recorder.record([], transition())).toMatchObject({ kind: "refused", held: { code: "JOURNAL_NOT_WRITTEN" } });
      clock.advance(1000);
    }
    expect(commits.length).toBeLessThanOrEqual(16);
    expect(attention.told()).toMatchObject([{ code: "JOURNAL_NOT_WRITTEN", branch: "stagecoach/journal" }]);
    refuses = false;
    clock.advance(60_000);
    expect(await recorder.record([], transition())).toEqual({ kind: "recorded" });
    expect(attention.told()).toEqual([]);
  });

  test("because another replica was faster is tried at once, and less often where that never ends", async () => {
    const { clock, recorder } = desk(() => "lost");
    const waits: number[] = [];
    for (let n = 0; n < 8; n++) {
      const recorded = await recorder.record([], transition());
      waits.push(recorded.kind === "lost" ? recorded.again - clock.now() : Number.NaN);
    }
    expect(waits).toEqual([0, 0, 0, 2000, 4000, 8000, 16_000, 32_000]);
  });
});

describe("what is anchored", () => {
  const run = sampleRun();
  const moved = () => [decided(run, { ...run, stage: 1 }, "transition")];
  const said = () => [decided(run, { ...run, phase: "Succeeded" }, "transition")];

  test("is what a process records first, and then what must not be taken back, once each", async () => {
    const { anchored, recorder } = desk();
    await recorder.anchor();
    for (const decisions of [moved(), moved(), said()]) {
      await recorder.record([], decisions);
      await recorder.anchor();
      await recorder.anchor();
    }
    expect(anchored).toEqual([1, 3]);
  });

  test("is owed where it cannot be, and tried once with each record", async () => {
    const { anchored, recorder } = desk(undefined, { cannotAnchor: true });
    for (const decisions of [said(), moved()]) {
      await recorder.record([], decisions);
      await recorder.anchor();
      await recorder.anchor();
    }
    expect(anchored).toEqual([1, 2]);
  });
});

describe("who counts what is recorded", () => {
  test("is told once, by what the journal had before, though the run was seen to go on in between", async () => {
    const { recorder, told } = desk();
    const journalled = sampleRun();
    const seen = { ...journalled, why: CONFIRMED };
    await recorder.record([], [decided(journalled, seen, "observation")]);
    expect(told).toEqual([]);
    const moved = { ...seen, stage: seen.stage + 1 };
    await recorder.record([], [decided(seen, moved, "transition")]);
    expect(told).toEqual([[journalled, moved]]);
    await recorder.record([], [decided(moved, moved, "none")]);
    expect(told).toHaveLength(1);
  });

  test("is told nothing by the replica that recorded second", async () => {
    const { recorder, told } = desk(() => "lost");
    const journalled = sampleRun();
    await recorder.record([], [decided(journalled, { ...journalled, stage: 1 }, "transition")]);
    expect(told).toEqual([]);
  });
});
