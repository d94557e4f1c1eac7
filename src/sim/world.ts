import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { render } from "../core/appset/render.ts";
import { readInventory } from "../core/argocd/inventory-file.ts";
import { defined } from "../core/base/defined.ts";
import type { Lag } from "./argocd/application/lag.ts";
import type { Fault } from "./argocd/faults.ts";
import type { ArgoCdOptions, ArgoCdSim } from "./argocd/index.ts";
import { fastClock, type WorldClock } from "./clock.ts";
import type { Person } from "./github/model/people.ts";
import { type GitHubOptions, type GitHubSim, startGitHub } from "./github/start.ts";
import type { KubernetesSim } from "./kubernetes/index.ts";
import { listen } from "./listen.ts";
import { type EmbeddedPlane, startPlane } from "./plane.ts";

export interface WorldOptions {
  /** How many times as fast as the wall's clock. Default 1. */
  speed?: number;
  /** Instead of one of this speed. */
  clock?: WorldClock;
  /** Epoch milliseconds the world's clock starts at; default now. */
  start?: number;
  seed?: number;
  lag?: Partial<Lag>;
  faults?: readonly { cluster: string; kind: Fault["kind"]; noticed?: boolean }[];
  /** Changes the files of the config repo before it is made; null removes one. */
  files?: (files: Map<string, string>) => void;
  /** Of each embedded Argo CD. */
  argocd?: Partial<Omit<ArgoCdOptions, "kubernetes" | "clock" | "git" | "clusters">>;
  /** In place of those of the fleet. */
  clusters?: readonly FleetCluster[];
  /** ApplicationSets that `files` makes of it, each with an Application on every cluster. Default 1. */
  sets?: number;
  /** Several control planes, each with the clusters of these labels (null: its own alone) and a folder that it applies. Default: one, `hub`, with all of them. */
  planes?: readonly { name: string; labels: Record<string, string> | null; path?: string }[];
  /** Branches of the repo that begin where main does. */
  branches?: readonly string[];
  /** Whether pushes are told to Argo CD; else it polls. Default true. */
  argocdWebhook?: boolean;
  /** Argo CD may push to the repo, as its source hydrator has to. Default false. */
  argocdMayPush?: boolean;
  /** No rule keeps others from the branches that are the bot's own. Default false. */
  unprotected?: boolean;
  /** Of the embedded GitHub: its faults, limits, permissions, or who checks its answers and events. */
  github?: Partial<Omit<GitHubOptions, "clock">>;
}

export interface FleetCluster {
  name: string;
  server: string;
  labels: Record<string, string>;
}

/** GitHub, Kubernetes and Argo CD around the fleet of fixtures/fleet, ready: every Application live at v1.4.1 and healthy. */
export interface EmbeddedWorld {
  clock: WorldClock;
  github: GitHubSim;
  /** Each control plane; what follows is of the first. */
  planes: readonly EmbeddedPlane[];
  kubernetes: KubernetesSim;
  argocd: ArgoCdSim;
  /** Text. */
  kubeconfig: string;
  /** `acme/fleet`. */
  repository: string;
  webhookSecret: string;
  /** Sends the webhooks of GitHub to this address, too. */
  deliverTo(url: string): void;
  /** Ends that. */
  noLongerTo(url: string): void;
  /** Names. */
  clusters: string[];
  /** Name of the cluster that is drained at the start. */
  drained: string;
  /** Ends the drained cluster's maintenance: its label goes. */
  undrain(): void;
  /** A branch and PR that changes the release (of my-app); the version's tag is made first. Gives the PR's number. */
  openReleasePull(person: Person, version?: string, rollout?: string): Promise<number>;
  /** The body of the bot's comment on a PR that holds this text, as soon as it is there. */
  untilComment(pull: number, text: string): Promise<string>;
  close(): Promise<void>;
}

