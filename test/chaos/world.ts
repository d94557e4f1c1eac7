/**
 * What chaos goes on in: GitHub, an Argo CD for each config repo, PostgreSQL and the replicas, each a process of its own, with wires between
 * them that can be at fault. Whatever people do and whoever judges has wires of their own that never are.
 */
import { type ChildProcess, fork } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../support/free-port.ts";
import { type ChaosDatabase, startDatabase } from "./database.ts";
import { configRepo, inventory, OWNER } from "./fleet.ts";
import type { GitHubOrder, GitHubReport, GitHubSettings } from "./github.ts";
import { endWithUs, kill, startCommand } from "./processes.ts";
import { openReplica, type Replica } from "./replica.ts";
import { openWire, type Wire } from "./wires.ts";

const SECRET = "a-secret-of-chaos";
const APP_ID = 4242;
/** Nothing may wait for it: the least that may be set. */
const RESYNC = "30s";

export interface WorldOptions {
  /** An empty folder. */
  folder: string;
  program: string;
  /** Config repositories. */
  repos: number;
  replicas: number;
  /** The replicas share PostgreSQL. */
  postgres: boolean;
  /** Of each rollout. */
  batches: number;
  /** The App may report deployments: what it writes goes out a second apart. */
  deployments: boolean;
}

export interface ChaosWorld {
  repositories: readonly string[];
  replicas: readonly Replica[];
  /** What GitHub sends goes to any replica that is there. */
  hooks: Wire;
  /** What all of them fetch goes through it. */
  git: Wire;
  /** Absent: the one replica has the queue of one process. */
  postgres: ChaosDatabase | undefined;
  tell(order: Exclude<GitHubOrder, { order: "start" | "report" }>): void;
  report(): Promise<GitHubReport>;
  /** Who asks may do everything in the repository. */
  api(method: string, path: string, body?: object): Promise<unknown>;
  /** For git. */
  cloneUrl(repository: string): string;
  close(): Promise<void>;
}

