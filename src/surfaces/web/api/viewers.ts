/**
 * Who looks, and what they may see. Without a login that is whoever sits at this machine, who sees everything; with a token of GitHub's (which
 * a session holds, too) its owner, from anywhere, who sees the repositories that GitHub shows them, and of the others not even that they are
 * there; and whom the operator's proxy knows, who sees what the configuration says.
 *
 * Keeps true: a token is never kept, only its digest, and goes to GitHub alone; what GitHub does not say is not shown; who tries out tokens
 * or asks too often is told to slow down before GitHub is asked.
 */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Sight } from "../../../adapters/forge/github/token-sight.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { Permission } from "../../../core/spec/commands.ts";
import type { Anonymous, Person, WebSource } from "../source.ts";
import type { ProblemCode } from "./answers.ts";
import { openCounter, openTurns } from "./turns.ts";

/** Somebody who lost access sees nothing any more after so long; somebody who got it sees it as soon. In the wall's time. */
const KNOWN_MS = 60_000;
const MOST_KNOWN = 20_000;
/** Questions to GitHub under way at once, of all viewers. */
const MOST_ASKING = 16;
const MOST_WAITING = 2_000;
/** In a minute: requests of one token, and tokens that GitHub refused of one address. */
const MOST_REQUESTS = 240;
const MOST_REFUSED = 20;
const TOKEN = /^[\w.~+/=-]{10,1024}$/;

export interface Viewer {
  /** Nobody has to be asked. */
  seesAll: boolean;
  /** Tells one from another; nothing of the token. */
  id: string;
  /** Throws Denied where GitHub does not say, or says that the token is none. */
  sees(repository: string): Promise<boolean>;
  /** On a repository that they see, as GitHub told it with that; undefined: it did not. Throws Denied as `sees` does. */
  permission?(repository: string): Promise<Permission | undefined>;
  /** What a proxy calls them, who only read. */
  name?: string;
  /** Who they are on GitHub, where they may act there; absent: nobody is known, or they may only read. */
  person?: Person;
}

export class Denied extends Error {
  readonly code: ProblemCode;
  constructor(code: ProblemCode) {
    super(code);
    this.code = code;
  }
}

/** Sees nothing, and is only told so. */
export const NOBODY: Viewer = { seesAll: false, id: "nobody", sees: async () => false };
const EVERYONE: Viewer = { seesAll: true, id: "", sees: async () => true };

/** What proxies add, not all of which tell for whom. */
const OF_PROXIES = /^(?:forwarded|via|x-(?:forwarded|original|envoy|b3)-.+|x-real-ip|x-request-id|x-client-ip|true-client-ip|cf-.+)$/;

/** Whether a request comes from this machine, and not through a proxy on it. */
export function isLocal({
  socket,
  headers,
}: Pick<IncomingMessage, "headers"> & { socket: { remoteAddress?: string | undefined } }): boolean {
  if (Object.keys(headers).some((name) => OF_PROXIES.test(name))) return false;
  // A mesh's proxy beside us passes on what comes to it from another address of the loopback, such as Istio's 127.0.0.6.
  return ["::1", "127.0.0.1", "::ffff:127.0.0.1"].includes(socket.remoteAddress ?? "");
}

export interface Asker {
  authorization: string | undefined;
  /** The token of who is signed in. */
  session?: string | undefined;
  /** Whom the operator's proxy knows. */
  proxied?: Proxied | undefined;
  /** Of the connection; behind a proxy all have one. */
  address: string;
  isLocal: boolean;
}

interface Proxied {
  name: string;
  sees(repository: string): boolean;
}

type Seen = Exclude<Sight, "refused" | "unknown">;

/** Of a token, for as long as the request. */
interface Owner {
  token: string;
  digest: string;
  asker: Asker;
}

type Parts = Pick<WebSource, "sightOf" | "loginOf" | "visitor">;

/** Who asks. What is returned throws Denied. */
export function openViewers(parts: Parts, anonymous: Anonymous, now: () => number = () => performance.now()): (asker: Asker) => Viewer {
  const viewers = new Viewers(parts, anonymous, now);
  return (asker) => viewers.of(asker);
}

class Viewers {
  readonly #parts: Parts;
  readonly #anonymous: Anonymous;
  readonly #now: () => number;
  readonly #known = new BoundedMap<string, { seen: Promise<Seen>; until: number }>(MOST_KNOWN);
  readonly #refused = new BoundedMap<string, number>(MOST_KNOWN);
  /** Tokens that GitHub took: nobody who tries out others at the same address, as all have behind a proxy, keeps them out. */
  readonly #taken = new BoundedMap<string, true>(MOST_KNOWN);
  readonly #logins = new BoundedMap<string, string>(MOST_KNOWN);
  readonly #asks: ReturnType<typeof openCounter>;
  readonly #failures: ReturnType<typeof openCounter>;
  readonly #inTurn = openTurns({ atOnce: MOST_ASKING, waiting: MOST_WAITING, full: () => new Denied("UNAVAILABLE") });

