/** The environment wins over the configuration's file, and credentials come from it or from files; no secret is ever in a message. */
import { defined } from "../../../core/base/defined.ts";
import { parseDuration } from "../../../core/base/time.ts";
import { setting } from "../../../core/reasons/settings.ts";
import { whyNoHost, whyNoListening } from "./hosts.ts";
import type { ServerConfig } from "./schema.ts";
import { gatherSettingErrors, readSecretFile, readSettingFile, SettingError } from "./setting-errors.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Credentials {
  appId: number;
  /** PEM. */
  privateKey: string;
  webhookSecret: string;
  /** Of before, taken as well while it is changed. */
  formerWebhookSecret?: string | undefined;
  /** What people's codes are taken for tokens with. Absent: nobody can sign in. */
  client?: { id: string; secret: string } | undefined;
}

/** The configuration with what the environment says instead. Throws SettingError with a line for each setting that cannot be used. */
export function withEnvironment(config: ServerConfig, env: Environment): ServerConfig {
  const { github, listen, inside, log } = config;
  const errors = gatherSettingErrors();
  /** What `read` makes of a variable; undefined where it is not set, or set to nothing. */
  function given<T>(name: string, read: (text: string, name: string) => T): T | undefined {
    const text = env[name];
    return text ? errors.keep(() => read(text, name)) : undefined;
  }
  const merged: ServerConfig = {
    ...config,
    github: {
      ...github,
      ...defined({ host: given("GHE_HOST", hostOf(whyNoHost)), protocol: given("GHE_PROTOCOL", oneOf("https", "http")) }),
    },
    listen: { ...listen, ...defined({ host: given("HOST", hostOf(whyNoListening)), port: given("PORT", portOf) }) },
    inside: { ...inside, ...defined({ host: given("INSIDE_HOST", hostOf(whyNoListening)), port: given("INSIDE_PORT", portOf) }) },
    ...defined({
      directory: given("STAGECOACH_DIRECTORY", (text) => text),
      resync: given("STAGECOACH_RESYNC", durationOf),
      drain: given("STAGECOACH_DRAIN", durationOf),
    }),
    log: { ...log, ...defined({ level: given("LOG_LEVEL", levelOf), format: given("LOG_FORMAT", oneOf("json", "pretty")) }) },
  };
  errors.keep(() => checkPorts(merged));
  errors.throwAny();
  return merged;
}

/** 0 is whichever is free; of two addresses of one machine each has its own ports. */
function checkPorts({ listen, inside }: ServerConfig): void {
  const isShared = listen.host === inside.host || [listen.host, inside.host].some((host) => host === "0.0.0.0" || host === "::");
  if (listen.port === inside.port && listen.port !== 0 && isShared) throw new SettingError(setting("PORTS_SAME", { port: listen.port }));
}

/** Fields of the file that a variable goes before, so that they are not read: a sentence each. */
export function passedOver({ github, queue }: ServerConfig, env: Environment): string[] {
  const fields: [field: string, value: unknown, variable: string, also?: string][] = [
    ["github.appId", github.appId, "APP_ID"],
    ["github.privateKeyFile", github.privateKeyFile, "PRIVATE_KEY", "PRIVATE_KEY_PATH"],
    ["github.webhookSecretFile", github.webhookSecretFile, "WEBHOOK_SECRET"],
    ["github.formerWebhookSecretFile", github.formerWebhookSecretFile, "FORMER_WEBHOOK_SECRET"],
    ["github.clientSecretFile", github.clientSecretFile, "GITHUB_CLIENT_SECRET"],
    ["queue.urlFile", queue.urlFile, "DATABASE_URL"],
  ];
  return fields.flatMap(([field, value, variable, also = ""]) => {
    const set = [variable, `${variable}_FILE`, also].find((name) => env[name]?.trim());
    return value === undefined || set === undefined ? [] : [`${field} is not read: ${set} is set, and goes before it.`];
  });
}

