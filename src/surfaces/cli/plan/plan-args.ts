import { existsSync, readFileSync, statSync } from "node:fs";
import { type Inventory, readInventory } from "../../../core/argocd/inventory-file.ts";
import { CommandError } from "../command.ts";
import { visible } from "../print.ts";

/** Reads an inventory file; `-` is standard input. What is wrong in it is told on stderr, and the rest is used; one with nothing to use is no answer. */
export function inventoryAt(path: string | undefined): Inventory | undefined {
  if (path === undefined) return undefined;
  if (path !== "-" && (!existsSync(path) || !statSync(path).isFile())) throw new CommandError(2, `--inventory ${path} is not a file`);
  const inventory = readInventory(readFileSync(path === "-" ? 0 : path, "utf8"), path);
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