  constructor(parts: Parts, anonymous: Anonymous, now: () => number) {
    this.#parts = parts;
    this.#anonymous = anonymous;
    this.#now = now;
    this.#asks = openCounter(MOST_REQUESTS, now);
    this.#failures = openCounter(MOST_REFUSED, now);
  }

  of(asker: Asker): Viewer {
    const { authorization, session, proxied } = asker;
    const { visitor, sightOf } = this.#parts;
    if (authorization === undefined) {
      if (session !== undefined) return this.#ownerOf(session, asker);
      if (proxied !== undefined) return this.#personOfProxy(proxied);
      if (asker.isLocal && visitor !== undefined)
        return { ...EVERYONE, person: visitor, permission: (repository) => this.#permissionOf(visitor, repository) };
      if (this.#anonymous === "Everywhere" || (this.#anonymous === "Loopback" && asker.isLocal)) return EVERYONE;
      throw new Denied("UNAUTHENTICATED");
    }
    const token = /^(?:bearer|token) +(\S+)$/i.exec(authorization)?.[1] ?? "";
    if (!TOKEN.test(token) || sightOf === undefined) throw new Denied("UNAUTHENTICATED");
    return this.#ownerOf(token, asker);
  }

  #ownerOf(token: string, asker: Asker): Viewer {
    const digest = createHash("sha256").update(token).digest("base64url");
    if (this.#isRefused(digest)) throw new Denied("UNAUTHENTICATED");
    const isGuess = asker.session === undefined && this.#taken.get(digest) === undefined;
    if ((isGuess && this.#failures.isOver(asker.address)) || !this.#asks.count(digest)) throw new Denied("TOO_MANY_REQUESTS");
    const owner = { token, digest, asker };
    return {
      seesAll: false,
      id: digest,
      sees: async (repository) => (await this.#seenOf(owner, repository)) !== "unseen",
      permission: async (repository) => {
        const seen = await this.#seenOf(owner, repository);
        return seen === "unseen" ? "none" : seen.permission;
      },
      person: { login: () => this.#loginOfOwner(owner), token: () => token, refused: () => this.#refuse(digest) },
    };
  }

  #personOfProxy({ name, sees }: Proxied): Viewer {
    const id = `proxy ${createHash("sha256").update(name).digest("base64url")}`;
    if (!this.#asks.count(id)) throw new Denied("TOO_MANY_REQUESTS");
    return { seesAll: false, id, name, sees: async (repository) => sees(repository) };
  }

  async #permissionOf(visitor: Person, repository: string): Promise<Permission | undefined> {
    const sight = await this.#parts.sightOf?.(visitor.token(), repository);
    return typeof sight === "object" ? sight.permission : undefined;
  }

  async #seenOf(owner: Owner, repository: string): Promise<Seen> {
    const key = `${owner.digest} ${repository.toLowerCase()}`;
    const before = this.#known.get(key);
    if (before !== undefined && before.until > this.#now()) return await before.seen;
    const seen = this.#ask<Sight>(owner, async () => this.#parts.sightOf?.(owner.token, repository) ?? "unknown");
    this.#known.set(key, { seen, until: this.#now() + KNOWN_MS });
    seen.catch(() => this.#known.delete(key));
    return await seen;
  }

  async #loginOfOwner(owner: Owner): Promise<string> {
    const before = this.#logins.get(owner.digest);
    if (before !== undefined) return before;
    const answer = await this.#ask(owner, async () => this.#parts.loginOf?.(owner.token) ?? "unknown");
    if (answer === "nobody") throw new Denied("UNAUTHENTICATED");
    this.#logins.set(owner.digest, answer.login);
    return answer.login;
  }

  /** Asks GitHub in turn, and throws what is not to be shown for its answer. */
  async #ask<T>({ digest, asker }: Owner, question: () => Promise<T>): Promise<Exclude<T, "refused" | "unknown">> {
    const answer = await this.#inTurn(() => {
      // While this waited GitHub may have said so of another repository.
      if (this.#isRefused(digest)) throw new Denied("UNAUTHENTICATED");
      return question();
    });
    if (answer === "unknown") throw new Denied("UNAVAILABLE");
    if (answer !== "refused") {
      this.#taken.set(digest, true);
      return answer as Exclude<T, "refused" | "unknown">;
    }
    // One that a session held was good once: nobody tries it out.
    if (!this.#isRefused(digest) && asker.session === undefined) this.#failures.count(asker.address);
    this.#refuse(digest);
    throw new Denied("UNAUTHENTICATED");
  }

  #isRefused(digest: string): boolean {
    return (this.#refused.get(digest) ?? 0) > this.#now();
  }

  #refuse(digest: string): void {
    this.#taken.delete(digest);
    this.#refused.set(digest, this.#now() + KNOWN_MS);
  }
}
