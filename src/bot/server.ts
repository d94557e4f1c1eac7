import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createNodeMiddleware, Probot, ProbotOctokit } from "probot";
import type { Log } from "../reconcile/context.ts";

type OctokitOptions = NonNullable<ConstructorParameters<typeof ProbotOctokit>[0]>;

export interface GitHubApp {
  appId: number;
  /** PEM. */
  privateKey: string;
  webhookSecret: string;
  /** Of the REST API; default github.com's. */
  baseUrl?: string;
}

export interface BotServerOptions {
  app: GitHubApp;
  host?: string;
  port?: number;
  log: Log;
  /** A verified delivery, once: it says only where to look again. */
  onEvent(event: BotEvent): void;
  /** Other pages on the same port; true: it answered. */
  routes?: (request: IncomingMessage, response: ServerResponse) => boolean;
  isReady(): boolean;
  /** GitHub wants writes about a second apart. Off only against the embedded one. */
  pacing?: boolean;
}

export interface BotEvent {
  name: string;
  deliveryId: string;
  /** `owner/name`. */
  repository: string | undefined;
  installationId: number | undefined;
  /** Whose doing it was. */
  sender: string | undefined;
  /** Number of the issue or PR it is about. */
  pull: number | undefined;
}

export interface BotServer {
  /** Base of what it serves. */
  url: string;
  octokit(installationId?: number): Promise<ProbotOctokit>;
  /** Takes nothing new; answers what is under way. */
  close(): Promise<void>;
}

export const WEBHOOK_PATH = "/api/github/webhooks";
/** GitHub never sends more. */
const LARGEST_DELIVERY = 25 * 1024 * 1024;
const DELIVERIES_REMEMBERED = 10_000;

/** The Probot app behind a server of ours: verify, note, answer. All work happens in the queue. */
export async function startBotServer(options: BotServerOptions): Promise<BotServer> {
  const { app, log } = options;
  if (app.webhookSecret.trim() === "") {
    throw new Error(
      "there is no webhook secret: anybody could then pretend to be GitHub. Set WEBHOOK_SECRET to the one in the App's settings",
    );
  }
  // A function, because Probot's own defaults come after plain ones and would switch both on again.
  const Octokit = ProbotOctokit.defaults((given: OctokitOptions) => ({
    ...given,
    ...tokensFrom(given, app.baseUrl),
    throttle: { ...given.throttle, enabled: options.pacing ?? true },
    // What may be repeated is decided where the meaning is known: src/forge/github.
    retry: { enabled: false },
  }));
  const probot = new Probot({
    appId: app.appId,
    privateKey: app.privateKey,
    secret: app.webhookSecret,
    logLevel: "fatal",
    Octokit,
    ...(app.baseUrl === undefined ? {} : { baseUrl: app.baseUrl }),
  });
  const middleware = await createNodeMiddleware((bot) => listen(bot, options), { probot, webhooksPath: WEBHOOK_PATH });
  const server = createServer((request, response) => answer(request, response, options, middleware));
  server.requestTimeout = 30_000;
  server.headersTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, options.host ?? "127.0.0.1", resolve);
  });
  const { address, port } = server.address() as AddressInfo;
  log.info({ port }, "listening");
  return {
    url: `http://${address.includes(":") ? `[${address}]` : address}:${port}`,
    octokit: (installationId) => probot.auth(installationId),
    close: () => closeServer(server),
  };
}

/** Probot mints installation tokens at github.com whatever its base URL, unless the request it mints them with is told better. */
function tokensFrom(given: OctokitOptions, baseUrl: string | undefined): Pick<OctokitOptions, "auth"> {
  const auth = given.auth as { request?: { defaults(options: { baseUrl: string }): unknown } } | undefined;
  if (baseUrl === undefined || auth?.request === undefined) return {};
  return { auth: { ...auth, request: auth.request.defaults({ baseUrl }) } };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    // Pages keep a line open for ever; deliveries are answered in milliseconds.
    setTimeout(() => server.closeAllConnections(), 1000).unref();
  });
}

type Middleware = Awaited<ReturnType<typeof createNodeMiddleware>>;

function answer(request: IncomingMessage, response: ServerResponse, options: BotServerOptions, middleware: Middleware): void {
  const path = (request.url ?? "").split("?")[0];
  const own = path === WEBHOOK_PATH ? refusalOf(request) : health(path, options);
  if (own !== undefined) plain(response, ...own);
  else if (path === WEBHOOK_PATH) deliver(request, response, options.log, middleware);
  else if (options.routes?.(request, response) !== true) plain(response, 404, "nothing here");
}

/** What goes wrong with one delivery is answered and told: GitHub may send it again, and the process goes on. */
export function deliver(request: IncomingMessage, response: ServerResponse, log: Log, middleware: Middleware): void {
  const failed = (error: unknown) => {
    log.error({ error: String(error) }, "a delivery could not be taken");
    if (response.headersSent) response.destroy();
    else plain(response, 500, "this delivery could not be taken; send it again");
  };
  try {
    Promise.resolve(middleware(request, response, () => plain(response, 404, "nothing here"))).catch(failed);
  } catch (error) {
    failed(error);
  }
}

function health(path: string | undefined, { isReady }: BotServerOptions): [number, string] | undefined {
  if (path === "/healthz") return [200, "ok"];
  if (path !== "/readyz") return undefined;
  return isReady() ? [200, "ok"] : [503, "not ready"];
}

/** Before a byte of the body is read: Probot itself knows no limit. */
function refusalOf(request: IncomingMessage): [number, string] | undefined {
  const length = Number(request.headers["content-length"] ?? Number.NaN);
  if (!Number.isFinite(length)) return [411, "say how long the delivery is"];
  return length > LARGEST_DELIVERY ? [413, "too large for a delivery of GitHub"] : undefined;
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" }).end(`${text}\n`);
}

function listen(bot: Probot, { onEvent, log }: BotServerOptions): void {
  const seen = new Set<string>();
  bot.onAny(({ id, name, payload }: { id: string; name: string; payload: unknown }) => {
    if (seen.has(id)) return;
    seen.add(id);
    const oldest = seen.values().next().value;
    if (seen.size > DELIVERIES_REMEMBERED && oldest !== undefined) seen.delete(oldest);
    const event = readEvent(id, name, payload);
    log.debug({ ...event }, "webhook");
    onEvent(event);
  });
}

/** A payload may lack anything: what is not there is not known. */
export function readEvent(deliveryId: string, name: string, payload: unknown): BotEvent {
  const repository = at(payload, "repository", "full_name");
  const installation = at(payload, "installation", "id");
  const sender = at(payload, "sender", "login");
  const pull = at(payload, "pull_request", "number") ?? at(payload, "issue", "number");
  return {
    name,
    deliveryId,
    repository: typeof repository === "string" ? repository : undefined,
    installationId: typeof installation === "number" ? installation : undefined,
    sender: typeof sender === "string" ? sender : undefined,
    pull: typeof pull === "number" ? pull : undefined,
  };
}

function at(value: unknown, ...path: string[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}
