/**
 * An embedded GitHub over real sockets, for tests, the demo and trying the bot by hand. Bare repositories on disk are the
 * only truth for commits and refs: merges are git's own three-way merges, and `git clone` and `git push` work. On the same port:
 * REST, GraphQL on a slice of GitHub's schema, App authentication and manifests, signed webhooks. Every answer and event is
 * checked against GitHub's published schemas in test/schemas.
 * What it does not do stands in ../README.md.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../core/base/time.ts";
import { requestUrl } from "../listen.ts";
import { administration } from "./administration.ts";
import { allWatchers, type Watcher } from "./deliver/watchers.ts";
import { createWebhooks, type Delivery } from "./deliver/webhooks.ts";
import { needGit } from "./git/run-git.ts";
import { createApi } from "./http/api.ts";
import { clientId } from "./http/auth.ts";
import { type Chaos, type Faults, seededFates } from "./http/faults.ts";
import { gitRequest, serveGit } from "./http/smart-http.ts";
import { manifestOwner, serveManifestForm } from "./manifest.ts";
import { createApp, firstKeys, makeApp } from "./model/apps.ts";
import type { App, Permissions, User, Visitor, World } from "./model/model.ts";
import { createPerson, type Person, repoNamed } from "./model/people.ts";
import { userOf, WEB_FLOW } from "./model/world.ts";
import { serveAccessToken } from "./oauth/access-token.ts";
import { servePage } from "./pages/serve.ts";
import { advanceQueue } from "./pulls/advance-queue.ts";

export interface GitHubOptions extends Watcher {
  /** 0: any free one. */
  port?: number;
  host?: string;
  /** What it is known by from elsewhere, as every address in its answers; default: where it listens. */
  publicUrl?: string;
  clock: Clock & { readonly speed?: number };
  /** Who sits at a browser on this machine: the pages take comments from them. Default: they are read only. */
  visitor?: { login: string } & Pick<Visitor, "offers" | "home">;
  /** Where the bare repositories go; without it a temporary folder that `close` removes. */
  directory?: string;
  app?: {
    id?: number;
    slug?: string;
    name?: string;
    privateKey?: string;
    publicKey?: string;
    permissions?: Permissions;
    events?: string[];
  };
  webhook?: { url: string; secret: string };
  faults?: Partial<Faults>;
  /** Requests an hour for each caller; default 15,000 as for large organisations. */
  rateLimit?: number;
  /** Sends `check_suite.requested` for every commit pushed, as GitHub does. Default off: it doubles the deliveries and says nothing. */
  asksForSuites?: boolean;
  /** GitHub's secondary limits: 900 points and 80 content writes a minute, 500 an hour. Default off. */
  secondaryLimits?: boolean;
  /** Of installation tokens, in milliseconds of the machine's time; default an hour. */
  tokenLifetime?: number;
  /** The same of people's tokens that Apps get; default eight hours. */
  userTokenLifetime?: number;
}

/** A running embedded GitHub; what an administrator can do stands in administration.ts. */
export interface GitHubSim extends ReturnType<typeof administration> {
  /** Base of the REST API; `${url}/api/v3` serves it, too. GraphQL is at `${url}/graphql` and `${url}/api/graphql`. */
  readonly url: string;
  /** Clone URLs are `${gitUrl}/OWNER/NAME.git`. */
  readonly gitUrl: string;
  readonly app: { id: number; slug: string; privateKey: string; login: string; clientId: string; clientSecret: string };
  readonly faults: Faults;
  /** Drops, doubles, delays and swaps webhooks by a seed from now on; undefined ends it. */
  chaos(chaos: Chaos | undefined): void;
  /** Another App, e.g. one that reports checks. Install it by `install(owner, permissions, id)`. */
  createApp(input: { slug: string; permissions?: Permissions; events?: string[]; webhook?: { url: string; secret: string } }): {
    id: number;
    slug: string;
    privateKey: string;
  };
  actAs(login: string): Person;
  setWebhook(target: { url: string; secret: string } | undefined): void;
  readonly deliveries: readonly Delivery[];
  redeliver(deliveryId: number): boolean;
  /** Resolves when no webhook is on its way, and no merge queue is at work. */
  idle(): Promise<void>;
  /** Folder of the bare repository. */
  repoDirectory(repository: string): string;
  close(): Promise<void>;
}

const PERMISSIONS: Permissions = {
  metadata: "read",
  contents: "write",
  pull_requests: "write",
  issues: "write",
  checks: "write",
  statuses: "read",
};
const EVENTS = ["pull_request", "issue_comment", "push", "pull_request_review", "check_run", "check_suite", "status"];

