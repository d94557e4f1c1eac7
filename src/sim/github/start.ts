/**
 * An embedded GitHub over real sockets, for tests, the demo and trying the bot by hand. Bare repositories on disk are the
 * only truth for commits and refs: merges are git's own three-way merges, and `git clone` and `git push` work. On the same port:
 * the REST routes the product uses (and what a person with Octokit needs besides), App authentication, signed webhooks.
 *
 * What it is not: there are no forks, teams, GraphQL, deployments, commit statuses, review comments, releases, tags' own routes,
 * `refs/pull/N/merge` refs, merge queues (a protected branch can only refuse because of one), secondary rate limits (script
 * them by `faults.request`), code owners or stale-review dismissal. An installation has all repositories of its account.
 * Pushes by git are not held to branch rules. Issues, comments and reviews live in memory and end with the process.
 */
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../rollout/time.ts";
import { administration, type NewRepo } from "./administration.ts";
import { createApi } from "./api.ts";
import type { Faults } from "./faults.ts";
import { checkGit } from "./git/run-git.ts";
import type { App, Permissions, Protection, Repo, Role, User, World } from "./model.ts";
import { servePage } from "./page.ts";
import { createPerson, type Person, repoNamed } from "./people.ts";
import { gitRequest, serveGit } from "./smart-http.ts";
import { createWebhooks, type Delivery } from "./webhooks.ts";
import { userOf } from "./world.ts";

export interface GitHubOptions {
  /** 0: any free one. */
  port?: number;
  host?: string;
  clock: Clock;
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
}

export interface GitHubSim {
  /** Base of the REST API; `${url}/api/v3` serves it, too. */
  readonly url: string;
  /** Clone URLs are `${gitUrl}/OWNER/NAME.git`. */
  readonly gitUrl: string;
  readonly app: { id: number; slug: string; privateKey: string; login: string };
  readonly faults: Faults;
  /** Makes the repository with one commit, and installs the App on its owner's account unless `installed: false`. */
  createRepo(
    input: NewRepo & { installed?: boolean },
  ): Promise<{ repository: string; cloneUrl: string; installationId: number | undefined; head: string }>;
  /** Installs the App on an account; `installation.created` is sent. */
  install(owner: string, permissions?: Permissions): number;
  uninstall(installationId: number): void;
  /** A personal access token of that account (`ghp_…`, or the one given), made with it where it is new. */
  token(login: string, token?: string): string;
  /** An installation token without going through the JSON web token. */
  installationToken(installationId: number): string;
  /** Ends every installation token there is, as when an hour has passed. */
  expireTokens(): void;
  collaborator(repository: string, login: string, role: Role): void;
  protect(repository: string, branch: string, rules: Partial<Protection>): void;
  settings(repository: string, change: Partial<Repo["settings"] & { archived: boolean; private: boolean }>): void;
  actAs(login: string): Person;
  setWebhook(target: { url: string; secret: string } | undefined): void;
  readonly deliveries: readonly Delivery[];
  redeliver(deliveryId: number): boolean;
  /** Resolves when no webhook is on its way. */
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

/** Starts it. Throws one line saying what is missing where git is too old or has no http-backend. */
export async function startGitHub(options: GitHubOptions): Promise<GitHubSim> {
  await checkGit();
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "stagecoach-github-")));
  const { world, privateKey } = createWorld(options, directory);
  const server = await listen(world, options.port ?? 0, options.host ?? "127.0.0.1");
  const { address, port } = server.address() as AddressInfo;
  world.origin = `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
  return {
    url: world.origin,
    gitUrl: world.origin,
    app: { id: world.app.id, slug: world.app.slug, privateKey, login: world.app.bot.login },
    faults: world.faults,
    ...administration(world),
    actAs: (login) => createPerson(world, userOf(world, login)),
    setWebhook(target) {
      world.hooks.target = target;
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

function createWorld(options: GitHubOptions, directory: string): { world: World; privateKey: string } {
  let id = 1000;
  const nextId = () => ++id;
  const keys = appKeys(options);
  const faults: Faults = { nullReads: 1, ...options.faults };
  const slug = options.app?.slug ?? "stagecoach";
  const appId = options.app?.id ?? nextId();
  const bot: User = { login: `${slug}[bot]`, id: nextId(), type: "Bot" };
  const owner: User = { login: "stagecoach-dev", id: nextId(), type: "Organization" };
  const app: App = {
    id: appId,
    slug,
    name: options.app?.name ?? "Stagecoach",
    owner,
    bot,
    publicKey: keys.publicKey,
    permissions: options.app?.permissions ?? PERMISSIONS,
    events: options.app?.events ?? EVENTS,
    createdAt: options.clock.now(),
  };
  const hooks = createWebhooks({ clock: options.clock, faults, nextId, appId });
  hooks.target = options.webhook;
  const world: World = {
    clock: options.clock,
    origin: "",
    directory,
    users: new Map([bot, owner].map((user) => [user.login.toLowerCase(), user])),
    repos: new Map(),
    tokens: new Map(),
    app,
    installations: new Map(),
    limits: { perHour: options.rateLimit ?? 15_000, used: new Map() },
    faults,
    hooks,
    nextId,
  };
  return { world, privateKey: keys.privateKey };
}

function appKeys(options: GitHubOptions): { publicKey: string; privateKey: string } {
  const given = options.app?.publicKey ?? options.app?.privateKey;
  // Node takes a private key where a public one is asked for.
  if (given !== undefined) return { publicKey: given, privateKey: options.app?.privateKey ?? "" };
  return generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
}

async function listen(world: World, port: number, host: string): Promise<Server> {
  const api = createApi(world);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const git = gitRequest(url.pathname);
    const work =
      git === undefined
        ? (servePage(world, request, response, url) ?? api(request, response, url))
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
