import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { epoch } from "../../src/core/base/time.ts";
import { SHORT_LAG } from "../../src/sim/argocd/application/lag.ts";
import { ended, startJourney } from "../support/journey.ts";
import type { BenchRow } from "./row.ts";

/** Handovers, from a batch being confirmed to the next one's PR being merged, at the wall's own speed; and what the demo needs. */
export async function benchJourney(): Promise<BenchRow[]> {
  const paced = await handovers(true);
  const unpaced = await handovers(false);
  tell("the demo at its default speed");
  const demo = await demoCost();
  return [
    ...rows("with writes a second apart", paced, 2500),
    ...rows("with nothing held back", unpaced, 300),
    { name: "demo at its default speed, wall time", value: demo.seconds, unit: "s", limit: 60 },
    { name: "demo, peak resident memory", value: demo.megabytes, unit: "MB", limit: 400 },
  ];
}

function rows(how: string, gaps: readonly number[], limit: number): BenchRow[] {
  const name = `confirmed → next batch merged, ${how}`;
  return [
    { name: `${name}, p50`, value: at(gaps, 0.5), unit: "ms", limit },
    { name: `${name}, p99 of ${gaps.length}`, value: at(gaps, 0.99), unit: "ms" },
  ];
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** From each batch being confirmed to the merge of the next, sorted. `pacing`: the bot writes as GitHub wants it to. */
async function handovers(pacing: boolean): Promise<number[]> {
  const journey = await startJourney({ speed: 1, pacing, lag: SHORT_LAG, annotationRefresh: true, files: oneByOne });
  const merges = new Map<number, number>();
  const server = createServer(async (request, response) => {
    const arrived = journey.world.clock.now();
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString()) as {
      action?: string;
      pull_request?: { number: number; merged: boolean };
    };
    if (request.headers["x-github-event"] === "pull_request" && body.action === "closed" && body.pull_request?.merged === true)
      merges.set(body.pull_request.number, arrived);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  journey.world.deliverTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  journey.world.undrain();
  const alice = journey.world.github.actAs("alice");
  const pull = await journey.world.openReleasePull(alice);
  await alice.mergePull(journey.world.repository, pull, "squash");
  let confirmed = -1;
  const run = await journey.until("the run ends", (seen) => {
    const now = seen.batches.filter((batch) => batch.settledAt !== undefined).length;
    if (now !== confirmed)
      tell(`${pacing ? "writes a second apart" : "nothing held back"}: ${now} of ${journey.world.clusters.length} batches confirmed`);
    confirmed = now;
    return ended(seen);
  });
  await journey.close();
  server.closeAllConnections();
  server.close();
  const gaps: number[] = [];
  for (const [index, batch] of run.batches.entries()) {
    const next = run.batches[index + 1];
    const merged = next?.pull === undefined ? undefined : merges.get(next.pull.number);
    if (batch.settledAt !== undefined && merged !== undefined) gaps.push(merged - epoch(batch.settledAt));
  }
  return gaps.sort((a, b) => a - b);
}

/** It takes minutes: whoever waits sees that it goes on. */
function tell(what: string): void {
  process.stderr.write(`journey: ${what}\n`);
}

/** One cluster a batch, no bake, and a settle time of a second: as many handovers as there are clusters. */
function oneByOne(files: Map<string, string>): void {
  const path = "rollouts/my-app.yaml";
  const text = (files.get(path) ?? "").replaceAll(/^ +bake: .*\n/gm, "").replaceAll(/maxUnavailable: .*/g, "maxUnavailable: 1");
  files.set(path, text.replace("  mode: Run\n", "  mode: Run\n  settle: 1s\n"));
}

async function demoCost(): Promise<{ seconds: number; megabytes: number }> {
  const started = performance.now();
  const child = spawn(process.execPath, ["src/surfaces/cli/main.ts", "demo", "--once", "-o", "json"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  let peak = 0;
  const timer = setInterval(() => {
    try {
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? 0));
    } catch {
      // Not Linux, or already gone: what was seen counts.
    }
  }, 100);
  await new Promise((resolve) => child.once("exit", resolve));
  clearInterval(timer);
  return { seconds: (performance.now() - started) / 1000, megabytes: peak / 1024 };
}
