/**
 * `npm run chaos -- [--kills N] [--uptime SECONDS]`: a bot that is killed again and again in the middle of a run, with GitHub and Argo CD in
 * processes of their own. Each bot lives about so long after its port answers. Exits 1 where the run does not come to the very end it would
 * have come to. Not part of the tests: it takes minutes.
 */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { BATCHES, type ChaosWorld, CLUSTERS, startChaosWorld } from "./world.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "60" },
    uptime: { type: "string", default: "2" },
    trace: { type: "boolean", default: false },
  },
});
const [kills, uptime] = [Number(values.kills), Number(values.uptime)];
/** Without a kill the rest of the run takes a minute or two. */
const PATIENCE_MS = 5 * 60_000;

interface Seen {
  phase: string | undefined;
  why: unknown;
  merges: string[];
  versions: string[];
}

function openMirror(folder: string, { gitUrl }: ChaosWorld) {
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  git("init", "--quiet", "--bare");
  const show = (what: string) => {
    try {
      return parse(git("show", what)) as Record<string, unknown>;
    } catch {
      return {};
    }
  };
  return (): Seen => {
    git("fetch", "--quiet", gitUrl, "+refs/heads/*:refs/heads/*");
    const { phase, why } = show("stagecoach/journal:runs/app/1/run.yaml");
    const set = git("show", "main:appsets/app.yaml");
    const subjects = git("log", "--format=%s", "main").trim().split("\n");
    return {
      phase: phase as string | undefined,
      why,
      merges: subjects.filter((subject) => subject.startsWith("app v2: ")),
      versions: [...set.matchAll(/version: (v\d)/g)].map(([, version = ""]) => version),
    };
  };
}

/** Seconds of processor time that a process has had, by Linux's word; not a number elsewhere. */
function processorTime(pid = 0): number {
  try {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ").slice(11, 13) ?? [];
    return (Number(user) + Number(system)) / 100;
  } catch {
    return Number.NaN;
  }
}

async function release({ api }: ChaosWorld): Promise<void> {
  const repo = "/repos/acme/fleet";
  const { object } = (await api("GET", `${repo}/git/ref/heads/main`)) as { object: { sha: string } };
  const { tree } = (await api("GET", `${repo}/git/commits/${object.sha}`)) as { tree: { sha: string } };
  const file = { path: "releases/app.yaml", mode: "100644", type: "blob", content: "version: v2\n" };
  const made = (await api("POST", `${repo}/git/trees`, { base_tree: tree.sha, tree: [file] })) as { sha: string };
  const commit = (await api("POST", `${repo}/git/commits`, { message: "Release v2", tree: made.sha, parents: [object.sha] })) as {
    sha: string;
  };
  await api("POST", `${repo}/git/refs`, { ref: "refs/heads/release", sha: commit.sha });
  const { number } = (await api("POST", `${repo}/pulls`, { title: "Release v2", head: "release", base: "main" })) as { number: number };
  await api("PUT", `${repo}/pulls/${number}/merge`, { merge_method: "squash" });
}

/** What a bot that nobody kills would have done. */
function faults({ phase, merges, versions }: Seen): string[] {
  const found: string[] = [];
  if (phase !== "Succeeded") found.push(`the run is ${phase}`);
  if (merges.length !== BATCHES) found.push(`${merges.length} batches were merged instead of ${BATCHES}`);
  if (new Set(merges).size !== merges.length) found.push("a batch was merged twice");
  if (versions.length !== CLUSTERS.length || versions.some((version) => version !== "v2"))
    found.push("not every cluster is at the release");
  return found;
}

const folder = await mkdtemp(join(tmpdir(), "stagecoach-chaos-"));
const world = await startChaosWorld(folder);
try {
  const mirror = join(folder, "mirror");
  execFileSync("mkdir", [mirror]);
  const look = openMirror(mirror, world);
  const first = world.bot();
  await first.line;
  for (let n = 0; !first.output().includes('"ready"'); n++) {
    if (n > 600) throw new Error(`the bot is not ready: ${first.output()}`);
    await sleep(50);
  }
  await release(world);
  let bot = first;
  const began = performance.now();
  let done = 0;
  let starting = 0;
  let [before, after] = [0, 0];
  for (; done < kills; done++) {
    const atStart = processorTime(bot.child.pid);
    await sleep(uptime * 1000 * (0.75 + Math.random() / 2));
    before += atStart;
    after += processorTime(bot.child.pid) - atStart;
    bot.child.kill("SIGKILL");
    await once(bot.child, "exit");
    if (values.trace) {
      const { phase, merges, why } = look();
      console.log(
        `${String(done + 1).padStart(3)} ${((performance.now() - began) / 1000).toFixed(0)} s ${phase} ${merges.length} ${(JSON.stringify(why) ?? "").slice(0, 200)}`,
      );
      const lines = bot
        .output()
        .split("\n")
        .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as { time: unknown; msg: string }] : []));
      console.log(lines.map(({ time, msg }) => `      ${String(time)} ${msg.slice(0, 120)}`).join("\n"));
    }
    const killed = performance.now();
    bot = world.bot();
    await bot.line;
    starting += performance.now() - killed;
    if (look().phase === "Succeeded") break;
  }
  const then = look();
  console.log(
    `${done} kills, each about ${uptime} s after its port answered (${(starting / 1000 / Math.max(done, 1)).toFixed(1)} s after its start): ` +
      `${then.merges.length} of ${BATCHES} batches merged in ${((performance.now() - began) / 1000).toFixed(0)} s`,
  );
  const mean = (sum: number) => (sum / Math.max(done, 1)).toFixed(2);
  console.log(`processor time of a life: ${mean(before)} s until its port answers, ${mean(after)} s from then on`);
  const end = performance.now() + PATIENCE_MS;
  while (!["Succeeded", "Failed", "Paused"].includes(look().phase ?? "") && performance.now() < end) await sleep(1000);
  if (values.trace) console.log(bot.output().slice(-6000));
  const found = faults(look());
  console.log(found.length === 0 ? `${BATCHES} merges, each once; the run Succeeded` : found.join("\n"));
  process.exitCode = found.length === 0 ? 0 : 1;
} finally {
  world.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