/** Starts it. Throws one line saying what is missing where git is too old. */
export async function startGitHub(options: GitHubOptions): Promise<GitHubSim> {
  await needGit();
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "stagecoach-github-")));
  const { world, privateKey } = createWorld({ ...options, directory }, await allWatchers(options));
  const server = await listen(world, options.port ?? 0, options.host ?? "127.0.0.1");
  const { address, port } = server.address() as AddressInfo;
  world.origin = options.publicUrl?.replace(/(?<!\/)\/+$/, "") ?? `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
  return {
    url: world.origin,
    gitUrl: world.origin,
    app: { ...credentialsOf(world.app), privateKey, login: world.app.bot.login },
    faults: world.faults,
    chaos(chaos) {
      if (chaos === undefined) delete world.faults.webhook;
      else world.faults.webhook = seededFates(chaos);
    },
    createApp: (input) => createApp(world, input),
    ...administration(world),
    actAs: (login) => createPerson(world, userOf(world, login)),
    setWebhook(target) {
      world.app.hook = target;
    },
    deliveries: world.hooks.deliveries,
    redeliver: (id) => world.hooks.redeliver(id),
    idle: () => world.hooks.idle(),
    repoDirectory: (repository) => repoNamed(world, repository).git.dir,
    async close() {
      world.hooks.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      for (const repo of world.repos.values()) repo.git.close();
      if (options.directory === undefined) await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const credentialsOf = (app: App) => ({ id: app.id, slug: app.slug, clientId: clientId(app), clientSecret: app.clientSecret });

function visitorOf(world: World, { login, ...more }: NonNullable<GitHubOptions["visitor"]>): Visitor {
  return { user: userOf(world, login), token: randomBytes(24).toString("base64url"), ...more };
}

type WorldOptions = GitHubOptions & { directory: string };

function createWorld(options: WorldOptions, { onExchange, onDelivery }: Watcher): { world: World; privateKey: string } {
  const { clock, directory } = options;
  let id = 1000;
  const nextId = () => ++id;
  const faults: Faults = { nullReads: 1, ...options.faults };
  const owner: User = { login: "stagecoach-dev", id: nextId(), type: "Organization" };
  const { app, privateKey } = ownApp(options, owner, nextId);
  const world: World = {
    clock,
    origin: "",
    directory,
    users: new Map([app.bot, owner, WEB_FLOW].map((user) => [user.login.toLowerCase(), user])),
    repos: new Map(),
    moved: new Map(),
    teams: new Map(),
    members: new Map(),
    signingKeys: [],
    tokens: new Map(),
    app,
    apps: new Map([[app.id, app]]),
    installations: new Map(),
    manifests: new Map(),
    oauth: { codes: new Map(), refreshTokens: new Map(), grants: new Set() },
    limits: limitsOf(options),
    faults,
    hooks: createWebhooks({ clock, faults, nextId, onDelivery }),
    advanceQueue: (repo, queue) => advanceQueue(world, repo, queue),
    asksForSuites: options.asksForSuites ?? false,
    onExchange,
    nextId,
  };
  if (options.visitor !== undefined) world.visitor = visitorOf(world, options.visitor);
  return { world, privateKey };
}

function ownApp({ app, clock, webhook }: GitHubOptions, owner: User, nextId: () => number): ReturnType<typeof makeApp> {
  return makeApp({
    id: app?.id ?? nextId(),
    botId: nextId(),
    slug: app?.slug ?? "stagecoach",
    name: app?.name ?? "Stagecoach",
    owner,
    keys: firstKeys(app),
    permissions: app?.permissions ?? PERMISSIONS,
    events: app?.events ?? EVENTS,
    createdAt: clock.now(),
    hook: webhook,
  });
}

function limitsOf(options: GitHubOptions): World["limits"] {
  const { rateLimit = 15_000, tokenLifetime = 3_600_000, userTokenLifetime = 8 * 3_600_000, secondaryLimits = false } = options;
  return { perHour: rateLimit, tokenLifetime, userTokenLifetime, used: new Map(), secondary: secondaryLimits, spent: new Map() };
}

function serveForm(world: World, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> | undefined {
  if (request.method === "POST" && url.pathname === "/login/oauth/access_token") return serveAccessToken(world, request, response);
  const owner = request.method === "POST" ? manifestOwner(world, url.pathname) : undefined;
  return owner === undefined ? undefined : serveManifestForm(world, request, response, url, owner);
}

async function listen(world: World, port: number, host: string): Promise<Server> {
  const api = createApi(world);
  const server = createServer((request, response) => {
    const url = requestUrl(request);
    response.setHeader("date", new Date(world.clock.now() + (world.faults.dateAheadMs ?? 0)).toUTCString());
    const git = gitRequest(url.pathname);
    const work =
      git === undefined
        ? (servePage(world, request, response, url) ?? serveForm(world, request, response, url) ?? api(request, response, url))
        : serveGit(world, request, response, url, git);
    work.catch(() => response.destroy());
  });
  // Clients keep connections open between looks; the default of five seconds only makes them reconnect.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve());
  });
  return server;
}
