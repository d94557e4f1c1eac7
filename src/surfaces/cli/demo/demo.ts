/** `stagecoach demo`: the embedded world and the bot run in this process, a release is merged, and the run is watched to its end. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Command } from "commander";
import { openKubernetes } from "../../../adapters/argocd/kubernetes/index.ts";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { type Log, silentLog } from "../../../engine/round/context.ts";
import { type EmbeddedWorld, startWorld, type WorldOptions } from "../../../sim/world.ts";
import { WEBHOOK_PATH } from "../../server/deliveries/server.ts";
import { type Stagecoach, startStagecoach } from "../../server/stagecoach.ts";
import { gather, like, outputOption, parseArgs, port, portError, untilStopped, whole } from "../args.ts";
import { CommandError } from "../command.ts";
import { inOwnFolder } from "../own-folder.ts";
import { APPROVERS, type DemoFleet, demoFleet } from "./fleet.ts";
import { lastWords, printData } from "./screen.ts";
import { offersOn, YOU } from "./steering.ts";
import { repositoryUrl, tell } from "./story.ts";

interface Options {
  once: boolean;
  output: "text" | "json" | "yaml";
  speed: number;
  seed: number;
  port: number;
  githubPort: number;
  clusters?: number;
  rollouts: number;
  pauseForMe: boolean;
  fail?: string[];
  verbose: boolean;
}

export async function run(argv: readonly string[]): Promise<number> {
  const options = parse(argv);
  if (options === undefined) return 0;
  const { clusters, rollouts, pauseForMe, output } = options;
  const fleet = demoFleet({ clusters, rollouts, approval: pauseForMe });
  const faults = faultsOf(
    options.fail ?? [],
    fleet.clusters.map(({ name }) => name),
  );
  const started = performance.now();
  const violations: unknown[] = [];
  const log = watchInvariants(violations, options.verbose);
  const inWorldOf = (directory: string) =>
    inWorld({ ...options, directory }, fleet, faults, log, async (world, bot) => {
      const faulty = faults.map(({ cluster }) => cluster);
      const tokenOf = (login: string) => world.github.token(login, `${login}-${randomBytes(8).toString("hex")}`);
      const tokens = { you: tokenOf(YOU), alice: tokenOf("alice") };
      const runs = await tell(world, bot, { ...options, ...fleet, faulty, quiet: output !== "text", token: tokens.you });
      const durationMs = performance.now() - started;
      if (output !== "text") printData(runs, violations, durationMs, output);
      else {
        const journal = world.github.repoDirectory(world.repository);
        const repository = repositoryUrl(world);
        const figures = {
          violations: violations.length,
          durationMs,
          once: options.once,
          journal,
          repository,
          faults: faults.length,
          pauseForMe,
          tokens,
        };
        process.stdout.write(lastWords(runs, figures));
        if (!options.once) await untilStopped(`\nThe pages stay up until you press Ctrl-C: ${bot.url}/ and ${repository}\n`);
      }
      return runs.every((one) => one.phase === "Succeeded") && violations.length === 0 ? 0 : 1;
    });
  return await inOwnFolder("stagecoach-demo-", inWorldOf).catch((error: unknown) => {
    throw portError(error, (port) => (port === options.githubPort ? "--github-port" : "--port")) ?? error;
  });
}

/** The embedded world and the bot around what is to be told; both are gone afterwards. */
async function inWorld<T>(
  options: Options & { directory: string },
  fleet: DemoFleet,
  faults: NonNullable<WorldOptions["faults"]>,
  log: Log,
  work: (world: EmbeddedWorld, bot: Stagecoach) => Promise<T>,
): Promise<T> {
  let bot: Stagecoach | undefined;
  const visitor = {
    login: YOU,
    offers: (_: string, number: number) => offersOn(bot?.runs().map((one) => one.run) ?? [], number, world.clock),
    home: () => bot && { url: `${bot.url}/`, label: "Stagecoach's page" },
  };
  // It has to see who is in the team that approves.
  const permissions = {
    metadata: "read",
    contents: "write",
    pull_requests: "write",
    issues: "write",
    checks: "write",
    members: "read",
  } as const;
  const { directory, speed, seed, githubPort: port } = options;
  const world = await startWorld({
    ...fleet.world,
    speed,
    seed,
    faults,
    argocd: { persistsHealth: true },
    github: { directory, port, visitor, app: { permissions } },
  });
  world.github.collaborator(world.repository, YOU, "maintain");
  world.github.team(ownerOf(world), APPROVERS, [YOU]);
  const plane = planeOf(world, log);
  try {
    await plane.ready();
    bot = await startBot(world, plane, { directory: join(directory, "bot"), log, port: options.port });
    world.deliverTo(`${bot.url}${WEBHOOK_PATH}`);
    return await work(world, bot);
  } finally {
    await bot?.close();
    await plane.close();
    await world.close();
  }
}

function ownerOf({ repository }: EmbeddedWorld): string {
  return repository.split("/")[0] ?? "";
}

