import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fastClock } from "../src/sim/clock.ts";
import { startGitHub } from "../src/sim/github/start.ts";
import { startKubernetes } from "../src/sim/kubernetes/index.ts";
import { dockerContext, readDockerfile } from "./image/dockerfile.ts";
import { POSTGRES, postgres } from "./support/postgres.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "package-"));
const prefix = join(folder, "prefix");
/** A config repo of somebody else: it lies nowhere near Stagecoach, and commands are started in it. */
const repo = join(folder, "config");

/** The Node that runs the tests, and the one of the machine where it is another. */
function nodes(): [string, string][] {
  const own = process.versions.node;
  const path = (process.env["PATH"] ?? "").split(":").filter((entry) => !entry.includes("node_modules"));
  const answer = spawnSync("node", ["-p", "process.version.slice(1) + ' ' + process.execPath"], {
    env: { PATH: path.join(":") },
    encoding: "utf8",
  });
  const [version = own, program = process.execPath] = answer.status === 0 ? answer.stdout.trim().split(" ") : [];
  return [[own, process.execPath], ...(version === own ? [] : [[version, program] satisfies [string, string]])];
}

const NODES = nodes();
const COMMIT = "3f2a91c0de".repeat(4);

/** What the image is built from: the files that its Dockerfile copies, and no others. */
function imageSource(): string {
  const source = join(folder, "source");
  const taken = dockerContext(readFileSync(join(ROOT, ".dockerignore"), "utf8"));
  const copied = (readDockerfile(join(ROOT, "Dockerfile"))[0]?.instructions ?? [])
    .filter(({ name }) => name === "COPY")
    .flatMap(({ text }) => text.split(/\s+/).slice(0, -1));
  for (const path of copied) cpSync(join(ROOT, path), join(source, path), { recursive: true, filter: isTaken });
  symlinkSync(join(ROOT, "node_modules"), join(source, "node_modules"));
  return source;

  function isTaken(from: string): boolean {
    return statSync(from).isDirectory() || taken(relative(ROOT, from));
  }
}

