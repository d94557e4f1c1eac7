/** The environment wins over the configuration's file, and credentials come from it or from files; no secret is ever in a message. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { defined } from "../../../core/base/defined.ts";
import { parseDuration } from "../../../core/base/time.ts";
import { whyNoHost, whyNoListening } from "./hosts.ts";
import type { ServerConfig } from "./schema.ts";
import { gatherSettingErrors, SettingError } from "./setting-errors.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Credentials {
  appId: number;
  privateKey: string;
  webhookSecret: string;
}

/** The configuration with what the environment says instead. Throws SettingError with a line for each setting that cannot be used. */
export function withEnvironment(config: ServerConfig, env: Environment): ServerConfig {
  const { github, listen, inside, log } = config;
  const errors = gatherSettingErrors();
  const port = (name: string) => errors.keep(() => portOf(name, env));
  const address = (name: string) => errors.keep(() => hostOf(name, env, whyNoListening));
  const duration = (name: string) => errors.keep(() => durationOf(name, env));
  const merged: ServerConfig = {
    ...config,
    github: {
      ...github,
      ...defined({
        host: errors.keep(() => hostOf("GHE_HOST", env, whyNoHost)),
        protocol: errors.keep(() => oneOf("GHE_PROTOCOL", env, ["https", "http"] as const)),
      }),
    },
    listen: { ...listen, ...defined({ host: address("HOST"), port: port("PORT") }) },
    inside: { ...inside, ...defined({ host: address("INSIDE_HOST"), port: port("INSIDE_PORT") }) },
    ...defined({
      directory: textOf("STAGECOACH_DIRECTORY", env),
      resync: duration("STAGECOACH_RESYNC"),
      drain: duration("STAGECOACH_DRAIN"),
    }),
    log: {
      ...log,
      ...defined({
        level: errors.keep(() => levelOf(env)),
        format: errors.keep(() => oneOf("LOG_FORMAT", env, ["json", "pretty"] as const)),
      }),
    },
  };
  errors.throwAny();
  return merged;
}

/**
 * The App's credentials, from the environment or from files; undefined where neither an id nor a key is there: nothing was
 * set up yet. Half of them is an error.
 */
export function credentialsOf({ github }: ServerConfig, env: Environment): Credentials | undefined {
  const errors = gatherSettingErrors();
  const id = errors.keep(() => secretOf("APP_ID", env) ?? (github.appId === undefined ? undefined : String(github.appId)));
  const key = errors.keep(() => privateKeyOf(env) ?? fileOf("github.privateKeyFile", github.privateKeyFile));
  const secret = errors.keep(() => secretOf("WEBHOOK_SECRET", env) ?? fileOf("github.webhookSecretFile", github.webhookSecretFile));
  errors.throwAny();
  if (id === undefined && key === undefined) return undefined;
  if (id === undefined) throw new SettingError("there is a private key and no APP_ID; the App's settings page shows its id");
  if (key === undefined) {
    throw new SettingError(
      "there is an APP_ID and no private key; set PRIVATE_KEY_FILE to the .pem file that the App's settings page gives",
    );
  }
  errors.keep(() => checkAppId(id));
  const readable = errors.keep(() => pem(key));
  const usable = errors.keep(() => webhookSecret(secret));
  errors.throwAny();
  if (readable === undefined || usable === undefined) return undefined;
  return { appId: Number(id), privateKey: readable, webhookSecret: usable };
}

function webhookSecret(secret: string | undefined): string {
  if (secret === undefined) {
    throw new SettingError(
      "there is no webhook secret: anybody could then pretend to be GitHub. Set WEBHOOK_SECRET (or WEBHOOK_SECRET_FILE) to the one in the App's settings",
    );
  }
  if (secret === "development") {
    throw new SettingError(
      'WEBHOOK_SECRET is "development", which everybody knows: anybody could then pretend to be GitHub. Choose another, in the App\'s settings and here',
    );
  }
  return secret;
}

