#!/usr/bin/env node
import { CommandError, type CommandModule } from "./command.ts";

/** Loads nothing but the one command asked for, so that `--help` answers at once. */
const COMMANDS: Record<string, { summary: string; load: () => Promise<CommandModule> }> = {};

function help(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length), 0);
  const rows = Object.entries(COMMANDS).map(([name, command]) => `  ${name.padEnd(width)}  ${command.summary}`);
  return ["Usage: stagecoach COMMAND [ARGS…]", "", ...rows, ""].join("\n");
}

async function main(argv: string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    process.stdout.write(help());
    return name === undefined ? 2 : 0;
  }
  const command = COMMANDS[name];
  if (command === undefined) throw new CommandError(2, `unknown command "${name}"; stagecoach --help lists them`);
  return await (await command.load()).run(rest);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  process.stderr.write(`stagecoach: ${error.message}\n`);
  process.exitCode = error.exitCode;
}
