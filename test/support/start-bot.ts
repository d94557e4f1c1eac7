import { openApiPlane } from "../../src/adapters/argocd/api/index.ts";
import { openKubernetes } from "../../src/adapters/argocd/kubernetes/index.ts";
import type { ControlPlane } from "../../src/adapters/argocd/port.ts";
import { checkedClock } from "../../src/adapters/outbound/checked-clock.ts";
import type { SharingOptions } from "../../src/adapters/queue/port.ts";
import { openDatabase } from "../../src/adapters/queue/postgres/database.ts";
import { prepareSchema } from "../../src/adapters/queue/postgres/migrate.ts";
import { PostgresQueue } from "../../src/adapters/queue/postgres/queue.ts";
import { defined } from "../../src/core/base/defined.ts";
import type { Clock } from "../../src/core/base/time.ts";
import type { Log } from "../../src/engine/round/context.ts";
import type { EmbeddedPlane } from "../../src/sim/plane.ts";
import type { EmbeddedWorld } from "../../src/sim/world.ts";
import type { CommitSigning } from "../../src/surfaces/server/commits.ts";
import { WEBHOOK_PATH } from "../../src/surfaces/server/deliveries/server.ts";
import { type Stagecoach, type StagecoachOptions, startStagecoach } from "../../src/surfaces/server/stagecoach.ts";
import { type LineFaults, type MeetingPoint, openLine } from "./line.ts";

export interface BotOptions {
  /** Of the bot, in milliseconds of the world's clock. */
  resyncMs?: number;
  annotationRefresh?: boolean;
  /** The bot is outside of the cluster: it reads Argo CD by its REST API. */
  overApi?: boolean;
  /** With `overApi`: it may ask for syncs. */
  allowSync?: boolean;
  /** What runs analyses, asks hooks and tells people: made anew for each bot, as a restart would, and closed with it. */
  gates?: (world: EmbeddedWorld) => Pick<StagecoachOptions, "analysis" | "hooks" | "notifier">;
  /** A webhook secret that the bot takes, too. */
  formerWebhookSecret?: string;
  /** Of the bot itself. */
  bot?: (world: EmbeddedWorld) => Partial<StagecoachOptions>;
  /** Who signs the bot's commits, asked at each of its starts. Default: GitHub. */
  signing?: () => CommitSigning;
  /** The bot's writes are about a second apart, as GitHub wants them. Default false. */
  pacing?: boolean;
  /** The clock of the machine that the bot runs on, made anew at each of its starts. Default: the world's. */
  machine?: (world: Clock) => Clock;
  /** Of the bot, in the wall's time. */
  roundLimits?: StagecoachOptions["roundLimits"];
  /** What the bot sees of a control plane. `kill` kills that very bot, where it has a `line`, or as soon as it has started; false: that was done before. */
  seenAs?: (plane: ControlPlane, kill: () => boolean) => ControlPlane;
  /** No rule keeps others from the branches that are the bot's own, and its operator does not mind. Default false. */
  unprotected?: boolean;
  /** Address of the PostgreSQL by which several bots share the repositories; its leases pass by the world's clock. */
  shared?: string;
  /** What happens between each bot and GitHub; another starts in place of one that is killed so. */
  line?: LineFaults;
}

/** A bot of a journey. */
export interface RunningBot {
  bot: Stagecoach;
  close(options?: { withinMs?: number }): Promise<void>;
}

function openPlane(plane: EmbeddedPlane, clock: Clock, log: Log, options: BotOptions): ControlPlane {
  const { name, argocd, kubeconfig } = plane;
  if (options.overApi === true) {
    const lines = ["applications", "applicationsets", "clusters", "projects"].map((what) => `p, bot, ${what}, get, *, allow`);
    const actions = "p, bot, applications, action/argoproj.io/Rollout/*, *, allow";
    const { allowSync = false } = options;
    const syncs = allowSync ? ["p, bot, applications, sync, *, allow"] : [];
    const token = argocd.api.addAccount("bot", [...lines, actions, ...syncs]);
    return openApiPlane({ name, url: argocd.url, token, clock, log, allowRolloutActions: true, allowSync });
  }
  const annotationRefresh = options.annotationRefresh ?? false;
  return openKubernetes({ name, kubeConfig: { kubeconfig }, clusterSecrets: true, annotationRefresh, clock, log });
}

/** Starts one bot in this process, on a machine of its own. */
export async function startBot(
  world: EmbeddedWorld,
  directory: string,
  logOfAll: Log,
  options: BotOptions,
  { killed, meet }: { killed: () => void; meet: MeetingPoint },
): Promise<RunningBot> {
  const { resyncMs, line: faults, seenAs = (plane) => plane } = options;
  const clock = checkedClock(options.machine?.(world.clock) ?? world.clock);
  let isAlive = true;
  // What a bot without a line says is nobody's to hear.
  const log: Log = { ...logOfAll, error: (fields, message) => void (isAlive && logOfAll.error(fields, message)) };
  // A bot that is not there yet cannot be killed.
  let isStarted = false;
  const onCut = () => {
    isAlive = false;
    killed();
  };
  const line =
    faults && (await openLine(world.github.url, { ...faults, kills: () => (isStarted ? faults.kills?.() : undefined) }, meet, onCut));
  let isDoomed = false;
  const kill = () => {
    if (isDoomed) return false;
    isDoomed = true;
    if (isStarted) line?.cut();
    return true;
  };
  const planes = world.planes.map((plane) => seenAs(openPlane(plane, clock, log, options), kill));
  for (const plane of planes) await plane.ready();
  const { id: appId, privateKey } = world.github.app;
  const app = {
    appId,
    privateKey,
    webhookSecret: world.webhookSecret,
    formerWebhookSecret: options.formerWebhookSecret,
    baseUrl: line?.url ?? world.github.url,
  };
  const gates = options.gates?.(world) ?? {};
  const database = options.shared === undefined ? undefined : openDatabase(options.shared);
  if (database !== undefined) await prepareSchema(database);
  const time = { monotonic: world.clock.now, wall: world.clock.now, after: world.clock.after };
  const openQueue =
    database && ((given: SharingOptions) => new PostgresQueue({ ...given, database, home: directory, version: "test", log, time }));
  const bot = await startStagecoach(
    defined({
      app,
      planes,
      ...gates,
      allowUnprotected: options.unprotected,
      ...options.bot?.(world),
      signing: options.signing?.() ?? { kind: "github" },
      directory,
      clock,
      log,
      pacing: options.pacing ?? false,
      resyncMs,
      roundLimits: options.roundLimits,
      openQueue,
    }),
  );
  const hook = `${bot.url}${WEBHOOK_PATH}`;
  world.deliverTo(hook);
  isStarted = true;
  if (isDoomed) setImmediate(() => line?.cut());
  return {
    bot,
    async close(how) {
      world.noLongerTo(hook);
      // Who is killed says good-bye to nobody.
      if (!isAlive) await database?.close();
      await bot.close(how);
      if (isAlive) await database?.close();
      await line?.close();
      await gates.analysis?.engine.close();
      await gates.hooks?.close();
      await gates.notifier?.close();
      for (const plane of planes) await plane.close();
    },
  };
}