/** The clusters of the sample. */
export function fleetClusters(): FleetCluster[] {
  const { clusters } = readInventory(readFileSync(join(FLEET, "inventory.yaml"), "utf8"), "inventory.yaml");
  return clusters.map(({ name, server, labels }) => ({ name, server, labels }));
}

const FLEET = fileURLToPath(new URL("../../fixtures/fleet/", import.meta.url));
const [OWNER, NAME] = ["acme", "fleet"] as const;
const FIRST_VERSION = "v1.4.1";
const NEXT_VERSION = "v1.4.2";
const WEBHOOK_SECRET = "embedded-webhook-secret";
/** Of the wall's clock, where the world's runs at its speed. */
const PATIENCE_MS = 60_000;
const PEOPLE = { alice: "write", bob: "maintain", carol: "admin" } as const;
const LOOK_MS = 25;

export async function startWorld(options: WorldOptions = {}): Promise<EmbeddedWorld> {
  const clock = options.clock ?? fastClock(options.speed ?? 1, options.start);
  const github = await startGitHub({ ...options.github, clock });
  const files = fleetFiles(`${github.gitUrl}/${OWNER}/${NAME}.git`);
  options.files?.(files);
  const { repository, cloneUrl, head } = await github.createRepo({ owner: OWNER, name: NAME, files });
  for (const [login, role] of Object.entries(PEOPLE)) github.collaborator(repository, login, role);
  if (options.unprotected !== true) github.reserveBranches(repository);
  if (options.argocdMayPush === true) github.collaborator(repository, "argocd", "write");
  const refs = [`tags/${FIRST_VERSION}`, ...(options.branches ?? []).map((branch) => `heads/${branch}`)];
  for (const ref of refs) await makeRef(github, repository, ref, head);
  const [clusters, directory] = [options.clusters ?? fleetClusters(), options.github?.directory];
  const planes = await startPlanes(options, clock, { url: cloneUrl, token: github.token("argocd"), directory }, clusters);
  const [first] = planes;
  if (first === undefined) throw new Error("a world has at least one control plane");
  const { kubernetes, argocd } = first;
  const hooks = await startRelay();
  if (options.argocdWebhook !== false) for (const plane of planes) hooks.to.add(`${plane.argocd.url}/api/webhook`);
  github.setWebhook({ url: hooks.url, secret: WEBHOOK_SECRET });
  for (const { cluster, ...fault } of options.faults ?? [])
    argocd.setFault(cluster, { noticed: true, ...fault, revision: NEXT_VERSION } as Fault);
  const drained = clusters.find((cluster) => cluster.labels["drained"] === "true")?.name ?? "";

  return {
    clock,
    github,
    planes,
    kubernetes,
    argocd,
    kubeconfig: first.kubeconfig,
    repository,
    webhookSecret: WEBHOOK_SECRET,
    deliverTo: (url) => void hooks.to.add(url),
    noLongerTo: (url) => void hooks.to.delete(url),
    clusters: clusters.map((cluster) => cluster.name),
    drained,
    undrain: () => argocd.relabel(drained, { drained: null }),
    openReleasePull: (person, version = NEXT_VERSION, rollout = "my-app") =>
      openReleasePull({ github, repository, files, person, version, rollout }),
    untilComment: (pull, text) => untilComment({ clock, github, repository }, pull, text),
    async close() {
      await hooks.close();
      for (const plane of planes) {
        await plane.argocd.close();
        await plane.kubernetes.close();
      }
      await github.close();
    },
  };
}

