/** Who may see the page and the API, as the configuration says: by GitHub, by a proxy of the operator's, or without a name. */
import { BlockList, isIP } from "node:net";
import { openUserTokens } from "../../adapters/forge/github/user-tokens.ts";
import { derivedKey } from "../../adapters/git/journal/seal.ts";
import { parseDuration } from "../../core/base/time.ts";
import { setting } from "../../core/reasons/settings.ts";
import type { Log } from "../../engine/round/context.ts";
import { openLogin } from "../web/login/login.ts";
import type { ProxyDoor } from "../web/login/proxy.ts";
import type { CookieKeys } from "../web/login/sealed.ts";
import type { Anonymous } from "../web/source.ts";
import type { Credentials, Environment } from "./config/env.ts";
import type { ServerConfig } from "./config/schema.ts";
import { readSecretFile, SettingError, underSetting } from "./config/setting-errors.ts";
import type { GitHubApp } from "./tenancy/octokits.ts";
import { matchesRepository } from "./tenancy/tenancy.ts";

export interface Audience {
  /** Where people reach the page, for links to it: `https://host/stagecoach/`. Absent: there are none. */
  publicUrl?: string | undefined;
  /** See WebSource. */
  anonymous?: Anonymous | undefined;
  /** People sign in by GitHub. Absent: nobody does. */
  login?: SignIn | undefined;
  proxy?: ProxyDoor | undefined;
}

interface SignIn {
  clientId: string;
  clientSecret: string;
  keys: CookieKeys;
  lastsMs: number;
}

/** How people say who they are: what the page is made with beside what it shows. */
export function seenFrom({ publicUrl, login, proxy, app, log }: Audience & { app: GitHubApp; log: Log }) {
  if (login === undefined) return { proxy };
  const onRefused = (code: string) => log.error({ code }, "GitHub refused to sign somebody in");
  return { proxy, login: openLogin({ ...login, publicUrl, tokens: openUserTokens({ ...login, baseUrl: app.baseUrl }), onRefused }) };
}

const PURPOSE = "stagecoach page session";
const LEAST_SECRET = 32;
const LONGEST_MS = 30 * 24 * 3_600_000;

/** Reads what the configuration says of it. Throws SettingError. */
export function audienceOf(
  { inside }: ServerConfig,
  { privateKey, client }: Pick<Credentials, "privateKey" | "client">,
  env: Environment,
): Audience {
  const { publicUrl, anonymous, login, proxy } = inside;
  return {
    ...{ publicUrl, anonymous },
    login: login && signInOf(login, privateKey, client, env),
    proxy: proxy && proxyOf(proxy),
  };
}

function signInOf(
  { lasts, keyFile, acceptedKeyFiles }: NonNullable<ServerConfig["inside"]["login"]>,
  privateKey: string,
  client: Credentials["client"],
  env: Environment,
): SignIn {
  if (client === undefined) throw new SettingError(setting("LOGIN_CLIENT_MISSING"));
  const lastsMs = parseDuration(lasts) ?? Number.NaN;
  if (!(lastsMs <= LONGEST_MS)) throw new SettingError(setting("DURATION_TOO_LONG", { setting: "inside.login.lasts", most: "30d" }));
  const file = env["SESSION_KEY_FILE"] || keyFile;
  const own = env["SESSION_KEY"]?.trim() || (file === undefined ? undefined : readSecretFile("inside.login.keyFile", file));
  const first = underSetting("inside.login.keyFile", () => derivedKey(own ?? privateKey, PURPOSE));
  const others = acceptedKeyFiles.map((name, i) => {
    const at = `inside.login.acceptedKeyFiles[${i}]`;
    return underSetting(at, () => derivedKey(readSecretFile(at, name), PURPOSE));
  });
  return { clientId: client.id, clientSecret: client.secret, keys: [first, ...others], lastsMs };
}

function proxyOf(given: NonNullable<ServerConfig["inside"]["proxy"]>): ProxyDoor {
  const { secretFile, from, repositories } = given;
  const [header, secretHeader] = [given.header.toLowerCase(), given.secretHeader.toLowerCase()];
  if (header === secretHeader) throw new SettingError(setting("PROXY_HEADERS"));
  const at = "inside.proxy.secretFile";
  const secret = readSecretFile(at, secretFile);
  if (secret.length < LEAST_SECRET) throw new SettingError(setting("SECRET_TOO_SHORT", { setting: at, least: LEAST_SECRET }));
  const sees = (repository: string) => repositories.some((glob) => matchesRepository(glob, repository));
  return { header, secretHeader, secret, from: from && networksOf(from), sees };
}

function networksOf(all: readonly string[]): BlockList {
  const list = new BlockList();
  for (const one of all) {
    const [address = "", bits] = one.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}
