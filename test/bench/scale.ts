/**
 * 500 installations of 20 repositories with 3 rollouts each, shared by one, two and three replicas over PostgreSQL. GitHub is a wait: a round
 * calls it some times one after the other, and does nothing else. What is measured is so what sharing costs and gives, not what rounds cost.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { nameOf, type ScaleReport, type ScaleWorld } from "../support/scale-world.ts";
import type { BenchRow } from "./row.ts";
import { deliver, payload } from "./webhooks.ts";

const SIZE = { installations: 500, repos: 20, rollouts: 3, calls: 12, callMs: 20 };
const REPOS = SIZE.installations * SIZE.repos;
const SECRET = "the secret of the bench";
const A_SECOND = 500;
/** With all replicas. */
const RATES = [100, 250, A_SECOND, 1000];
const SECONDS = 10;
const REST_MS = 5000;

interface Replica {
  child: ChildProcess;
  url: string;
  ask(word: "look" | "slow" | "wake"): Promise<ScaleReport>;
}

export async function benchScale(): Promise<BenchRow[]> {
  const postgres = await startPostgres(["synchronous_commit=on", "fsync=on"]);
  try {
    const rows: BenchRow[] = [];
    let alone = Number.NaN;
    for (const count of [1, 2, 3]) {
      const measured = await measure(postgres, count);
      if (count === 1) alone = measured.roundsASecond;
      rows.push(...rowsOf(count, measured, alone));
    }
    return rows;
  } finally {
    postgres.remove();
  }
}

type Measured = Awaited<ReturnType<typeof measure>>;

function rowsOf(count: number, of: Measured, alone: number): BenchRow[] {
  const name = `${REPOS} repos × ${SIZE.rollouts}, ${count} replica${count === 1 ? "" : "s"}`;
  const isAll = count === 3;
  return [
    { name: `${name}: until all are looked after`, value: of.sharedSeconds, unit: "s" },
    { name: `${name}: resident at rest, the largest`, value: of.memory, unit: "MB" },
    { name: `${name}: transactions at rest`, value: of.transactions, unit: "1/s" },
    ...of.webhooks.flatMap((one) => webhookRows(name, one, isAll)),
    { name: `${name}: rounds`, value: of.roundsASecond, unit: "1/s" },
    ...(isAll
      ? [{ name: `${name}: rounds against one replica`, value: of.roundsASecond / alone, unit: "×", limit: 2.5, atLeast: true }]
      : []),
  ];
}

function webhookRows(name: string, of: Webhooks, isAll: boolean): BenchRow[] {
  const at = `${name}: webhooks at ${of.rate}/s`;
  return [
    { name: `${at}, p50`, value: of.p50, unit: "ms" },
    { name: `${at}, p99`, value: of.p99, unit: "ms", ...(isAll && of.rate === A_SECOND && { limit: 50 }) },
    { name: `${at}, not answered with 200`, value: of.refused, unit: "", limit: 0 },
    { name: `${at}, sent a second`, value: of.sentASecond, unit: "1/s" },
    { name: `${at}, processor of a replica, each`, value: of.replicaMs, unit: "ms" },
    { name: `${at}, processor of PostgreSQL, each`, value: of.postgresMs, unit: "ms" },
  ];
}

