import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { Command } from "commander";
import { defined } from "../../../core/base/defined.ts";
import { readOrNull } from "../../../core/base/repo-files.ts";
import { countedWords } from "../../../core/report/counted.ts";
import { SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { isRolloutFile } from "../../../engine/config-repo/project.ts";
import { likeBeside, outputOption, parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { fleetGiven, type InventoryOptions, withFleet } from "../plan/plan-args.ts";
import { holdsNoCluster } from "../plan/plan-inputs.ts";
import { foldLine, formatData, isData, terminalWidth, wantsColour } from "../print.ts";
import { openProgress } from "../progress.ts";
import { openPlace } from "../steer/github-place.ts";
import { type Checkout, openCheckout, repoAround } from "./lint-checkout.ts";
import { lintOnline } from "./lint-online.ts";
import { lint, readRollouts, rolloutFilesIn } from "./lint-run.ts";
import { type LintReport, lintJson, lintMarkdown, lintText } from "./lint-show.ts";

interface Options extends InventoryOptions {
  repo?: string;
  online?: boolean;
  repository?: string;
  output: "text" | "json" | "yaml" | "markdown";
}

function program(): Command {
  const command = new Command("stagecoach lint")
    .usage("[PATH…] [options]")
    .description("checks rollouts: their schema, that pins resolve, that selectors select, that every cluster is covered")
    .argument("[path...]", "files or folders; default: rollouts/ of the repo")
    .option("--repo <dir>", "the config repo; default: the one around PATH or the current folder");
  return withFleet(command)
    .option("--online", "look on GitHub, too: which rules keep others from the bot's branches, with your token")
    .option("-R, --repository <owner/name>", "--online: the repo on GitHub; default: the clone's remote, or GH_REPO")
    .addOption(outputOption("text", "json", "yaml", "markdown"))
    .addHelpText("after", "\nExit 1 where there is an error; warnings do not count.");
}

/** What could not be judged for want of an inventory, or of clusters in it (`isBare`); "" where all of it was. Of a rollout that cannot be read nobody knows what it needs. */
function unjudgedText({ unjudged = [] }: LintReport, isBare: boolean): string {
  if (unjudged.length === 0) return "";
  const words = new Set(unjudged.map(countedWords));
  return `Whether stages select ${words.size === 1 ? [...words][0] : "clusters"} and cover all of them was not judged: ${isBare ? "the inventory given holds no cluster; put the cluster Secrets into it" : "give --inventory"}.`;
}

/** `stagecoach lint`. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = parseArgs(program(), argv);
  if (command === undefined) return 0;
  const options = command.opts<Options>();
  const missing = command.args.find((path) => !existsSync(path));
  if (missing !== undefined) throw new CommandError(2, `${missing} is not there${likeBeside(missing)}`);
  const progress = openProgress("checking");
  const checkout = openCheckout(options.repo ?? repoAround(command.args[0] ?? "."), progress);
  const files = filesOf(checkout, command.args);
  const settings =
    existsSync(join(checkout.root, SETTINGS_FILE)) &&
    (command.args.length === 0 || command.args.some((path) => path.replaceAll(sep, "/").endsWith(SETTINGS_FILE)));
  if (files.length === 0 && !settings)
    throw new CommandError(1, `no rollout to check: ${checkout.root} has no rollouts/*.yaml. stagecoach init proposes some`);
  if (options.repository !== undefined && options.online !== true) throw new CommandError(2, "--repository goes with --online");
  const read = readRollouts(checkout, files);
  const inventory = await fleetGiven(options);
  const offline = lint(checkout, files, inventory, read);
  const report = options.online === true ? await withOnline(offline, options, checkout, read.rollouts) : offline;
  progress.end();
  if (isData(options.output)) process.stdout.write(formatData(lintJson(report), options.output));
  else if (options.output === "markdown") process.stdout.write(lintMarkdown(report));
  else {
    const isBare = holdsNoCluster(inventory);
    const isAsked = isBare || (options.inventory ?? options.fromArgocd) === undefined;
    const guessed = files.length > 0 && isAsked && !haveOwnInventory(read.rollouts);
    const columns = terminalWidth();
    const text = lintText(report, (file) => readOrNull(checkout, file), { colour: wantsColour(), columns });
    const unjudged = guessed ? unjudgedText(report, isBare) : "";
    process.stdout.write(`${text}${unjudged === "" ? "" : `${foldLine(unjudged, columns).join("\n")}\n`}`);
  }
  return report.problems.some((problem) => problem.severity === "error") ? 1 : 0;
}

async function withOnline(
  report: LintReport,
  { repository }: Options,
  checkout: Checkout,
  rollouts: readonly Rollout[],
): Promise<LintReport> {
  const place = await openPlace(defined({ repo: checkout.root, repository }));
  const { problems, calls } = await lintOnline(place, checkout, rollouts);
  return { ...report, problems: [...report.problems, ...problems], calls };
}

/** All rollouts say which clusters there are. */
function haveOwnInventory(rollouts: readonly Rollout[]): boolean {
  return rollouts.length > 0 && rollouts.every((rollout) => rollout.inventory !== undefined);
}

/** Paths from the root of the checkout. A folder stands for its rollouts: those of `rollouts/` in it, or else every YAML file below. */
function filesOf(checkout: Checkout, paths: readonly string[]): string[] {
  const links = linksIn(checkout, "rollouts/");
  if (paths.length === 0) return [...rolloutFilesIn(checkout), ...links].toSorted();
  const files = new Set<string>();
  for (const path of paths) {
    // The folder is followed, the file itself is not: a symbolic link among the rollouts is told as one.
    if (!statSync(path).isDirectory()) {
      const full = resolve(path);
      const inside = fromRoot(checkout, join(realpathSync(dirname(full)), basename(full)));
      // The repo's own settings are read in any case, and are no rollout.
      if (inside !== SETTINGS_FILE) files.add(inside);
      continue;
    }
    const inside = fromRoot(checkout, realpathSync(path));
    const prefix = inside === "" ? "" : `${inside}/`;
    const own = prefix === "" ? links : linksIn(checkout, prefix);
    const below = [...checkout.paths(), ...own].filter((file) => file.startsWith(prefix) && /\.ya?ml$/.test(file)).toSorted();
    const rollouts = below.filter((file) => isRolloutFile(file.slice(prefix.length)));
    for (const file of rollouts.length > 0 ? rollouts : below) files.add(file);
  }
  return [...files];
}

/** Symbolic links among the rollouts, which the bot does not follow: no list of files has them, and passed over they would say nothing. */
function linksIn({ root }: Checkout, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isSymbolicLink() && /^[^.].*\.ya?ml$/.test(entry.name))
    .map((entry) => `${folder}${entry.name}`);
}

function fromRoot(checkout: Checkout, full: string): string {
  const inside = relative(checkout.root, full).split(sep).join("/");
  if (inside.startsWith("../") || inside === "..") throw new CommandError(2, `${full} is not in ${checkout.root}; give --repo`);
  return inside;
}
