import { createPublicKey, randomBytes, verify } from "node:crypto";
import { defined } from "../../../core/base/defined.ts";
import type { Actor, App, Installation, Level, Permissions, Repo, Role, World } from "../model/model.ts";
import { atLeast, roleOf } from "../model/world.ts";
import { ApiFailure, forbidden, notFound } from "./failure.ts";

/** What a route asks of its caller. An App needs one of `permissions` at `level`, a person at least `role`. */
export interface Need {
  permissions: readonly string[];
  level: Level;
  role: Role;
}

const ANONYMOUS: Actor = { kind: "anonymous", user: { login: "anonymous", id: 0, type: "User" }, limitKey: "anonymous" };

/** Who sent this; 401 where the credentials are no good. Times of tokens are the machine's, not the world's clock's: clients cache by theirs. */
export function whoAsks(world: World, authorization: string | undefined): Actor {
  if (authorization === undefined) return ANONYMOUS;
  const [scheme = "", value = ""] = authorization.trim().split(/\s+/, 2);
  const client = scheme.toLowerCase() === "basic" ? clientOf(world, Buffer.from(value, "base64").toString()) : undefined;
  if (client !== undefined) return client;
  const token =
    scheme.toLowerCase() === "basic"
      ? Buffer.from(value, "base64")
          .toString()
          .replace(/^[^:]*:/, "")
      : value;
  const known = world.tokens.get(token);
  if (known !== undefined) {
    if (known.expiresAt !== undefined && known.expiresAt <= Date.now()) throw new ApiFailure(401, "Bad credentials");
    if (known.actor.installation?.suspended !== undefined) throw new ApiFailure(403, "This installation has been suspended");
    return known.actor;
  }
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) && !token.startsWith("ghs_")) return appOf(world, token);
  throw new ApiFailure(401, "Bad credentials");
}

function appOf(world: World, token: string): Actor {
  const undecodable = new ApiFailure(401, "A JSON web token could not be decoded");
  const [header = "", payload = "", signature = ""] = token.split(".");
  const claims = readJson(payload);
  if (readJson(header)?.["alg"] !== "RS256" || claims === undefined) throw undecodable;
  const now = Date.now() / 1000;
  const { iss, iat, exp } = claims;
  const app = [...world.apps.values()].find((one) => String(iss) === String(one.id) || iss === clientId(one));
  if (app === undefined) throw new ApiFailure(404, "Integration not found");
  const key = createPublicKey(app.publicKey);
  if (!verify("RSA-SHA256", Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, "base64url"))) throw undecodable;
  const future = "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
  if (typeof exp !== "number" || exp <= now) throw new ApiFailure(401, future);
  if (exp > now + 660) throw new ApiFailure(401, "'Expiration time' claim ('exp') is too far in the future");
  if (typeof iat !== "number" || iat > now + 60) {
    throw new ApiFailure(401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued");
  }
  return { kind: "app", user: app.bot, app, limitKey: `app:${app.id}` };
}

/** An App by `ID:SECRET`; undefined: they are no App's. */
function clientOf(world: World, pair: string): Actor | undefined {
  const app = [...world.apps.values()].find((one) => pair === `${clientId(one)}:${one.clientSecret}`);
  return app && { kind: "client", user: app.bot, app, limitKey: `app:${app.id}` };
}

/** What an App may call itself instead of its number. */
export function clientId(app: App): string {
  return `Iv23li${app.id}`;
}

function readJson(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** An hour of access to what the installation may, or to less. In the long format that GitHub rolls out since April 2026. */
export function mintToken(
  world: World,
  installation: Installation,
  narrowed: { permissions?: Permissions; repositories?: ReadonlySet<number> } = {},
): { token: string; expiresAt: number } {
  const { app } = installation;
  const part = (length: number) => randomBytes(length).toString("base64url");
  const token = `ghs_${app.id}_${part(30)}.${part(150)}.${part(64)}`;
  const expiresAt = Date.now() + world.limits.tokenLifetime;
  const actor: Actor = defined({
    kind: "installation",
    user: app.bot,
    app,
    installation,
    permissions: narrowed.permissions ?? installation.permissions,
    repositories: narrowed.repositories,
    limitKey: `installation:${installation.id}`,
  });
  world.tokens.set(token, { actor, expiresAt });
  return { token, expiresAt };
}

/** Throws GitHub's refusal where the caller may not: missing access is 404, a missing permission 403. */
export function mustHave(repo: Repo, actor: Actor, need: Need): void {
  if (actor.kind === "app" || actor.kind === "client") throw forbidden();
  if (actor.kind === "anonymous") {
    if (repo.private) throw notFound();
    if (need.level === "write") throw new ApiFailure(401, "Requires authentication");
    return;
  }
  if (actor.kind === "installation") {
    mustHavePermission(repo, actor, need);
    return;
  }
  const role = roleOf(repo, actor.user);
  if (!atLeast(role, "read")) throw notFound();
  if (actor.app !== undefined) mustHaveByApp(repo, actor, need);
  if (!atLeast(role, need.role)) throw forbidden("Resource not accessible by personal access token");
}

/** A person's token that an App got may no more than the App itself where it is installed, and nothing but read public things elsewhere. */
function mustHaveByApp(repo: Repo, actor: Actor, need: Need): void {
  const installation = actor.installedOn?.(repo);
  if (installation === undefined) {
    if (repo.private) throw notFound();
    if (need.level === "read") return;
  } else if (mayAs({ ...actor, permissions: installation.permissions }, need)) return;
  throw new ApiFailure(403, "Resource not accessible by integration");
}

function mustHavePermission(repo: Repo, actor: Actor, need: Need): void {
  if (!seesRepo(repo, actor)) {
    if (need.level === "read" && !repo.private) return;
    throw notFound();
  }
  if (mayAs(actor, need)) return;
  throw new ApiFailure(403, "Resource not accessible by integration", undefined, { "x-accepted-github-permissions": accepted(need) });
}

/** Has the installation's token this repository? */
export function seesRepo(repo: Repo, actor: Actor): boolean {
  const { installation } = actor;
  if (installation?.account.id !== repo.owner.id) return false;
  if (installation.repositories !== "all" && !installation.repositories.has(repo.id)) return false;
  return actor.repositories === undefined || actor.repositories.has(repo.id);
}

/** Does the installation's token hold one of the permissions? Reading metadata is always given. */
export function mayAs(actor: Actor, need: Need): boolean {
  const enough = need.permissions.some((name) => {
    const held = actor.permissions?.[name];
    return held === "write" || (held === "read" && need.level === "read");
  });
  return enough || (need.level === "read" && need.permissions.includes("metadata"));
}

/** As the `x-accepted-github-permissions` header has it. */
export function accepted(need: Need): string {
  return need.permissions.map((name) => `${name}=${need.level}`).join("; ");
}
