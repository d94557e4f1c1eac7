import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { WEBHOOK_PATH } from "../../src/bot/server.ts";
import { git } from "../../src/git/testing/repositories.ts";
import { type EmbeddedWorld, startWorld } from "../../src/sim/world.ts";
import type { TestWorld } from "../support/bot-process.ts";

const SPEED = 120;
const PATIENCE_MS = 170_000;

let world: EmbeddedWorld | undefined;
let child: ChildProcess | undefined;
let directory: string | undefined;

afterEach(async () => {
  child?.kill("SIGKILL");
  await world?.close();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true, maxRetries: 5 });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

function startBot(told: TestWorld): { process: ChildProcess; ready: Promise<void>; gone: Promise<void> } {
  const process_ = spawn(process.execPath, [new URL("../support/bot-process.ts", import.meta.url).pathname], {
    env: { ...process.env, STAGECOACH_TEST_WORLD: JSON.stringify(told) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = new Promise<void>((resolve) => process_.once("exit", () => resolve()));
  const ready = new Promise<void>((resolve) => process_.stdout?.once("data", () => resolve()));
  return { process: process_, ready, gone };
}

describe("a bot killed at every commit of its journal", () => {
  test("resumes each time, and comes to the same end", { timeout: 180_000 }, async () => {
    world = await startWorld({ speed: SPEED, files: withoutBake });
    directory = await mkdtemp(join(tmpdir(), "stagecoach-crash-"));
    const { github, repository } = world;
    const repo = github.repoDirectory(repository);
    const told: TestWorld = {
      app: { appId: github.app.id, privateKey: github.app.privateKey, webhookSecret: world.webhookSecret, baseUrl: github.url },
      kubeconfig: world.kubeconfig,
      directory,
      port: await freePort(),
      speed: SPEED,
      clock: { world: world.clock.now(), wall: Date.now() },
    };
    world.deliverTo(`http://127.0.0.1:${told.port}${WEBHOOK_PATH}`);
    world.undrain();
    let bot = startBot(told);
    child = bot.process;
    await bot.ready;
    const alice = github.actAs("alice");
    const pull = await world.openReleasePull(alice);
    await alice.mergePull(repository, pull, "squash");

    const journalHead = () => {
      try {
        return git(repo, "rev-parse", "--verify", "-q", "refs/heads/stagecoach/journal");
      } catch {
        return "";
      }
    };
    let seen = journalHead();
    let kills = 0;
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const head = journalHead();
      if (head !== seen) {
        seen = head;
        bot.process.kill("SIGKILL");
        await bot.gone;
        kills += 1;
        if (phaseAt(repo, head) === "Succeeded") break;
        bot = startBot(told);
        child = bot.process;
      }
      if (Date.now() > until)
        throw new Error(`not at its end after ${kills} kills: ${git(repo, "log", "-3", "--format=%s", "stagecoach/journal")}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }

    expect(kills).toBeGreaterThan(20);
    const values = git(repo, "show", "main:appsets/my-app-set.yaml").matchAll(/targetRevision: (v\S+)/g);
    expect(new Set([...values].map(([, version]) => version))).toEqual(new Set(["v1.4.2"]));
    // Each batch's change is in the history once: nothing was merged twice, nothing but batches and the release.
    const subjects = git(repo, "log", "--format=%s", "main").split("\n");
    expect(new Set(subjects).size).toBe(subjects.length);
    const changed = subjects.filter((subject) => subject.startsWith("my-app v1.4.2: ")).length;
    const merged = git(repo, "ls-tree", "-r", "--name-only", "stagecoach/journal")
      .split("\n")
      .filter((path) => path.includes("/batches/")).length;
    expect(changed).toBe(merged);
  });
});

/** The journey's shape without its long waits: killing takes long enough. */
function withoutBake(files: Map<string, string>): void {
  const path = "rollouts/my-app.yaml";
  files.set(path, (files.get(path) ?? "").replaceAll(/^ +bake: .*\n/gm, ""));
}

function phaseAt(repo: string, commit: string): string | undefined {
  try {
    return (parse(git(repo, "show", `${commit}:runs/my-app/1/run.yaml`)) as { phase?: string }).phase;
  } catch {
    return undefined;
  }
}
