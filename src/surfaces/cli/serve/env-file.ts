import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { errorText } from "../../../core/base/error-text.ts";
import type { Environment } from "../../server/config/env.ts";
import { CommandError } from "../command.ts";

/** The environment, with the settings of a `.env` file below it: what is set in the environment wins. */
export function environmentWith(file: string, env: Environment): Environment {
  return { ...readSettings(file), ...Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)) };
}

/** Adds settings to a `.env` file, which only its owner may read: it holds the App's key. */
export function writeSettings(file: string, settings: Readonly<Record<string, string | undefined>>): void {
  const all = { ...readSettings(file), ...settings };
  const lines = Object.entries(all).map(([name, value]) => `${name}=${quoted(value ?? "")}`);
  // It may have been there with other rights, and the key must not stand in it for a moment that others could read.
  if (existsSync(file)) chmodSync(file, 0o600);
  writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o600 });
}

function readSettings(file: string): Record<string, string | undefined> {
  if (!existsSync(file)) return {};
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CommandError(2, `${file} cannot be read: ${errorText(error)}`);
  }
}

/**
 * Probot hands a key on in quotes of its own. Line ends are written as `\n`, as `.env` files have them: in `"` alone that is one, so
 * what has a `"` or a backslash of its own stands in other quotes, which take all as it is.
 */
function quoted(value: string): string {
  const bare = (/^".*"$/s.test(value) ? value.slice(1, -1) : value).trim();
  if (/^[\w./:@-]*$/.test(bare)) return bare;
  if (!/["\\]/.test(bare)) return `"${bare.replaceAll("\n", "\\n")}"`;
  return bare.includes("'") ? `\`${bare}\`` : `'${bare}'`;
}