/** Starts the control planes one after the other, each with the clusters that have its labels. */
async function startPlanes(
  options: WorldOptions,
  clock: EmbeddedWorld["clock"],
  repo: { url: string; token: string; directory: string | undefined },
  clusters: readonly FleetCluster[],
): Promise<EmbeddedPlane[]> {
  const planes: EmbeddedPlane[] = [];
  for (const { name, labels, path } of options.planes ?? [{ name: "hub", labels: {}, path: undefined }]) {
    const own = clusters.filter(
      (cluster) => labels !== null && Object.entries(labels).every(([key, value]) => cluster.labels[key] === value),
    );
    const plane = defined({
      ...{ name, path },
      repo,
      clock,
      seed: options.seed ?? 1,
      render,
      clusters: own.map(({ name, server, labels }) => ({ name, server, labels })),
      webhookSecret: WEBHOOK_SECRET,
      sets: options.sets,
      ...options.argocd,
      lag: options.lag ?? options.argocd?.lag,
    });
    planes.push(await startPlane(plane));
  }
  return planes;
}

interface NewRelease {
  github: GitHubSim;
  repository: string;
  files: ReadonlyMap<string, string>;
  person: Person;
  version: string;
  rollout: string;
}

async function openReleasePull({ github, repository, files, person, version, rollout }: NewRelease): Promise<number> {
  const path = `apps/${rollout}/kustomization.yaml`;
  const bumped = { [path]: (files.get(path) ?? "").replaceAll(FIRST_VERSION, version) };
  const built = await person.push(repository, { branch: "main", files: bumped, message: `${rollout} ${version}` });
  await makeRef(github, repository, `tags/${version}`, built);
  const text = (files.get(`releases/${rollout}.yaml`) ?? "").replace(FIRST_VERSION, version);
  const branch = `release-${version}`;
  const title = `Release ${rollout} ${version}`;
  await person.push(repository, { branch, files: { [`releases/${rollout}.yaml`]: text }, message: title });
  return await person.openPull(repository, { head: branch, title });
}

/** The sample config repo, with the embedded GitHub's address where the fixture names github.com. */
function fleetFiles(cloneUrl: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const entry of readdirSync(FLEET, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(relative(FLEET, path), readFileSync(path, "utf8").replaceAll("https://github.com/example/fleet.git", cloneUrl));
  }
  return files;
}

async function makeRef(github: GitHubSim, repository: string, name: string, sha: string): Promise<void> {
  const headers = { authorization: `token ${github.token("alice")}`, "content-type": "application/json" };
  const body = JSON.stringify({ ref: `refs/${name}`, sha });
  const response = await fetch(`${github.url}/repos/${repository}/git/refs`, { method: "POST", headers, body });
  if (response.status !== 201) throw new Error(`${name}: ${response.status} ${await response.text()}`);
}

async function untilComment(
  { clock, github, repository }: Pick<EmbeddedWorld, "clock" | "github" | "repository">,
  pull: number,
  text: string,
): Promise<string> {
  const until = clock.now() + PATIENCE_MS * clock.speed;
  const headers = { authorization: `token ${github.token("alice")}` };
  for (;;) {
    const response = await fetch(`${github.url}/repos/${repository}/issues/${pull}/comments`, { headers });
    const found = ((await response.json()) as { body: string }[]).find((comment) => comment.body.includes(text));
    if (found !== undefined) return found.body;
    if (clock.now() > until) throw new Error(`no comment on #${pull} holds "${text}"`);
    await new Promise<void>((resolve) => void clock.after(LOOK_MS * clock.speed, resolve));
  }
}

/** GitHub has one webhook for the App and others for Argo CD: here one delivery is passed on, byte for byte, to each. */
async function startRelay(): Promise<{ url: string; to: Set<string>; close(): Promise<void> }> {
  const to = new Set<string>();
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === "string" && /^(x-|content-type|user-agent)/.test(name) ? [[name, value] as [string, string]] : [],
    );
    const answers = await Promise.allSettled([...to].map((url) => fetch(url, { method: "POST", headers, body })));
    response.writeHead(answers.every((answer) => answer.status === "fulfilled" && answer.value.ok) ? 200 : 502).end();
  });
  const { url, close } = await listen(server);
  return { url: `${url}/`, to, close };
}