/**
 * The App's credentials, from the environment or from files; undefined where neither an id nor a key is there: nothing was
 * set up yet. Half of them is an error.
 */
export function credentialsOf({ github, inside }: ServerConfig, env: Environment): Credentials | undefined {
  const errors = gatherSettingErrors();
  const id = errors.keep(() => secretOf("APP_ID", env) ?? github.appId?.toString());
  const key = errors.keep(() => secretOf("PRIVATE_KEY", env, "PRIVATE_KEY_PATH") ?? fileOf("github.privateKeyFile", github.privateKeyFile));
  const secret = errors.keep(() => secretOf("WEBHOOK_SECRET", env) ?? fileOf("github.webhookSecretFile", github.webhookSecretFile));
  const former = errors.keep(
    () => secretOf("FORMER_WEBHOOK_SECRET", env) ?? fileOf("github.formerWebhookSecretFile", github.formerWebhookSecretFile),
  );
  const client = errors.keep(() => clientOf(github, env, inside.login !== undefined));
  errors.throwAny();
  if (id === undefined && key === undefined) return undefined;
  if (id === undefined) throw new SettingError(setting("APP_ID_MISSING"));
  if (key === undefined) throw new SettingError(setting("APP_KEY_MISSING"));
  const appId = errors.keep(() => appIdOf(id));
  const privateKey = errors.keep(() => pem(key));
  const webhookSecret = errors.keep(() => usableSecret(secret));
  const formerWebhookSecret = former === undefined ? undefined : errors.keep(() => usableSecret(former));
  errors.throwAny();
  if (appId === undefined || privateKey === undefined || webhookSecret === undefined) return undefined;
  return defined({ appId, privateKey, webhookSecret, formerWebhookSecret, client });
}

/** The address of PostgreSQL, with its password; undefined: there is none. Throws SettingError. */
export function databaseUrlOf({ queue }: ServerConfig, env: Environment): string | undefined {
  if (queue.kind !== "postgres") return undefined;
  const url = secretOf("DATABASE_URL", env) ?? fileOf("queue.urlFile", queue.urlFile);
  if (url === undefined) throw new SettingError(setting("DATABASE_URL_MISSING"));
  if (!isDatabaseUrl(url)) throw new SettingError(setting("DATABASE_ADDRESS"));
  checkTls(new URL(url).searchParams);
  return url;
}

