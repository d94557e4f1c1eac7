import { Writable } from "node:stream";
import pino from "pino";
import type { Log } from "../../engine/round/context.ts";
import type { ServerConfig } from "./config/schema.ts";

interface LogOptions {
  level: ServerConfig["log"]["level"];
  format: ServerConfig["log"]["format"];
  /** Where a line goes; default standard output. */
  write?: (line: string) => void;
  /** Texts that must never be in a line, whatever error carries them. */
  secrets?: readonly string[];
  /** What each line has, besides its own. */
  scope?: () => object;
}

const REDACTED = "[redacted]";
/** GitHub's tokens by their prefix, whatever their length; a JSON web token; what stands between `//` and `@`; a header; a key. */
const TOKENS: readonly [RegExp, string][] = [
  [/\b(gh[a-z]_|github_pat_)[\w.-]{8,}/g, REDACTED],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, REDACTED],
  [/(:\/\/)[^/\s@"]+@/g, `$1${REDACTED}@`],
  [/\b(authorization["\\]*\s*[:=]\s*["\\]*(?:basic|bearer|token)\s+)[\w+/=.~-]+/gi, `$1${REDACTED}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
];

/** The log of a server: constant messages with fields. The last thing that happens to a line is that secrets are taken out. */
export function openLog({ level, format, write = toStandardOutput(), secrets = [], scope = () => ({}) }: LogOptions): Log {
  const redact = openRedactor(secrets);
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const line = redact(String(chunk));
      write(format === "pretty" ? pretty(line) : line);
      done();
    },
  });
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const log = pino(options, destination);
  return {
    debug: (fields, message) => log.debug({ ...scope(), ...fields }, message),
    info: (fields, message) => log.info({ ...scope(), ...fields }, message),
    warn: (fields, message) => log.warn({ ...scope(), ...fields }, message),
    error: (fields, message) => log.error({ ...scope(), ...fields }, message),
  };
}

const goOn = (): void => undefined;

/** Nobody may read it any more, or its disk be full: what a server does goes on, and what it says then is lost. */
function toStandardOutput(): (line: string) => void {
  if (!process.stdout.listeners("error").includes(goOn)) process.stdout.on("error", goOn);
  return (line) => void process.stdout.write(line);
}

/** Takes these secrets out of a text, and whatever looks like one. */
export function openRedactor(secrets: readonly string[]): (text: string) => string {
  const known = secrets
    .flatMap((secret) => [...new Set([secret, JSON.stringify(secret).slice(1, -1)])])
    .filter((secret) => secret.length >= 6);
  return (text) => {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, REDACTED);
    for (const [pattern, instead] of TOKENS) clean = clean.replace(pattern, instead);
    return clean;
  };
}

/** `07:12:03 warn   a delivery was refused  delivery=… status=400`. */
function pretty(line: string): string {
  try {
    const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
    const said = Object.entries(fields).map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
    return `${String(time).slice(11, 19)} ${String(level).padEnd(6)} ${visible([msg, ...said].join("  "))}\n`;
  } catch {
    return line;
  }
}

/** Control characters of what was logged must not steer a terminal. */
function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
