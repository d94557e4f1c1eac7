import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { git } from "../../src/adapters/git/testing/repositories.ts";
import { isEnded, type Run } from "../../src/core/run/state/run.ts";
import { type Log, silentLog } from "../../src/engine/round/context.ts";
import { idleClock } from "../../src/sim/idle-clock.ts";
import { type EmbeddedWorld, startWorld, type WorldOptions } from "../../src/sim/world.ts";
import type { Stagecoach } from "../../src/surfaces/server/stagecoach.ts";
import { untilRun } from "./ask-until.ts";
import { openMeetingPoint } from "./line.ts";
import { type BotOptions, type RunningBot, startBot } from "./start-bot.ts";

/** What the App may do where teams approve or command: it has to see who is in them. */
export const WITH_MEMBERS = {
  metadata: "read",
  contents: "write",
  pull_requests: "write",
  issues: "write",
  checks: "write",
  members: "read",
} as const;

export interface JourneyOptions extends WorldOptions, BotOptions {
  /** Whose run is looked at. Default my-app. */
  rollout?: string;
  /** World ms that pass in a wall ms in which nobody works: fewer where something waits by the wall's clock. */
  pace?: number;
  /** Several bots look after the same repo. Default 1. */
  replicas?: number;
}

export interface Journey {
  world: EmbeddedWorld;
  /** The first of the bots there are now. */
  readonly bot: Stagecoach;
  /** What the loop logged as errors: an invariant violated is one. */
  /** Where its mirrors are. */
  readonly directory: string;
  errors: { fields: object; message: string }[];
  run(): Run | undefined;
  /** The run, as soon as this holds of it. */
  until(what: string, holds: (run: Run) => boolean): Promise<Run>;
  /** Alice opens the release PR and merges it. Gives its number. */
  release(version?: string): Promise<number>;
  /** Stops the bots; nothing looks at the repo any more. */
  stop(): Promise<void>;
  /** Starts them again, with an empty folder for their mirrors: as on another machine. */
  start(): Promise<void>;
  /** `cluster → version` as the base branch has it. */
  versions(): Map<string, string>;
  /** Subjects of the base branch, newest first. */
  subjects(): string[];
  close(): Promise<void>;
}

