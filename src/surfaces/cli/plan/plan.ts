import { existsSync, realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { Command } from "commander";
import type { Plan } from "../../../core/plan/plan-types.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import { planComment, problemsComment } from "../../../core/report/plan/plan-comment.ts";
import type { RulesNow } from "../../../core/report/plan/rules-data.ts";
import { problemJson } from "../../../core/report/reasons/problems/problems.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { passedOver } from "../../../engine/config-repo/project.ts";
import { outputOption, parseArgs } from "../args.ts";
import { leakedCredentials } from "../lint/leaked-credentials.ts";
import { type Checkout, openCheckout, repoAround } from "../lint/lint-checkout.ts";
import { refusalsOf, rolloutFilesIn } from "../lint/lint-run.ts";
import { tellProblems } from "../lint/lint-show.ts";
import { formatData, isData, terminalWidth, wantsColour } from "../print.ts";
import { openProgress } from "../progress.ts";
import { collectTo, fleetGiven, type InventoryOptions, pickRollout, withFleet } from "./plan-args.ts";
import { makePlan, type PlanMade, rulesNow } from "./plan-make.ts";
import { toJson, toText } from "./plan-show.ts";
import { wantedOf } from "./release-edits.ts";

interface Options extends InventoryOptions {
  repo?: string;
  to?: Record<string, string>;
  output: "text" | "json" | "yaml" | "markdown";
}

function program(): Command {
  const command = new Command("stagecoach plan")
    .usage("[NAME|FILE] [options]")
    .description("what a rollout would do: which clusters each stage takes, in which batches, and what is written where")
    .argument("[name]", "a rollout of the repo, or the file of one; default: the only one there is")
    .option("--repo <dir>", "the config repo; default: the one around FILE or the current folder");
  return withFleet(command)
    .option("--to <version>", "plan for this version instead of the release's; NAME=VALUE for one of several values", collectTo)
    .addOption(outputOption("text", "json", "yaml", "markdown"))
    .addHelpText("after", HELP);
}

const HELP = `
Without --inventory, or where it has none of the rollout's Applications, the ApplicationSet in the repo is rendered,
and Applications written by hand are read from the repo. With Applications that carry status, \`next\` is the batch that would be
opened now. Exit 1 where no plan can be made, or no Application is found for it.`;

/** `stagecoach plan NAME`. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = parseArgs(program(), argv);
  if (command === undefined) return 0;
  const options = command.opts<Options>();
  const [name] = command.args;
  const isFile = name !== undefined && existsSync(name) && statSync(name).isFile();
  const progress = openProgress("planning");
  const checkout = openCheckout(options.repo ?? repoAround(isFile ? name : "."), progress);
  const file = isFile
    ? relative(checkout.root, realpathSync(resolve(name)))
        .split(sep)
        .join("/")
    : "";
  const rollout = isFile ? pickRollout(checkout, [file], undefined) : pickRollout(checkout, rolloutFilesIn(checkout), name);
  if (rollout === undefined) return 1;
  const wanted = wantedOf(rollout, options.to ?? {});
  const inventory = await fleetGiven(options, progress);
  const planned = makePlan(rollout, checkout, inventory, wanted);
  const made = { ...planned, problems: [...planned.problems, ...leakedCredentials(checkout), ...passedOver(checkout.paths())] };
  const { plan, problems } = made;
  const refused = plan === undefined ? problems : refusalsOf(rollout, checkout, inventory, made);
  progress.end();
  if (plan === undefined || refused.length > 0) return refuse(checkout, refused, options.output);
  process.stdout.write(shown(rollout, plan, made, { output: options.output, rules: rulesNow(checkout) }));
  // A plan for nobody is most likely a mistake: nobody's script should go on with it.
  return plan.warnings.some(({ code }) => ["NO_TARGETS", "REACHES_NOBODY"].includes(code)) ? 1 : 0;
}

function refuse(checkout: Checkout, problems: Problem[], output: Options["output"]): number {
  if (isData(output)) process.stdout.write(formatData({ problems: problems.map(problemJson) }, output));
  else if (output === "markdown") process.stdout.write(`${problemsComment(problems)}\n`);
  else {
    tellProblems(problems, checkout);
    process.stderr.write("Nothing is planned before that is corrected.\n");
  }
  return 1;
}

interface HowShown {
  output: Options["output"];
  rules: RulesNow;
}

function shown(rollout: Rollout, plan: Plan, made: PlanMade, { output, rules }: HowShown): string {
  const { next, problems } = made;
  if (isData(output)) return formatData(toJson(rollout, plan, made, rules), output);
  if (output === "text") return toText(rollout, plan, next, problems, { colour: wantsColour(), columns: terminalWidth(), rules });
  return `${planComment(rollout, plan, undefined, { rules, warnings: problems.filter(({ severity }) => severity === "warning") })}\n`;
}
