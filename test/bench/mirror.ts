/**
 * Bench of a mirror of a large repository, over HTTP on loopback: with the contents of its files left out as GitHub does on request, and whole.
 * Run by `npm run bench mirror`.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openMirror } from "../../src/adapters/git/mirror.ts";
import { serveGit } from "../../src/adapters/git/testing/http-server.ts";
import { git, type Workspace, workspace } from "../../src/adapters/git/testing/repositories.ts";
import type { BenchRow } from "./row.ts";

const MIB = 1024 * 1024;
const CLUSTERS = 2000;
const LARGE = 20;
const COMMITS = 200;

export async function benchMirror(): Promise<BenchRow[]> {
  const at = workspace(clusterFiles(0, CLUSTERS));
  try {
    git(at.origin, "config", "core.bigFileThreshold", "1m");
    // Somebody keeps builds in Git; some of them are still there.
    for (let n = 0; n < LARGE; n++) at.commitFiles({ [`builds/${n % 4}.bin`]: randomBytes(5 * MIB).toString("hex") });
    for (let n = 1; n <= COMMITS; n++) at.commitFiles(clusterFiles(n, 20));
    const rows: BenchRow[] = [];
    for (const filter of [true, false]) rows.push(...(await measured(at, filter)));
    return rows;
  } finally {
    at.remove();
  }
}

function clusterFiles(version: number, count: number): Record<string, string> {
  const of = (n: number) =>
    `image: v${version}\ncluster: ${n}\n${Array.from({ length: 40 }, (_, i) => `key-${n}-${i}: ${n * i}\n`).join("")}`;
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`clusters/${n}.yaml`, of(n)]));
}

async function measured(at: Workspace, filter: boolean): Promise<BenchRow[]> {
  git(at.origin, "config", "uploadpack.allowFilter", String(filter));
  let requests = 0;
  const onRequest = () => {
    requests += 1;
  };
  const server = await serveGit(at.directory, { onRequest });
  const directory = join(at.directory, `mirror-${filter}.git`);
  const mirror = await openMirror({ directory, url: `${server.url}/origin.git` });
  const name = `mirror of ${LARGE * 10} MB, ${filter ? "without contents" : "whole"}`;
  try {
    const fetched = await seconds(() => mirror.fetch(["main"]));
    const size = bytes(directory) / MIB;
    const head = (await mirror.head("main")) ?? "";
    const paths = await mirror.listFiles(head, "clusters");
    requests = 0;
    const few = await seconds(() => mirror.readFiles(head, paths.slice(0, 32)));
    const all = await seconds(async () => {
      await mirror.bring?.(head, paths);
      await mirror.readFiles(head, paths);
    });
    const asked = requests;
    const next = at.commitFiles({ "clusters/7.yaml": `image: ${filter}\n` });
    const step = await seconds(async () => {
      await mirror.fetch(["main"]);
      await mirror.readFiles(next, ["clusters/7.yaml"]);
    });
    return [
      { name: `${name}: first fetch`, value: fetched, unit: "s" },
      { name: `${name}: on disk after it`, value: size, unit: "MiB", ...(filter ? { limit: 5 } : {}) },
      { name: `${name}: 32 files read for the first time`, value: few * 1000, unit: "ms" },
      { name: `${name}: ${paths.length} files read`, value: all * 1000, unit: "ms" },
      { name: `${name}: requests for both`, value: asked, unit: "requests", ...(filter ? { limit: 6 } : {}) },
      { name: `${name}: a new commit and its file`, value: step * 1000, unit: "ms" },
    ];
  } finally {
    await mirror.close();
    await server.close();
  }
}

function bytes(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return (performance.now() - before) / 1000;
}
