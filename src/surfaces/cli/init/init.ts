import { existsSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Command } from "commander";
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { isRecord } from "../../../core/base/is-record.ts";
import { readOrNull } from "../../../core/base/repo-files.ts";
import type { Objection } from "../../../core/reasons/onboarding.ts";
import { withoutMarkdown } from "../../../core/report/escape.ts";
import { proposalComment } from "../../../core/report/onboarding/body.ts";
import { sayObjection } from "../../../core/report/onboarding/hindrance.ts";
import { NEXT_VERSION, proposalJson, proposalText, proposedFiles, type Written } from "../../../core/report/onboarding/show.ts";
import type { Proposal } from "../../../core/report/onboarding/types.ts";
import { ruleLines } from "../../../core/report/plan/plan-rules.ts";
import { type Foreseen, foreseenLines } from "../../../core/report/simulated.ts";
import { parseRepoConfig } from "../../../core/spec/parse/config.ts";
import { SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { sameRepo } from "../../../engine/config-repo/repo-url.ts";
import { propose } from "../../../engine/onboarding/propose.ts";
import type { InitPlane, Planned } from "../../../engine/onboarding/types.ts";
import { foreseeAll } from "../../../simulate/plan/foresee.ts";
import { outputOption, parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { type Checkout, openCheckout, repoAround } from "../lint/lint-checkout.ts";
import { lint, readRollouts } from "../lint/lint-run.ts";
import { defaultBranchOf, originOf } from "../lint/origin.ts";
import { scanCheckout } from "../plan/near-source.ts";
import { fleetGiven, type InventoryOptions, withFleet } from "../plan/plan-args.ts";
import { makePlan, rulesNow } from "../plan/plan-make.ts";
import { toText } from "../plan/plan-show.ts";
import { formatData, isData, visible } from "../print.ts";
import { openProgress, type Progress } from "../progress.ts";
import { askAll } from "./ask.ts";

interface Options extends InventoryOptions {
  repo?: string;
  write?: boolean;
  yes?: boolean;
  output: "text" | "json" | "yaml" | "markdown";
}

function program(): Command {
  const command = new Command("stagecoach init")
    .usage("[DIR] [options]")
    .description("looks through a config repo and proposes rollouts for what it finds, and settings to begin with")
    .argument("[dir]", "the config repo; default: the one around the current folder");
  return withFleet(command)
    .option("--write", "write the files; one that is there is never written over")
    .option("-y, --yes", "with --write in a terminal: ask nothing; what could not be decided stands in the files, as questions")
    .addOption(outputOption("text", "json", "yaml", "markdown"))
    .addHelpText("after", HELP);
}

const HELP = `
What is proposed passes lint and plan as it stands. With --inventory or --from-argocd stages select clusters by their labels; without it
they name them. Exit 1 where no rollout could be proposed.`;

/** `stagecoach init`. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = parseArgs(program(), argv);
  if (command === undefined) return 0;
  const options = command.opts<Options>();
  const progress = openProgress("looking through the repo");
  const checkout = openCheckout(command.args[0] ?? repoAround("."), progress, command.args[0]);
  const inventory = await fleetGiven(options, progress);
  const proposed = proposeFor(checkout, inventory);
  const proposal = await withAnswers(proposed, checkout, inventory, options, progress);
  const previews = options.output === "text" ? previewsOf(proposal, checkout, inventory) : new Map<string, string[]>();
  progress.end();
  const written = options.write === true ? writeAll(checkout, proposal) : undefined;
  process.stdout.write(shown(proposal, { written, previews }, options.output, argumentsAgain(command.args[0], options)));
  return proposal.rollouts.length === 0 ? 1 : 0;
}

/** Asks before files are written, where somebody sits at a terminal who may know. */
async function withAnswers(
  proposal: Proposal,
  checkout: Checkout,
  inventory: Inventory | undefined,
  { write, yes, output }: Options,
  progress: Progress,
): Promise<Proposal> {
  const { stdin: input, stdout } = process;
  if (write !== true || yes === true || output !== "text" || input.isTTY !== true || stdout.isTTY !== true) return proposal;
  progress.end();
  const verify = whatLintSays(checkout, inventory);
  return askAll(proposal, (file, text) => verify(file, text).map(sayObjection), { input, output: stdout });
}

/** What init proposes for a checkout. Where that does not say where it came from, every repoURL is taken for its own. */
export function proposeFor(checkout: Checkout, inventory: Inventory | undefined): Proposal {
  return propose({
    files: checkout,
    clusters: inventory?.clusters ?? [],
    applications: inventory?.applications ?? [],
    planes: planesIn(inventory),
    isThisRepo: ownRepo(checkout),
    defaultBranch: defaultBranchOf(checkout),
    verify: whatLintSays(checkout, inventory),
  });
}

/** Each of several; undefined: there is one alone, which no rollout needs to name. */
function planesIn(inventory: Inventory | undefined): InitPlane[] | undefined {
  const { planes, planeLabels } = inventory ?? {};
  if (planes === undefined || planes.size < 2) return undefined;
  return [...planes].map(([name, { clusters, applications }]) => ({ name, labels: planeLabels?.get(name) ?? {}, clusters, applications }));
}

/** A fork, or a name that redirects, is told by nothing here that reads it under the clone's own address. */
function ownRepo(checkout: Checkout): (repoURL: string) => boolean {
  const { repoURL: own } = originOf(checkout.root);
  const { sets, applications } = scanCheckout(checkout);
  if (own === undefined || ![...sets, ...applications].some(({ object }) => urlsIn(object).some((url) => sameRepo(url, own))))
    return () => true;
  return (url) => sameRepo(url, own);
}

/** Every `repoURL` of an object, wherever it stands. */
function urlsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(urlsIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => (key === "repoURL" && typeof item === "string" ? [item] : urlsIn(item)));
}

function writeAll(checkout: Checkout, proposal: Proposal): Written[] {
  // Settings are for rollouts.
  if (proposal.rollouts.length === 0) return [];
  return [...proposedFiles(proposal)].map(([file, text]) => {
    const path = join(checkout.root, file);
    const folder = dirname(file);
    // Whoever made the repo says where it leads: perhaps out of it.
    if (lstatSync(dirname(path), { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw new CommandError(3, `${file} cannot be written: ${folder} is a symbolic link`);
    if (existsSync(path)) return { file, outcome: "kept" };
    try {
      mkdirSync(dirname(path), { recursive: true });
      // `wx`: what somebody made meanwhile stays, too.
      writeFileSync(path, text, { flag: "wx" });
    } catch (error) {
      throw new CommandError(3, `${file} cannot be written: ${errorText(error)}`);
    }
    return { file, outcome: "written" };
  });
}

/** What lint and plan are to be given so that they see the same repo and fleet. */
function argumentsAgain(dir: string | undefined, options: Options): string[] {
  const { inventory = [], planeLabels = [], fromArgocd = [], argocdNamespace } = options;
  const given = [
    ...inventory.flatMap((one) => ["--inventory", one]),
    ...fromArgocd.flatMap((one) => ["--from-argocd", one]),
    ...(argocdNamespace === undefined ? [] : ["--argocd-namespace", argocdNamespace]),
    ...planeLabels.flatMap((one) => ["--plane-labels", one]),
  ];
  return [...(dir === undefined ? [] : ["--repo", dir]), ...given];
}

interface Told {
  written: Written[] | undefined;
  /** What each rollout would do, by its name. */
  previews: ReadonlyMap<string, readonly string[]>;
}

function shown(proposal: Proposal, { written, previews }: Told, output: Options["output"], again: readonly string[]): string {
  if (isData(output)) return formatData(proposalJson(proposal, written), output);
  if (output === "markdown") return `${proposalComment(proposal)}\n`;
  return proposalText(proposal, written, visible, again, previews);
}

/** What `stagecoach lint` and `plan` would hold against a rollout file if it were there: errors only. */
function whatLintSays(checkout: Checkout, inventory: Inventory | undefined): (file: string, text: string) => Objection[] {
  const { root, made } = checkout;
  return (file, text) => {
    const there = checkout.paths();
    const paths = there.includes(file) ? there : [...there.filter((path) => path < file), file, ...there.filter((path) => path > file)];
    const withFile = { root, made, read: (path: string) => (path === file ? text : checkout.read(path)), paths: () => paths };
    const errors = lint(withFile, [file], inventory).problems.filter((problem) => problem.severity === "error");
    return errors.map((problem) => ({ kind: "Problem", problem }));
  };
}

/** A repo of a hundred sets is not shown plan by plan. */
const MOST_SHOWN = 5;
const MOST_LINES = 16;

/** What each proposed rollout would do with the next release: its plan, and a run of it in the simulated world. Lines by the rollout's name. */
export function previewsOf(proposal: Proposal, checkout: Checkout, inventory: Inventory | undefined): Map<string, string[]> {
  const texts = proposedFiles(proposal);
  const paths = [...new Set([...checkout.paths(), ...texts.keys()])].toSorted();
  const { root, made } = checkout;
  const after: Checkout = { root, made, read: (path) => texts.get(path) ?? checkout.read(path), paths: () => paths };
  const shown = proposal.rollouts.slice(0, MOST_SHOWN).map(({ file }) => file);
  const { rollouts } = readRollouts(after, shown);
  const planned = rollouts.flatMap((rollout) => plannedOf(rollout, after, inventory) ?? []);
  const foreseen = foreseeAll(planned);
  return new Map(planned.map((one, at) => [one.rollout.name, previewOf(one, after, foreseen[at])]));
}

function plannedOf(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined): Planned | undefined {
  const names = rollout.release?.kind === "values" ? Object.keys(rollout.release.values) : ["version"];
  const made = makePlan(rollout, checkout, inventory, Object.fromEntries(names.map((name) => [name, NEXT_VERSION])));
  const { plan, clusters = [] } = made;
  const { bounds } = parseRepoConfig(readOrNull(checkout, SETTINGS_FILE), SETTINGS_FILE);
  return plan && { rollout, plan, clusters, bounds };
}

function previewOf({ rollout, plan }: Planned, checkout: Checkout, foreseen: Foreseen | undefined): string[] {
  const text = toText(rollout, plan, null, [], { colour: false, columns: undefined });
  // Its title, and where it writes, stand above; each of several values does not.
  const lines = text
    .trimEnd()
    .split("\n")
    .slice(1)
    .filter((line) => !line.startsWith("  writes "));
  const cut =
    lines.length > MOST_LINES
      ? [...lines.slice(0, MOST_LINES), `… ${lines.length - MOST_LINES} lines more: stagecoach plan ${rollout.name}`]
      : lines;
  const rules = ruleLines(rollout, rulesNow(checkout), plan).map((line) => `rule  ${withoutMarkdown(line)}`);
  return [...cut.filter((line) => line !== ""), ...rules, ...foreseenLines(foreseen, rollout.name, rollout)];
}
