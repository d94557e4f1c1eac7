/** A temporary folder of a command that goes on for a while, gone with the command whatever ends it. */
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Does work in a folder that is removed after it, and where a signal ends the process before. */
export async function inOwnFolder<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const end = (signal: (typeof SIGNALS)[number]) => {
    // Whoever else listens decides what the signal ends.
    if (process.listenerCount(signal) === 0) process.exit(128 + constants.signals[signal]);
  };
  process.once("exit", remove);
  for (const signal of SIGNALS) process.once(signal, end);
  try {
    return await work(folder);
  } finally {
    process.off("exit", remove);
    for (const signal of SIGNALS) process.off(signal, end);
    remove();
  }
}