beforeAll(() => {
  const dist = join(folder, "dist");
  const env = { ...process.env, STAGECOACH_COMMIT: COMMIT, STAGECOACH_COMMIT_DATE: "2026-11-20T09:12:00+00:00" };
  execFileSync(process.execPath, ["deploy/package/build.ts", dist], { cwd: imageSource(), env });
  const npm = { cwd: folder, encoding: "utf8" as const, env: { ...process.env, npm_config_cache: join(folder, "cache") } };
  const tarball = execFileSync("npm", ["pack", "--silent", dist], npm).trim();
  execFileSync("npm", ["install", "--global", "--offline", "--silent", "--prefix", prefix, tarball], npm);
  cpSync(join(ROOT, "fixtures/fleet"), repo, { recursive: true });
  execFileSync("git", ["init", "--quiet", repo]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("what is installed is small, depends on nothing and carries its libraries' licences", () => {
  const installed = join(prefix, "lib/node_modules/stagecoach");
  const files = globSync("**", { cwd: installed }).map((file) => statSync(join(installed, file)));
  expect(files.reduce((sum, file) => sum + file.size, 0)).toBeLessThan(60e6);
  expect(gzipSync(readFileSync(join(installed, "page/page.js"))).length).toBeLessThan(150e3);
  expect(readFileSync(join(installed, "page/page.css"), "utf8")).toContain("prefers-color-scheme: dark");
  expect(JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))).not.toHaveProperty("dependencies");
  const licences = readFileSync(join(installed, "THIRD-PARTY-LICENSES.txt"), "utf8");
  for (const name of ["simple-git", "probot", "@octokit/rest", "yaml", "@kubernetes/client-node"]) expect(licences).toContain(`${name} `);
  // For scanners: the same, each with its hash.
  const bill = JSON.parse(readFileSync(join(installed, "stagecoach.cdx.json"), "utf8")) as { components: Record<string, unknown>[] };
  const told = licences.match(/^\S+ \d\S* \([\w.-]+\)$/gm) ?? [];
  expect(bill.components.map(({ name, version }) => `${name} ${version}`)).toEqual(told.map((line) => line.replace(/ \(.*/, "")));
  expect(bill.components.filter(({ hashes }) => hashes === undefined)).toEqual([]);
});

test("a class for each kind that Kubernetes has is loaded only by what makes Jobs or AnalysisRuns there", () => {
  const lib = join(prefix, "lib/node_modules/stagecoach/lib");
  const texts = globSync("*.js", { cwd: lib }).map((file) => [file, readFileSync(join(lib, file), "utf8")] as const);
  const classes = texts.filter(([, text]) => text.includes("V1CronJobSpec")).map(([file]) => file);
  const users = texts.filter(([, text]) => classes.some((file) => text.includes(`from "./${file}"`))).map(([file]) => file);
  expect(users.map((file) => file.replace(/-[^-]{8}\.js$/, "")).sort()).toEqual(["argo-rollouts", "jobs"]);
});

test("what --help loads is a few kilobytes of the program, and no library", () => {
  const lib = join(prefix, "lib/node_modules/stagecoach/lib");
  const loaded = new Set(["main.js"]);
  for (const file of loaded) {
    const imports = readFileSync(join(lib, file), "utf8").matchAll(/^(?:import|export) (?:[^"]* from )?"([^"]+)";/gm);
    // What Node itself has is there without a file.
    for (const [, name = ""] of imports) if (!name.startsWith("node:")) loaded.add(name.replace("./", ""));
  }
  const bytes = [...loaded].reduce((sum, file) => sum + statSync(join(lib, file)).size, 0);
  expect(loaded.size).toBeLessThan(5);
  expect(bytes).toBeLessThan(20_000);
});

describe.each(NODES)("the package in an empty place, on Node %s", (_, node) => {
  function ran(...args: string[]): { status: number | null; out: string; err: string } {
    const started = spawnSync(node, [join(prefix, "bin/stagecoach"), ...args], {
      cwd: repo,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, TMPDIR: tmpdir() },
      encoding: "utf8",
    });
    return { status: started.status, out: started.stdout, err: started.stderr };
  }

  test("help, version and completion answer", () => {
    expect(ran("--help")).toMatchObject({ status: 0, out: expect.stringContaining("Usage: stagecoach COMMAND") as string, err: "" });
    // It lies in the package.
    const [tutorial = ""] = /\S+\/tutorial\.md/.exec(ran("--help").out) ?? [];
    expect([tutorial, existsSync(tutorial)]).toEqual([expect.stringContaining(prefix), true]);
    const told = ran("version", "-o", "json");
    expect(told).toMatchObject({ status: 0, err: "" });
    expect(JSON.parse(told.out)).toMatchObject({ commit: COMMIT, date: "2026-11-20T09:12:00+00:00" });
    expect(ran("version").out).toContain("(commit 3f2a91c0de of 2026-11-20, Node ");
    expect(ran("completion", "bash")).toMatchObject({ status: 0, out: expect.stringContaining("_stagecoach") as string, err: "" });
  });

  test("an older Node is told at once what it lacks", () => {
    const older = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"18.20.8"}})';
    const { status, stderr } = spawnSync(node, ["--import", older, join(prefix, "bin/stagecoach"), "lint"], { encoding: "utf8" });
    expect([status, stderr.trim().split("\n")]).toEqual([3, [expect.stringMatching(/this is Node 18\.20\.8; it needs 20\.18 or newer/)]]);
  });

  test("help loads nothing of the commands and their libraries, so it is there at once", () => {
    const coverage = mkdtempSync(join(folder, "loaded-"));
    execFileSync(node, [join(prefix, "bin/stagecoach"), "--help"], { env: { NODE_V8_COVERAGE: coverage } });
    const loaded = globSync("*.json", { cwd: coverage }).flatMap((file) => {
      const { result } = JSON.parse(readFileSync(join(coverage, file), "utf8")) as { result: { url: string }[] };
      return result.flatMap(({ url }) => (url.includes("/node_modules/stagecoach/") ? [fileURLToPath(url)] : []));
    });
    // What older Nodes lack is a file of its own, which only they load.
    const own = loaded.filter((file) => !file.endsWith("/older-node.js"));
    expect(own.some((file) => file.endsWith("/main.js"))).toBe(true);
    expect(own.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(40_000);
  });

  test("the demo shows its page, whose files the package has", async () => {
    const demo = spawn(node, [join(prefix, "bin/stagecoach"), "demo", "--pause-for-me"], { cwd: repo });
    try {
      let said = "";
      const address = await new Promise<string>((resolve, reject) => {
        demo.stdout.on("data", (chunk: Buffer) => {
          said += String(chunk);
          const found = /The page: (\S+)\n/.exec(said)?.[1];
          if (found !== undefined) resolve(found);
        });
        demo.once("close", () => reject(new Error(`it ended: ${said}`)));
      });
      const answers = ["", "page.js", "page.css", "api/v1/fleet"].map(async (path) => (await fetch(address + path)).status);
      expect(await Promise.all(answers)).toEqual([200, 200, 200, 200]);
    } finally {
      demo.kill();
    }
  });

  // On the Node of the tests docs-commands.test.ts has the bundle lint, plan and init, chaos.test.ts serve, and demo.test.ts the sources end a demo.
  if (node !== NODES.at(-1)?.[1]) return;

  test("lint, plan and init work on the repo one stands in, and JSON is nothing but JSON", () => {
    const lint = ran("lint", "-o", "json", "--inventory", "inventory.yaml");
    expect(lint).toMatchObject({ status: 0, err: "" });
    expect(JSON.parse(lint.out)).toBeTypeOf("object");
    const plan = ran("plan", "my-app", "--inventory", "inventory.yaml", "--to", "v1.4.2");
    expect(plan).toMatchObject({ status: 0, out: expect.stringContaining("eu-central-1-a") as string });
    expect(JSON.parse(ran("init", "-o", "json").out)).toMatchObject({ existing: ["my-app"] });
  });

  test.skipIf(POSTGRES === undefined)("it makes the tables of a live PostgreSQL, serves by them, and ends when it is told to", async () => {
    const { url } = await (await postgres()).database();
    const clock = fastClock(1);
    const [github, kubernetes] = await Promise.all([startGitHub({ clock }), startKubernetes({ clock })]);
    const cwd = mkdtempSync(join(folder, "server-"));
    const config = "controlPlanes: [{ name: hub, kubeconfig: kubeconfig }]\nqueue: { kind: postgres, urlFile: url }\n";
    const files = { "stagecoach.yaml": config, kubeconfig: kubernetes.kubeconfig(), url };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
    const env = {
      ...{
        PATH: process.env["PATH"] ?? "",
        GHE_HOST: new URL(github.url).host,
        GHE_PROTOCOL: "http",
        HOST: "127.0.0.1",
        PORT: "0",
        INSIDE_PORT: "0",
      },
      ...{ APP_ID: String(github.app.id), PRIVATE_KEY: github.app.privateKey, WEBHOOK_SECRET: "s3cret" },
    };
    try {
      await github.createRepo({ owner: "acme", name: "fleet", files: new Map([["README.md", "a fleet\n"]]) });
      const migrated = spawnSync(node, [join(prefix, "bin/stagecoach"), "migrate"], { cwd, env, encoding: "utf8" });
      expect(migrated).toMatchObject({ status: 0, stdout: expect.stringMatching(/at step \d+; \d+ taken now/) as string });
      const server = spawn(node, [join(prefix, "bin/stagecoach"), "serve"], { cwd, env });
      const ended = once(server, "close");
      let said = "";
      const inside = await new Promise<string>((resolve, reject) => {
        server.stdout.on("data", (chunk: Buffer) => {
          said += String(chunk);
          const found = /"insideUrl":"([^"]+)","msg":"ready"/.exec(said)?.[1];
          if (found !== undefined) resolve(found);
        });
        void ended.then(() => reject(new Error(`it ended: ${said}`)));
      });
      const metrics = await (await fetch(`${inside}/metrics`)).text();
      expect(metrics).toMatch(/^stagecoach_lease_held 1$/m);
      expect(metrics).toMatch(/^stagecoach_shared_repositories\{state="owned"\} 1$/m);
      server.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    } finally {
      await Promise.all([github.close(), kubernetes.close()]);
    }
  });

  test("the demo runs to its end", () => {
    const demo = ran("demo", "--once", "--clusters", "6", "--speed", "120", "-o", "json");
    expect(demo.err).not.toContain("    at ");
    expect(demo).toMatchObject({ status: 0, out: expect.stringContaining("Succeeded") as string });
  });
});
