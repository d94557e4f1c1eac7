import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { POSTGRES } from "../support/postgres.ts";
import type { Fault } from "./faults.ts";
import { buildUnpaced } from "./processes.ts";
import { runTrial } from "./trial.ts";
import type { End } from "./view.ts";

/*
 * A short one of what `npm run chaos` does at length. Its processes go by the wall's clock; what is asserted does not. Two takeovers are 14 s
 * of it, the rollout's own waits 9; a second between writes, as the program that is shipped leaves it, made 15 s more and proved nothing.
 */
let room: string;
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "stagecoach-chaos-"));
});
afterAll(() => rm(room, { recursive: true, force: true, maxRetries: 5 }));

/** Longer than a lease, and than others take to notice: whoever wakes up finds that another has the repository. */
const FROZEN_MS = 8000;
const FAULTS: readonly Fault[] = [
  { atMs: 0, kind: "webhooks", drop: 0.1, double: 0.5, delay: 0.2, swap: 0.1, forMs: 8000 },
  { atMs: 500, kind: "kill", replica: "owner", forMs: 500 },
  { atMs: 8200, kind: "freeze", replica: "owner", forMs: FROZEN_MS },
  { atMs: 16_500, kind: "lose answer", replica: "owner", forMs: 0 },
  { atMs: 17_000, kind: "database", forMs: 500 },
  { atMs: 18_500, kind: "cut", where: "postgres", replica: "owner", forMs: 1000 },
];

/** As a run ends that nothing happens to. */
const CALM: End = {
  phase: "Succeeded",
  batches: ["0 1, attempt 1, Settled: app-c1: Baked, app-c2: Baked", "1 1, attempt 1, Settled: app-c3: Baked, app-c4: Baked"],
  versions: ["c1 v2", "c2 v2", "c3 v2", "c4 v2"],
  merges: ["app v2: batch 1 of 1 of canary", "app v2: batch 1 of 1 of everywhere"],
  branches: ["main", "release", "stagecoach/journal"],
  deployments: [],
  openIssues: [],
  pulls: [
    {
      ...{ title: "Release v2", state: "merged", gate: [] },
      comments: [
        "stagecoach[bot]: <!-- stagecoach:end:app:1:TIME --> ### ✅ app #\u200b1 Succeeded: v2",
        "stagecoach[bot]: <!-- stagecoach:rollout:app --> ### ✅ app #\u200b1: v2",
      ],
    },
    ...["canary", "everywhere"].map((stage) => ({ title: `app v2: batch 1 of 1 of ${stage}`, state: "merged", gate: [], comments: [] })),
  ],
};

test.skipIf(POSTGRES === undefined)(
  "a run goes on to its end with one owner after the other killed, frozen and cut off: each batch merged once and in order, no write of one who has lost the repository, no delivery lost, no comment twinned",
  async () => {
    const told: string[] = [];
    const trial = await runTrial({
      shape: { repos: 1, replicas: 3, postgres: true, batches: 2, deployments: false, paused: false },
      ...{ faults: FAULTS, folder: await mkdtemp(join(room, "trial-")), program: await buildUnpaced(join(room, "program")) },
      ...{ expected: Promise.resolve(CALM), log: (line: string) => void told.push(line) },
    });
    expect(trial.problems, told.join("\n")).toEqual([]);
    // It was the owner who was killed, and another came.
    expect([trial.kills, trial.takeovers.length]).toEqual([1, 1]);
  },
);
