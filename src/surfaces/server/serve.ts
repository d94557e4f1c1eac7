/** The server as its configuration says: everything is opened here, and closed again in a drain. Called by `stagecoach serve`. */
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { whyUnreached } from "../../adapters/forge/github/errors.ts";
import { openBreakers } from "../../adapters/outbound/breaker.ts";
import { type CheckedClock, checkedClock } from "../../adapters/outbound/checked-clock.ts";
import { hostFetch } from "../../adapters/outbound/host-fetch.ts";
import { DatabaseError } from "../../adapters/queue/postgres/database.ts";
import { type Documents, openDocuments } from "../../adapters/queue/postgres/documents.ts";
import { SchemaError } from "../../adapters/queue/postgres/migrate.ts";
import { defined } from "../../core/base/defined.ts";
import { type Clock, parseDuration } from "../../core/base/time.ts";
import { setting } from "../../core/reasons/settings.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import { toFreeze } from "../../core/spec/windows-binding.ts";
import type { Log } from "../../engine/round/context.ts";
import { sealKeysOf, signingOf } from "./commits.ts";
import { openAnalysis, openHooks } from "./config/engines.ts";
import { apiUrl, type Credentials, type Environment } from "./config/env.ts";
import { notifySecrets, openNotifications } from "./config/notify.ts";
import type { ServerConfig } from "./config/schema.ts";
import { SettingError } from "./config/setting-errors.ts";
import { openLastNet } from "./deliveries/uncaught.ts";
import { openLog, openRedactor } from "./log.ts";
import { audienceOf } from "./seen-from.ts";
import { openSharedQueue } from "./shared-queue.ts";
import { startStagecoach } from "./stagecoach.ts";

import { createMetrics } from "./telemetry/metrics.ts";
import type { Telemetry } from "./telemetry/scope.ts";
import { openTracing } from "./telemetry/tracing.ts";
import { openPlanes } from "./tenancy/planes.ts";
import { wallClock } from "./wall-clock.ts";

const MEBIBYTE = 1024 * 1024;

/** What of a control plane asks it, instead of what is known. */
const ASKED = ["reread", "refresh", "refreshSet", "rollouts", "runAction", "offersAction", "syncWindows", "generate", "content"] as const;
const COMPARED_WITHIN_MS = 5_000;

interface RunningServer {
  url: string;
  insideUrl: string;
  /** Drains: takes nothing new, finishes the rounds under way for as long as the configuration says. */
  close(): Promise<void>;
}

/**
 * The bot as its configuration says. Throws SettingError for what can never work, and one sentence where GitHub refuses us; waits where it is
 * away, until `stopping`.
 */
export async function startServer(
  config: ServerConfig,
  credentials: Credentials,
  options: { log?: Log; clock?: Clock; env?: Environment; version?: string; onBroken?: () => void; stopping?: AbortSignal } = {},
): Promise<RunningServer> {
  const { env = process.env, version = "" } = options;
  const secrets = [...secretsIn(credentials), ...notifySecrets(config, env)];
  let telemetry: Telemetry | undefined;
  const log = options.log ?? openLog({ ...config.log, secrets, scope: () => telemetry?.fields() ?? {} });
  telemetry = await openTracing(env, { version, log, redact: openRedactor(secrets) });
  const clock = checkedClock(options.clock ?? wallClock(), defined({ wall: options.clock === undefined ? Date.now : undefined, log }));
  await compareClocks(clock, apiUrl(config.github));
  const directory = await usableDirectory(config.directory);
  const signing = signingOf(config.commits);
  const sealKeys = sealKeysOf(config.journal, credentials.privateKey, env);
  const audience = audienceOf(config, credentials, env);
  const net = openLastNet(process, log);
  void net.broken.then(options.onBroken);
  const { outside, openQueue, close } = await openAll(config, env, {
    clock,
    log,
    telemetry,
    version,
    directory,
    net,
    onBroken: options.onBroken,
  });
  const { planes, analysis, hooks, notifier } = outside;
  const ports = { planes, analysis, hooks, notifier };
  const own = { ...told(config, credentials), ...audience, ...ports, ...defined({ openQueue, stopping: options.stopping }) };
  const inside = { signing, sealKeys, directory, clock, log, telemetry };
  const bot = await startStagecoach({ ...own, ...inside, metrics: createMetrics({ version, ...config.metrics }) }).catch(
    async (error: unknown) => {
      await close();
      throw new Error(sentenceOf(whyNotStarted(error, config)), { cause: error });
    },
  );
  log.info({ url: bot.url, insideUrl: bot.insideUrl }, "ready");
  const drain = async () => {
    log.info({}, "stopping: rounds under way are finished");
    await bot.close({ withinMs: parseDuration(config.drain) ?? 0 });
    await close();
    log.info({}, "stopped");
  };
  return { url: bot.url, insideUrl: bot.insideUrl, close: drain };
}

function secretsIn({ privateKey, webhookSecret, formerWebhookSecret, client }: Credentials): string[] {
  return [privateKey, webhookSecret, formerWebhookSecret, client?.secret].filter((one) => one !== undefined);
}

