import { generateKeyPairSync, randomBytes } from "node:crypto";
import type { App, Permissions, User, World } from "./model.ts";
import { userOf } from "./world.ts";

interface AppKeys {
  publicKey: string;
  privateKey: string;
}

let first: AppKeys | undefined;

/** Those given, or a pair made once for the process: making one takes longer than all the rest of a start. */
export function firstKeys(given: { publicKey?: string; privateKey?: string } = {}): AppKeys {
  const key = given.publicKey ?? given.privateKey;
  // Node takes a private key where a public one is asked for.
  if (key !== undefined) return { publicKey: key, privateKey: given.privateKey ?? "" };
  first ??= newKeys();
  return first;
}

export function newKeys(): AppKeys {
  return generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
}

export function makeApp(input: {
  id: number;
  botId: number;
  slug: string;
  name: string;
  owner: User;
  keys: AppKeys;
  permissions: Permissions;
  events: string[];
  createdAt: number;
  hook?: App["hook"];
  callbackUrls?: string[];
}): { app: App; privateKey: string } {
  const { keys, botId, ...rest } = input;
  const bot: User = { login: `${input.slug}[bot]`, id: botId, type: "Bot" };
  const clientSecret = randomBytes(20).toString("hex");
  return { app: { callbackUrls: [], ...rest, bot, clientSecret, publicKey: keys.publicKey }, privateKey: keys.privateKey };
}

/** Another App beside the first one. */
export function createApp(
  world: World,
  input: {
    slug: string;
    name?: string;
    owner?: User;
    permissions?: Permissions;
    events?: string[];
    webhook?: { url: string; secret: string };
  },
): { id: number; slug: string; privateKey: string } {
  const { app, privateKey } = makeApp({
    id: world.nextId(),
    botId: world.nextId(),
    slug: input.slug,
    name: input.name ?? input.slug,
    owner: input.owner ?? userOf(world, world.app.owner.login),
    keys: newKeys(),
    permissions: input.permissions ?? { metadata: "read", checks: "write", statuses: "write", contents: "read", pull_requests: "read" },
    events: input.events ?? [],
    createdAt: world.clock.now(),
    hook: input.webhook,
  });
  world.apps.set(app.id, app);
  world.users.set(app.bot.login.toLowerCase(), app.bot);
  return { id: app.id, slug: app.slug, privateKey };
}
