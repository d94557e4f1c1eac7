/**
 * Bench of Git: a batch's commit in a repo of 5,000 files, reading, and the journal of a run over 10,000 clusters. Run by
 * `npm run bench git`. Repositories are real ones in a temporary directory; the remote is on the same disk.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { openJournal } from "../../src/adapters/git/journal/journal.ts";
import { openMirror } from "../../src/adapters/git/mirror.ts";
import type { Mirror } from "../../src/adapters/git/port.ts";
import { type Workspace, workspace } from "../../src/adapters/git/testing/repositories.ts";
import { confirmed, freshRun, START, withBatch } from "../../src/adapters/git/testing/runs.ts";
import { SEAL } from "../../src/adapters/git/testing/seal.ts";
import type { BenchRow } from "./row.ts";

const APP = "stagecoach[bot]";
const AUTHOR = { name: APP, email: `${APP}@users.noreply.github.com` };

export async function benchGit(): Promise<BenchRow[]> {
  const at = workspace(manyFiles(5000));
  const mirror = await openMirror({ directory: join(at.directory, "mirror.git"), url: at.origin, allowFile: true });
  try {
    await mirror.fetch();
    return [...(await benchMirror(mirror)), ...(await benchJournal(at, mirror))];
  } finally {
    await mirror.close();
    at.remove();
  }
}

function manyFiles(count: number): Record<string, string> {
  const files: Record<string, string> = {};
  for (let i = 0; i < count; i++)
    files[`clusters/region-${i % 20}/cluster-${i}/values.yaml`] = `image: v1\ncluster: ${i}\n${"# filler\n".repeat(40)}`;
  return files;
}

async function benchMirror(mirror: Mirror): Promise<BenchRow[]> {
  const parent = await mirror.head("main");
  if (parent === undefined) throw new Error("no main");
  const paths = (await mirror.listFiles(parent)).filter((_, at) => at % 50 === 0);
  const edits = (count: number, round: number) => new Map(paths.slice(0, count).map((path) => [path, `image: v${round}\n`]));
  const commit = (count: number) => (round: number) =>
    mirror.commit({ parent, changes: edits(count, round), message: `batch ${round}`, author: AUTHOR, at: START + round });
  const one = await medianMs(9, commit(1));
  const hundred = await medianMs(9, commit(100));
  const reads = await medianMs(9, () => mirror.readFiles(parent, paths));
  const single = await medianMs(50, (round) => mirror.readFiles(parent, [paths[round % paths.length] ?? ""]));
  return [
    { name: "batch commit, 1 of 5,000 files, no checkout", value: one, unit: "ms", limit: 150 },
    { name: "batch commit, 100 of 5,000 files, no checkout", value: hundred, unit: "ms", limit: 150 },
    { name: "read 100 files at a commit", value: reads, unit: "ms" },
    { name: "read one file at a commit", value: single, unit: "ms" },
  ];
}

async function benchJournal(at: Workspace, mirror: Mirror): Promise<BenchRow[]> {
  const journal = openJournal({ mirror, app: APP, seal: SEAL });
  const record = async (run: Parameters<typeof confirmed>[0], n: number) => {
    const result = await journal.record({ runs: [run], subject: `payments #1: step ${n}`, trailers: {}, at: START + n * 1000 });
    if (result !== "recorded") throw new Error(result);
  };
  let run = freshRun(10_000, 100);
  const first = await ms(() => record(run, 0));
  const times: number[] = [];
  for (let n = 1; n <= 60; n++) {
    run = n % 2 === 1 ? withBatch(run, "Open", START + n * 1000) : confirmed(run, START + n * 1000);
    times.push(await ms(() => record(run, n)));
  }
  const warm = await medianMs(9, () => journal.read());
  const cold = await medianMs(3, () => openJournal({ mirror, app: APP, seal: SEAL }).read());
  return [
    { name: "journal: first record of a run over 10,000 clusters, with push", value: first, unit: "ms" },
    { name: "journal: one transition of it, with push", value: median(times), unit: "ms" },
    { name: "journal: text written by a transition (median)", value: median(written(at)) / 1024, unit: "KiB" },
    { name: "journal: read, head not moved (asks the remote)", value: warm, unit: "ms" },
    { name: "journal: read of a new process, 30 batches of 100 confirmed", value: cold, unit: "ms" },
  ];
}

/** Bytes of the files each commit but the first wrote, uncompressed. */
function written(at: Workspace): number[] {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: at.origin, encoding: "utf8", maxBuffer: 1 << 28 }).trim();
  const commits = git("rev-list", "--reverse", "refs/heads/stagecoach/journal").split("\n").slice(1);
  return commits.map((commit) => {
    const blobs = git("diff-tree", "-r", "--no-commit-id", commit)
      .split("\n")
      .map((line) => line.split(" ")[3] ?? "");
    return blobs.reduce((sum, blob) => sum + Number(git("cat-file", "-s", blob)), 0);
  });
}

async function ms(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

async function medianMs(runs: number, work: (round: number) => Promise<unknown>): Promise<number> {
  await work(runs);
  const times: number[] = [];
  for (let round = 0; round < runs; round++) times.push(await ms(() => work(round)));
  return median(times);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
