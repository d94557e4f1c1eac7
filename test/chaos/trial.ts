/** One run of the bot through faults drawn from a seed, and what is to be said against it. */
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type Fault, playFaults } from "./faults.ts";
import type { GitHubReport } from "./github.ts";
import { againstDeliveries, againstEnd, againstWrites, type Takeover, takeovers } from "./judge.ts";
import { type End, openView, type View } from "./view.ts";
import { type ChaosWorld, startChaosWorld } from "./world.ts";

export interface Shape {
  repos: number;
  replicas: number;
  postgres: boolean;
  batches: number;
  deployments: boolean;
  /** Somebody pauses the run, and lets it go on. */
  paused: boolean;
}

export interface Trial {
  /** What is wrong; nothing, if all is well. */
  problems: string[];
  kills: number;
  /** See judge.ts. */
  takeovers: Takeover[];
  /** Replicas that ended by themselves. */
  ownEnds: number;
  seconds: number;
  writes: number;
  /** Of the first repository: how it ended. */
  end: End;
}

interface TrialOptions {
  shape: Shape;
  faults: readonly Fault[];
  /** An empty folder, which it removes. */
  folder: string;
  program: string;
  /** How a run without faults ends; absent: this is one. */
  expected?: Promise<End> | undefined;
  log?: (line: string) => void;
}

/** After everything is well again. Calls that were refused wait for up to a minute, rounds that were given up for longer. */
const PATIENCE_MS = 6 * 60_000;
const LOOK_MS = 500;
/** Nothing more is expected of a run that has been at its end for so long. */
const QUIET_MS = 8000;

export async function runTrial({ shape, faults, folder, program, expected: awaited, log = () => undefined }: TrialOptions): Promise<Trial> {
  const world = await startChaosWorld({ folder, program, ...shape });
  try {
    for (const replica of world.replicas) replica.start();
    await Promise.all(world.replicas.map((replica) => replica.ready()));
    const views = await Promise.all(world.repositories.map((repository) => openView(world, repository, folder)));
    await Promise.all(views.map((view) => until(view.isAdopted)));
    const pulls = await Promise.all(world.repositories.map((repository) => openRelease(world, repository)));
    const began = performance.now();
    const people = Promise.all(
      world.repositories.map((repository, n) => steer(world, { repository, pull: pulls[n] ?? 0, ...shape }, views[n] as View)),
    );
    people.catch(() => undefined);
    const { kills, outages } = await playFaults(world, faults, log);
    log("everything is well again");
    const expected = await awaited;
    const patience = performance.now() + PATIENCE_MS;
    const ends = await Promise.all(
      views.map((view) => (expected === undefined ? calmEnd(view, patience) : endLike(view, expected, patience))),
    );
    const steered = await Promise.race([people.then(() => [] as string[]), sleep(1000).then(() => ["a command was not obeyed"])]);
    const against = await Promise.all(views.map((view, n) => againstEnd(view, ends[n] as End, expected)));
    const report = await world.report();
    const holdings = await world.postgres?.holdings();
    const happened = { kills, outages, holdings: holdings ?? [], replicas: world.replicas.map(({ name }) => name) };
    const problems = [
      ...steered,
      ...against.flatMap((all, n) => all.map((one) => `${world.repositories[n]}: ${one}`)),
      ...againstWrites(report, holdings),
      ...(await lostDeliveries(world, report)),
      ...world.replicas.filter((one) => one.output().includes("round after round")).map(({ name }) => `${name} went in circles`),
    ];
    if (problems.length > 0) for (const replica of world.replicas) log(`${replica.name}:\n${replica.output()}`);
    return {
      ...{ problems, kills: kills.length, takeovers: takeovers(happened), writes: report.writes.length },
      ownEnds: world.replicas.reduce((sum, one) => sum + one.ownEnds(), 0),
      ...{ seconds: (performance.now() - began) / 1000, end: ends[0] as End },
    };
  } finally {
    await world.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Those that are looked at last are written down with the next beat. */
async function lostDeliveries({ postgres }: ChaosWorld, report: GitHubReport): Promise<string[]> {
  if (postgres === undefined) return [];
  const until = performance.now() + QUIET_MS;
  for (;;) {
    const lost = againstDeliveries(report, await postgres.deliveries());
    if (lost.length === 0 || performance.now() > until) return lost;
    await sleep(LOOK_MS);
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await sleep(LOOK_MS);
}

interface Steering {
  repository: string;
  pull: number;
  paused: boolean;
}

/** Somebody merges a release; may pause its run once a batch is merged, and let it go on once it is paused. */
async function steer(world: ChaosWorld, { repository, pull, paused }: Steering, view: View): Promise<void> {
  await world.api("PUT", `/repos/${repository}/pulls/${pull}/merge`, { merge_method: "squash" });
  if (!paused) return;
  const comment = (body: string) => world.api("POST", `/repos/${repository}/issues/${pull}/comments`, { body });
  await until(async () => (await view.merges()).length > 0);
  await comment("/pause looks odd");
  await until(async () => (await view.phase()) === "Paused");
  await comment("/resume");
  await until(async () => (await view.phase()) !== "Paused");
}

/** A release's pull request, once people can read on it what the plan is. */
async function openRelease({ api }: ChaosWorld, repository: string): Promise<number> {
  const repo = `/repos/${repository}`;
  const { object } = (await api("GET", `${repo}/git/ref/heads/main`)) as { object: { sha: string } };
  const { tree } = (await api("GET", `${repo}/git/commits/${object.sha}`)) as { tree: { sha: string } };
  const file = { path: "releases/app.yaml", mode: "100644", type: "blob", content: "version: v2\n" };
  const made = (await api("POST", `${repo}/git/trees`, { base_tree: tree.sha, tree: [file] })) as { sha: string };
  const content = { message: "Release v2", tree: made.sha, parents: [object.sha] };
  const commit = (await api("POST", `${repo}/git/commits`, content)) as { sha: string };
  await api("POST", `${repo}/git/refs`, { ref: "refs/heads/release", sha: commit.sha });
  const { number } = (await api("POST", `${repo}/pulls`, { title: "Release v2", head: "release", base: "main" })) as { number: number };
  await until(async () => {
    const comments = (await api("GET", `${repo}/issues/${number}/comments`)) as { body: string }[];
    return comments.some(({ body }) => body.includes("Plan:"));
  });
  return number;
}

/** The end of a run, once nothing has changed for a while. */
async function calmEnd(view: View, until: number): Promise<End> {
  while ((await view.phase()) !== "Succeeded" && performance.now() < until) await sleep(LOOK_MS);
  let end = await view.end();
  for (let since = performance.now(); performance.now() - since < QUIET_MS; await sleep(LOOK_MS)) {
    const now = await view.end();
    if (JSON.stringify(now) !== JSON.stringify(end)) since = performance.now();
    end = now;
  }
  return end;
}

/** The end, as soon as it is as expected, or when nobody waits for it any more. */
async function endLike(view: View, expected: End, until: number): Promise<End> {
  const text = JSON.stringify(expected);
  while ((await view.phase().catch(() => undefined)) !== expected.phase && performance.now() < until) await sleep(LOOK_MS);
  let end = await view.end();
  while (JSON.stringify(end) !== text && performance.now() < until) {
    await sleep(LOOK_MS * 2);
    end = await view.end();
  }
  return end;
}
