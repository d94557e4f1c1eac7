import { existsSync, readFileSync, statSync } from "node:fs";
import { type Command, CommanderError } from "commander";
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { CommandError } from "../command.ts";
import { visible } from "../visible.ts";
import { loadInventory } from "./plan-inputs.ts";

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

/** What is wrong with the arguments, as one line that says where to read on. `name` is the whole one, e.g. `stagecoach plan`. */
export function usageError(message: string, name: string): string {
  const line = message
    .replace(/^error: /, "")
    .trim()
    .replaceAll(/\s*\n\s*/g, " ");
  return `${line}; see ${name} --help`;
}

/** Reads an inventory file; `-` is standard input. What is wrong in it is told on stderr, and the rest is used; one with nothing to use is no answer. */
export function inventoryAt(path: string | undefined): Inventory | undefined {
  if (path === undefined) return undefined;
  if (path !== "-" && (!existsSync(path) || !statSync(path).isFile())) throw new CommandError(2, `--inventory ${path} is not a file`);
  const inventory = loadInventory(readFileSync(path === "-" ? 0 : path, "utf8"), path);
  const usable = inventory.clusters.length + inventory.applications.length + inventory.applicationSets.length;
  const [first] = inventory.problems;
  if (usable === 0 && first !== undefined) throw new CommandError(2, `--inventory holds nothing to go by: ${visible(first)}`);
  for (const problem of inventory.problems) process.stderr.write(`${visible(problem)}\n`);
  return inventory;
}

/** A version that was given; CommandError 2 where it is empty, as from a variable that is not set. `text`: as it was written. */
export function versionGiven(text: string, value: string): string {
  if (value.trim() !== "") return value;
  throw new CommandError(2, `--to ${text === "" ? "''" : visible(text)}: there is no version in it`);
}

/** Colour only on a terminal, and never where NO_COLOR is set. */
export function wantsColour(): boolean {
  return process.stdout.isTTY === true && (process.env["NO_COLOR"] ?? "") === "";
}
