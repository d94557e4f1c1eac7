import { type ChildProcess, spawn } from "node:child_process";
import { access, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CoreV1Api, CustomObjectsApi, KubeConfig } from "@kubernetes/client-node";
import { Agent, request } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { type TestRepo, testRepo } from "../../../sim/argocd/testing/world.ts";
import type { Application } from "../../../sim/argocd/types.ts";
import { run } from "./argocd.ts";

let child: ChildProcess | undefined;
let repo: TestRepo | undefined;

afterEach(async () => {
  child?.kill("SIGKILL");
  child = undefined;
  await repo?.remove();
});

/** Starts the command in a process of its own and reads its one line. */
function start(args: string[]): Promise<{ kubeconfig: string; url: string; token: string; ca?: string }> {
  const code = `const { run } = await import(${JSON.stringify(new URL("./argocd.ts", import.meta.url).href)});
    process.exitCode = await run(${JSON.stringify(args)});`;
  const started = spawn(process.execPath, ["--input-type=module", "--eval", code], { stdio: ["ignore", "pipe", "inherit"] });
  child = started;
  return new Promise((resolve, reject) => {
    let text = "";
    started.stdout.on("data", (chunk: Buffer) => {
      text += chunk;
      if (text.includes("\n")) resolve(JSON.parse(text));
    });
    started.on("exit", () => reject(new Error("it ended before it was ready")));
  });
}

const SET = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: my-set }
spec:
  generators: [{ clusters: { selector: { matchLabels: { area: eu } } } }]
  template:
    metadata: { name: 'app-{{name}}' }
    spec:
      project: default
      source: { repoURL: 'https://github.com/acme/config', targetRevision: main, path: app }
      destination: { name: '{{name}}', namespace: app }
      syncPolicy: { automated: {} }
`;

const INVENTORY = ["eu-1", "us-1"]
  .map(
    (name) => `apiVersion: v1
kind: Secret
metadata:
  name: cluster-${name}
  labels: { argocd.argoproj.io/secret-type: cluster, area: ${name.slice(0, 2)} }
stringData: { name: ${name}, server: 'https://${name}.example.com:6443' }
`,
  )
  .join("---\n");

async function untilLive(kubeconfig: string): Promise<Application[]> {
  const kube = new KubeConfig();
  kube.loadFromFile(kubeconfig);
  const api = kube.makeApiClient(CustomObjectsApi);
  for (;;) {
    const list = await api.listNamespacedCustomObject({
      group: "argoproj.io",
      version: "v1alpha1",
      namespace: "argocd",
      plural: "applications",
    });
    const apps = (list as { items: Application[] }).items;
    const live = apps.every(({ status }) => status?.sync?.status === "Synced" && status.health?.status === "Healthy");
    if (apps.length > 1 && live) return apps;
  }
}

describe("stagecoach sim argocd", () => {
  it("follows a repo: its ApplicationSets are applied, and their Applications go live", async () => {
    repo = await testRepo({ "app/deployment.yaml": "image: app:v1\n", "sets/my-set.yaml": SET });
    const inventory = join(repo.url, "inventory.yaml");
    await writeFile(inventory, INVENTORY);
    const { kubeconfig, url } = await start([
      ...["--repo-url", repo.url, "--repo-alias", "https://github.com/acme/config.git", "--path", "sets"],
      ...["--inventory", inventory, "--speed", "100"],
    ]);
    expect((await stat(kubeconfig)).mode & 0o777).toBe(0o600);
    expect(await readFile(kubeconfig, "utf8")).toContain("current-context");
    expect((await untilLive(kubeconfig)).map(({ metadata }) => metadata.name)).toEqual(["app-eu-1", "config"]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    child?.kill("SIGTERM");
    expect(await ended).toBe(0);
    await expect(access(kubeconfig)).rejects.toThrow();
  });

  it("serves TLS by its own CA, and Argo CD's API lets its token in and nobody else", async () => {
    repo = await testRepo({ "sets/readme.yaml": "# nothing yet\n" });
    const { kubeconfig, url, token, ca = "" } = await start(["--repo-url", repo.url, "--path", "sets", "--tls", "--speed", "100"]);
    expect(url).toMatch(/^https:/);
    const kube = new KubeConfig();
    kube.loadFromFile(kubeconfig);
    expect([kube.getCurrentCluster()?.server, kube.getCurrentCluster()?.skipTLSVerify]).toEqual([expect.stringMatching(/^https:/), false]);
    const names = await kube.makeApiClient(CoreV1Api).listNamespace();
    expect(names.items.map(({ metadata }) => metadata?.name)).toContain("argocd");
    const dispatcher = new Agent({ connect: { ca: await readFile(ca, "utf8") } });
    const asked = (bearer: string) => request(`${url}/api/v1/clusters`, { dispatcher, headers: { authorization: `Bearer ${bearer}` } });
    expect([(await asked(token)).statusCode, (await asked("wrong")).statusCode]).toEqual([200, 401]);
    await dispatcher.close();
  });

  it.each([
    { args: [], words: /--repo-url/, exitCode: 2 },
    { args: ["--repo-url", "x", "--speed", "0"], words: /above 0/, exitCode: 2 },
    { args: ["--repo-url", "x", "--inventory", "nowhere.yaml"], words: /cannot be read/, exitCode: 3 },
    { args: ["--repo-url", "nowhere"], words: /cannot be fetched/, exitCode: 3 },
  ])("ends with $exitCode for $args", async ({ args, words, exitCode }) => {
    await expect(run(args)).rejects.toMatchObject({ exitCode, message: expect.stringMatching(words) });
  });
});
