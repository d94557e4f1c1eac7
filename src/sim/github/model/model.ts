/** The whole world of the embedded GitHub; what stands in it has files of its own, handed on from here. */
import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../../../core/base/time.ts";
import type { Webhooks } from "../deliver/webhooks.ts";
import type { Faults } from "../http/faults.ts";
import type { Actor, App, Installation, SigningKey, Team, User } from "./account.ts";
import type { Repo } from "./repo.ts";
import type { MergeQueue } from "./rules.ts";

export * from "./account.ts";
export * from "./checks.ts";
export * from "./comment.ts";
export * from "./repo.ts";
export * from "./rules.ts";

/** One request and its answer, for whoever checks them. Bodies are parsed JSON; undefined: none. */
export interface Exchange {
  method: string;
  path: string;
  /** Login of who asked; undefined: nobody known. */
  actor: string | undefined;
  /** Of an installation's token: full names of the repositories it is narrowed to, and what it may do there. */
  token?: { repositories: readonly string[] | undefined; permissions: Readonly<Record<string, string>> } | undefined;
  /** `/repos/:owner/:repo/pulls`; undefined: no route took it. */
  route: string | undefined;
  requestHeaders: IncomingHttpHeaders;
  requestBody: unknown;
  status: number;
  headers: Readonly<Record<string, string>>;
  body: unknown;
}

export interface Offers {
  title: string;
  /** Something waits for one of them. */
  waits: boolean;
  /** Comments, each with what comes of it. */
  comments: readonly { body: string; effect: string }[];
}

/** Who sits at a browser in front of the pages, and what they are offered. */
export interface Visitor {
  user: User;
  /** Stands in each form of the pages, so that no other page can send one. */
  token: string;
  /** What may be said on an issue just now with a button. */
  offers?: ((repository: string, number: number) => Offers | undefined) | undefined;
  /** Where else there is something to see. */
  home?: (() => { url: string; label: string } | undefined) | undefined;
}

export interface World {
  clock: Clock & { readonly speed?: number };
  /** `http://127.0.0.1:PORT`: API, Git and pages alike. */
  origin: string;
  directory: string;
  users: Map<string, User>;
  repos: Map<string, Repo>;
  /** Former full names, in lower case, of repositories that were renamed. */
  moved: Map<string, Repo>;
  /** `org/slug` → team. */
  teams: Map<string, Team>;
  /** Organisation's id → its members' ids. */
  members: Map<number, Set<number>>;
  signingKeys: SigningKey[];
  tokens: Map<string, { actor: Actor; expiresAt?: number }>;
  app: App;
  apps: Map<number, App>;
  installations: Map<number, Installation>;
  /** Manifests on their way to become an App, by code. */
  manifests: Map<string, { manifest: Record<string, unknown>; owner: User; at: number }>;
  /** What people allowed Apps to do in their name. */
  oauth: OAuth;
  limits: Limits;
  faults: Faults;
  hooks: Webhooks;
  /** Does the work of a merge queue that is due. */
  advanceQueue(repo: Repo, queue: MergeQueue): Promise<void>;
  /** Says `check_suite.requested` of every commit pushed, as GitHub does to Apps that may write checks. */
  asksForSuites: boolean;
  onExchange?: ((exchange: Exchange) => void) | undefined;
  visitor?: Visitor | undefined;
  nextId(): number;
}

/** One that an App got of a person, on the way to a token. */
export interface OAuthCode {
  app: App;
  user: User;
  callback: string;
  /** SHA-256 in base64url; undefined: there was none. */
  challenge: string | undefined;
  expiresAt: number;
}

interface OAuth {
  codes: Map<string, OAuthCode>;
  /** Each is good once, and ends the token that came with it. */
  refreshTokens: Map<string, { app: App; user: User; token: string; expiresAt: number }>;
  /** `APP USER`, by their ids: who said yes is not asked again. */
  grants: Set<string>;
}

interface Limits {
  perHour: number;
  /** Of an installation's token, in milliseconds. */
  tokenLifetime: number;
  /** The same of a person's that an App got. */
  userTokenLifetime: number;
  used: Map<string, { count: number; reset: number }>;
  /** GitHub's secondary limits: 900 points and 80 content writes a minute, 500 an hour. Off by default. */
  secondary: boolean;
  /** What each caller has spent lately. */
  spent: Map<string, { at: number; points: number; content: boolean }[]>;
}
