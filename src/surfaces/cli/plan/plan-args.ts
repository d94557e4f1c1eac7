/** What `plan`, `lint`, `simulate` and `init` are given alike: a rollout by its name, an inventory, a version. */
import { existsSync, readFileSync, statSync } from "node:fs";
import type { Command } from "commander";
import { type Inventory, joinInventories, readInventory } from "../../../core/argocd/inventory-file.ts";
import { isLabelKey, isLabelValue } from "../../../core/base/selector.ts";
import { sayInventoryFault } from "../../../core/report/reasons/problems/inventory.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { gather, like, likeBeside } from "../args.ts";
import { CommandError } from "../command.ts";
import type { Checkout } from "../lint/lint-checkout.ts";
import { readRollouts } from "../lint/lint-run.ts";
import { tellProblems } from "../lint/lint-show.ts";
import { visible } from "../print.ts";
import type { Progress } from "../progress.ts";

const INVENTORY_OPTION = [
  "--inventory <[plane=]file>",
  "cluster Secrets, Applications and ApplicationSets as `kubectl get -o yaml` prints them; - reads standard input. Of several control planes: one each, hub-eu=eu.yaml",
  gather,
] as const;

const LABELS_OPTION = [
  "--plane-labels <plane:labels>",
  "labels that the server's configuration gives a control plane, as hub-eu:env=prod,region=eu; may be given again",
  gather,
] as const;

const ARGOCD_OPTION = [
  "--from-argocd <[plane=]place>",
  "the same from a live Argo CD, which is only read: its address (token in ARGOCD_AUTH_TOKEN), or a kubeconfig, FILE#CONTEXT. Of several one each, hub-eu=https://… (ARGOCD_AUTH_TOKEN_HUB_EU)",
  gather,
] as const;

const NAMESPACE_OPTION = [
  "--argocd-namespace <name>",
  "--from-argocd with a kubeconfig: where Argo CD's cluster Secrets are; default: argocd",
] as const;

/** What says which clusters and Applications there are: files, or a live Argo CD. */
export function withFleet(command: Command): Command {
  return command
    .option(...INVENTORY_OPTION)
    .option(...LABELS_OPTION)
    .option(...ARGOCD_OPTION)
    .option(...NAMESPACE_OPTION);
}

/** What these options were given. */
export interface InventoryOptions {
  inventory?: string[];
  planeLabels?: string[];
  fromArgocd?: string[];
  argocdNamespace?: string;
}

/** As the server has it: a path is no such name. */
const PLANE = /^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)=(.+)$/s;

/**
 * Reads inventory files: one, or one for each control plane that is named before it. What is wrong in them is told on stderr, and the
 * rest is used; one with nothing to use is no answer.
 */
export function inventoryAt({ inventory: given = [], planeLabels = [] }: InventoryOptions): Inventory | undefined {
  const labels = labelsGiven(planeLabels);
  const named = given.map((text) => (existsSync(text) ? undefined : (PLANE.exec(text) ?? undefined)));
  const planes = new Map<string, Inventory>();
  for (const [i, text] of given.entries()) {
    const [, plane, file] = named[i] ?? [];
    if (plane === undefined || file === undefined) {
      if (given.length > 1)
        throw new CommandError(2, `--inventory ${visible(text)}: of several, each says its control plane: hub-eu=${visible(text)}`);
      return withLabels(readOne(text), labels);
    }
    if (planes.has(plane)) throw new CommandError(2, `--inventory names control plane ${plane} twice; put both into one file`);
    planes.set(plane, readOne(file));
  }
  return withLabels(planes.size === 0 ? undefined : joinInventories(planes), labels);
}