export async function startChaosWorld({ folder, program, ...sizes }: WorldOptions): Promise<ChaosWorld> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  const closers: (() => Promise<unknown>)[] = [];
  const githubPort = await freePort();
  const wire = async (to: () => readonly number[], by?: string) => {
    const opened = await openWire({ to, ...(by === undefined ? {} : { by }) });
    closers.push(opened.close);
    return opened;
  };
  const ports = await Promise.all(Array.from({ length: sizes.replicas }, freePort));
  const hooks = await wire(() => shuffled(ports));
  const git = await wire(() => [githubPort]);
  const publicUrl = `http://127.0.0.1:${git.port}`;
  const names = Array.from({ length: sizes.repos }, (_, n) => `fleet-${n + 1}`);
  const token = "ghp_chaos";
  const settings: GitHubSettings = {
    ...{ port: githubPort, publicUrl, owner: OWNER, app: { id: APP_ID, privateKey: pem }, deployments: sizes.deployments },
    webhook: { url: `http://127.0.0.1:${hooks.port}/api/github/webhooks`, secret: SECRET },
    repos: Object.fromEntries(names.map((name) => [name, configRepo(`${publicUrl}/${OWNER}/${name}.git`, name, sizes.batches)])),
    people: { carol: { role: "admin", token } },
  };
  const github = await startGitHubProcess(settings, closers);
  const direct = `http://127.0.0.1:${githubPort}`;
  const planes = await Promise.all(
    names.map((name) => startPlane({ ...{ folder, name, direct, publicUrl }, batches: sizes.batches }, closers)),
  );
  tell({ order: "argocd", urls: planes.map(({ url }) => url) });
  const postgres = sizes.postgres ? await startDatabase() : undefined;
  if (postgres !== undefined) closers.push(postgres.close);
  const replicas: Replica[] = [];
  for (const [n, port] of ports.entries()) {
    const name = `replica-${n + 1}`;
    const toGitHub = await wire(() => [githubPort], name);
    const toPlanes = await Promise.all(planes.map((plane) => wire(() => [plane.port])));
    const env = {
      APP_ID: String(APP_ID),
      PRIVATE_KEY: pem,
      WEBHOOK_SECRET: SECRET,
      GHE_HOST: `127.0.0.1:${toGitHub.port}`,
      GHE_PROTOCOL: "http",
    };
    const toPostgres = postgres && (await wire(() => [postgres.port]));
    const url = toPostgres && postgres.url(toPostgres.port);
    const config = await configOf({ folder, name, url }, planes, toPlanes);
    const wires = { github: toGitHub, argocd: toPlanes, postgres: toPostgres };
    const replica = await openReplica({ name, folder, program, port, env, config, wires });
    closers.push(replica.close);
    replicas.push(replica);
  }

  function tell(order: GitHubOrder): void {
    github.send(order);
  }

  return {
    repositories: names.map((name) => `${OWNER}/${name}`),
    ...{ replicas, hooks, git, postgres, tell },
    async report() {
      tell({ order: "report" });
      const [report] = (await once(github, "message")) as [GitHubReport];
      return report;
    },
    async api(method, path, body) {
      const headers = { authorization: `token ${token}`, "content-type": "application/json" };
      const response = await fetch(`${direct}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return await response.json();
    },
    cloneUrl: (repository) => `${direct.replace("http://", `http://x:${token}@`)}/${repository}.git`,
    async close() {
      for (const close of closers.reverse()) await close();
    },
  };
}

function shuffled<T>(all: readonly T[]): T[] {
  return all
    .map((one) => ({ one, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

async function startGitHubProcess(settings: GitHubSettings, closers: (() => Promise<unknown>)[]): Promise<ChildProcess> {
  const child = fork(new URL("./github.ts", import.meta.url), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  closers.push(() => kill(child));
  endWithUs(child);
  child.send({ order: "start", settings } satisfies GitHubOrder);
  await once(child, "message");
  return child;
}

interface Plane {
  name: string;
  /** Of its API. */
  url: string;
  /** Of its Kubernetes API. */
  port: number;
  kubeconfig: string;
}

interface PlaneOptions {
  folder: string;
  name: string;
  /** Where GitHub is, and by which address files name it. */
  direct: string;
  publicUrl: string;
  batches: number;
}

async function startPlane({ folder, name, direct, publicUrl, batches }: PlaneOptions, closers: (() => Promise<unknown>)[]): Promise<Plane> {
  const file = join(folder, `${name}.yaml`);
  await writeFile(file, inventory(batches));
  const [url, alias] = [direct, publicUrl].map((base) => `${base}/${OWNER}/${name}.git`);
  const args = ["--repo-url", url ?? "", "--repo-alias", alias ?? "", "--path", "appsets", "--inventory", file, "--quick"];
  const started = startCommand("sim/argocd.ts", args, folder);
  closers.push(() => kill(started.child));
  const said = JSON.parse(await started.line) as { kubeconfig: string; url: string };
  const kubeconfig = await readFile(said.kubeconfig, "utf8");
  return { name, url: said.url, kubeconfig, port: Number(/server: .*:(\d+)/.exec(kubeconfig)?.[1]) };
}

/** A replica's configuration, by which it sees each Argo CD, and PostgreSQL, through a wire of its own. */
async function configOf(
  { folder, name: replica, url }: { folder: string; name: string; url: string | undefined },
  planes: readonly Plane[],
  wires: readonly Wire[],
): Promise<string> {
  await mkdir(join(folder, replica), { recursive: true });
  const lines = [`resync: ${RESYNC}`, "controlPlanes:"];
  for (const [n, { name, kubeconfig, port }] of planes.entries()) {
    const file = join(folder, `${replica}-${name}.kubeconfig`);
    await writeFile(file, kubeconfig.replaceAll(`:${port}`, `:${wires[n]?.port}`), { mode: 0o600 });
    lines.push(`  - { name: ${name}, kubeconfig: ${file}, allowRefresh: true, clusterSecrets: true }`);
  }
  if (url === undefined) return `${lines.join("\n")}\n`;
  const urlFile = join(folder, `${replica}.database`);
  await writeFile(urlFile, url, { mode: 0o600 });
  return `${lines.join("\n")}\nqueue: { kind: postgres, urlFile: ${urlFile} }\n`;
}
