/** What people allow Apps: codes, the tokens that Apps get for them, and their end. Times are the machine's, as those of other tokens. */
import { createHash, randomBytes } from "node:crypto";
import type { App, OAuthCode, Repo, User, World } from "../model/model.ts";
import { installationsOn } from "../model/world.ts";

const CODE_MS = 10 * 60_000;
const REFRESH_S = 15_897_600;

export function grantKey(app: App, user: User): string {
  return `${app.id} ${user.id}`;
}

/** A code for the App, good once and for ten minutes. */
export function newCode(world: World, code: Omit<OAuthCode, "expiresAt">): string {
  const text = randomBytes(10).toString("hex");
  world.oauth.grants.add(grantKey(code.app, code.user));
  world.oauth.codes.set(text, { ...code, expiresAt: Date.now() + CODE_MS });
  return text;
}

const part = (length: number) => randomBytes(length).toString("base64url").replace(/[-_]/g, "x").slice(0, length);

/** A token of the person's, for what they and the App's installation both may, and what makes the next one of it. */
function newTokens(world: World, app: App, user: User) {
  const token = `ghu_${part(36)}`;
  const refresh = `ghr_${part(76)}`;
  const lifetime = world.limits.userTokenLifetime;
  const installedOn = (repo: Pick<Repo, "id" | "owner">) => installationsOn(world, repo).find((one) => one.app === app);
  const actor = { kind: "user" as const, user, app, installedOn, limitKey: `user:${user.id}` };
  world.tokens.set(token, { actor, expiresAt: Date.now() + lifetime });
  world.oauth.refreshTokens.set(refresh, { app, user, token, expiresAt: Date.now() + REFRESH_S * 1000 });
  return {
    access_token: token,
    expires_in: Math.floor(lifetime / 1000),
    refresh_token: refresh,
    refresh_token_expires_in: REFRESH_S,
    token_type: "bearer",
    scope: "",
  };
}

/** undefined: the code or what it was asked with is no good. A code is used up by the first who brings it. */
export function tokensForCode(world: World, app: App, given: { code: string; callback: string | undefined; verifier: string | undefined }) {
  const found = world.oauth.codes.get(given.code);
  world.oauth.codes.delete(given.code);
  if (found === undefined || found.app !== app || found.expiresAt <= Date.now()) return "bad_verification_code";
  if (given.callback !== undefined && given.callback !== found.callback) return "redirect_uri_mismatch";
  const challenge = given.verifier && createHash("sha256").update(given.verifier).digest("base64url");
  if (found.challenge !== undefined && challenge !== found.challenge) return "bad_verification_code";
  return newTokens(world, app, found.user);
}

/** Ends the refresh token and the token that came with it. */
export function tokensForRefresh(world: World, app: App, refresh: string) {
  const found = world.oauth.refreshTokens.get(refresh);
  if (found === undefined || found.app !== app || found.expiresAt <= Date.now()) return "bad_refresh_token";
  world.oauth.refreshTokens.delete(refresh);
  world.tokens.delete(found.token);
  return newTokens(world, app, found.user);
}

/** False: the App has no such token. */
export function revokeUserToken(world: World, app: App, token: string): boolean {
  const held = world.tokens.get(token);
  if (held?.actor.kind !== "user" || held.actor.app !== app) return false;
  world.tokens.delete(token);
  for (const [refresh, one] of world.oauth.refreshTokens) if (one.token === token) world.oauth.refreshTokens.delete(refresh);
  return true;
}

export function revokeGrant(world: World, app: App, user: User): void {
  world.oauth.grants.delete(grantKey(app, user));
  const theirs = [...world.tokens].filter(([, { actor }]) => actor.kind === "user" && actor.app === app && actor.user.id === user.id);
  for (const [token] of theirs) revokeUserToken(world, app, token);
  // Those of tokens that have ended by themselves.
  for (const [refresh, one] of world.oauth.refreshTokens)
    if (one.app === app && one.user.id === user.id) world.oauth.refreshTokens.delete(refresh);
}
