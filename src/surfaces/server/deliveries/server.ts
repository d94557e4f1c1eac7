/** Opens the doors of the server. Deliveries come in by `door.ts`, are noted and wake repositories by `on-event.ts`, and are worked on in the queue. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createNodeMiddleware, type ProbotOctokit } from "probot";
import { defined } from "../../../core/base/defined.ts";
import type { Log } from "../../../engine/round/context.ts";
import { usableSecret } from "../config/env.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Telemetry } from "../telemetry/scope.ts";
import { type GitHubApp, type OctokitsOptions, openOctokits, type Through } from "../tenancy/octokits.ts";
import { deliveryDoor } from "./door.ts";
import { closeServer, health, isByPublicName, isOwnHost, listenOn, pathOf, plain } from "./http.ts";
import { type BotEvent, openInbox } from "./on-event.ts";
import { boundConnections } from "./strangers.ts";

interface BotServerOptions {
  app: GitHubApp;
  host?: string;
  port?: number;
  log: Log;
  /** What GitHub is asked through. */
  through?: Through;
  /** A verified delivery, once: it says only where to look again. What it gives: see `openInbox`. */
  onEvent(event: BotEvent): unknown;
  /** Other pages on the same port; true: it answered. */
  routes?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** `ready`, or what it does before or after that. */
  state(): string;
  /** GitHub wants writes about a second apart. Off only against the embedded one. */
  pacing?: boolean;
  turnToWrite?: OctokitsOptions["turnToWrite"];
  /** A door of their own for the pages and the metrics, so that the one for GitHub shows nothing. Absent: one door for all. */
  inside?: { host: string; port: number; hosts?: readonly string[] };
  metrics?: Metrics;
  /** Where people reach the page: under its name the metrics, which ask nobody who they are, are not told. */
  publicUrl?: string | undefined;
  /** A delivery is taken in it. */
  within?: Telemetry["delivery"] | undefined;
}

export interface BotServer {
  /** Base of what it serves. */
  url: string;
  /** Base of the pages and the metrics; where there is one door, the same. */
  insideUrl: string;
  octokit(installationId?: number): Promise<ProbotOctokit>;
  /** Takes nothing new; answers what is under way. */
  close(): Promise<void>;
}

/** Connections of each door. Inside a line stays open for each page that is looked at. */
const MOST_OUTSIDE = 1_000;
const MOST_INSIDE = 2_000;

export const WEBHOOK_PATH = "/api/github/webhooks";

/** The Probot app behind a server of ours: verify, note, answer. All work happens in the queue. */
export async function startBotServer(options: BotServerOptions): Promise<BotServer> {
  const { app, log, metrics, inside, through, turnToWrite } = options;
  usableSecret(app.webhookSecret);
  const { probot, octokit } = openOctokits(app, defined({ pacing: options.pacing ?? true, onRate: metrics?.rate, through, turnToWrite }));
  const take = openInbox(defined({ log, onEvent: options.onEvent, onTaken: metrics?.delivery, within: options.within }));
  const middleware = await createNodeMiddleware((bot) => bot.onAny(take), { probot, webhooksPath: WEBHOOK_PATH });
  const { webhookSecret: secret, formerWebhookSecret: former } = app;
  const renewed = former === undefined ? undefined : { secret, former };
  const door = deliveryDoor({ log, middleware, renewed, onRefused: (event) => metrics?.delivery(event, "refused") });
  const pages = (request: IncomingMessage, response: ServerResponse) => {
    if (!isOwnHost(request, inside?.hosts))
      plain(response, 421, "this is not a name of mine: inside.hosts of the configuration lists them");
    else if (metrics !== undefined && pathOf(request) === "/metrics" && !isByPublicName(request, options.publicUrl))
      metrics.answer(response).catch((error: unknown) => untold(response, log, error));
    else if (options.routes?.(request, response) !== true) plain(response, 404, "nothing here");
  };
  const outer = createServer((request, response) => {
    const path = pathOf(request);
    if (path === WEBHOOK_PATH) door(request, response);
    else if (!answered(path, response)) inside === undefined ? pages(request, response) : plain(response, 404, "nothing here");
  });
  const inner = createServer((request, response) => {
    if (!answered(pathOf(request), response)) pages(request, response);
  });
  const answered = (path: string, response: ServerResponse): boolean => {
    const known = health(path, options.state);
    if (known !== undefined) plain(response, ...known);
    return known !== undefined;
  };
  const url = await listenOn(boundConnections(outer, MOST_OUTSIDE), options.port ?? 0, options.host ?? "127.0.0.1");
  const within = inside === undefined ? url : listenOn(boundConnections(inner, MOST_INSIDE), inside.port, inside.host);
  // A door left open would keep a process that says it cannot start.
  const insideUrl = await Promise.resolve(within).catch((error: unknown) => closeServer(outer).then(() => Promise.reject(error)));
  log.info(defined({ url, insideUrl: inside && insideUrl }), "listening");
  return {
    url,
    insideUrl,
    octokit,
    close: async () => void (await Promise.all([closeServer(outer), ...(inside === undefined ? [] : [closeServer(inner)])])),
  };
}

/** A gauge that throws leaves no request open. */
function untold(response: ServerResponse, log: Log, error: unknown): void {
  log.error({ error: String(error).slice(0, 500) }, "the metrics could not be told");
  response.destroy();
}
