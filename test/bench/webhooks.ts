import { spawn } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { Agent, request } from "node:http";
import type { BenchRow } from "./row.ts";

const SECONDS = 10;
const A_SECOND = 200;
const SECRET = "the secret of the bench";

/**
 * Deliveries of GitHub's own size and shape at a steady pace, whatever the answers take, to the bot's server in a process of its
 * own: verified, noted and answered. Latency from the first byte sent to the whole answer.
 */
export async function benchWebhooks(): Promise<BenchRow[]> {
  const server = spawn(process.execPath, [new URL("../support/webhook-server.ts", import.meta.url).pathname], {
    env: { ...process.env, BENCH_SECRET: SECRET },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  const url = String(line).trim();
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const bodies = [payload(1), payload(20), payload(100)];
  try {
    await Promise.all(Array.from({ length: 50 }, (_, n) => deliver(url, agent, bodies[n % 3] ?? "")));
    const answers = await steady(url, agent, bodies);
    const times = answers.map((answer) => answer.ms).sort((a, b) => a - b);
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
    const name = `webhooks, ${A_SECOND}/s for ${SECONDS} s`;
    return [
      { name: `${name}: accepted, p50`, value: at(0.5), unit: "ms" },
      { name: `${name}: accepted, p99`, value: at(0.99), unit: "ms", limit: 50 },
      { name: `${name}: worst`, value: at(1), unit: "ms", limit: 100 },
      { name: `${name}: not answered with 200`, value: answers.filter((answer) => answer.status !== 200).length, unit: "", limit: 0 },
    ];
  } finally {
    agent.destroy();
    server.kill();
  }
}

/** One every few milliseconds by the clock, also while earlier ones are on their way: a slow answer must not slow the next down. */
async function steady(url: string, agent: Agent, bodies: readonly string[]): Promise<{ ms: number; status: number }[]> {
  const began = performance.now();
  const sent: Promise<{ ms: number; status: number }>[] = [];
  while (sent.length < SECONDS * A_SECOND) {
    const due = Math.min(SECONDS * A_SECOND, Math.floor(((performance.now() - began) / 1000) * A_SECOND) + 1);
    while (sent.length < due) sent.push(deliver(url, agent, bodies[sent.length % bodies.length] ?? ""));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return await Promise.all(sent);
}

export function deliver(url: string, agent: Agent, body: string): Promise<{ ms: number; status: number }> {
  const started = performance.now();
  return new Promise((resolve) => {
    const sending = request(url, {
      method: "POST",
      agent,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "x-github-event": "pull_request",
        "x-github-delivery": randomUUID(),
        "x-hub-signature-256": `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`,
      },
    });
    // No answer at all is one that is counted, and no end of the bench.
    sending.on("error", () => resolve({ ms: performance.now() - started, status: 0 }));
    sending.on("response", (response) => {
      response.resume().on("end", () => resolve({ ms: performance.now() - started, status: response.statusCode ?? 0 }));
    });
    sending.end(body);
  });
}

/** A pull_request event has about 20 KB; a push of many commits far more. */
export function payload(kilobytes: number, repository = "acme/config"): string {
  return JSON.stringify({
    action: "synchronize",
    repository: { full_name: repository },
    installation: { id: 1 },
    sender: { login: "alice" },
    pull_request: { number: 7, body: "x".repeat(kilobytes * 1024) },
  });
}
