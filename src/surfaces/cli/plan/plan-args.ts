/** What `plan`, `lint`, `simulate` and `init` are given alike: a rollout by its name, an inventory, a version. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { type Inventory, readInventory } from "../../../core/argocd/inventory-file.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { like } from "../args.ts";
import { CommandError } from "../command.ts";
import type { Checkout } from "../lint/lint-checkout.ts";
import { readRollouts } from "../lint/lint-run.ts";
import { tellProblems } from "../lint/lint-show.ts";
import { visible } from "../print.ts";

export const INVENTORY_OPTION = [
  "--inventory <file>",
  "cluster Secrets, Applications and ApplicationSets as `kubectl get -o yaml` prints them; - reads standard input",
] as const;

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

/** A version that was given; CommandError 2 where it is empty, as from a variable that is not set, or no single line. `text`: as it was written. */
export function versionGiven(text: string, value: string): string {
  if (value.trim() === "") throw new CommandError(2, `--to ${text === "" ? "''" : visible(text)}: there is no version in it`);
  if (!/\p{Cc}/u.test(value)) return value;
  throw new CommandError(
    2,
    `--to ${visible(text).replaceAll("\n", "␊")}: a version is one line of text; take the line breaks and control characters out`,
  );
}

/** The rollout of these files by its name, or their only one; undefined: none can be read, and why was told. */
export function pickRollout(checkout: Checkout, files: string[], name: string | undefined): Rollout | undefined {
  const { rollouts, problems } = readRollouts(checkout, files);
  const [rollout, second] = name === undefined ? rollouts : rollouts.filter((one) => one.name === name);
  const known = rollouts.map((one) => one.name);
  if (second !== undefined)
    throw new CommandError(
      2,
      name === undefined
        ? `name the rollout; there are ${known.slice(0, 20).join(", ")}`
        : `several rollouts are called ${name}; stagecoach lint says where`,
    );
  if (rollout !== undefined) return rollout;
  const errors = problems.filter((problem) => problem.severity === "error");
  if (errors.length === 0) {
    const there =
      known.length === 0
        ? "there is none: stagecoach init proposes some"
        : `there ${known.length === 1 ? "is" : "are"} ${known.slice(0, 20).join(", ")}`;
    throw new CommandError(
      2,
      name === undefined
        ? `in rollouts/ of ${checkout.root} ${there}`
        : `no rollout called ${name}${like(name, [...known, ...files])}; in rollouts/ of ${checkout.root} ${there}`,
    );
  }
  tellProblems(errors, checkout, files);
  return undefined;
}
