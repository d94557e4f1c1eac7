import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fastClock } from "../../src/sim/clock.ts";
import { type GitHubSim, startGitHub } from "../../src/sim/github/start.ts";
import { type KubernetesSim, startKubernetes } from "../../src/sim/kubernetes/index.ts";
import { readDockerfile } from "../image/dockerfile.ts";
import type { IdleWorld } from "../support/idle-bot.ts";
import type { BenchRow } from "./row.ts";

const REPOS = 100;
const ROLLOUTS = 10;
const CLUSTERS = 3;
const SPEED = 30;
/** Of the bot's clock: longer than it takes until an idle mirror lets go of its process, and than several status updates of Argo CD. */
const QUIET_MS = 5 * 60_000;
const REMOTE_CALLS = /^\/(?:repos|installation|app)/;

/** Many repos with nothing to do: what the bot weighs, and whom it asks. */
export async function benchIdle(): Promise<BenchRow[]> {
  const clock = fastClock(SPEED);
  const github = await startGitHub({ clock });
  const kubernetes = await startKubernetes({ clock });
  const directory = await mkdtemp(join(tmpdir(), "stagecoach-idle-"));
  const calls: string[] = [];
  github.faults.request = ({ path }) => {
    if (REMOTE_CALLS.test(path)) calls.push(path);
    return undefined;
  };
  let bot: ChildProcess | undefined;
  try {
    for (let repo = 0; repo < REPOS; repo++) await makeRepo(github, kubernetes, repo);
    const { id: appId, privateKey } = github.app;
    const app = { appId, privateKey, webhookSecret: "s3cret", baseUrl: github.url };
    const started = performance.now();
    const world: IdleWorld = { app, kubeconfig: kubernetes.kubeconfig(), directory, speed: SPEED };
    bot = startBot(world);
    const say = lines(bot);
    const served = Number(/^ready (\d+)$/.exec(await say())?.[1]);
    const readySeconds = (performance.now() - started) / 1000;
    // What is planned once after a start is not idleness.
    await say();
    const idleSeconds = (performance.now() - started) / 1000;
    calls.length = 0;
    await quietTime(kubernetes, clock);
    const between = calls.length;
    const quiet = weight(bot.pid ?? 0);
    bot.stdin?.write("\n");
    await say();
    const perRepo = calls.filter((path) => path.startsWith("/repos/")).length / REPOS;
    const others = calls.filter((path) => !path.startsWith("/repos/")).length;
    const busy = weight(bot.pid ?? 0);
    const name = `${served} repos × ${ROLLOUTS} rollouts, idle`;
    return [
      { name: `${name}: resident`, value: quiet.own, unit: "MB", limit: 300 },
      { name: `${name}: resident, with the git processes`, value: quiet.all, unit: "MB", limit: 300 },
      { name: `${name}: resident right after a resync`, value: busy.all, unit: "MB" },
      { name: `${name}: API calls in 5 minutes between resyncs`, value: between, unit: "calls", limit: 0 },
      { name: `${name}: API calls of a resync, a repo`, value: perRepo, unit: "calls" },
      { name: `${name}: API calls of a resync, besides`, value: others, unit: "calls" },
      { name: `${name}: from the start to ready`, value: readySeconds, unit: "s" },
      { name: `${name}: from the start until nothing is due`, value: idleSeconds, unit: "s" },
    ];
  } finally {
    bot?.stdin?.end();
    if (bot?.exitCode === null) await new Promise((resolve) => bot?.once("exit", resolve));
    await kubernetes.close();
    await github.close();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What the image starts Node with. */
export function imageFlags(): string[] {
  const entry = readDockerfile(new URL("../../Dockerfile", import.meta.url))
    .at(-1)
    ?.instructions.find(({ name }) => name === "ENTRYPOINT");
  return (JSON.parse(entry?.text ?? "[]") as string[]).filter((word) => word.startsWith("--"));
}

export function startBot(world: IdleWorld): ChildProcess {
  return spawn(process.execPath, [...imageFlags(), new URL("../support/idle-bot.ts", import.meta.url).pathname], {
    env: { ...process.env, STAGECOACH_IDLE_WORLD: JSON.stringify(world) },
    stdio: ["pipe", "pipe", "inherit"],
  });
}

export function lines(child: ChildProcess): () => Promise<string> {
  if (child.stdout === null) throw new Error("the bot has no output");
  const iterator = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async () => String((await iterator.next()).value);
}

/** Nothing happens on GitHub; Argo CD goes on as it does, comparing each Application every few minutes. */
async function quietTime(kubernetes: KubernetesSim, clock: { now(): number }): Promise<void> {
  const until = clock.now() + QUIET_MS;
  const applications = kubernetes.store.list("applications");
  for (let n = 0; clock.now() < until; n++) {
    for (let i = 0; i < 50; i++) {
      const metadata = applications[(n * 50 + i) % applications.length]?.metadata;
      kubernetes.store.change("applications", "argocd", metadata?.name ?? "", (object) => ({
        ...object,
        status: { ...(object["status"] as object), reconciledAt: new Date(clock.now()).toISOString() },
      }));
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A repository `config-N` with ten rollouts, each on as many clusters. */
export async function makeRepo(
  github: GitHubSim,
  kubernetes: KubernetesSim,
  repo: number,
  { owner = "acme", clusters: count = CLUSTERS } = {},
): Promise<void> {
  const files = new Map<string, string>();
  const clusters = Array.from({ length: count }, (_, n) => `cluster-${n}`);
  for (let n = 0; n < ROLLOUTS; n++) {
    const name = `app-${repo}-${n}`;
    const repoURL = `${github.gitUrl}/${owner}/config-${repo}.git`;
    files.set(`appsets/${name}.yaml`, applicationSet(name, clusters, repoURL));
    files.set(`rollouts/${name}.yaml`, rollout(name));
    for (const cluster of clusters) kubernetes.store.create(application(name, cluster, repoURL));
  }
  await github.createRepo({ owner, name: `config-${repo}`, files });
}

function rollout(name: string): string {
  return `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: ${name} }
spec:
  mode: Run
  sourceRef: { kind: ApplicationSet, name: ${name} }
  release: { version: v1.0.0 }
  pins:
    - { file: appsets/${name}.yaml, path: "spec.generators[0].list.elements[cluster={{ cluster.name }}].revision" }
  stages:
    - name: everything
      clusters: { selector: {} }
      maxUnavailable: 25%
      bake: 10m
`;
}

function applicationSet(name: string, clusters: readonly string[], repoURL: string): string {
  const elements = clusters.map((cluster) => `          - { cluster: ${cluster}, revision: v1.0.0 }`).join("\n");
  return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: ${name}, namespace: argocd }
spec:
  goTemplate: true
  generators:
    - list:
        elements:
${elements}
  template:
    metadata: { name: "${name}-{{ .cluster }}" }
    spec:
      project: default
      source: { repoURL: "${repoURL}", path: apps/${name}, targetRevision: "{{ .revision }}" }
      destination: { name: "{{ .cluster }}", namespace: ${name} }
`;
}

function application(name: string, cluster: string, repoURL: string) {
  const source = { repoURL, path: `apps/${name}`, targetRevision: "v1.0.0" };
  const destination = { name: cluster, namespace: name };
  const at = "2026-11-21T10:00:00Z";
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: {
      name: `${name}-${cluster}`,
      namespace: "argocd",
      ownerReferences: [{ apiVersion: "argoproj.io/v1alpha1", kind: "ApplicationSet", name, uid: name }],
    },
    spec: { project: "default", source, destination, syncPolicy: { automated: {} } },
    status: {
      sync: { status: "Synced", revision: "b".repeat(40), comparedTo: { source, destination } },
      health: { status: "Healthy", lastTransitionTime: at },
      reconciledAt: at,
      resources: Array.from({ length: 20 }, (_, n) => ({ kind: "Deployment", name: `${name}-${n}`, status: "Synced" })),
    },
  };
}

/** Megabytes resident at most so far. Linux only. */
export function peak(pid: number): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(statusOf(String(pid)))?.[1] ?? 0) / 1024;
}

/** Megabytes resident: of the process, and of it with all that it has started, whose shared pages count once. Linux only. */
export function weight(pid: number): { own: number; all: number } {
  const own = resident(pid);
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parent(name) === pid)
    .map((name) => proportional(Number(name)));
  return { own, all: children.reduce((sum, one) => sum + one, own) };
}

function parent(pid: string): number {
  return Number(/^PPid:\s+(\d+)/m.exec(statusOf(pid))?.[1]);
}

function resident(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(statusOf(String(pid)))?.[1] ?? 0) / 1024;
}

function proportional(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(statusOf(String(pid), "smaps_rollup"))?.[1] ?? 0) / 1024;
}

function statusOf(pid: string, file = "status"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // It ended while we looked.
    return "";
  }
}