/** With a second `@`, or one behind the host, part of a password would be taken for the host, and be told as one that is not found. */
function isDatabaseUrl(url: string): boolean {
  return /^postgres(?:ql)?:\/\/[^/?#@\s]*(?:@[^/?#@\s]*)?(?:[/?#][^@\s]*)?$/.test(url) && URL.canParse(url);
}

/** Of PostgreSQL's address. All but `disable` and 0 check the server's certificate and its name; what is mistyped, or would not, is refused. */
const TLS_CHOICES = {
  sslmode: ["disable", "require", "verify-ca", "verify-full"],
  ssl: ["true", "1", "0"],
  uselibpqcompat: ["false"],
};

function checkTls(options: URLSearchParams): void {
  for (const [key, known] of Object.entries(TLS_CHOICES))
    if (!options.getAll(key).every((value) => known.includes(value)))
      throw new SettingError(setting("NOT_A_CHOICE", { setting: `${key} in queue.urlFile`, known }));
  for (const key of ["sslrootcert", "sslcert", "sslkey"])
    for (const file of options.getAll(key)) readSettingFile(`${key} in queue.urlFile`, file);
}

/** undefined: not both are given, and nobody wants to sign in. */
function clientOf(github: ServerConfig["github"], env: Environment, isWanted: boolean): Credentials["client"] {
  const id = env["GITHUB_CLIENT_ID"]?.trim() || github.clientId;
  const secret = secretOf("GITHUB_CLIENT_SECRET", env) ?? fileOf("github.clientSecretFile", github.clientSecretFile);
  if (id !== undefined && secret !== undefined) return { id, secret };
  if (isWanted) throw new SettingError(setting("LOGIN_CLIENT_MISSING"));
  return undefined;
}

/** What Probot takes where none is given, and so what everybody knows. */
const PUBLIC_SECRET = "development";

/** The webhook's secret, if it keeps anybody out. */
export function usableSecret(secret: string | undefined): string {
  const plain = secret?.trim() ?? "";
  if (plain === "") throw new SettingError(setting("WEBHOOK_SECRET_MISSING"));
  if (plain === PUBLIC_SECRET) throw new SettingError(setting("WEBHOOK_SECRET_PUBLIC"));
  return plain;
}

/** What is read before there is a configuration, or in its place. */
export function startSettings(env: Environment) {
  return {
    config: env["STAGECOACH_CONFIG"] || undefined,
    organisation: env["GH_ORG"] || undefined,
    host: env["HOST"] || undefined,
    production: env["NODE_ENV"] === "production",
  };
}

/** Base of the REST API. `SUBDOMAIN.ghe.com` is GitHub Enterprise Cloud with data residency, whose API has a host of its own. */
export function apiUrl({ host, protocol }: ServerConfig["github"]): string {
  if (host === undefined || host === "github.com") return "https://api.github.com";
  return host.endsWith(".ghe.com") ? `${protocol}://api.${host}` : `${protocol}://${host}/api/v3`;
}

/** `NAME`, or what stands in the file that `NAME_FILE` names, or that the variable `also` does. */
function secretOf(name: string, env: Environment, also = ""): string | undefined {
  const from = [`${name}_FILE`, also].find((file) => env[file]);
  return env[name]?.trim() || (from && fileOf(from, env[from]));
}

function fileOf(from: string, file: string | undefined): string | undefined {
  return file === undefined ? undefined : readSecretFile(from, file);
}

function appIdOf(id: string): number {
  if (!/^[1-9]\d{0,14}$/.test(id)) throw new SettingError(setting("APP_ID_INVALID"));
  return Number(id);
}

/** As Probot takes it, too: the PEM itself, with `\n` for its line ends where these could not be kept, or all of it in base64. */
function pem(text: string): string {
  const found = [text.replaceAll("\\n", "\n"), Buffer.from(text, "base64").toString("utf8")].find((one) =>
    /-----BEGIN (RSA )?PRIVATE KEY-----[\s\S]+-----END (RSA )?PRIVATE KEY-----/.test(one),
  );
  if (found === undefined) throw new SettingError(setting("APP_KEY_NO_PEM"));
  return found;
}

function hostOf(why: typeof whyNoHost): (text: string, name: string) => string {
  return (text, name) => {
    const problem = why(text);
    if (problem !== undefined) throw new SettingError(setting("SETTING_PROBLEM", { setting: name, problem }));
    return text;
  };
}

function portOf(text: string, name: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new SettingError(setting("NOT_A_PORT", { setting: name }));
  return Number(text);
}

function durationOf(text: string, name: string): string {
  const ms = parseDuration(text);
  if (ms === undefined) throw new SettingError(setting("NOT_A_DURATION", { setting: name }));
  if (name === "STAGECOACH_RESYNC" && ms < 30_000) throw new SettingError(setting("DURATION_TOO_SHORT", { setting: name, least: "30s" }));
  return text;
}

function oneOf<T extends string>(...known: readonly T[]): (text: string, name: string) => T {
  return (text, name) => {
    const found = known.find((one) => one === text);
    if (found === undefined) throw new SettingError(setting("NOT_A_CHOICE", { setting: name, known }));
    return found;
  };
}

/** Probot knows two more levels. */
function levelOf(text: string, name: string): ServerConfig["log"]["level"] {
  const level = oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent")(text, name);
  return level === "trace" ? "debug" : level === "fatal" ? "error" : level;
}
