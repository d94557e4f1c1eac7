import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openJournal } from "../../../adapters/git/journal/journal.ts";
import { openMirror } from "../../../adapters/git/mirror.ts";
import type { Mirror } from "../../../adapters/git/port.ts";
import { type Workspace, workspace } from "../../../adapters/git/testing/repositories.ts";
import { freshRun, START } from "../../../adapters/git/testing/runs.ts";
import { SEAL } from "../../../adapters/git/testing/seal.ts";
import { iso } from "../../../core/base/time.ts";
import { said } from "../../../core/reasons/run.ts";
import type { Batch, BatchTarget, Run } from "../../../core/run/state/run.ts";
import { random } from "../../../simulate/generate/random.ts";
import { timesOf } from "../../../simulate/plan/times.ts";
import { timesFromJournal } from "./simulate-options.ts";

const at = (seconds: number) => iso(START + seconds * 1000);

/** One batch with one target, merged at the start. */
function ran(cluster: string, over: Partial<BatchTarget>, merged = true): Run {
  const base = {
    key: `hub/argocd/app-${cluster}`,
    application: `app-${cluster}`,
    cluster: `hub/${cluster}`,
    edits: [],
    since: at(0),
    why: said(""),
  };
  const target: BatchTarget = { ...base, phase: "Healthy", ...over };
  const batch: Batch = {
    number: 1,
    stage: 0,
    ofStage: 1,
    attempt: 1,
    kind: "Planned",
    branch: "b",
    phase: "Settled",
    since: at(0),
    why: said(""),
    next: null,
    targets: [target],
    pull: { number: 2, url: "https://forge.invalid/2", head: "h", openedAt: at(0) },
    ...(merged ? { merged: { commit: "c", at: at(0), by: "bot" } } : {}),
  };
  return freshRun(1, 1, { phase: "Succeeded", batches: [batch] });
}

const target = (cluster: string) => ({ key: `argocd/argocd/app-${cluster}`, cluster: `argocd/${cluster}` });

describe("times of past runs", () => {
  test("are from the merge to the first sight, and from there to healthy without the settle time", () => {
    const times = timesOf([ran("eu-1", { firstSeenAt: at(12), confirmedAt: at(100) })], 10_000);
    expect([times.runs, times.samples]).toEqual([1, 1]);
    expect(times.of(target("eu-1"), random(1))).toEqual({ lagMs: 12_000, progressMs: 78_000 });
  });

  test("are those of the cluster where it has any, whatever its control plane is called here, else of any other", () => {
    const runs = [ran("eu-1", { firstSeenAt: at(1), confirmedAt: at(20) }), ran("us-1", { firstSeenAt: at(5), confirmedAt: at(60) })];
    const times = timesOf(runs, 0);
    expect(times.of(target("us-1"), random(3))?.lagMs).toBe(5000);
    const drawn = new Set(Array.from({ length: 20 }, (_, seed) => times.of(target("new"), random(seed))?.lagMs));
    expect([...drawn].sort()).toEqual([1000, 5000]);
  });

  test("say how a cluster failed, by what was seen of it", () => {
    const evidence = (verdict: "failing" | "lost") => ({ verdict, clause: "health", sentence: said(""), readAt: at(60), fields: {} });
    const failed = (over: Partial<BatchTarget>) =>
      timesOf([ran("eu-1", { phase: "Failed", firstSeenAt: at(10), since: at(70), ...over })], 0).of(target("eu-1"), random(1));
    expect(failed({ evidence: evidence("failing") })).toEqual({ lagMs: 10_000, progressMs: 60_000, failed: "degraded" });
    expect(failed({ evidence: evidence("lost") })?.failed).toBe("unreachable");
    expect(failed({})?.failed).toBe("stuck");
  });

  test("are none of what never merged or was never confirmed", () => {
    const times = timesOf([ran("eu-1", { phase: "Proposed" }, false), ran("us-1", { phase: "Syncing" })], 0);
    expect(times.samples).toBe(0);
    expect(times.of(target("eu-1"), random(1))).toBeUndefined();
  });
});

describe("a journal", () => {
  let place: Workspace;
  let mirror: Mirror;

  beforeEach(async () => {
    place = workspace();
    mirror = await openMirror({ directory: join(place.directory, "mirror.git"), url: place.origin, allowFile: true });
  });

  afterEach(async () => {
    await mirror.close();
    place.remove();
  });

  const record = async (run: Run) =>
    await openJournal({ mirror, app: "stagecoach[bot]", seal: SEAL }).record({
      runs: [run],
      subject: "payments #1: x",
      trailers: {},
      at: START,
    });
  const read = async () => await timesFromJournal({ repo: place.checkout, fetch: true }, "payments", 10_000);

  test("with no run that has ended is told as such", async () => {
    await record(freshRun(4, 2));
    await expect(read()).rejects.toMatchObject({ exitCode: 1, message: expect.stringMatching(/no run of payments that has ended yet/) });
  });

  test("whose ended runs moved no cluster is told as such", async () => {
    await record(freshRun(4, 2, { phase: "Aborted", endedAt: at(60) }));
    await expect(read()).rejects.toMatchObject({ exitCode: 1, message: expect.stringMatching(/moved no cluster/) });
  });

  test("gives the times of the runs that have ended", async () => {
    await record({ ...ran("eu-1", { firstSeenAt: at(12), confirmedAt: at(100) }), endedAt: at(120) });
    expect((await read()).of(target("eu-1"), random(1))).toEqual({ lagMs: 12_000, progressMs: 78_000 });
  });
});
