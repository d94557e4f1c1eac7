/**
 * `npm run chaos -- [--runs N] [--seed N] [--replicas N] …`: whole runs of a release while replicas are killed and frozen, the network is cut, GitHub
 * is unwell and disks are full, each drawn from a seed of its own. Prints the seeds that failed, by which each can be run again, and exits 1.
 * `npm run chaos -- --wrong`: a program that asks no lease is cut off from PostgreSQL, and must be found out.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Chances, drawFaults, type Fault } from "./faults.ts";
import type { Takeover } from "./judge.ts";
import { build, buildWrong } from "./processes.ts";
import { runTrial, type Shape } from "./trial.ts";

/** In the midst of a run. */
const UNWELL_AT_MS = 15_000;

/** Another looks after a repository by then. */
const PROMISED_MS = 10_000;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    replicas: { type: "string", default: "1" },
    repos: { type: "string", default: "1" },
    batches: { type: "string", default: "3" },
    kills: { type: "string", default: "5" },
    others: { type: "string", default: "6" },
    /** Seconds in which faults begin, and how long the longest take. */
    span: { type: "string", default: "60" },
    longest: { type: "string", default: "60" },
    /** GitHub answers nothing but 502 for so many seconds, in each run. */
    unwell: { type: "string", default: "0" },
    parallel: { type: "string", default: "2" },
    trace: { type: "boolean", default: false },
    wrong: { type: "boolean", default: false },
  },
});
const number = (name: Exclude<keyof typeof values, "trace" | "wrong">) => Number(values[name]);
const shape: Shape = {
  ...{ repos: number("repos"), replicas: number("replicas"), postgres: number("replicas") > 1, batches: number("batches") },
  ...{ deployments: true, paused: true },
};
const chances: Chances = {
  ...{ replicas: shape.replicas, postgres: shape.postgres, kills: number("kills"), others: number("others") },
  ...{ spanMs: number("span") * 1000, longestMs: number("longest") * 1000 },
};

const unwell: Fault[] =
  number("unwell") > 0 ? [{ kind: "GitHub unwell", percent: 100, atMs: UNWELL_AT_MS, forMs: number("unwell") * 1000 }] : [];

/** In the midst of a run, for longer than others take to have the repository. */
const CUT: Fault = { atMs: 6000, kind: "cut", where: "postgres", replica: "owner", forMs: 12_000 };

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
const room = await mkdtemp(join(tmpdir(), "stagecoach-chaos-"));
const total = { runs: 0, kills: 0, failed: [] as number[], takeovers: [] as Takeover[] };
try {
  if (values.wrong) await findOut();
  else await runAll();
} finally {
  await rm(room, { recursive: true, force: true, maxRetries: 5 });
}

async function findOut(): Promise<void> {
  const { problems } = await runTrial({
    shape: { repos: 1, replicas: 2, postgres: true, batches: 4, deployments: true, paused: false },
    ...{ faults: [CUT], folder: await folderOf("wrong"), program: await buildWrong(join(room, "wrong-program")) },
  });
  const found = problems.filter((one) => / wrote to .*, which was looked after by replica-/.test(one));
  console.log(found.length === 0 ? "replicas that write without a lease were NOT found out" : `found out:\n  ${found.join("\n  ")}`);
  process.exitCode = found.length === 0 ? 1 : 0;
}

async function runAll(): Promise<void> {
  const program = build(join(room, "program"));
  const calm = await runTrial({ shape, faults: [], folder: await folderOf("calm"), program });
  console.log(`without faults: ${calm.seconds.toFixed(0)} s, ${calm.writes} writes${calm.problems.map((one) => `\n  ${one}`).join("")}`);
  const seeds = Array.from({ length: number("runs") }, (_, n) => number("seed") + n);
  const work = async () => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const tried = seed;
      await one(tried, { program, expected: Promise.resolve(calm.end) }).catch((error: unknown) => {
        total.failed.push(tried);
        console.log(`seed ${tried} could not be tried: ${String(error)}`);
      });
    }
  };
  await Promise.all(Array.from({ length: number("parallel") }, work));
  const { takeovers } = total;
  const times = (all: readonly Takeover[]) => all.map(({ ms }) => ms);
  tellTakeovers("somebody else had to look after a repository", times(takeovers));
  tellTakeovers("of these nothing else was wrong", times(takeovers.filter(({ alone }) => alone)));
  const able = takeovers.map(({ ableMs }) => ableMs);
  tellTakeovers("of them all, counted from when another was up, went on, and had PostgreSQL", able);
  console.log(
    `${total.runs} runs, ${total.kills} kills, ${total.failed.length} failed${total.failed.length > 0 ? `: --seed ${total.failed.join(", ")}` : ""}`,
  );
  process.exitCode = total.failed.length + calm.problems.length > 0 ? 1 : 0;
}

function tellTakeovers(what: string, all: readonly number[]): void {
  if (all.length === 0) return;
  const sorted = [...all].sort((a, b) => a - b);
  const at = (share: number) => ((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) / 1000).toFixed(1);
  console.log(`${sorted.length} times ${what}: after ${at(0.5)} s (median), ${at(0.9)} s (p90), ${at(1)} s at most`);
}

async function folderOf(name: string): Promise<string> {
  const folder = join(room, name);
  await mkdir(folder);
  return folder;
}

async function one(seed: number, given: Pick<Parameters<typeof runTrial>[0], "program" | "expected">): Promise<void> {
  const told: string[] = [];
  const log = (line: string) => void (values.trace ? console.log(`  ${seed}: ${line}`) : told.push(line));
  const { problems, kills, takeovers, ownEnds, seconds, writes } = await runTrial({
    ...{ shape, faults: [...drawFaults(seed, chances), ...unwell], folder: await folderOf(String(seed)), log },
    ...given,
  });
  total.runs += 1;
  total.kills += kills;
  total.takeovers.push(...takeovers);
  if (problems.length > 0) {
    total.failed.push(seed);
    if (!values.trace) console.log(told.join("\n"));
  }
  const late = takeovers.filter(({ ableMs }) => ableMs > PROMISED_MS).map(({ ableMs }) => (ableMs / 1000).toFixed(1));
  const lateness = late.length > 0 ? `, taken over only after ${late.join(" and ")} s` : "";
  const ends = ownEnds > 0 ? `, ${ownEnds} replicas ended by themselves` : "";
  console.log(
    `seed ${seed}: ${seconds.toFixed(0)} s, ${kills} kills${ends}${lateness}, ${writes} writes: ${problems.length === 0 ? "as without faults" : problems.join("\n  ")}`,
  );
}
