/**
 * Bench of one repository that makes all the noise it can: what others wait for because of it. The bot is a process of its own; GitHub and
 * Kubernetes are this one. Run by `npm run bench noisy`.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fastClock } from "../../src/sim/clock.ts";
import { type GitHubSim, startGitHub } from "../../src/sim/github/start.ts";
import { startKubernetes } from "../../src/sim/kubernetes/index.ts";
import { freePort } from "../support/free-port.ts";
import { lines, makeRepo, startBot } from "./idle.ts";
import type { BenchRow } from "./row.ts";

const OTHERS = 12;
const PULLS = 500;
const COMMENTS = 10_000;
const LARGE = 20;
const MEBIBYTE = 1024 * 1024;
const SECRET = "s3cret";
const PATIENCE_MS = 120_000;

/** What others do, how often, and what they wait for. */
interface Probe {
  name: string;
  /** Of the noisy repository; the others are `acme`'s. */
  owner: string;
  pacing: boolean;
  /** Of the wall's time. */
  everyMs: number;
  quiet: number;
  /** Goes on until the noise is made and so many are done. */
  noisy: number;
  act(github: GitHubSim, repository: string, n: number): unknown;
  isSeen(what: Seen): boolean;
}

interface Seen {
  repository: string;
  what: string;
}

const LOOK: Probe = {
  ...{ name: "push → looked at", owner: "noisy", pacing: false, everyMs: 400, quiet: 75, noisy: 75 },
  act: (github, repository, n) =>
    github.actAs("alice").push(repository, { branch: "main", files: { "README.md": `${n}\n` }, message: "readme" }),
  isSeen: ({ what }) => what === "git-upload-pack",
};
/** Within one installation, whose writes go out a second apart: fewer than it may send by far. */
const CHECK: Probe = {
  ...{ name: "pull request's head → its check, one installation, paced", owner: "acme", pacing: true, everyMs: 5000, quiet: 24, noisy: 60 },
  act: (github, repository, n) =>
    github.actAs("alice").push(repository, { branch: "asked", files: { "NOTES.md": `${n}\n` }, message: "notes" }),
  isSeen: ({ what }) => /^POST .*\/check-runs$/.test(what),
};

export async function benchNoisy(): Promise<BenchRow[]> {
  return [...(await besideNoise(LOOK)), ...(await besideNoise(CHECK))];
}

