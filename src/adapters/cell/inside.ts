/**
 * The inside of a cell: takes jobs from one pipe and asks on another, one thing at a time. It waits by reading, so that what
 * answers at once outside, as control planes do from memory, does so here, too.
 */
import { readSync, writeSync } from "node:fs";
import nodeModule from "node:module";
import { Worker } from "node:worker_threads";
import { ForgeError } from "../forge/port.ts";
import { GitError } from "../git/port.ts";
import { CELL_IN, CELL_LIFE, CELL_OUT, decode, encode, HEADER, type Said, type Thrown, type Told } from "./frames.ts";
import type { Ask } from "./port.ts";

type Work = (input: unknown, ask: Ask) => Promise<unknown>;

/** Does jobs until nobody has one any more. */
export async function serveCell(works: Readonly<Record<string, Work>>): Promise<void> {
  // It will be killed, which leaves no time for that. Node has it from 22.10 on.
  (nodeModule as Partial<Pick<typeof nodeModule, "flushCompileCache">>).flushCompileCache?.();
  endWithStarter();
  say({ ready: true });
  for (let told = hear(); told !== undefined; told = hear()) {
    if (!("job" in told)) continue;
    const work = Object.hasOwn(works, told.job) ? works[told.job] : undefined;
    try {
      if (work === undefined) throw new Error(`no job is called ${told.job}`);
      const done = await work(told.input, ask);
      say({ done, heap: process.memoryUsage().heapUsed });
    } catch (error) {
      say({
        failed: error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 1000) : "unknown reason",
        heap: process.memoryUsage().heapUsed,
      });
    }
  }
}

/** A job may never end by itself: where who started the cell was killed, nobody is left to look at its limits. */
function endWithStarter(): void {
  const wait = `try { require("node:fs").readSync(${CELL_LIFE}, Buffer.alloc(1)); } finally { process.kill(process.pid, "SIGKILL"); }`;
  new Worker(wait, { eval: true, env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 8, stackSizeMb: 1 } }).unref();
}

function ask(question: string, ...args: readonly unknown[]): unknown {
  say({ ask: question, args });
  const told = hear();
  if (told === undefined) throw new Error("nobody answers any more");
  if ("error" in told) throw thrown(told.error);
  return "answer" in told ? told.answer : undefined;
}

function thrown({ name, message, kind, status, bytes }: Thrown): Error {
  if (name === "GitError") return new GitError(kind as GitError["kind"], message, { bytes: bytes as number | undefined });
  if (name === "ForgeError") return new ForgeError(kind as ForgeError["kind"], Number(status), message);
  return Object.assign(new Error(message), { name });
}

function hear(): Told | undefined {
  const header = read(HEADER);
  const body = header && read(header.readUInt32LE(0));
  return body && decode<Told>(body);
}

function read(length: number): Buffer | undefined {
  const buffer = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const got = readSync(CELL_IN, buffer, at, length - at, null);
    if (got === 0) return undefined;
    at += got;
  }
  return buffer;
}

function say(message: Said): void {
  const frame = encode(message);
  for (let at = 0; at < frame.length; ) at += writeSync(CELL_OUT, frame, at);
}