/** The same, or what `--from-argocd` reads, which takes as long as Argo CD takes. */
export async function fleetGiven(options: InventoryOptions, progress?: Pick<Progress, "step">): Promise<Inventory | undefined> {
  const { fromArgocd: given = [], argocdNamespace, inventory = [], planeLabels = [] } = options;
  if (given.length === 0) {
    if (argocdNamespace !== undefined) throw new CommandError(2, "--argocd-namespace goes with --from-argocd");
    return inventoryAt(options);
  }
  if (inventory.length > 0) throw new CommandError(2, "--inventory and --from-argocd say the same: give one of them");
  const named = given.map((text) => (existsSync(text) ? undefined : (PLANE.exec(text) ?? undefined)));
  if (given.length > 1 && named.some((one) => one === undefined))
    throw new CommandError(2, "--from-argocd: of several, each says its control plane: hub-eu=https://…");
  const names = named.map((one) => one?.[1]);
  const twice = names.find((name, i) => name !== undefined && names.indexOf(name) !== i);
  if (twice !== undefined) throw new CommandError(2, `--from-argocd names control plane ${twice} twice`);
  const labels = labelsGiven(planeLabels);
  const { readArgoCd } = await import("./from-argocd.ts");
  progress?.step("(waiting for Argo CD)");
  const read = await Promise.all(
    given.map((text, i) => readArgoCd({ plane: names[i], place: named[i]?.[2] ?? text }, process.env, argocdNamespace ?? "argocd")),
  );
  progress?.step("");
  const [first] = read;
  if (names[0] === undefined) return withLabels(first, labels);
  return withLabels(joinInventories(new Map(read.map((one, i) => [names[i] ?? "", one]))), labels);
}

function withLabels(inventory: Inventory | undefined, planeLabels: Inventory["planeLabels"]): Inventory | undefined {
  if (planeLabels === undefined || planeLabels.size === 0) return inventory;
  return { ...(inventory ?? { clusters: [], applications: [], applicationSets: [], problems: [] }), planeLabels };
}

function labelsGiven(given: readonly string[]): Map<string, Record<string, string>> {
  const labels = new Map<string, Record<string, string>>();
  for (const text of given) {
    const [, plane = "", list = ""] = /^([^:=]+):(.+)$/s.exec(text) ?? [];
    const pairs = list.split(",").map((pair) => /^([^=]+)=(.*)$/s.exec(pair));
    const wrong = pairs.some((pair) => pair === null || !isLabelKey(pair[1] ?? "") || !isLabelValue(pair[2] ?? ""));
    if (plane === "" || wrong) throw new CommandError(2, `--plane-labels ${visible(text)}: write hub-eu:env=prod,region=eu`);
    labels.set(plane, { ...labels.get(plane), ...Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? "", pair?.[2] ?? ""])) });
  }
  return labels;
}

const PRINTS_ONE = "kubectl get secrets -n argocd -l argocd.argoproj.io/secret-type=cluster -o yaml";

function readOne(path: string): Inventory {
  const stat = path !== "-" && existsSync(path) ? statSync(path) : undefined;
  if (stat?.isDirectory())
    throw new CommandError(2, visible(`--inventory ${path} is a folder: name a file in it; ${PRINTS_ONE} prints one`));
  // What a shell gives for `<(…)` is a pipe.
  if (path !== "-" && !stat?.isFile() && !stat?.isFIFO())
    throw new CommandError(2, visible(`--inventory ${path} is not a file${likeBeside(path)}; ${PRINTS_ONE} prints one`));
  const inventory = readInventory(readFileSync(path === "-" ? 0 : path, "utf8"), path);
  const usable = inventory.clusters.length + inventory.applications.length + inventory.applicationSets.length;
  const [first] = inventory.problems;
  if (usable === 0 && first !== undefined)
    throw new CommandError(2, `--inventory holds nothing to go by: ${visible(sayInventoryFault(first))}`);
  for (const problem of inventory.problems) process.stderr.write(`${visible(sayInventoryFault(problem))}\n`);
  return inventory;
}

/** `--to v2`, or `--to NAME=VALUE` of several values, which may be given again. Use `wantedOf` for what is meant. */
export function collectTo(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name = "version", value = text] = /^([A-Za-z][A-Za-z0-9_]*)=(.*)$/s.exec(text) ?? [];
  return { ...before, [name]: versionGiven(text, value) };
}

/** A version that was given; CommandError 2 where it is empty, as from a variable that is not set, or no single line. `text`: as it was written. */
function versionGiven(text: string, value: string): string {
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
