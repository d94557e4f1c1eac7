import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Fault } from "./faults.ts";
import { build } from "./processes.ts";
import { runTrial } from "./trial.ts";

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

describe("a run whose replicas are killed and frozen, whose network is cut, and whose GitHub is unwell", () => {
  test("ends as it does without faults, where one process looks after everything", async () => {
    const shape = { repos: 1, replicas: 1, postgres: false, batches: 2 };
    const told: string[] = [];
    const calm = runTrial({ shape, faults: [], folder: await folderOf("calm"), program });
    const trial = runTrial({
      ...{ shape, faults: FAULTS, program, expected: calm.then(({ end }) => end) },
      ...{ folder: await folderOf("trial"), log: (line) => void told.push(line) },
    });
    const [{ problems, end }, { kills, problems: found }] = await Promise.all([calm, trial]);
    expect(problems).toEqual([]);
    expect(end).toMatchObject({ phase: "Succeeded", versions: ["c1 v2", "c2 v2", "c3 v2", "c4 v2"], openIssues: [] });
    expect(found, told.join("\n")).toEqual([]);
    expect(kills).toBe(3);
  });
});
