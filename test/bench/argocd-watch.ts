/**
 * One process that watches N Applications of a server in another process, through the adapter that is named, and prints what
 * it cost as JSON. The server makes its objects up as they are asked for (about 20 kB each, as real ones with resources and
 * history are) and speaks both APIs, so that it is no part of what is measured. Usage: N (kubernetes | api)
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ControlPlane } from "../../src/adapters/argocd/port.ts";
import { input, rawApplication } from "../../src/adapters/argocd/testing/application.ts";
import { assess } from "../../src/core/argocd/liveness/liveness.ts";

const UPDATES = 5000;
const PER_SECOND = 500;
const count = Number(process.argv[2] ?? 10_000);
const adapter = process.argv[3] ?? "kubernetes";

const BULK = {
  resources: Array.from({ length: 60 }, (_, i) => ({
    group: "apps",
    version: "v1",
    kind: "Deployment",
    namespace: "payments",
    name: `payments-worker-${i}`,
    status: "Synced",
    health: { status: "Healthy" },
  })),
  history: Array.from({ length: 10 }, (_, id) => ({
    id,
    revision: "b".repeat(40),
    deployedAt: "2026-11-20T10:00:00Z",
    source: { repoURL: "https://github.com/acme/config.git", path: "apps/payments", targetRevision: "main" },
  })),
  summary: { images: Array.from({ length: 40 }, (_, i) => `registry.example.com/acme/payments-worker-${i}:v1.4.2`) },
};

/** As JSON text; `sentAt` travels in the health message. */
function objectText(i: number, version: number, sentAt: number): string {
  const destination = { server: `https://cluster-${i}.example.com`, namespace: "payments" };
  const message = String(sentAt);
  return JSON.stringify(
    rawApplication({
      metadata: {
        name: `payments-${i}`,
        uid: `uid-${i}`,
        resourceVersion: String(version),
        labels: { cluster: `cluster-${i}`, area: "emea" },
      },
      spec: { destination },
      status: { ...BULK, sync: { comparedTo: { destination } }, health: { message } },
    }),
  );
}

function* pageOf(from: number, to: number, next: string): Generator<string> {
  yield `{"metadata":{"resourceVersion":"${count}"${next}},"items":[`;
  for (let i = from; i < to; i++) yield `${i === from ? "" : ","}${objectText(i, i + 1, 0)}`;
  yield "]}";
}

function serve(): void {
  const watchers = new Map<ServerResponse, (object: string) => string>();
  const asEvent = (object: string) => `{"type":"MODIFIED","object":${object}}\n`;
  const asResult = (object: string) => `{"result":{"type":"MODIFIED","application":${object}}}\n`;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://bench.invalid");
    const applications = url.pathname.endsWith("/applications");
    const streams = url.pathname.startsWith("/api/v1/stream/");
    response.writeHead(200, { "content-type": "application/json" });
    if (streams || url.searchParams.get("watch") === "true") {
      if (!streams) response.flushHeaders();
      if (applications) watchers.set(response, streams ? asResult : asEvent);
      return;
    }
    if (url.pathname.includes("/can-i/")) return response.end('{"value":"yes"}');
    const from = Number(url.searchParams.get("continue") ?? 0);
    const limit = Number(url.searchParams.get("limit") ?? count);
    const to = applications ? Math.min(from + limit, count) : 0;
    const next = applications && to < count ? `,"continue":"${to}"` : "";
    return Readable.from(pageOf(from, to, next), { objectMode: true }).pipe(response);
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.on("disconnect", () => process.exit());
  process.on("message", () => {
    let sent = 0;
    const timer = setInterval(() => {
      for (let n = 0; n < PER_SECOND / 50 && sent < UPDATES; n++) {
        sent += 1;
        const text = objectText((sent * 7919) % count, count + sent, Date.now());
        for (const [watcher, wrapped] of watchers) watcher.write(wrapped(text));
      }
      if (sent === UPDATES) clearInterval(timer);
    }, 20);
  });
}

const clock = {
  now: () => Date.now(),
  after: (ms: number, wake: () => void) => {
    const timer = setTimeout(wake, ms);
    return () => clearTimeout(timer);
  },
};
const log = { info: () => undefined, warn: (fields: object) => console.error(JSON.stringify(fields)) };

async function opened(port: number): Promise<ControlPlane> {
  const url = `http://127.0.0.1:${port}`;
  if (adapter === "api") {
    const { openApiPlane } = await import("../../src/adapters/argocd/api/index.ts");
    return openApiPlane({ name: "b", url, token: "bench", clock, log });
  }
  const { openKubernetes } = await import("../../src/adapters/argocd/kubernetes/index.ts");
  const cluster = { name: "c", cluster: { server: url, "insecure-skip-tls-verify": true } };
  const context = { name: "c", context: { cluster: "c", user: "u" } };
  const kubeconfig = JSON.stringify({ clusters: [cluster], users: [{ name: "u", user: {} }], contexts: [context], "current-context": "c" });
  return openKubernetes({ name: "b", kubeConfig: { kubeconfig }, clusterSecrets: false, annotationRefresh: false, clock, log });
}

async function watch(server: ChildProcess): Promise<void> {
  const [port] = (await once(server, "message")) as [number];
  const base = input();
  const begun = performance.now();
  const plane = await opened(port);
  const emptyMb = process.memoryUsage().rss / 1e6;
  await plane.ready();
  const readyMs = performance.now() - begun;
  const latencies: number[] = [];
  let peak = process.memoryUsage().rss;
  await new Promise<void>((resolve) => {
    plane.onChange((keys) => {
      for (const key of keys ?? []) {
        const application = plane.application("argocd", key.slice("argocd/".length));
        assess({ ...base, application, now: Date.now() });
        const sentAt = Number(application?.status.health.message);
        if (sentAt > 0) latencies.push(Date.now() - sentAt);
      }
      peak = Math.max(peak, process.memoryUsage().rss);
      if (latencies.length >= UPDATES * 0.98) resolve();
    });
    // The watch is open a moment after the list was read.
    setTimeout(() => server.send("go"), 500);
  });
  latencies.sort((a, b) => a - b);
  const p99Ms = latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
  console.log(JSON.stringify({ readyMs, emptyMb, residentMb: peak / 1e6, p99Ms, held: plane.applications().length }));
  await plane.close();
}

if (adapter === "serve") serve();
else {
  const server = fork(new URL(import.meta.url), [String(count), "serve"], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  await watch(server);
  server.kill();
  process.exit(0);
}
