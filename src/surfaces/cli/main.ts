#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { CommandError } from "./command.ts";
import { COMMANDS } from "./commands.ts";

/** Help lists a group from its first command on. */
const GROUPS: Readonly<Record<string, string>> = {
  demo: "Look at it",
  serve: "Run the bot",
  init: "Write rollouts",
  list: "Watch runs",
  release: "Release and steer, as a comment of yours on GitHub",
  explain: "Find out why",
  completion: "This program",
};

function help(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length), 0);
  const rows = Object.entries(COMMANDS).flatMap(([name, { summary }]) => {
    const group = GROUPS[name];
    return [...(group === undefined ? [] : ["", `${group}:`]), `  ${name.padEnd(width)}  ${summary}`];
  });
  const tutorial = decodeURI(new URL("../../../docs/tutorial.md", import.meta.url).pathname);
  const end = `stagecoach COMMAND --help has the options of each. The tutorial, with the other docs beside it: ${tutorial}`;
  return ["Usage: stagecoach COMMAND [ARGS…]", ...rows, "", end, ""].join("\n");
}

async function didYouMean(name: string): Promise<string> {
  const known = Object.keys(COMMANDS);
  const { nearest } = await import("../../core/base/nearest.ts");
  const near = known.find((one) => name !== "" && one.startsWith(name)) ?? nearest(name, known);
  return near === undefined ? "" : ` (did you mean ${near}?)`;
}

/** Those that go on for days, where throughput counts. */
const LASTING = new Set(["serve", "demo", "sim"]);

/** V8 would let the heap of a large repo grow to several times what lives in it before it tidies up. */
function keepHeapSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=50");
}

async function main(argv: string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    process.stdout.write(help());
    return name === undefined ? 2 : 0;
  }
  const command = COMMANDS[name === "--version" || name === "-V" ? "version" : name];
  if (command === undefined)
    throw new CommandError(2, `there is no command "${name}"${await didYouMean(name)}; stagecoach --help lists them`);
  if (!LASTING.has(name)) keepHeapSmall();
  return await (await command.load()).run(rest);
}

// `stagecoach … | head` closes the pipe early: that is an end, not an error. Whether anybody reads errors changes nothing.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // What a server does goes on, whoever reads what it says of it.
    if (process.argv[2] === "serve") return;
    if (error.code !== "EPIPE") throw error;
    if (stream === process.stdout) process.exit(0);
  });
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  // What was typed, or read, may be anybody's.
  const { visible } = await import("./print.ts");
  // Whatever was being done is not told any more.
  const begin = process.stderr.isTTY ? "\r\u001b[K" : "";
  process.stderr.write(`${begin}stagecoach: ${visible(error.message)}\n`);
  process.exitCode = error.exitCode;
}
