import { existsSync, realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { Command, Option } from "commander";
import { readOrNull } from "../../../core/base/repo-files.ts";
import { planComment, problemsComment } from "../../../core/report/plan/plan-comment.ts";
import { problemJson } from "../../../core/report/reasons/problems.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { type Checkout, openCheckout, repoAround } from "../lint/lint-checkout.ts";
import { isRolloutFile, readRollouts } from "../lint/lint-run.ts";
import { lintText } from "../lint/lint-show.ts";
import { wantsColour } from "../print.ts";
import { inventoryAt, versionGiven } from "./plan-args.ts";
import { makePlan } from "./plan-make.ts";
import { toJson, toText } from "./plan-show.ts";
import { refuseStrange } from "./release-edits.ts";

interface Options {
  repo?: string;
  inventory?: string;
  to?: Record<string, string>;
  output: "text" | "json" | "markdown";
}

function program(): Command {
  return new Command("stagecoach plan")
    .usage("NAME|FILE [options]")
    .description("what a rollout would do: which clusters each stage takes, in which batches, and what is written where")
    .argument("<name>", "a rollout of the repo, or the file of one")
    .option("--repo <dir>", "the config repo; default: the one around FILE or the current folder")
    .option(
      "--inventory <file>",
      "cluster Secrets, Applications and ApplicationSets as `kubectl get -o yaml` prints them; - reads standard input",
    )
    .option("--to <version>", "plan for this version instead of the release's; NAME=VALUE for one of several values", collect)
    .addOption(new Option("-o, --output <format>").choices(["text", "json", "markdown"]).default("text"))
    .addHelpText("after", HELP);
}

const HELP = `
Without --inventory, or where it has none of the rollout's Applications, the ApplicationSet in the repo is rendered,
and Applications written by hand are read from the repo. With Applications that carry status, \`next\` is the batch that would be
opened now. Exit 1 where no plan can be made, or no Application is found for it.`;

function collect(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name = "version", value = text] = /^([A-Za-z][A-Za-z0-9_]*)=(.*)$/s.exec(text) ?? [];
  return { ...before, [name]: versionGiven(text, value) };
}

/** `stagecoach plan NAME`. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = parseArgs(program(), argv);
  if (command === undefined) return 0;
  const options = command.opts<Options>();
  const name = command.args[0] ?? "";
  const isFile = existsSync(name) && statSync(name).isFile();
  const checkout = openCheckout(options.repo ?? repoAround(isFile ? name : "."));
  const found = isFile
    ? [
        relative(checkout.root, realpathSync(resolve(name)))
          .split(sep)
          .join("/"),
      ]
    : checkout.paths().filter(isRolloutFile);
  const rollout = pick(checkout, found, isFile ? undefined : name);
  if (rollout === undefined) return 1;
  if (rollout.release !== undefined && options.to !== undefined) refuseStrange(rollout, options.to);
  const made = makePlan(rollout, checkout, inventoryAt(options.inventory), options.to ?? {});
  if (made.plan === undefined) {
    tellProblems(checkout, made.problems, options.output);
    return 1;
  }
  process.stdout.write(shown(rollout, { ...made, plan: made.plan }, options.output));
  // A plan for nobody is most likely a mistake: nobody's script should go on with it.
  return made.plan.warnings.some(({ code }) => code === "NO_TARGETS") ? 1 : 0;
}

function pick(checkout: Checkout, files: readonly string[], name: string | undefined): Rollout | undefined {
  const { rollouts, problems } = readRollouts(checkout, files);
  const fitting = name === undefined ? rollouts : rollouts.filter((rollout) => rollout.name === name);
  const [rollout, second] = fitting;
  if (rollout !== undefined && second === undefined) return rollout;
  if (second !== undefined)
    throw new CommandError(
      2,
      name === undefined
        ? `the file has several rollouts: ${rollouts.map((r) => r.name).join(", ")}`
        : `several rollouts are called ${name}; stagecoach lint says where`,
    );
  const errors = problems.filter((problem) => problem.severity === "error");
  if (errors.length > 0) {
    process.stderr.write(lintText({ problems: errors, rollouts: [], files: [...files] }, (file) => readOrNull(checkout, file), false));
    return undefined;
  }
  throw new CommandError(
    2,
    `no rollout called ${name} in rollouts/ of ${checkout.root}; there ${rollouts.length === 0 ? "is none" : `are ${rollouts.map((r) => r.name).join(", ")}`}`,
  );
}

function tellProblems(checkout: Checkout, problems: ReturnType<typeof makePlan>["problems"], output: Options["output"]): void {
  if (output === "json") process.stdout.write(`${JSON.stringify({ problems: problems.map(problemJson) }, null, 2)}\n`);
  else if (output === "markdown") process.stdout.write(`${problemsComment(problems)}\n`);
  else
    process.stderr.write(
      `${lintText({ problems, rollouts: [], files: [] }, (file) => readOrNull(checkout, file), false).replace(/\n[^\n]*\n$/, "\n")}No plan can be made.\n`,
    );
}

type Made = ReturnType<typeof makePlan> & { plan: NonNullable<ReturnType<typeof makePlan>["plan"]> };

function shown(rollout: Rollout, { plan, next, problems }: Made, output: Options["output"]): string {
  if (output === "json") return `${JSON.stringify(toJson(plan, next, problems), null, 2)}\n`;
  if (output === "markdown")
    return `${planComment(rollout, plan, undefined, { warnings: problems.filter(({ severity }) => severity === "warning") })}\n`;
  return toText(rollout, plan, next, problems, wantsColour());
}