/** What of the configuration is passed on as it stands. */
function told(config: ServerConfig, credentials: Credentials) {
  const { github, listen, inside, tenancy, quota } = config;
  return {
    app: { ...credentials, baseUrl: apiUrl(github) },
    ...defined({ tenancy }),
    freezes: config.freezes.map(toFreeze),
    allowUnprotected: config.allowUnprotected,
    host: listen.host,
    port: listen.port,
    inside: { ...inside, hosts: [...inside.hosts, ...(inside.publicUrl === undefined ? [] : [new URL(inside.publicUrl).hostname])] },
    limits: { repository: quota.repository * MEBIBYTE, forkHead: quota.fork * MEBIBYTE, forkFile: MEBIBYTE },
    mostMirrored: quota.mirrors * MEBIBYTE,
    resyncMs: parseDuration(config.resync) ?? Number.NaN,
  };
}

/** What the bot talks to besides GitHub: Argo CD, what measures, and who is asked. */
async function openOutside(
  config: ServerConfig,
  env: Environment,
  { clock, log, telemetry, notices }: Pick<Opening, "clock" | "log" | "telemetry"> & { notices: Documents | undefined },
) {
  const analysis = await openAnalysis(config.analysis, env, { clock, log });
  const hooks = openHooks(config.hooks, env, { log, traceparent: telemetry.traceparent });
  const notifier = openNotifications(config, env, { directory: notices ?? resolve(config.directory), clock, log });
  const planes = (await openPlanes(config.controlPlanes, { clock, log })).map((plane) => telemetry.spanned(plane, "argocd", ASKED));
  // One of several replicas watches what the repositories that come to it need.
  for (const plane of config.queue.kind === "postgres" ? [] : planes) {
    plane
      .ready()
      .catch((error: unknown) => log.warn({ controlPlane: plane.name, error: String(error) }, "a control plane cannot be seen yet"));
  }
  const close = async () => {
    await Promise.all([...planes.map((plane) => plane.close()), analysis.engine.close(), hooks.close(), notifier?.close()]);
    await telemetry
      .close()
      .catch((error: unknown) => log.warn({ error: String(error).slice(0, 300) }, "the last traces could not be sent"));
  };
  return { planes, analysis, hooks, notifier, close };
}

interface Opening {
  clock: Clock;
  log: Log;
  telemetry: Telemetry;
  version: string;
  directory: string;
  net: { close(): void };
  onBroken: (() => void) | undefined;
}

/** What the bot shares with other replicas, and talks to; closed together. Rejects with one sentence where PostgreSQL cannot be used. */
async function openAll(config: ServerConfig, env: Environment, opening: Opening) {
  const { clock, log, telemetry, version, directory, net, onBroken } = opening;
  const shared = await openSharedQueue(config, env, { log, version, directory, onOutdated: () => onBroken?.() }).catch((error: unknown) => {
    net.close();
    throw new Error(sentenceOf(whyNotStarted(error, config)), { cause: error });
  });
  const notices = shared && openDocuments(shared.database, "notifications");
  const outside = await openOutside(config, env, { clock, log, telemetry, notices }).catch(async (error: unknown) => {
    await shared?.database.close();
    net.close();
    throw error;
  });
  const close = async () => {
    await outside.close();
    await shared?.database.close();
    net.close();
  };
  return { outside, openQueue: shared?.openQueue, close };
}

/** Before anything is dated: what asks more of GitHub says by itself why it cannot be reached. */
async function compareClocks(clock: CheckedClock, url: string): Promise<void> {
  await hostFetch(
    clock,
    openBreakers(clock),
    fetch,
  )(url, { method: "HEAD", signal: AbortSignal.timeout(COMPARED_WITHIN_MS) }).catch(() => undefined);
}

async function usableDirectory(directory: string): Promise<string> {
  const path = resolve(directory);
  await mkdir(path, { recursive: true }).catch(({ code: fault = "no reason given" }: NodeJS.ErrnoException) => {
    throw new SettingError(setting("MIRRORS_NOT_MADE", { path, fault }));
  });
  return path;
}

/** What went wrong at the start: the first start is when most of it does. */
function whyNotStarted(error: unknown, { github, listen, inside }: ServerConfig) {
  if (error instanceof DatabaseError || error instanceof SchemaError) return error.reason;
  const { status = 0, code, message: said = String(error) } = error as { status?: number; code?: string; message?: string };
  const url = apiUrl(github);
  const unreached = whyUnreached(error);
  if (unreached !== undefined) return setting("GITHUB_NOT_REACHED", { url, said: unreached, own: github.host !== undefined });
  if (code === "EADDRINUSE") return setting("PORT_TAKEN", { said, port: listen.port, insidePort: inside.port });
  if (status === 401) return setting("APP_KEY_REFUSED", { url });
  if (status === 404) return setting("APP_UNKNOWN", { url });
  return status > 0 ? setting("GITHUB_SAID", { url, status, said }) : setting("NOT_STARTED", { said });
}
