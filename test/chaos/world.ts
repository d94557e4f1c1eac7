/** What a kill loop goes on in: GitHub and Argo CD as processes of their own, a config repo of twelve clusters, and a bot as often as wanted. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const CLUSTERS = Array.from({ length: 12 }, (_, n) => `c${String(n + 1).padStart(2, "0")}`);
const AT_ONCE = 2;
export const BATCHES = CLUSTERS.length / AT_ONCE;
const SECRET = "a-secret-of-chaos";
const APP_ID = "4242";

const cli = (name: string) => new URL(`../../src/surfaces/cli/${name}`, import.meta.url).href;

/** A process of Node's; its `line` is the first that says `word`. */
function start(args: readonly string[], options: { cwd: string; env?: Record<string, string>; word?: string }) {
  const env = { PATH: process.env["PATH"] ?? "", ...options.env };
  const child = spawn(process.execPath, args, { cwd: options.cwd, env });
  let text = "";
  const line = new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      text += chunk;
      const lines = text.split("\n").slice(0, -1);
      const found = lines.find((one) => one.includes(options.word ?? ""));
      if (found !== undefined) resolve(found);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", (chunk: Buffer) => {
      text += chunk;
    });
    child.on("exit", () => reject(new Error(`${args.join(" ")} ended:\n${text}`)));
  });
  line.catch(() => undefined);
  return { child, line, output: () => text };
}

type Started = ReturnType<typeof start>;

/** A command of the program, from its source. */
function startCommand(file: string, args: readonly string[], cwd: string): Started {
  const code = `const { run } = await import(${JSON.stringify(cli(file))}); process.exitCode = await run(process.argv.slice(1));`;
  return start(["--input-type=module", "--eval", code, "--", ...args], { cwd });
}

/** The program as it is packed and run. */
function build(folder: string): string {
  const script = fileURLToPath(new URL("../../deploy/package/build.ts", import.meta.url));
  execFileSync(process.execPath, [script, folder], { stdio: "ignore" });
  return join(folder, "stagecoach.mjs");
}

export interface ChaosWorld {
  api(method: string, path: string, body?: object): Promise<unknown>;
  /** Of the config repo, for git. */
  gitUrl: string;
  /** Its `line` comes once its port answers. */
  bot(): Started;
  close(): void;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** In an empty folder. */
export async function startChaosWorld(folder: string): Promise<ChaosWorld> {
  const children: ChildProcess[] = [];
  const keep = (one: Started) => {
    children.push(one.child);
    return one;
  };
  const [githubPort, port] = [await freePort(), await freePort()];
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  const repoURL = `http://127.0.0.1:${githubPort}/acme/fleet.git`;
  await write(folder, { "key.pem": pem, "inventory.yaml": inventory(), ...configRepo(repoURL) });
  const hook = ["--webhook", `http://127.0.0.1:${port}/api/github/webhooks`, "--webhook-secret", SECRET];
  const app = ["--app-id", APP_ID, "--private-key", join(folder, "key.pem"), ...hook];
  const where = ["--owner", "acme", "--repo", "fleet", "--port", String(githubPort), "--dir", join(folder, "repo")];
  const github = JSON.parse(await keep(startCommand("sim/github.ts", [...where, ...app], folder)).line) as { url: string; token: string };
  const from = ["--repo-url", repoURL, "--path", "appsets", "--inventory", join(folder, "inventory.yaml"), "--quick"];
  const argocd = JSON.parse(await keep(startCommand("sim/argocd.ts", from, folder)).line) as { kubeconfig: string };
  await write(folder, {
    "stagecoach.yaml": `controlPlanes:\n  - { name: hub, kubeconfig: ${argocd.kubeconfig}, allowRefresh: true, clusterSecrets: true }\n`,
  });
  const env = {
    ...{ APP_ID, PRIVATE_KEY: pem, WEBHOOK_SECRET: SECRET, GHE_HOST: `127.0.0.1:${githubPort}`, GHE_PROTOCOL: "http" },
    ...{ HOST: "127.0.0.1", PORT: String(port), INSIDE_PORT: "0" },
  };
  const program = build(join(folder, "program"));
  const headers = { authorization: `token ${github.token}`, "content-type": "application/json" };
  return {
    async api(method, path, body) {
      const response = await fetch(`${github.url}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return response.json();
    },
    gitUrl: repoURL.replace("http://", `http://x:${github.token}@`),
    bot: () => keep(start([program, "serve"], { cwd: folder, env, word: '"listening"' })),
    close() {
      for (const child of children) child.kill("SIGKILL");
    },
  };
}

function inventory(): string {
  const secret = (name: string) => `apiVersion: v1
kind: Secret
metadata: { name: cluster-${name}, labels: { argocd.argoproj.io/secret-type: cluster, fleet: app } }
stringData: { name: ${name}, server: "https://${name}.example.com:6443" }
`;
  return CLUSTERS.map(secret).join("---\n");
}

function configRepo(repoURL: string): Record<string, string> {
  const elements = CLUSTERS.map((cluster) => `          - { cluster: ${cluster}, version: v1 }\n`).join("");
  return {
    "repo/releases/app.yaml": "version: v1\n",
    "repo/apps/app/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: app }\n",
    "repo/appsets/app.yaml": `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: app, namespace: argocd }
spec:
  generators:
    - list:
        elements:
${elements}  template:
    metadata: { name: "app-{{cluster}}" }
    spec:
      project: default
      source: { repoURL: "${repoURL}", path: apps/app, targetRevision: main, helm: { parameters: [{ name: version, value: "{{version}}" }] } }
      destination: { name: "{{cluster}}", namespace: app }
      syncPolicy: { automated: {} }
`,
    "repo/rollouts/app.yaml": `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: app }
spec:
  sourceRef: { kind: ApplicationSet, name: app, namespace: argocd }
  release: { from: { file: releases/app.yaml, path: version } }
  pins:
    - file: appsets/app.yaml
      path: spec.generators[0].list.elements[cluster={{ cluster.name }}].version
  mode: Run
  stages:
    - name: everywhere
      clusters: { selector: { matchLabels: { fleet: app } } }
      maxUnavailable: ${AT_ONCE}
`,
  };
}
