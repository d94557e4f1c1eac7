import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { clientId } from "./http/auth.ts";
import { notFound } from "./http/failure.ts";
import { makeApp, newKeys } from "./model/apps.ts";
import type { Permissions, User, World } from "./model/model.ts";
import { userOf } from "./model/world.ts";
import { appShape } from "./shapes/user.ts";

const HOUR_MS = 3_600_000;

/** `/settings/apps/new` and the same of an organisation; undefined: another page. */
export function manifestOwner(world: World, path: string): User | undefined {
  if (path === "/settings/apps/new") return userOf(world, world.app.owner.login);
  const [, organization] = /^\/organizations\/([^/]+)\/settings\/apps\/new$/.exec(path) ?? [];
  return organization === undefined ? undefined : userOf(world, organization, "Organization");
}

/** Takes the form that names a manifest: the person's yes is taken for granted, and leads back with a code. */
export async function serveManifestForm(
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  owner: User,
): Promise<void> {
  const form = new URLSearchParams(await text(request));
  const manifest = readManifest(form.get("manifest") ?? url.searchParams.get("manifest"));
  const back = manifest?.["redirect_url"];
  if (manifest === undefined || typeof back !== "string" || !URL.canParse(back)) {
    response.writeHead(422, { "content-type": "text/plain" }).end("Error: invalid manifest: `redirect_url` is missing\n");
    return;
  }
  const code = randomBytes(20).toString("hex");
  world.manifests.set(code, { manifest, owner, at: world.clock.now() });
  const target = new URL(back);
  target.searchParams.set("code", code);
  const state = url.searchParams.get("state");
  if (state !== null) target.searchParams.set("state", state);
  response.writeHead(302, { location: target.href }).end();
}

function readManifest(text: string | null): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The new App with its secrets, once for each code and within an hour. It stands beside the others, and is installed nowhere. */
export function convertManifest(world: World, code: string) {
  const found = world.manifests.get(code);
  world.manifests.delete(code);
  if (found === undefined || found.at + HOUR_MS < world.clock.now()) throw notFound();
  const { manifest, owner } = found;
  const name = typeof manifest["name"] === "string" ? manifest["name"] : `app-${code.slice(0, 8)}`;
  const secret = randomBytes(20).toString("hex");
  const hook = (manifest["hook_attributes"] as { url?: unknown } | undefined)?.url;
  const { app, privateKey } = makeApp({
    id: world.nextId(),
    botId: world.nextId(),
    slug: name.toLowerCase().replace(/[^a-z0-9]+/g, "-"),
    name,
    owner,
    keys: newKeys(),
    permissions: { metadata: "read", ...(manifest["default_permissions"] as Permissions | undefined) },
    events: Array.isArray(manifest["default_events"]) ? manifest["default_events"].map(String) : [],
    createdAt: world.clock.now(),
    hook: typeof hook === "string" ? { url: hook, secret } : undefined,
    callbackUrls: Array.isArray(manifest["callback_urls"]) ? manifest["callback_urls"].map(String).slice(0, 10) : [],
  });
  world.apps.set(app.id, app);
  world.users.set(app.bot.login.toLowerCase(), app.bot);
  return {
    ...appShape(world, app),
    client_id: clientId(app),
    client_secret: app.clientSecret,
    webhook_secret: typeof hook === "string" ? secret : null,
    pem: privateKey,
  };
}
