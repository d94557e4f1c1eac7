/** Bench of liveness, and of both adapters watching a large Argo CD on loopback. */
import { spawnSync } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { application, input } from "../../src/adapters/argocd/testing/application.ts";
import { assess } from "../../src/core/argocd/liveness/liveness.ts";
import type { BenchRow } from "./row.ts";

const ROUNDS = 20_000;

/** Microseconds a target, over reads that take every path; and time and memory of watching a large Argo CD. */
export async function benchArgoCd(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [
    { name: "liveness, a live target", value: microseconds([input()]), unit: "µs/target", limit: 20 },
    { name: "liveness, any target", value: microseconds(mixed()), unit: "µs/target", limit: 20 },
  ];
  for (const adapter of ["kubernetes", "api"]) {
    const few = watched(10_000, adapter);
    const many = watched(50_000, adapter);
    for (const [count, cost] of [
      [10_000, few],
      [50_000, many],
    ] as const) {
      const promised = count === 10_000;
      const title = `${adapter}, ${count.toLocaleString("en")} Applications`;
      rows.push({ name: `${title}: start to ready`, value: cost.readyMs / 1000, unit: "s", ...(promised ? { limit: 20 } : {}) });
      rows.push({ name: `${title}: most resident`, value: cost.residentMb, unit: "MB", ...(promised ? { limit: 250 } : {}) });
      rows.push({
        name: `${title}: verdict at 500 updates/s, p99`,
        value: cost.p99Ms,
        unit: "ms",
        ...(promised ? { limit: 1000 } : {}),
      });
    }
    rows.push({ name: `${adapter}: resident before anything is read`, value: few.emptyMb, unit: "MB" });
    rows.push({ name: `${adapter}: more for each further Application`, value: (many.residentMb - few.residentMb) / 40, unit: "kB" });
  }
  return rows;
}

function mixed(): ReturnType<typeof input>[] {
  const previous = application({ metadata: { resourceVersion: "199" } });
  return [
    input(),
    input({ application: undefined }),
    input({ previous }),
    input({ application: application({ status: { reconciledAt: "2026-11-21T09:00:00Z" } }) }),
    input({ application: application({ status: { health: { status: "Degraded" } } }) }),
    input({ application: application({ status: { sync: { revision: "a".repeat(40) } } }), ancestry: () => "missing" }),
    input({ application: application({ status: { conditions: [{ type: "SyncError", message: "x".repeat(2000) }] } }) }),
  ];
}

function microseconds(inputs: ReturnType<typeof input>[]): number {
  const round = () => {
    for (let i = 0; i < ROUNDS; i++) assess(inputs[i % inputs.length] ?? input());
  };
  round();
  const before = performance.now();
  round();
  return ((performance.now() - before) * 1000) / ROUNDS;
}

interface Cost {
  readyMs: number;
  emptyMb: number;
  residentMb: number;
  p99Ms: number;
}

/** In processes of their own, without any flag: the server's memory is not the adapter's. */
function watched(count: number, adapter: string): Cost {
  const child = fileURLToPath(new URL("./argocd-watch.ts", import.meta.url));
  const { stdout, stderr, status } = spawnSync(process.execPath, [child, String(count), adapter], { encoding: "utf8", maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`watching ${count} Applications ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as Cost;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const { name, value, unit, limit } of await benchArgoCd()) console.log(`${name}: ${value.toFixed(2)} ${unit} (${limit ?? "shown"})`);
}
