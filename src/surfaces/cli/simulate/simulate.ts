import { Command, Option } from "commander";
import { lintAnalyses } from "../../../core/analysis/lint.ts";
import { defined } from "../../../core/base/defined.ts";
import { readOrNull } from "../../../core/base/repo-files.ts";
import type { Problem } from "../../../core/reasons/problem.ts";
import { sayProblem } from "../../../core/report/reasons/problems.ts";
import { parseRepoConfig } from "../../../core/spec/parse/parse.ts";
import { type RepoBounds, SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { locateIn } from "../../../engine/resolve/plan-over.ts";
import { parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { type Checkout, openCheckout, repoAround } from "../lint/lint-checkout.ts";
import { isRolloutFile, readRollouts } from "../lint/lint-run.ts";
import { lintText } from "../lint/lint-show.ts";
import { inventoryAt, versionGiven } from "../plan/plan-args.ts";
import { makePlan } from "../plan/plan-make.ts";
import { allWarnings } from "../plan/plan-show.ts";
import { wantsColour } from "../print.ts";
import { like, parseFaults } from "./simulate-faults.ts";
import { timesFromJournal } from "./simulate-history.ts";
import { notesOf } from "./simulate-notes.ts";
import { type SimulateInput, simulate } from "./simulate-run.ts";
import { count, type Shown, type Tally, tally, toJson, toMarkdown } from "./simulate-show.ts";
import { toText } from "./simulate-text.ts";

interface Options {
  repo?: string;
  inventory?: string;
  to?: string;
  seed: number;
  runs?: number;
  fail: string[];
  fromJournal?: true;
  fetch?: true;
  output: "text" | "json" | "markdown";
}

const MOST_RUNS = 100_000;

function program(): Command {
  return new Command("stagecoach simulate")
    .usage("NAME [options]")
    .description("a run of the rollout's plan through the pure simulated world: what merges when, who saw a bad release, how long it takes")
    .argument("<name>", "a rollout of the repo")
    .option("--repo <dir>", "the config repo; default: the one around the current folder")
    .option("--inventory <file>", "clusters and Applications as `kubectl get -o yaml` prints them; - reads standard input")
    .option("--to <version>", "simulate this version instead of the release's", (text) => versionGiven(text, text))
    .option("--seed <n>", "everything random follows from it", number("--seed", 0, 2 ** 31 - 1), 1)
    .option(
      "--runs <n>",
      "how many runs, each from the next seed; default: 20, of more than 1000 clusters 3",
      number("--runs", 1, MOST_RUNS),
    )
    .option(
      "--fail <cluster=fault>",
      "degraded, stuck, unreachable or flap, with @N from when batch N has merged; may be given again",
      collect,
      [],
    )
    .option("--from-journal", "health as recorded: times from merge to healthy, by cluster, from past runs in the journal")
    .option("--fetch", "with --from-journal: ask the remote for the journal first")
    .addOption(new Option("-o, --output <format>").choices(["text", "json", "markdown"]).default("text"))
    .addHelpText("after", HELP);
}

const HELP = `
--fail any=degraded draws another cluster for each run. The same seed gives the same bytes.
Exit 1 where the run does not succeed, an invariant is violated, or no plan can be made.`;

function collect(text: string, before: string[]): string[] {
  return [...before, text];
}

function number(option: string, least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) throw new CommandError(2, `${option} wants a whole number from ${least} to ${most}`);
    return value;
  };
}

/** `stagecoach simulate NAME`. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = parseArgs(program(), argv);
  if (command === undefined) return 0;
  const options = command.opts<Options>();
  if (options.fetch === true && options.fromJournal !== true)
    throw new CommandError(2, "--fetch goes with --from-journal: nothing else is read from the remote");
  const checkout = openCheckout(options.repo ?? repoAround("."));
  const rollout = pick(checkout, command.args[0] ?? "");
  if (rollout === undefined) return 1;
  const outside = outsideOf(rollout, checkout);
  if (outside === undefined) return 1;
  const made = makePlan(rollout, checkout, inventoryAt(options.inventory), defined({ version: options.to }));
  if (made.plan === undefined) {
    process.stderr.write(lintText({ problems: made.problems, rollouts: [], files: [] }, (file) => readOrNull(checkout, file), false));
    return 1;
  }
  const { plan } = made;
  if (plan.stages.every((stage) => stage.clusters.length + stage.requeued.length === 0))
    throw new CommandError(1, `no stage of ${rollout.name} takes any cluster: stagecoach plan ${rollout.name} says why`);
  const faults = parseFaults(options.fail, plan, rollout);
  const times =
    options.fromJournal === true
      ? await timesFromJournal(defined({ repo: checkout.root, fetch: options.fetch }), rollout.name, rollout.settleMs)
      : undefined;
  const input: SimulateInput = { rollout, plan, clusters: made.clusters ?? [], faults, bounds: boundsOf(checkout), times };
  const warned = allWarnings(plan, [...made.problems, ...outside]).map(({ code, message }) => `${code}: ${message}`);
  const shown = { ...simulateAll(input, options), notes: [...warned, ...notesOf(input)] };
  process.stdout.write(written(shown, options.output));
  return isGood(shown.tally) ? 0 : 1;
}

/** Of all runs but the first only what counts is kept. */
function simulateAll(input: SimulateInput, { seed, runs: wanted }: Pick<Options, "seed" | "runs">): Omit<Shown, "notes"> {
  const { rollout, plan, times } = input;
  const clusters = plan.stages.reduce((sum, stage) => sum + stage.clusters.length + stage.requeued.length, 0);
  const runs = wanted ?? (clusters > 1000 ? 3 : 20);
  const all = tally();
  const first = simulate(input, seed);
  count(all, first);
  for (let number = 1; number < runs; number++) {
    tellProgress(number, runs);
    count(all, simulate(input, seed + number));
  }
  tellProgress(runs, runs);
  return {
    rollout: rollout.name,
    release: Object.values(plan.release.values).join(", ") || "(no release)",
    seed,
    clusters,
    batches: plan.stages.reduce((sum, stage) => sum + stage.batches.length, 0),
    stages: plan.stages.filter((stage) => stage.clusters.length + stage.requeued.length > 0).length,
    late: plan.stages.reduce((sum, stage) => sum + stage.requeued.length, 0),
    first,
    tally: all,
    times: times === undefined ? "times as they usually are" : `times of ${times.samples} updates in ${times.runs} past runs`,
  };
}