/** The embedded world and the whole bot in this process, talking over loopback. */
export async function startJourney(options: JourneyOptions = {}): Promise<Journey> {
  const clock = options.speed === undefined ? idleClock(options.start, options.pace) : undefined;
  const world = await startWorld({ ...options, ...(clock === undefined ? {} : { clock }) });
  const root = await mkdtemp(join(tmpdir(), "stagecoach-journey-"));
  const errors: Journey["errors"] = [];
  const log: Log = { ...silentLog, error: (fields, message) => void errors.push({ fields, message }) };
  const listeners = new Set<() => void>();
  const repo = world.github.repoDirectory(world.repository);
  const bots: RunningBot[] = [];
  /** Of bots that were killed: each starts another. */
  const changing = new Set<Promise<void>>();
  const meet = openMeetingPoint(world.clock);
  let machines = 0;
  let isStopping = false;

  async function startOne(): Promise<void> {
    const directory = join(root, String(++machines));
    const killed = () => {
      bots.splice(bots.indexOf(one), 1);
      const change = one.close({ withinMs: 0 }).then(() => (isStopping ? undefined : startOne()));
      changing.add(change);
      void change.finally(() => changing.delete(change));
    };
    const one = await startBot(world, directory, log, options, { killed, meet });
    one.bot.onChange(() => {
      for (const listener of listeners) listener();
    });
    bots.push(one);
  }
  async function start(): Promise<void> {
    isStopping = false;
    for (let n = 0; n < (options.replicas ?? 1); n++) await startOne();
  }
  async function stop(): Promise<void> {
    isStopping = true;
    while (changing.size > 0) await Promise.all(changing);
    for (const one of bots.splice(0)) await one.close();
  }
  const latest = () => {
    const runs = bots.flatMap(({ bot }) => bot.runs()).map((known) => known.run);
    const mine = runs.filter((run) => run.rollout === (options.rollout ?? "my-app"));
    // Of two replicas the one that has seen more.
    return mine.sort((a, b) => b.number - a.number || progress(b) - progress(a))[0];
  };
  await start();
  return {
    world,
    get bot() {
      const [first] = bots;
      if (first === undefined) throw new Error("no bot is running");
      return first.bot;
    },
    get directory() {
      return join(root, String(machines));
    },
    errors,
    run: latest,
    until: (what, holds) => untilRun({ clock: world.clock, listeners, current: latest }, what, holds),
    async release(version) {
      const alice = world.github.actAs("alice");
      const pull = await world.openReleasePull(alice, version);
      await alice.mergePull(world.repository, pull, "squash");
      return pull;
    },
    stop,
    start,
    versions: () => versionsIn(git(repo, "show", "main:appsets/my-app-set.yaml")),
    subjects: () => git(repo, "log", "--format=%s", "main").split("\n"),
    async close() {
      await stop();
      await world.close();
      clock?.stop();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function progress(run: Run): number {
  const ranks = ["Proposing", "Open", "Merging", "Merged", "Baking", "Settled"];
  return (isEnded(run) ? 1000 : 0) + run.batches.reduce((sum, batch) => sum + 1 + Math.max(0, ranks.indexOf(batch.phase)), 0);
}

export const ended = (run: Run) => isEnded(run);

/** The batch of this number bakes, and the run's page says so: a `/promote` that comes before would end nothing. */
export const bakes =
  (number: number) =>
  ({ batches, shown = [] }: Run) =>
    batches[number - 1]?.phase === "Baking" &&
    shown.some(({ kind, batch, overAt }) => kind === "bake" && batch === number && overAt === undefined);

/** Cluster → version, of the list generator of the sample. */
export function versionsIn(text: string): Map<string, string> {
  const rows = text.matchAll(/- cluster: (\S+)\n(?:\s+\w+: (?:https|\w|-).*\n)*?\s+targetRevision: (\S+)/g);
  return new Map([...rows].map(([, cluster = "", version = ""]) => [cluster, version]));
}

interface Short {
  /** Default none. */
  bake?: string;
  /** Lines of `spec`, to put beside the others. */
  spec?: string;
  /** `mode: Propose`: people merge each batch, so its PR stays open as long as a test wants. */
  byHand?: boolean;
  /** Lines of each stage. */
  stage?: string;
}

/** The sample with two stages of three batches, to be through in seconds: canary (eu-west-1-a, eu-central-1-a), then us-east-1 by two. */
export function short({ bake, spec = "", byHand = false, stage = "" }: Short = {}): NonNullable<WorldOptions["files"]> {
  const both = [bake === undefined ? "" : `bake: ${bake}`, stage].filter((line) => line !== "").map((line) => `\n      ${line}`);
  return (files) => {
    const path = "rollouts/my-app.yaml";
    const [head = ""] = (files.get(path) ?? "").split("  mode: Run");
    const stages = `  mode: ${byHand ? "Propose" : "Run"}
${spec === "" ? "" : `  ${spec}\n`}  stages:
    - name: canary
      clusters: { selector: { matchLabels: { area: emea } } }
      maxClusters: 2
      maxUnavailable: 2
      topologyKey: region${both.join("")}
    - name: us-east-1
      clusters: { selector: { matchLabels: { region: us-east-1 } } }
      maxUnavailable: 2${both.join("")}
`;
    files.set(path, `${head}${stages}`);
  };
}

/** Every cluster of the two stages of `short`. */
export const SHORT_CLUSTERS = ["eu-west-1-a", "eu-central-1-a", "us-east-1-a", "us-east-1-b", "us-east-1-c", "us-east-1-d"];
