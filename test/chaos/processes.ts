/** Processes that chaos starts, kills and starts again. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onlyCompiled } from "../../src/adapters/git/launch/compiled.ts";

export interface Started {
  child: ChildProcess;
  /** The first line that holds the word asked for. Rejects where the process ends before. */
  line: Promise<string>;
  output(): string;
}

interface StartOptions {
  cwd: string;
  env?: Record<string, string>;
  word?: string;
}

/** They end with this process, however that ends but by SIGKILL. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export function endWithUs(child: ChildProcess): void {
  running.add(child);
  child.once("exit", () => running.delete(child));
}

/** A process of Node's. */
export function start(args: readonly string[], { cwd, env = {}, word = "" }: StartOptions): Started {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", ...onlyCompiled(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  endWithUs(child);
  let text = "";
  const line = new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk;
      const found = text
        .split("\n")
        .slice(0, -1)
        .find((one) => one.includes(word));
      if (found !== undefined) resolve(found);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      text += chunk;
    });
    child.on("exit", () => reject(new Error(`${args.join(" ").slice(0, 200)} ended:\n${text}`)));
  });
  line.catch(() => undefined);
  return { child, line, output: () => text };
}

/** A command of the program, from its source. */
export function startCommand(file: string, args: readonly string[], cwd: string): Started {
  const url = new URL(`../../src/surfaces/cli/${file}`, import.meta.url).href;
  const code = `const { run } = await import(${JSON.stringify(url)}); process.exitCode = await run(process.argv.slice(1));`;
  return start(["--input-type=module", "--eval", code, "--", ...args], { cwd });
}

/** The program as it is packed and run. */
export function build(folder: string): string {
  const script = fileURLToPath(new URL("../../deploy/package/build.ts", import.meta.url));
  execFileSync(process.execPath, [script, folder], { stdio: "ignore" });
  return join(folder, "stagecoach.mjs");
}

/** A program whose replicas never doubt that what they had is still their own. */
export function buildWrong(folder: string): Promise<string> {
  return buildPatched(folder, /return !this\.#isOver && time\.monotonic\(\) < [^;]*;/, "return true;");
}

/** A program that does not leave a second between what it writes: more falls together, and a run has gone on further when something happens. */
export function buildUnpaced(folder: string): Promise<string> {
  return buildPatched(folder, /pacing: options\d*\.pacing \?\? true/, "pacing: false");
}

async function buildPatched(folder: string, text: RegExp, instead: string): Promise<string> {
  const program = build(folder);
  let patched = 0;
  for (const file of await readdir(folder, { recursive: true })) {
    if (!/\.m?js$/.test(file)) continue;
    const before = await readFile(join(folder, file), "utf8");
    if (!text.test(before)) continue;
    await writeFile(join(folder, file), before.replace(text, instead));
    patched += 1;
  }
  if (patched !== 1) throw new Error(`${text} is in ${patched} files of the program, not in one: see test/chaos/processes.ts`);
  return program;
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