function planeOf(world: EmbeddedWorld, log: Log): ControlPlane {
  return openKubernetes({
    name: "hub",
    kubeConfig: { kubeconfig: world.kubeconfig },
    clusterSecrets: true,
    // Asking Argo CD to compare again spares the demo its three-minute polls; without it the run only takes longer.
    annotationRefresh: true,
    uiUrl: world.argocd.url,
    clock: world.clock,
    log,
  });
}

function startBot(world: EmbeddedWorld, plane: ControlPlane, options: { directory: string; log: Log; port: number }): Promise<Stagecoach> {
  const { app, url: baseUrl } = world.github;
  const token = world.github.token(YOU);
  return startStagecoach({
    ...options,
    app: { appId: app.id, privateKey: app.privateKey, webhookSecret: world.webhookSecret, baseUrl },
    planes: [plane],
    signing: { kind: "github" },
    clock: world.clock,
    pacing: false,
    // Whoever sits at this machine presses the page's buttons as the embedded GitHub's visitor.
    visitor: { login: async () => YOU, token: () => token },
  });
}

const MOST_CLUSTERS = 100;
const MOST_ROLLOUTS = 8;

function parse(argv: readonly string[]): Options | undefined {
  const command = new Command("stagecoach demo")
    .description("A whole rollout of a sample against the embedded GitHub and Argo CD, in the terminal and on a local page.")
    .option("--once", "end when the run has ended, instead of keeping the pages up; so does a demo without a terminal", false)
    .addOption(outputOption("text", "json", "yaml").default("text", "text; json and yaml imply --once"))
    .option("--speed <n>", "how many times as fast as the wall's clock the world runs", Number, 90)
    .option("--seed <n>", "for the world's chance", whole, 1)
    .option("--clusters <n>", `4 to ${MOST_CLUSTERS}, instead of the 12 of the sample`, whole)
    .option("--rollouts <n>", `1 to ${MOST_ROLLOUTS} applications, each released on all clusters at once`, whole, 1)
    .option("--pause-for-me", "stops at an approval and at failures until you steer: with a button, a comment or a command", false)
    .option("--port <n>", "of the page; 0: any free one", port, 0)
    .option("--github-port <n>", "of the embedded GitHub; 0: any free one", port, 0)
    .option("--fail <cluster=fault>", "degraded, stuck, unreachable, autosync-off or sync-failed; may be given again", gather)
    .option("--verbose", "log what the bot does to stderr", false);
  if (parseArgs(command, argv) === undefined) return undefined;
  const options = command.opts<Options>();
  const { clusters = 12, rollouts } = options;
  if (clusters < 4 || clusters > MOST_CLUSTERS) throw new CommandError(2, `--clusters takes 4 to ${MOST_CLUSTERS}`);
  if (rollouts < 1 || rollouts > MOST_ROLLOUTS) throw new CommandError(2, `--rollouts takes 1 to ${MOST_ROLLOUTS}`);
  if (!(options.speed > 0 && options.speed <= 1000)) throw new CommandError(2, "--speed takes a number above 0, at most 1000");
  // Where nobody sits in front of it, nobody would end it.
  return { ...options, once: options.once || options.output !== "text" || process.stdout.isTTY !== true };
}

/** A violated invariant is logged by the loop, and the demo must not hide it. */
function watchInvariants(violations: unknown[], verbose: boolean): Log {
  const write = (level: string) => (fields: object, message: string) => {
    if (verbose) process.stderr.write(`${level} ${message} ${JSON.stringify(fields)}\n`);
  };
  return {
    ...silentLog,
    info: write("info"),
    warn: write("warn"),
    debug: write("debug"),
    error(fields, message) {
      if ("violations" in fields && Array.isArray(fields.violations)) violations.push(...fields.violations);
      write("error")(fields, message);
    },
  };
}

const FAULTS = ["degraded", "stuck", "unreachable", "autosync-off", "sync-failed"] as const;

/** `CLUSTER=FAULT` of a cluster the fleet has; anything else is wrong usage, said before the world starts. */
export function faultsOf(texts: readonly string[], clusters: readonly string[]): { cluster: string; kind: (typeof FAULTS)[number] }[] {
  return texts.map((text) => {
    const [cluster = "", name] = text.split("=");
    if (cluster === "" || name === undefined)
      throw new CommandError(2, `--fail ${text}: write CLUSTER=FAULT, such as eu-west-1-a=degraded`);
    const kind = FAULTS.find((known) => known === name);
    if (kind === undefined)
      throw new CommandError(2, `--fail ${text}: "${name}" is no fault${like(name, FAULTS)}; there are ${FAULTS.join(", ")}`);
    if (clusters.includes(cluster)) return { cluster, kind };
    throw new CommandError(
      2,
      `--fail ${text}: the fleet has no cluster "${cluster}"${like(cluster, clusters)}; it has ${clusters.join(", ")}`,
    );
  });
}