/** What is read before there is a configuration, or in its place. */
export function startSettings(env: Environment): { config?: string; organisation?: string; host?: string; production: boolean } {
  return defined({
    config: textOf("STAGECOACH_CONFIG", env),
    organisation: textOf("GH_ORG", env),
    host: textOf("HOST", env),
    production: env["NODE_ENV"] === "production",
  });
}

/** Base of the REST API. `SUBDOMAIN.ghe.com` is GitHub Enterprise Cloud with data residency, whose API has a host of its own. */
export function apiUrl({ host, protocol }: ServerConfig["github"]): string {
  if (host === undefined || host === "github.com") return "https://api.github.com";
  return host.endsWith(".ghe.com") ? `${protocol}://api.${host}` : `${protocol}://${host}/api/v3`;
}

/** `NAME`, or what stands in the file that `NAME_FILE` names. */
function secretOf(name: string, env: Environment): string | undefined {
  const direct = env[name]?.trim();
  if (direct !== undefined && direct !== "") return direct;
  return fileOf(`${name}_FILE`, textOf(`${name}_FILE`, env));
}

function checkAppId(id: string): void {
  if (!/^[1-9]\d{0,14}$/.test(id)) throw new SettingError("APP_ID is not a number; the App's settings page shows it as App ID");
}

function fileOf(from: string, file: string | undefined): string | undefined {
  return file === undefined ? undefined : readSecret(file, from);
}

function privateKeyOf(env: Environment): string | undefined {
  return secretOf("PRIVATE_KEY", env) ?? fileOf("PRIVATE_KEY_PATH", textOf("PRIVATE_KEY_PATH", env));
}

function readSecret(file: string, from: string): string {
  const path = file.startsWith("~/") ? resolve(homedir(), file.slice(2)) : resolve(file);
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unreadable";
    throw new SettingError(`the file ${path} that ${from} names cannot be read (${code})`);
  }
  if (text === "") throw new SettingError(`the file ${path} that ${from} names is empty`);
  return text;
}

/** As Probot takes it, too: the PEM itself, with `\n` for its line ends where these could not be kept, or all of it in base64. */
function pem(text: string): string {
  const plain = text.replaceAll("\\n", "\n");
  if (isPem(plain)) return plain;
  const decoded = Buffer.from(text, "base64").toString("utf8");
  if (isPem(decoded)) return decoded;
  throw new SettingError("the private key is no PEM; take the .pem file that the App's settings page gives, as it is");
}

function isPem(text: string): boolean {
  return /-----BEGIN (RSA )?PRIVATE KEY-----[\s\S]+-----END (RSA )?PRIVATE KEY-----/.test(text);
}

/** A variable's text; one that is set to nothing is as good as not there. */
function textOf(name: string, env: Environment): string | undefined {
  return env[name] || undefined;
}

function hostOf(name: string, env: Environment, why: typeof whyNoHost): string | undefined {
  const text = textOf(name, env);
  const wrong = text === undefined ? undefined : why(text);
  if (wrong !== undefined) throw new SettingError(`${name}: ${wrong.message} → ${wrong.hint}`);
  return text;
}

function portOf(name: string, env: Environment): number | undefined {
  const text = textOf(name, env);
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new SettingError(`${name} is not a port: a number from 0 to 65535 is wanted`);
  return Number(text);
}

function durationOf(name: string, env: Environment): string | undefined {
  const text = textOf(name, env);
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === undefined) throw new SettingError(`${name} is not a duration; write 90s, 5m or 1h30m`);
  if (name === "STAGECOACH_RESYNC" && ms < 30_000) throw new SettingError(`${name} is less than 30s; write 30s or more`);
  return text;
}

function oneOf<T extends string>(name: string, env: Environment, known: readonly T[]): T | undefined {
  const text = textOf(name, env);
  if (text === undefined) return undefined;
  const found = known.find((one) => one === text);
  if (found === undefined) throw new SettingError(`${name} is none of ${known.join(", ")}`);
  return found;
}

/** Probot knows two more levels. */
function levelOf(env: Environment): ServerConfig["log"]["level"] | undefined {
  const known = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
  const level = oneOf("LOG_LEVEL", env, known);
  return level === "trace" ? "debug" : level === "fatal" ? "error" : level;
}
