import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { SHORT_LAG } from "../../src/sim/argocd/application/lag.ts";
import { type EmbeddedWorld, startWorld } from "../../src/sim/world.ts";
import { WEBHOOK_PATH } from "../../src/surfaces/server/deliveries/server.ts";
import type { TestWorld } from "../support/bot-process.ts";
import { freePort } from "../support/free-port.ts";
import { short, versionsIn } from "../support/journey.ts";

/** A bot has to come back within the 15 s of the world's clock in which a merge is begun on its intention, on a busy machine as well. */
const SPEED = 3;
const JOURNAL = "refs/heads/stagecoach/journal";

let world: EmbeddedWorld | undefined;
let directory: string | undefined;
const children = new Set<ChildProcess>();

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  await world?.close();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true, maxRetries: 5 });
});

/** A bot that has loaded its code and begins at a word. */
function standBy(told: TestWorld): ChildProcess {
  const child = spawn(process.execPath, [new URL("../support/bot-process.ts", import.meta.url).pathname], {
    env: { ...process.env, STAGECOACH_TEST_WORLD: JSON.stringify(told) },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin?.on("error", () => undefined);
  children.add(child);
  return child;
}

const CLUSTERS = ["eu-west-1-a", "eu-central-1-a"];

/** The first stage of `short` alone, cluster by cluster: two batches. Each life loads the whole bot, and a third batch has no commit of another kind. */
function twoBatches(files: Map<string, string>): void {
  short()(files);
  const path = "rollouts/my-app.yaml";
  const [canary = ""] = (files.get(path) ?? "").split("    - name: us-east-1");
  files.set(path, canary.replace("maxUnavailable: 2", "maxUnavailable: 1"));
}

function phaseAt(repo: string): string | undefined {
  try {
    return (parse(git(repo, "show", `${JOURNAL}:runs/my-app/1/run.yaml`)) as { phase?: string }).phase;
  } catch {
    return undefined;
  }
}

describe("a bot killed at every commit of its journal", () => {
  test("a run killed with SIGKILL at every journal commit resumes to the same end", async () => {
    world = await startWorld({ speed: SPEED, lag: { ...SHORT_LAG, applicationSet: 300 }, files: twoBatches });
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
    // GitHub tells of each push the moment it has taken it: the bot is dead before it reads the answer, or just after.
    let current: ChildProcess | undefined;
    let kills = 0;
    github.faults.webhook = ({ event, body }) => {
      if (event === "push" && (JSON.parse(body) as { ref: string }).ref === JOURNAL && current?.kill("SIGKILL") === true) {
        kills += 1;
        current = undefined;
      }
      return "deliver";
    };
    const alice = github.actAs("alice");
    let pull: number | undefined;
    let next = standBy(told);
    while (phaseAt(repo) !== "Succeeded") {
      const bot = next;
      const gone = once(bot, "exit");
      current = bot;
      bot.stdin?.write("go\n");
      next = standBy(told);
      const ready = once(bot.stdout ?? bot, "data");
      if (pull === undefined && kills > 0) {
        await Promise.race([ready, gone]);
        pull = await world.openReleasePull(alice);
        await alice.mergePull(repository, pull, "squash");
      }
      await gone;
      children.delete(bot);
    }

    expect(kills).toBeGreaterThan(6);
    expect(kills).toBe(Number(git(repo, "rev-list", "--count", "stagecoach/journal")));
    const versions = versionsIn(git(repo, "show", "main:appsets/my-app-set.yaml"));
    expect(CLUSTERS.map((cluster) => versions.get(cluster))).toEqual(CLUSTERS.map(() => "v1.4.2"));
    // Each batch's change is in the history once: nothing was merged twice, nothing but batches and the release.
    const subjects = git(repo, "log", "--format=%s", "main").split("\n");
    expect(new Set(subjects).size).toBe(subjects.length);
    const changed = subjects.filter((subject) => subject.startsWith("my-app v1.4.2: ")).length;
    const batches = git(repo, "ls-tree", "-r", "--name-only", "stagecoach/journal")
      .split("\n")
      .filter((path) => path.includes("/batches/")).length;
    expect([changed, batches]).toEqual([2, 2]);
  });
});