async function besideNoise(probe: Probe): Promise<BenchRow[]> {
  const clock = fastClock(1);
  const port = await freePort();
  const github = await startGitHub({ clock, webhook: { url: `http://127.0.0.1:${port}/api/github/webhooks`, secret: SECRET } });
  const kubernetes = await startKubernetes({ clock });
  const directory = await mkdtemp(join(tmpdir(), "stagecoach-noisy-"));
  const looks = watch(github, probe);
  const noisy = `${probe.owner}/config-99`;
  let bot: ReturnType<typeof startBot> | undefined;
  try {
    for (let repo = 0; repo < OTHERS; repo++) await makeRepo(github, kubernetes, repo);
    await makeRepo(github, kubernetes, 99, { owner: probe.owner });
    keepBuilds(github.repoDirectory(noisy));
    for (let repo = 0; repo < OTHERS; repo++) github.collaborator(`acme/config-${repo}`, "alice", "admin");
    for (const login of ["alice", "eve"]) github.collaborator(noisy, login, login === "alice" ? "admin" : "read");
    for (let repo = 0; probe.pacing && repo < OTHERS; repo++) await openPull(github, `acme/config-${repo}`, "asked");
    const { id: appId, privateKey } = github.app;
    const app = { appId, privateKey, webhookSecret: SECRET, baseUrl: github.url };
    bot = startBot({ app, kubeconfig: kubernetes.kubeconfig(), directory, speed: 1, port, pacing: probe.pacing });
    await lines(bot)();
    const quiet = await probed(github, probe, looks, (n) => n < probe.quiet);
    let isOver = false;
    const noise = makeNoise(github, noisy).finally(() => {
      isOver = true;
    });
    const beside = await probed(github, probe, looks, (n) => !isOver || n < probe.noisy);
    await noise;
    return rowsOf(probe.name, quiet, beside);
  } finally {
    bot?.stdin?.end();
    if (bot?.exitCode === null) await Promise.race([once(bot, "exit"), new Promise((resolve) => setTimeout(resolve, 10_000))]);
    bot?.kill("SIGKILL");
    await kubernetes.close();
    await github.close();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** 200 MB of what Git is not for, past the embedded GitHub, which takes no such push. */
function keepBuilds(directory: string): void {
  const git = (args: readonly string[], input: Buffer | string) =>
    execFileSync("git", args, { cwd: directory, input, encoding: "utf8" }).trim();
  const files = Array.from({ length: LARGE }, (_, n) => {
    const id = git(["hash-object", "-w", "--stdin"], randomBytes((200 / LARGE) * MEBIBYTE));
    return `M 100644 ${id} builds/${n}.bin\n`;
  });
  const commit = "commit refs/heads/main\ncommitter a <a@example.com> 0 +0000\ndata 6\nbuilds\nfrom refs/heads/main^0\n";
  git(["fast-import", "--quiet"], `${commit}${files.join("")}`);
}

/** 500 pull requests, and 10,000 comments on them, commands of a stranger's among them. */
async function makeNoise(github: GitHubSim, noisy: string): Promise<void> {
  const open: number[] = [];
  let written = 0;
  for (let n = 0; n < PULLS; n++) {
    open.push(await openPull(github, noisy, `noise-${n}`));
    for (; written < ((n + 1) * COMMENTS) / PULLS; written++)
      github.actAs("eve").comment(noisy, open[written % open.length] ?? 1, ["/status", "/pause", "hello", "/plan"][written % 4] ?? "");
    // So that whoever asks in between is answered.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function openPull(github: GitHubSim, repository: string, branch: string): Promise<number> {
  const alice = github.actAs("alice");
  const app = repository.replace(/^.*-/, "app-");
  await alice.push(repository, { branch, files: { [`rollouts/${app}-1.yaml.md`]: `${branch}\n` }, message: branch });
  return await alice.openPull(repository, { head: branch, title: branch });
}

/** By repository: whoever waits for what the bot does of it next. */
type Looks = Map<string, () => void>;

function watch(github: GitHubSim, { isSeen }: Probe): Looks {
  const looks: Looks = new Map();
  const see = (seen: Seen): undefined => {
    if (!isSeen(seen)) return;
    looks.get(seen.repository)?.();
    looks.delete(seen.repository);
  };
  github.faults.git = ({ repository, service }) => see({ repository, what: service });
  github.faults.request = ({ method, path }) => see({ repository: path.split("/", 4).slice(2).join("/"), what: `${method} ${path}` });
  return looks;
}

async function probed(github: GitHubSim, probe: Probe, looks: Looks, goesOn: (n: number) => boolean): Promise<number[]> {
  const pushes: Promise<number>[] = [];
  for (let n = 0; goesOn(n); n++) {
    const repository = `acme/config-${n % OTHERS}`;
    await probe.act(github, repository, n);
    pushes.push(until(looks, repository));
    await new Promise((resolve) => setTimeout(resolve, probe.everyMs));
  }
  return await Promise.all(pushes);
}

function until(waiting: Map<string, () => void>, key: string): Promise<number> {
  const began = performance.now();
  return new Promise((resolve) => {
    const done = () => resolve(performance.now() - began);
    waiting.set(key, done);
    setTimeout(done, PATIENCE_MS).unref();
  });
}

function rowsOf(name: string, quiet: readonly number[], noisy: readonly number[]): BenchRow[] {
  const at = (of: readonly number[], share: number) =>
    of.toSorted((a, b) => a - b)[Math.floor(of.length * share)] ?? of.at(-1) ?? Number.NaN;
  return [
    { name: `${name}, nobody else: p50`, value: at(quiet, 0.5), unit: "ms" },
    { name: `${name}, nobody else: p99`, value: at(quiet, 0.99), unit: "ms" },
    { name: `${name}, beside a noisy repository: p50`, value: at(noisy, 0.5), unit: "ms" },
    { name: `${name}, beside a noisy repository: p99`, value: at(noisy, 0.99), unit: "ms" },
    { name: `${name}: later at p99, of ${noisy.length}`, value: at(noisy, 0.99) - at(quiet, 0.99), unit: "ms", limit: 2000 },
  ];
}
