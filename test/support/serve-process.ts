import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onlyCompiled } from "../../src/adapters/git/launch/compiled.ts";

const SERVE = new URL("../../src/surfaces/cli/serve/serve.ts", import.meta.url).href;
const COMMAND = new URL("../../src/surfaces/cli/command.ts", import.meta.url).href;
/** As main.ts runs a command: one whose reader is gone ends. */
const CODE = `for (const stream of [process.stdout, process.stderr]) stream.on("error", () => process.exit(0));
const { run } = await import(${JSON.stringify(SERVE)});
const { CommandError } = await import(${JSON.stringify(COMMAND)});
try {
  process.exitCode = await run(process.argv.slice(1));
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  process.stderr.write("stagecoach: " + error.message + "\\n");
  process.exitCode = error.exitCode;
}`;

export interface ServeProcess {
  child: ChildProcess;
  /** Everything it wrote so far. */
  output(): string;
  /** The output, as soon as this is in it; rejects where the process ends first. */
  until(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Resolves to the exit code. */
  ended: Promise<number | null>;
}

/** `stagecoach serve` as a process of its own, with nothing in its environment but what is given and where Node keeps compiled code. */
export function startServe(args: readonly string[], options: { cwd: string; env: Record<string, string> }): ServeProcess {
  const env = { PATH: process.env["PATH"] ?? "", ...onlyCompiled(), ...options.env };
  const child = spawn(process.execPath, ["--input-type=module", "--eval", CODE, "--", ...args], { cwd: options.cwd, env });
  let text = "";
  const looking = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      for (const look of looking) look();
    });
  }
  const ended = once(child, "close").then(([code]) => code as number | null);
  return {
    child,
    output: () => text,
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(text);
          if (found === null) return;
          looking.delete(look);
          resolve(found);
        };
        looking.add(look);
        look();
        void ended.then((code) => reject(new Error(`it ended with ${code} before it said ${pattern}:\n${text}`)));
      }),
  };
}
