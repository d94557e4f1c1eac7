/**
 * Starts programs on behalf of a large process. On Linux Node starts a child by fork, which copies the caller's page
 * tables: 15 ms of a standing event loop at 440 MB, 1.5 ms at 60 MB. So a small helper process does it, once that pays.
 * Called by everything here that runs a command to its end; conversations (`cat-file`) start their one process themselves.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Command, type Ended, runCommand } from "./command.ts";
import { onlyCompiled } from "./compiled.ts";

/** So many commands are run here first: a subcommand that asks git ten things ends before a helper would have paid. */
const HERE_FIRST = 12;
/** A helper without a command for so long is ended: another starts in 50 ms, beside this process. */
const REST_MS = 5000;

/** What the helper is told. */
export type Order = { id: number; command: Command } | { id: number; stop: true };
/** What it answers; `ready` once it can be told anything. */
export type Answer = { ready: true } | { id: number; ended: Ended } | { id: number; error: string; code?: string | undefined };

interface Helper {
  child: ChildProcess;
  /** Until then commands are still run here: a start waits for no second one. */
  ready: boolean;
  waiting: Map<number, { resolve(ended: Ended): void; reject(error: Error): void }>;
  resting?: NodeJS.Timeout;
}

let orders = 0;
let underWay = 0;
let helper: Helper | undefined;

/** Runs a command to its end, in a process of its own. Rejects where it could not be started, or was stopped. */
export async function launch(command: Command, stop: AbortSignal = new AbortController().signal): Promise<Ended> {
  stop.throwIfAborted();
  return await countAsCommand(begin(command, stop));
}

/** Counts a question to a command that lives on like a command of its own. */
export async function countAsCommand<T>(answer: Promise<T>): Promise<T> {
  underWay += 1;
  try {
    return await answer;
  } finally {
    underWay -= 1;
  }
}

/** How many commands have not come to their end, or answered, yet. */
export function commandsUnderWay(): number {
  return underWay;
}

async function begin(command: Command, stop: AbortSignal): Promise<Ended> {
  const id = ++orders;
  // Elsewhere Node starts a child without fork.
  if (process.platform !== "linux" || id <= HERE_FIRST) return await runCommand(command, stop);
  helper ??= startHelper();
  if (!helper.ready) return await runCommand(command, stop);
  return await askHelper(helper, id, command, stop);
}

function startHelper(): Helper {
  const file = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "./helper.ts" : "./helper.js", import.meta.url));
  // Nothing of the environment goes along: each command brings its own. What it says is not kept, so little room for the young is enough.
  const child = fork(file, [], {
    env: onlyCompiled(),
    execArgv: ["--max-semi-space-size=1"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const started: Helper = { child, ready: false, waiting: new Map() };
  const lose = (why: string): void => {
    if (helper === started) helper = undefined;
    clearTimeout(started.resting);
    for (const { reject } of started.waiting.values()) reject(new Error(`the process that starts git ended: ${why}`));
    started.waiting.clear();
  };
  child.on("message", (answer: Answer) => settle(started, answer));
  child.once("error", (error) => lose(error.message));
  child.once("exit", (code, signal) => lose(String(signal ?? code)));
  child.unref();
  child.channel?.unref();
  return started;
}

function askHelper(of: Helper, id: number, command: Command, stop: AbortSignal): Promise<Ended> {
  const { child, waiting } = of;
  const tell = (order: Order): void => void child.send(order, () => undefined);
  const halt = (): void => tell({ id, stop: true });
  // Only a command under way keeps this process alive.
  if (waiting.size === 0) child.channel?.ref();
  clearTimeout(of.resting);
  const asked = new Promise<Ended>((resolve, reject) => waiting.set(id, { resolve, reject }));
  stop.addEventListener("abort", halt, { once: true });
  tell({ id, command });
  return asked.finally(() => stop.removeEventListener("abort", halt));
}

function settle(of: Helper, answer: Answer): void {
  if ("ready" in answer) {
    of.ready = true;
    rest(of);
    return;
  }
  const { child, waiting } = of;
  const asked = waiting.get(answer.id);
  waiting.delete(answer.id);
  if (waiting.size === 0) {
    child.channel?.unref();
    rest(of);
  }
  if ("ended" in answer) asked?.resolve(answer.ended);
  else asked?.reject(Object.assign(new Error(answer.error), answer.code === undefined ? {} : { code: answer.code }));
}

function rest(of: Helper): void {
  of.resting = setTimeout(() => {
    if (helper === of) helper = undefined;
    of.child.disconnect();
  }, REST_MS).unref();
}
