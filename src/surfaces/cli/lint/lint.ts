import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { RestEndpointMethodTypes } from "@octokit/rest";
import { Command } from "commander";
import { activeRules, branchRulesReader } from "../../../adapters/forge/github/rules.ts";
import { JOURNAL_BRANCH } from "../../../adapters/git/journal/journal.ts";
import { defined } from "../../../core/base/defined.ts";
import { readOrNull } from "../../../core/base/repo-files.ts";
import type { BareBranch } from "../../../core/reasons/gates.ts";
import type { Finding, Problem, ProblemReason } from "../../../core/reasons/problems/problem.ts";
import { countedWords } from "../../../core/report/counted.ts";
import { branchesRuleset, gateRuleset } from "../../../core/report/ruleset.ts";
import { bareBranch } from "../../../core/run/gates/protection.ts";
import { branchesOf, printBranch } from "../../../core/run/state/branch-name.ts";
import { SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { isRolloutFile } from "../../../engine/config-repo/project.ts";
import { unboundWarning } from "../../../engine/release-pr/outside-warnings.ts";
import { locateIn } from "../../../engine/resolve/plan-over.ts";
import { likeBeside, outputOption, parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { fleetGiven, type InventoryOptions, withFleet } from "../plan/plan-args.ts";
import { holdsNoCluster } from "../plan/plan-inputs.ts";
import { foldLine, formatData, isData, terminalWidth, wantsColour } from "../print.ts";
import { openProgress } from "../progress.ts";
import { asking, type GitHubPlace, openPlace } from "../steer/github-place.ts";
import { type Checkout, openCheckout, repoAround } from "./lint-checkout.ts";
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
  const inventory = await fleetGiven(options, progress);
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

// Lint looks on GitHub, too, with the person's own token: which rules keep others from the bot's branches, and who may pass them by.

/** What is wrong on GitHub, and the calls of its API that an owner mends it by. */
interface OnlineReport {
  problems: Problem[];
  calls: string[];
}

/** Asks GitHub what protects the branches of the bot's that these rollouts need; those that people merge need nothing. */
async function lintOnline(place: GitHubPlace, checkout: Checkout, rollouts: readonly Rollout[]): Promise<OnlineReport> {
  const { octokit, owner, repo } = place;
  const repository = `${owner}/${repo}`;
  const { data } = await asking(`reading ${repository}`, () => octokit.rest.repos.get({ owner, repo }));
  const baseBranch = data.default_branch;
  const base = await asking(`reading the rules of ${baseBranch}`, () => branchRulesReader(place)(baseBranch));
  const unbound = unboundWarning(baseBranch, base).flatMap((one): Finding[] => [{ ...one, path: [] }]);
  const running = rollouts.filter(({ mode }) => mode === "Run");
  const problems: Problem[] = [];
  let isBare = false;
  for (const rollout of running) {
    const first = printBranch({ rollout: rollout.name, run: 1, stage: 1, batch: 1, attempt: 1 });
    const looked = [await lookAt(place, JOURNAL_BRANCH, JOURNAL_BRANCH), await lookAt(place, first, branchesOf(rollout.name))];
    const bare = looked.flatMap((one) => one.bare ?? []);
    isBare ||= bare.length > 0;
    const findings: Finding[] = bare.length === 0 ? [] : [{ code: "BRANCHES_UNPROTECTED", bare, path: ["spec", "mode"] }];
    for (const { passing } of looked) findings.push(...passing.map((one): Finding => ({ ...one, path: ["spec", "mode"] })));
    for (const { atKey: _, ...finding } of [...findings, ...unbound])
      problems.push(locateIn(rollout, checkout, { severity: "warning", ...finding, file: rollout.file, line: 1, column: 1 }));
  }
  const calls = [
    ...(isBare ? [branchesRuleset({ repository, journalBranch: JOURNAL_BRANCH })] : []),
    ...(running.length > 0 && unbound.length > 0 ? [gateRuleset({ repository, baseBranch })] : []),
  ];
  return { problems, calls };
}

type Rule = Awaited<ReturnType<typeof activeRules>>[number];
type Actors = NonNullable<RestEndpointMethodTypes["repos"]["getRepoRuleset"]["response"]["data"]["bypass_actors"]>;
type Passing = Extract<ProblemReason, { code: "RULES_PASSED_BY" | "APP_PASSES_NOT" }>;

async function lookAt(place: GitHubPlace, branch: string, named: string): Promise<{ bare: BareBranch | undefined; passing: Passing[] }> {
  const rules = await asking(`reading the rules of ${branch}`, () => activeRules(place, branch));
  const bare = bareBranch(
    named,
    rules.map(({ type }) => type),
  );
  const actors = bare === undefined ? await actorsOn(place, rules) : undefined;
  return { bare, passing: actors === undefined ? [] : passedBy(named, actors) };
}

/** Who may pass each of the rulesets by that keep people from pushing to the branch. undefined: GitHub shows it to administrators only. */
async function actorsOn({ octokit, owner, repo }: GitHubPlace, rules: readonly Rule[]): Promise<Actors[] | undefined> {
  const ids = new Set(rules.flatMap((rule) => (rule.type === "update" && rule.ruleset_id !== undefined ? [rule.ruleset_id] : [])));
  const all: Actors[] = [];
  for (const ruleset_id of ids) {
    const { data } = await asking(`reading ruleset ${ruleset_id}`, () => octokit.rest.repos.getRepoRuleset({ owner, repo, ruleset_id }));
    if (data.bypass_actors === undefined) return undefined;
    all.push(data.bypass_actors);
  }
  return all;
}

/** Who passes by every one of them. Administrators could change the rules as well, and are not told. */
export function passedBy(branch: string, rulesets: readonly Actors[]): Passing[] {
  const [first = [], ...rest] = rulesets.map((actors) => actors.filter((one) => one.bypass_mode !== "pull_request").map(nameOf));
  const everywhere = [...new Set(first)].filter((name) => rest.every((names) => names.includes(name)));
  const others = everywhere.filter((name) => !name.startsWith("App ") && name !== ADMINISTRATORS);
  return [
    ...(everywhere.some((name) => name.startsWith("App ")) ? [] : [{ code: "APP_PASSES_NOT" as const, branch }]),
    ...(others.length === 0 ? [] : [{ code: "RULES_PASSED_BY" as const, branch, who: others }]),
  ];
}

const ADMINISTRATORS = "administrators";
const ROLES: Readonly<Record<number, string>> = { 2: "everybody with maintain", 4: "everybody with write", 5: ADMINISTRATORS };

function nameOf({ actor_type: type, actor_id: id }: Actors[number]): string {
  if (type === "Integration") return `App ${id}`;
  if (type === "OrganizationAdmin") return ADMINISTRATORS;
  if (type === "DeployKey") return "deploy keys";
  if (type === "RepositoryRole") return ROLES[id ?? 0] ?? `everybody with role ${id}`;
  return `${String(type).toLowerCase()} ${id}`;
}
