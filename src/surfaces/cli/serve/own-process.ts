/**
 * Keeps what the server's process holds to itself: no core file, no debugger that a signal opens, no secret in a report or in the environment of
 * what it starts. Called by `serve` before anything is opened.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { ServerConfig } from "../../server/config/schema.ts";

/** Variables that may hold a secret itself, in place of the file that `…_FILE` names. */
const SECRETS = [
  ...["PRIVATE_KEY", "WEBHOOK_SECRET", "FORMER_WEBHOOK_SECRET", "GITHUB_CLIENT_SECRET"],
  ...["HOOK_SECRET", "SEAL_KEY", "SESSION_KEY", "DATABASE_URL"],
];

/** `config`: it names further variables. They were read: what this process starts must not inherit them. */
export function keepToItself({ analysis, notifications }: Pick<ServerConfig, "analysis" | "notifications">): void {
  const named = [...analysis.secrets.map(({ env }) => env), ...notifications.destinations.map(({ secretEnv }) => secretEnv)];
  for (const name of [...SECRETS, ...named]) if (name !== undefined) delete process.env[name];
  process.report.excludeEnv = true;
  // Else Node listens for a debugger, who reads all of the memory.
  process.on("SIGUSR1", () => undefined);
  if (mayDumpCore())
    spawnSync("prlimit", ["--pid", String(process.pid), "--core=0:0"], { stdio: "ignore", env: { PATH: process.env["PATH"] } });
}

/** Of Linux alone, as `prlimit` is: elsewhere whoever starts the process says so. */
function mayDumpCore(): boolean {
  try {
    return !/^Max core file size +0 /m.test(readFileSync("/proc/self/limits", "utf8"));
  } catch {
    return false;
  }
}
