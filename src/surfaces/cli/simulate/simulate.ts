import { Command } from "commander";
import { lintAnalyses } from "../../../core/analysis/lint.ts";
import { defined } from "../../../core/base/defined.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { formatSelector } from "../../../core/base/selector.ts";
import { formatDuration } from "../../../core/base/time.ts";
import { changesNothing } from "../../../core/plan/plan-types.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import { countedWord, inCounted, putOffPhrase } from "../../../core/report/counted.ts";
import { names } from "../../../core/report/simulated.ts";
import { parseRepoConfig } from "../../../core/spec/parse/config.ts";
import { type RepoBounds, SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { locateIn } from "../../../engine/resolve/plan-over.ts";
import { isByHand, labelsWithout, PEOPLE_MS } from "../../../simulate/plan/people.ts";
import { type SimulateInput, simulate } from "../../../simulate/plan/simulate.ts";
import { gather, like, outputOption, parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { type Checkout, openCheckout, repoAround } from "../lint/lint-checkout.ts";
import { readRollouts, refusalsOf, rolloutFilesIn } from "../lint/lint-run.ts";
import { tellProblems } from "../lint/lint-show.ts";
import { collectTo, fleetGiven, type InventoryOptions, pickRollout, withFleet } from "../plan/plan-args.ts";
import { makePlan } from "../plan/plan-make.ts";
import { allWarnings } from "../plan/plan-show.ts";
import { wantedOf } from "../plan/release-edits.ts";
import { formatData, isData, terminalWidth, wantsColour } from "../print.ts";
import { openProgress } from "../progress.ts";
import { parseFaults, timesFromJournal } from "./simulate-options.ts";
import { count, type Shown, type Tally, tally, toJson, toMarkdown } from "./simulate-show.ts";
import { toText } from "./simulate-text.ts";

interface Options extends InventoryOptions {
  repo?: string;
  to?: Record<string, string>;
  seed: number;
  runs?: number;
  fail: string[];
  fromJournal?: true;
  fetch?: true;
  output: "text" | "json" | "yaml" | "markdown";
}

const MOST_RUNS = 100_000;

function program(): Command {
  const command = new Command("stagecoach simulate")
    .usage("[NAME] [options]")
    .description("a run of the rollout's plan through the pure simulated world: what merges when, who saw a bad release, how long it takes")
    .argument("[name]", "a rollout of the repo; default: the only one there is")
    .option("--repo <dir>", "the config repo; default: the one around the current folder");
  return withFleet(command)
    .option("--to <version>", "simulate this version instead of the release's; NAME=VALUE for one of several values", collectTo)
    .option("--seed <n>", "everything random follows from it", number("--seed", 0, 2 ** 31 - 1), 1)
    .option(
      "--runs <n>",
      "how many runs, each from the next seed; default: 20, of more than 1000 clusters 3",
      number("--runs", 1, MOST_RUNS),
    )
    .option(
      "--fail <cluster=fault>",
      "degraded, stuck, unreachable or flap, with @N from when batch N has merged; may be given again",
      gather,
      [],
    )
    .option("--from-journal", "health as recorded: times from merge to healthy, by cluster, from past runs in the journal")
    .option("--fetch", "with --from-journal: ask the remote for the journal first")
    .addOption(outputOption("text", "json", "yaml", "markdown"))
    .addHelpText("after", HELP);
}

const HELP = `
--fail any=degraded draws another cluster for each run. The same seed gives the same bytes.
Exit 1 where the run does not succeed, an invariant is violated, or no plan can be made.`;

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
  const rollout = pickRollout(checkout, rolloutFilesIn(checkout), command.args[0]);
  if (rollout === undefined) return 1;
  const outside = outsideOf(rollout, checkout);
  if (outside === undefined) return 1;
  const inventory = await fleetGiven(options);
  const made = makePlan(rollout, checkout, inventory, wantedOf(rollout, options.to ?? {}));
  const { plan } = made;
  const refused = plan === undefined ? made.problems : refusalsOf(rollout, checkout, inventory, made);
  if (plan === undefined || refused.length > 0) {
    tellProblems(refused, checkout);
    return 1;
  }
  if (plan.stages.every((stage) => stage.clusters.length + stage.requeued.length === 0))
    throw new CommandError(1, `no stage of ${rollout.name} takes any ${countedWord(rollout)}: stagecoach plan ${rollout.name} says why`);
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
  const progress = openProgress("simulating");
  for (let number = 1; number < runs; number++) {
    progress.step(`${number} of ${runs} runs`);
    count(all, simulate(input, seed + number));
  }
  progress.end();
  return {
    rollout: rollout.name,
    targetBy: rollout.targetBy,
    release: Object.values(plan.release.values).join(", ") || "(no release)",
    seed,
    clusters,
    batches: plan.stages.reduce((sum, stage) => sum + stage.batches.length, 0),
    stages: plan.stages.filter((stage) => stage.clusters.length + stage.requeued.length > 0).length,
    putOff: putOffPhrase(plan.stages),
    first,
    tally: all,
    times: times === undefined ? "times as they usually are" : `times of ${times.samples} updates in ${times.runs} past runs`,
  };
}

function written(shown: Shown, output: Options["output"]): string {
  if (isData(output)) return formatData(toJson(shown), output);
  if (output === "markdown") return toMarkdown(shown);
  // What goes to a file is as wide everywhere.
  return toText(shown, { colour: wantsColour(), columns: terminalWidth() ?? 100 });
}

function isGood({ phases, violations }: Tally): boolean {
  return violations.size === 0 && [...phases.keys()].every((phase) => phase === "Succeeded");
}

/** Warnings about the analyses. undefined: what the rollout cannot do without is not in the repo, which is told; a run would wait or fail for it. */
function outsideOf(rollout: Rollout, checkout: Checkout): Problem[] | undefined {
  for (const { rollout: needed } of rollout.dependsOn ?? []) {
    const known = readRollouts(checkout, rolloutFilesIn(checkout)).rollouts.map(({ name }) => name);
    if (known.includes(needed)) continue;
    const why = `${rollout.name} depends on ${needed}, and there is no rollout without errors called so${like(needed, known)}`;
    throw new CommandError(1, `${why}: its clusters would wait for ever; stagecoach lint says more`);
  }
  const problems = lintAnalyses(rollout, checkout, { builtin: false, unknown: true });
  const errors = problems.filter((problem) => problem.severity === "error");
  if (errors.length === 0) return problems;
  tellProblems(
    errors.map((problem) => locateIn(rollout, checkout, problem)),
    checkout,
  );
  return undefined;
}

/** Freezes and limits of the repo's settings. */
function boundsOf(checkout: Checkout): RepoBounds {
  return parseRepoConfig(read(checkout, SETTINGS_FILE), SETTINGS_FILE).bounds;
}

function read(checkout: Checkout, file: string): string | null {
  try {
    return checkout.read(file);
  } catch (error) {
    throw new CommandError(1, `${file} cannot be read: ${errorText(error)}`);
  }
}

/** What is taken for granted, told where it matters. */
function notesOf({ rollout, plan, faults, clusters }: SimulateInput): string[] {
  const { stages, dependsOn = [] } = rollout;
  const notes: string[] = [];
  const out = plan.uncovered.length;
  const waits = formatDuration(PEOPLE_MS);
  const byHand = isByHand(rollout);
  const steps = stages.flatMap((stage) => stage.steps ?? []);
  const asked = byHand || stages.some((stage) => stage.approval) || steps.some((step) => step.kind === "pause" && !step.durationMs);
  const measured = stages.some((stage) => stage.analysis ?? stage.hooks) || steps.some((step) => step.kind === "analysis");
  if (out > 0)
    notes.push(
      inCounted(`${out} ${out === 1 ? "<cluster> is" : "<clusters> are"} in no stage: stagecoach plan ${rollout.name} says why.`, rollout),
    );
  if (changesNothing(plan))
    notes.push(`Every ${countedWord(rollout)} has this release already, so nothing changes: --to VERSION simulates another.`);
  if (rollout.mode === "Observe")
    notes.push("mode is Observe: the bot starts no run and opens no pull request. This is how it would go with mode: Propose.");
  if (byHand) {
    const why = { Run: ": merge is Manual", Propose: ": mode is Propose", Observe: "" }[rollout.mode];
    notes.push(`Here a person merges each pull request, ${waits} after it was opened${why}.`);
  }
  if (asked) notes.push(`People approve and promote what waits for them after ${waits}; nobody answers a run that stops.`);
  if (stages.some((stage) => stage.sync !== undefined)) notes.push("Every sync comes at once, by whomever it is asked for.");
  if (measured) notes.push("Every analysis succeeds after 15s, every hook says to go on.");
  if (dependsOn.length > 0) notes.push(`What it depends on is there: ${dependsOn.map((one) => one.rollout).join(", ")}.`);
  notes.push(...notesOfPutOff({ rollout, plan, faults, clusters }));
  return notes;
}

/** Who of those that are put off comes back, and who cannot. */
function notesOfPutOff({ rollout, plan, faults, clusters }: Pick<SimulateInput, "rollout" | "plan" | "faults" | "clusters">): string[] {
  const notes: string[] = [];
  let back = false;
  for (const [index, { requeued }] of plan.stages.entries()) {
    const selector = rollout.stages[index]?.requeue?.selector;
    if (selector === undefined) continue;
    const never: string[] = [];
    for (const key of requeued) {
      const cluster = clusters.find((one) => one.key === key);
      if (cluster !== undefined && labelsWithout(selector, cluster) === undefined) never.push(cluster.name);
      else if (!faults.some((fault) => fault.cluster === key && fault.kind === "unreachable")) back = true;
    }
    const come = never.length === 1 ? "comes" : "come";
    const why = `requeue.selector (${formatSelector(selector)}) matches whatever labels they have`;
    if (never.length > 0) notes.push(`${names(never)} never ${come} back: ${why}.`);
  }
  if (back) notes.push("Clusters that are put off come back before their last look; with --fail CLUSTER=unreachable they do not.");
  return notes;
}
