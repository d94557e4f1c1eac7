/** Bench of liveness, and of the Kubernetes adapter watching 10,000 Applications of the embedded Kubernetes API. */
import { spawnSync } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { assess } from "../../src/argocd/liveness.ts";
import { application, input } from "../../src/argocd/testing/application.ts";
import type { BenchRow } from "./main.ts";

const ROUNDS = 20_000;

/** Microseconds a target, over reads that take every path; and time and memory of watching a large Argo CD. */
export async function benchArgoCd(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [
    { name: "liveness, a live target", value: microseconds([input()]), unit: "µs/target", limit: 20 },
    { name: "liveness, any target", value: microseconds(mixed()), unit: "µs/target", limit: 20 },
  ];
  for (const count of [10_000, 50_000]) {
    const { readyMs, residentMb, p99Ms } = watched(count);
    const limits = count === 10_000;
    const title = `${count.toLocaleString("en")} Applications watched`;
    rows.push({ name: `${title}: start to ready`, value: readyMs / 1000, unit: "s", ...(limits ? { limit: 20 } : {}) });
    rows.push({ name: `${title}: resident, with ${FLAGS.join(" ")}`, value: residentMb, unit: "MB", ...(limits ? { limit: 250 } : {}) });
    rows.push({
      name: `${title}: 500 updates a second, event to verdict p99`,
      value: p99Ms,
      unit: "ms",
      ...(limits ? { limit: 1000 } : {}),
    });
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

/** V8 otherwise lets garbage of list pages pile up to its default of three times 16 MB before it looks. */
const FLAGS = ["--max-semi-space-size=4"];

/** In processes of their own: the API server's memory is not the adapter's. */
function watched(count: number): { readyMs: number; residentMb: number; p99Ms: number } {
  const child = fileURLToPath(new URL("./argocd-watch.ts", import.meta.url));
  const { stdout, stderr, status } = spawnSync(process.execPath, [...FLAGS, child, String(count)], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`watching ${count} Applications ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as { readyMs: number; residentMb: number; p99Ms: number };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const { name, value, unit, limit } of await benchArgoCd()) console.log(`${name}: ${value.toFixed(2)} ${unit} (${limit ?? "shown"})`);
}
