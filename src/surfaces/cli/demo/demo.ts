/** `stagecoach demo`: the embedded world and the bot run in this process, a release is merged, and the run is watched to its end. */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { openKubernetes } from "../../../adapters/argocd/kubernetes/index.ts";
import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { readInventory } from "../../../core/argocd/inventory-file.ts";
import { formatDuration } from "../../../core/base/time.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import { type Log, silentLog } from "../../../engine/round/context.ts";
import { type EmbeddedWorld, FLEET, startWorld } from "../../../sim/world.ts";
import { WEBHOOK_PATH } from "../../server/deliveries/server.ts";
import { type Stagecoach, startStagecoach } from "../../server/stagecoach.ts";
import { gather, like, outputOption, parseArgs, untilStopped } from "../args.ts";
import { CommandError } from "../command.ts";
import { demoScreen, lastWords, printJson } from "./screen.ts";

interface Options {
  once: boolean;
  output: "text" | "json";
  speed: number;
  seed: number;
  port: number;
  fail?: string[];
  verbose: boolean;
}

/** Where the story gives up: a rollout that takes longer than this of the wall's time has hung. */
const PATIENCE_MS = 5 * 60_000;
/** The drained cluster comes back this long after the run began, of the world's time. */
const DRAINED_FOR_MS = 12 * 60_000;

export async function run(argv: readonly string[]): Promise<number> {
  const options = parse(argv);
  if (options === undefined) return 0;
  const faults = faultsOf(options.fail ?? []);
  const directory = await mkdtemp(join(tmpdir(), "stagecoach-demo-"));
  const started = performance.now();
  const world = await startWorld({ speed: options.speed, seed: options.seed, faults });
  const violations: unknown[] = [];
  const log = watchInvariants(violations, options.verbose);
  const plane = openKubernetes({
    name: "hub",
    kubeConfig: { kubeconfig: world.kubeconfig },
    clusterSecrets: true,
    // Asking Argo CD to compare again spares the demo its three-minute polls; without it the run only takes longer.
    annotationRefresh: true,
    clock: world.clock,
    log,
  });
  let bot: Stagecoach | undefined;
  try {
    await plane.ready();
    bot = await startBot(world, plane, { directory, log, port: options.port });
    world.deliverTo(`${bot.url}${WEBHOOK_PATH}`);
    const result = await tell(world, bot, options);
    const durationMs = performance.now() - started;
    if (options.output === "json") printJson(result, violations, durationMs);
    else {
      const journal = world.github.repoDirectory(world.repository);
      const figures = { violations: violations.length, durationMs, once: options.once, journal, faults: options.fail?.length ?? 0 };
      process.stdout.write(lastWords(result, figures));
      if (!options.once) await untilStopped(`\nThe page stays up at ${bot.url}/ until you press Ctrl-C.\n`);
    }
    return result.phase === "Succeeded" && violations.length === 0 ? 0 : 1;
  } finally {
    await bot?.close();
    await plane.close();
    await world.close();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

function startBot(world: EmbeddedWorld, plane: ControlPlane, options: { directory: string; log: Log; port: number }): Promise<Stagecoach> {
  const { app, url: baseUrl } = world.github;
  return startStagecoach({
    ...options,
    app: { appId: app.id, privateKey: app.privateKey, webhookSecret: world.webhookSecret, baseUrl },
    planes: [plane],
    signing: { kind: "github" },
    clock: world.clock,
    pacing: false,
  });
}

function parse(argv: readonly string[]): Options | undefined {
  const command = new Command("stagecoach demo")
    .description("A whole rollout of a sample against the embedded GitHub and Argo CD, in the terminal and on a local page.")
    .option("--once", "end when the run has ended, instead of keeping the page up", false)
    .addOption(outputOption("text", "json").default("text", "text; json implies --once"))
    .option("--speed <n>", "how many times as fast as the wall's clock the world runs", Number, 90)
    .option("--seed <n>", "for the world's chance", Number, 1)
    .option("--port <n>", "of the page; 0: any free one", Number, 0)
    .option("--fail <cluster=fault>", "degraded, stuck, unreachable, autosync-off or sync-failed; may be given again", gather)
    .option("--verbose", "log what the bot does to stderr", false);
  if (parseArgs(command, argv) === undefined) return undefined;
  const options = command.opts<Options>();
  if (!(options.speed > 0 && options.speed <= 1000)) throw new CommandError(2, "--speed takes a number above 0, at most 1000");
  return { ...options, once: options.once || options.output === "json" };
}

/** The story: a release PR is opened, its plan read, it is merged, and the run is watched to its end. */
async function tell(world: EmbeddedWorld, bot: Stagecoach, options: Options): Promise<Run> {
  const screen = demoScreen({ clock: world.clock, quiet: options.output === "json" });
  screen.say(
    `The embedded world is up: ${world.clusters.length} clusters in three regions, ${world.drained} drained. Its clock runs ${options.speed} times as fast as yours.`,
  );
  screen.say(`The page: ${bot.url}/`);
  const alice = world.github.actAs("alice");
  const pull = await world.openReleasePull(alice);
  screen.say(`alice opens release PR #${pull}: my-app v1.4.1 → v1.4.2`);
  const plan = await world.untilComment(pull, "Plan:");
  screen.show("The bot answers with the plan", plan);
  await alice.mergePull(world.repository, pull, "squash");
  screen.say(`alice merges #${pull}. The run starts.`);
  const callOff = world.clock.after(DRAINED_FOR_MS, () => {
    world.undrain();
    screen.note(`${world.drained} is back: its label drained=true is gone`);
  });
  try {
    return await watch(bot, screen);
  } finally {
    callOff();
    screen.close();
  }
}

function watch(bot: Stagecoach, screen: ReturnType<typeof demoScreen>): Promise<Run> {
  return new Promise((resolve, reject) => {
    const late = new CommandError(3, `the run did not end within ${formatDuration(PATIENCE_MS)}`);
    const patience = setTimeout(() => reject(late), PATIENCE_MS);
    const off = bot.onChange(look);
    const redraw = setInterval(look, 200);
    function look(): void {
      const run = bot.runs().find((known) => known.run.rollout === "my-app")?.run;
      if (run === undefined) return;
      screen.draw(run);
      // A paused run waits for a person: the demo has none, so that is its end.
      if (!isEnded(run) && run.phase !== "Paused") return;
      clearTimeout(patience);
      clearInterval(redraw);
      off();
      resolve(run);
    }
  });
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
export function faultsOf(texts: readonly string[]): { cluster: string; kind: (typeof FAULTS)[number] }[] {
  if (texts.length === 0) return [];
  const clusters = readInventory(readFileSync(join(FLEET, "inventory.yaml"), "utf8"), "inventory.yaml").clusters.map(({ name }) => name);
  return texts.map((text) => {
    const [cluster = "", name = ""] = text.split("=");
    const kind = FAULTS.find((known) => known === name);
    if (cluster === "" || kind === undefined)
      throw new CommandError(2, `--fail ${text}: write CLUSTER=FAULT, with one of ${FAULTS.join(", ")}`);
    if (clusters.includes(cluster)) return { cluster, kind };
    throw new CommandError(
      2,
      `--fail ${text}: the fleet has no cluster "${cluster}"${like(cluster, clusters)}; it has ${clusters.join(", ")}`,
    );
  });
}