async function measure(postgres: PostgresServer, count: number) {
  const { url, name } = await postgres.database();
  const began = performance.now();
  const replicas = await Promise.all(
    Array.from({ length: count }, (_, n) => startReplica({ ...SIZE, url, home: `home-of-${n}`, secret: SECRET })),
  );
  try {
    const look = async () => await Promise.all(replicas.map(({ ask }) => ask("look")));
    const sum = (reports: ScaleReport[], what: keyof ScaleReport) => reports.reduce((all, one) => all + one[what], 0);
    const isShared = (reports: ScaleReport[]) =>
      sum(reports, "owned") === REPOS && reports.every(({ owned }) => owned <= Math.ceil(REPOS / count));
    while (!isShared(await look())) await sleep(200);
    const sharedSeconds = (performance.now() - began) / 1000;
    // Everything is looked at once.
    for (let still = 0; still < 2; await sleep(1000)) still = sum(await look(), "due") === 0 ? still + 1 : 0;
    await Promise.all(replicas.map(({ ask }) => ask("slow")));
    const transactions = await transactionsASecond(postgres, name);
    const memory = Math.max(...(await look()).map((one) => one.memory));
    const webhooks: Webhooks[] = [];
    for (const rate of count === 3 ? RATES : [A_SECOND]) webhooks.push(await measureWebhooks(postgres, replicas, rate));
    await Promise.all(replicas.map(({ ask }) => ask("wake")));
    const [first, from] = [sum(await look(), "rounds"), performance.now()];
    await sleep(SECONDS * 1000);
    const roundsASecond = (sum(await look(), "rounds") - first) / ((performance.now() - from) / 1000);
    return { sharedSeconds, memory, transactions, webhooks, roundsASecond };
  } finally {
    await Promise.all(replicas.map(({ child }) => ended(child)));
  }
}

type Webhooks = Awaited<ReturnType<typeof measureWebhooks>>;

async function measureWebhooks(postgres: PostgresServer, replicas: readonly Replica[], rate: number) {
  const cpu = async () => {
    const reports = await Promise.all(replicas.map(({ ask }) => ask("look")));
    return { replicas: reports.reduce((all, one) => all + one.cpuMs, 0), postgres: cpuMsBelow(postgres.process.pid ?? 0) };
  };
  const [before, from] = [await cpu(), performance.now()];
  const answers = await steady(
    replicas.map((one) => one.url),
    rate,
  );
  const [after, seconds] = [await cpu(), (performance.now() - from) / 1000];
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? Number.NaN;
  const refused = answers.filter(({ status }) => status !== 200).length;
  const each = (what: "replicas" | "postgres") => (after[what] - before[what]) / answers.length;
  const latency = { p50: at(0.5), p99: at(0.99), refused };
  return { rate, ...latency, sentASecond: answers.length / seconds, replicaMs: each("replicas"), postgresMs: each("postgres") };
}

/** Of what a process has started, and still runs. Linux only. */
function cpuMsBelow(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").map(Number).filter(Boolean);
  return children.reduce((sum, child) => {
    const [user, system] = readFileSync(`/proc/${child}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
      .slice(11, 13)
      .map(Number);
    return sum + ((user ?? 0) + (system ?? 0)) * 10;
  }, 0);
}

async function startReplica(world: ScaleWorld): Promise<Replica> {
  const child = spawn(process.execPath, [new URL("../support/scale-replica.ts", import.meta.url).pathname], {
    env: { ...process.env, STAGECOACH_SCALE_WORLD: JSON.stringify(world) },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async () => String((await lines.next()).value);
  return {
    child,
    url: await read(),
    async ask(word) {
      child.stdin.write(`${word}\n`);
      return JSON.parse(await read()) as ScaleReport;
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.stdin?.end();
  await gone;
}

async function transactionsASecond(postgres: PostgresServer, database: string): Promise<number> {
  const count = async () => {
    const [row] = await postgres.query(`select xact_commit as n from pg_stat_database where datname = '${database}'`);
    return Number(row?.["n"]);
  };
  const [first, from] = [await count(), performance.now()];
  await sleep(REST_MS);
  return ((await count()) - first) / ((performance.now() - from) / 1000);
}

/** So many a second by the clock, to each replica in turn, each about another repository: a slow answer slows the next one down in nothing. */
async function steady(urls: readonly string[], rate: number): Promise<{ ms: number; status: number }[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const total = SECONDS * rate;
  const bodies = Array.from({ length: 200 }, (_, n) => payload(20, nameOf((n * 37) % REPOS, SIZE.installations)));
  const sent: Promise<{ ms: number; status: number }>[] = [];
  const began = performance.now();
  while (sent.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * rate) + 1);
    while (sent.length < due) sent.push(deliver(urls[sent.length % urls.length] ?? "", agent, bodies[sent.length % bodies.length] ?? ""));
    await sleep(1);
  }
  const answers = await Promise.all(sent);
  agent.destroy();
  return answers;
}
