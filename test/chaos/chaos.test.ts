import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { POSTGRES } from "../support/postgres.ts";
import type { Fault } from "./faults.ts";
import { build } from "./processes.ts";
import { runTrial, type Shape, type Trial } from "./trial.ts";

/*
 * A short one of what `npm run chaos` does at length, with one fault of each kind. It goes by the wall's clock, as processes do; what is
 * asserted does not.
 */
let room: string;
let program: string;
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "stagecoach-chaos-"));
  program = build(join(room, "program"));
});
afterAll(() => rm(room, { recursive: true, force: true, maxRetries: 5 }));

async function folderOf(name: string): Promise<string> {
  const folder = join(room, name);
  await mkdir(folder);
  return folder;
}

const FAULTS: readonly Fault[] = [
  { atMs: 500, kind: "webhooks", drop: 0.2, double: 0.4, delay: 0.2, swap: 0.1, forMs: 15_000 },
  { atMs: 1500, kind: "kill", replica: 0, forMs: 500 },
  { atMs: 5000, kind: "lose answer", replica: 0, forMs: 0 },
  { atMs: 6000, kind: "clock", replica: 0, offMs: 300_000, forMs: 5000 },
  { atMs: 8000, kind: "GitHub unwell", percent: 50, forMs: 3000 },
  { atMs: 9000, kind: "kill", replica: 0, forMs: 0 },
  { atMs: 13_000, kind: "hold", where: "github", replica: 0, forMs: 2000 },
  { atMs: 15_000, kind: "full disk", replica: 0, forMs: 3000 },
  { atMs: 16_000, kind: "cut", where: "argocd", replica: 0, forMs: 2000 },
  { atMs: 17_000, kind: "freeze", replica: 0, forMs: 4000 },
  { atMs: 19_000, kind: "cut", where: "git", replica: 0, forMs: 2000 },
  { atMs: 22_000, kind: "kill", replica: 0, forMs: 1000 },
];

/** Longer than a lease: whoever wakes up finds that another has its repositories. */
const FROZEN_MS = 9000;
const SHARED_FAULTS: readonly Fault[] = [
  { atMs: 500, kind: "webhooks", drop: 0.1, double: 0.5, delay: 0.2, swap: 0.1, forMs: 15_000 },
  { atMs: 1000, kind: "freeze", replica: 0, forMs: FROZEN_MS },
  { atMs: 3000, kind: "kill", replica: 1, forMs: 500 },
  { atMs: 8000, kind: "database", forMs: 1000 },
  { atMs: 12_000, kind: "cut", where: "postgres", replica: 2, forMs: FROZEN_MS },
  { atMs: 14_000, kind: "lose answer", replica: 0, forMs: 0 },
  { atMs: 16_000, kind: "clock", replica: 1, offMs: -300_000, forMs: 5000 },
  { atMs: 18_000, kind: "freeze", replica: 1, forMs: FROZEN_MS },
  { atMs: 22_000, kind: "hold", where: "postgres", replica: 0, forMs: 3000 },
  { atMs: 24_000, kind: "kill", replica: 2, forMs: 0 },
];

async function tryOut(name: string, shape: Shape, faults: readonly Fault[], calm: Promise<Trial>): Promise<Trial & { told: string }> {
  const told: string[] = [];
  const folder = await folderOf(name);
  const log = (line: string) => void told.push(line);
  const trial = await runTrial({ shape, faults, folder, program, expected: calm.then(({ end }) => end), log });
  return { ...trial, told: told.join("\n") };
}

describe("a run whose replicas are killed and frozen, whose network is cut, and whose GitHub is unwell", () => {
  const ALONE: Shape = { repos: 1, replicas: 1, postgres: false, batches: 2 };
  let calm: Promise<Trial>;
  beforeAll(async () => {
    calm = runTrial({ shape: ALONE, faults: [], folder: await folderOf("calm"), program });
  });

  test.concurrent("is compared with one that nothing happens to", async ({ expect: say }) => {
    const { problems, end } = await calm;
    say(problems).toEqual([]);
    say(end).toMatchObject({ phase: "Succeeded", versions: ["c1 v2", "c2 v2", "c3 v2", "c4 v2"], openIssues: [] });
  });

  test.concurrent("ends as it does without faults, where one process looks after everything", async ({ expect: say }) => {
    const { problems, kills, told } = await tryOut("alone", ALONE, FAULTS, calm);
    say(problems, told).toEqual([]);
    say(kills).toBe(3);
  });

  test
    .skipIf(POSTGRES === undefined)
    .concurrent(
      "ends so, and nobody writes who has lost the repository, where three replicas share PostgreSQL",
      async ({ expect: say }) => {
        const shape = { ...ALONE, replicas: 3, repos: 2, postgres: true };
        const { problems, kills, told } = await tryOut("shared", shape, SHARED_FAULTS, calm);
        say(problems, told).toEqual([]);
        say(kills).toBe(2);
      },
    );
});