/** On a terminal only; the line is gone at the end. */
function tellProgress(done: number, runs: number): void {
  if (process.stderr.isTTY !== true || runs < 2) return;
  process.stderr.write(done === runs ? "\r\u001b[K" : `\r${done} of ${runs} runs`);
}

function written(shown: Shown, output: Options["output"]): string {
  if (output === "json") return `${JSON.stringify(toJson(shown), null, 2)}\n`;
  if (output === "markdown") return toMarkdown(shown);
  // What goes to a file is as wide everywhere.
  return toText(shown, { colour: wantsColour(), columns: (process.stdout.isTTY === true ? process.stdout.columns : undefined) ?? 100 });
}

function isGood({ phases, violations }: Tally): boolean {
  return violations.size === 0 && [...phases.keys()].every((phase) => phase === "Succeeded");
}

/** Warnings about the analyses. undefined: what the rollout cannot do without is not in the repo, which is told; a run would wait or fail for it. */
function outsideOf(rollout: Rollout, checkout: Checkout): Problem[] | undefined {
  const files = checkout.paths();
  for (const { rollout: needed } of rollout.dependsOn ?? []) {
    const known = readRollouts(checkout, files.filter(isRolloutFile)).rollouts.map(({ name }) => name);
    if (!known.includes(needed))
      throw new CommandError(
        1,
        `${rollout.name} depends on ${needed}, and there is no rollout without errors called so${like(needed, known)}: its clusters would wait for ever; stagecoach lint says more`,
      );
  }
  const problems = lintAnalyses(rollout, { read: (path) => checkout.read(path), paths: () => files }, { builtin: false, unknown: true });
  const errors = problems.filter((problem) => problem.severity === "error");
  if (errors.length === 0) return problems;
  const located = errors.map((problem) => locateIn(rollout, checkout, problem));
  process.stderr.write(lintText({ problems: located, rollouts: [], files: [] }, (file) => readOrNull(checkout, file), false));
  return undefined;
}

function pick(checkout: Checkout, name: string): Rollout | undefined {
  const files = checkout.paths().filter(isRolloutFile);
  const { rollouts, problems } = readRollouts(checkout, files);
  const [rollout, second] = rollouts.filter((one) => one.name === name);
  if (second !== undefined) throw new CommandError(2, `several rollouts are called ${name}; stagecoach lint says where`);
  if (rollout !== undefined) return rollout;
  const errors = problems.filter((problem) => problem.severity === "error");
  if (errors.length > 0) {
    process.stderr.write(lintText({ problems: errors, rollouts: [], files }, (file) => readOrNull(checkout, file), false));
    return undefined;
  }
  const known = rollouts.map((one) => one.name);
  const there = known.length === 0 ? "there is none" : `there are ${known.slice(0, 20).join(", ")}`;
  throw new CommandError(2, `no rollout called ${name}${like(name, known)}; in rollouts/ of ${checkout.root} ${there}`);
}

/** Freezes and limits of the repo's settings. CommandError 1 where these have an error: then the bot starts nothing either. */
function boundsOf(checkout: Checkout): RepoBounds {
  const { bounds, problems } = parseRepoConfig(textOf(checkout), SETTINGS_FILE);
  const error = problems.find((problem) => problem.severity === "error");
  if (error !== undefined) {
    const { message, hint } = sayProblem(error);
    throw new CommandError(1, `${error.file}:${error.line}:${error.column}: ${message}; ${hint}. Until then nothing starts`);
  }
  return bounds;
}

function textOf(checkout: Checkout): string | null {
  try {
    return checkout.read(SETTINGS_FILE);
  } catch (error) {
    throw new CommandError(1, `${SETTINGS_FILE} cannot be read: ${error instanceof Error ? error.message : "unknown reason"}`);
  }
}
