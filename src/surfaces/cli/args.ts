/** Arguments of subcommands: parsed by commander, and what is wrong with them told in one line that says where to read on. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { errorText } from "../../core/base/error-text.ts";
import { nearest } from "../../core/base/nearest.ts";
import { parseDuration } from "../../core/base/time.ts";
import { CommandError, type CommandModule } from "./command.ts";
import { visible } from "./print.ts";

/** Parses a command's arguments; undefined where help was asked for and printed. Wrong usage exits 2. */
export function parseArgs(command: Command, argv: readonly string[]): Command | undefined {
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  try {
    return command.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw new CommandError(2, usageError(error.message, command.name()));
  }
}

/** Begins a command that has commands of its own, such as `stagecoach pin get`; each of these wants an `exitOverride` itself. */
export function nestedCommand(name: string): Command {
  return new Command(name)
    .configureOutput({ outputError: (text, write) => write(visible(`stagecoach: ${usageError(text, name)}\n`)) })
    .exitOverride();
}

/** Runs the one of its commands that is asked for. Gives the exit code of wrong usage or of help; undefined: it was run. */
export async function runNested(command: Command, argv: readonly string[]): Promise<0 | 2 | undefined> {
  try {
    await command.parseAsync([...argv], { from: "user" });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

/** A command of parts, each of which is loaded only where it is asked for: `stagecoach sim github`. */
export function commandOfParts(name: string, help: string, parts: Readonly<Record<string, () => Promise<CommandModule>>>) {
  return async (argv: readonly string[]): Promise<number> => {
    const [wanted, ...rest] = argv;
    if (wanted === undefined || wanted === "--help" || wanted === "-h") {
      process.stdout.write(help);
      return wanted === undefined ? 2 : 0;
    }
    const part = parts[wanted];
    const known = Object.keys(parts).join(" and ");
    if (part === undefined)
      throw new CommandError(
        2,
        `${name} has no part "${wanted}"${like(wanted, Object.keys(parts))}; it has ${known}; see stagecoach ${name} --help`,
      );
    return (await part()).run(rest);
  };
}

/** `-o`: the first format is the default. */
export function outputOption(...formats: readonly string[]): Option {
  const option = new Option("-o, --output <format>", "how to print").choices(formats).default(formats[0]);
  return option.argParser((format: string) => {
    if (formats.includes(format)) return format;
    throw new InvalidArgumentError(`write ${formats.slice(0, -1).join(", ")} or ${formats.at(-1)}${like(format, formats)}`);
  });
}

/** Of an option that may be given again: all of its values. */
export function gather(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** Of an option that takes a time: 90s, 30m, 1h30m; 0 is none. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError("write a time such as 90s, 30m or 2h");
  return ms;
}

/** Of an option that takes a whole number. */
export function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("write a whole number");
  return Number(text);
}

/** Of an option that takes a port; 0 is any free one. */
export function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError("write a whole number from 0 to 65535");
  return Number(text);
}

/** Says of which option a port is that cannot be listened on, and what to write; undefined: something else went wrong. */
export function portError(error: unknown, optionOf = (_port: number) => "--port"): CommandError | undefined {
  const { code, port = 0 } = error as { code?: string; port?: number };
  if (code !== "EADDRINUSE" && code !== "EACCES") return undefined;
  const option = optionOf(port);
  const why = code === "EACCES" ? "may not be listened on" : "is in use by another program";
  return new CommandError(3, `${option} ${port}: that port ${why}; name another, or leave ${option} out for any that is free`);
}

/** Reads a text file that an option names. */
export function readGiven(option: string, file: string, exitCode: 2 | 3 = 2): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(exitCode, visible(`${option} ${file} cannot be read: ${errorText(error)}`));
  }
}

/** Says what is wrong with the arguments. `name` is the whole one, e.g. `stagecoach plan`. */
function usageError(message: string, name: string): string {
  return `${message
    .replace(/^error: /, "")
    // Commander takes `--org` for what was meant by any word of three letters.
    .replace(/^(unknown option '-*([^']*)').*\(Did you mean -*([\w-]+)\?\)$/s, (all, short: string, word: string, near: string) =>
      nearest(word, [near]) === undefined ? short : all,
    )
    // The value and why it is none come first; which option it is of, its name says.
    .replace(/^option '(?:-\w, )?(-[^ ']+)(?: [^']*)?' argument '(.*)' is invalid\. /s, "$1 $2: ")
    .trim()
    .replaceAll(/\s*\n\s*/g, " ")
    .replace(/\.$/, "")}; see ${name} --help`;
}

/** Resolves at the first SIGTERM or SIGINT; the second one ends the process at once. `told`: printed before. */
export function untilStopped(told = ""): Promise<string> {
  process.stdout.write(told);
  return new Promise((done) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(signal === "SIGINT" ? 130 : 143));
        done(signal);
      });
    }
  });
}

/** ` (did you mean eu-1?)`, in the middle of a sentence; nothing where nothing is near. */
export function like(word: string, names: Iterable<string>): string {
  const near = nearest(word, names);
  return near === undefined ? "" : ` (did you mean ${visible(near)}?)`;
}

/** The same of a path that is not there: what its folder has. */
export function likeBeside(path: string): string {
  const folder = dirname(path);
  const isFolder = existsSync(folder) && statSync(folder).isDirectory();
  return like(basename(path), isFolder ? readdirSync(folder) : []);
}
