/** `stagecoach analysis run`: one template is measured once, by the builtin engine, and leaves nothing behind. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { builtinEngine } from "../../../adapters/analysis/builtin/index.ts";
import { type JobRunner, jobRunner } from "../../../adapters/analysis/builtin/jobs.ts";
import { type AnalysisState, isOver, type MetricState } from "../../../adapters/analysis/port.ts";
import { AnalysisError, type Asked, templatesFor } from "../../../core/analysis/request.ts";
import { readTemplates } from "../../../core/analysis/template.ts";
import type { AnalysisTemplate } from "../../../core/analysis/template-schema.ts";
import { errorText } from "../../../core/base/error-text.ts";
import type { Clock } from "../../../core/base/time.ts";
import { sayProblem } from "../../../core/report/reasons/problems/problems.ts";
import { kubeConfigOf } from "../../server/config/kube-config.ts";
import { wallClock } from "../../server/wall-clock.ts";
import { gather, nestedCommand, outputOption, readGiven, runNested } from "../args.ts";
import { CommandError } from "../command.ts";
import { alignColumns, formatData, isData, visible, wantsColour } from "../print.ts";

interface Options {
  name?: string;
  arg: string[];
  secret: string[];
  allow: string[];
  kubeconfig?: string;
  context?: string;
  namespace?: string;
  output: "text" | "json" | "yaml";
}

export async function run(argv: readonly string[]): Promise<number> {
  let code = 0;
  const program = nestedCommand("stagecoach analysis").description("analyses: Argo Rollouts' templates, measured from here");
  program
    .command("run")
    .exitOverride()
    .description("run an AnalysisTemplate once with the builtin engine; 0: passed, 1: failed or inconclusive, 3: it could not be measured")
    .argument("<file>", "YAML with the template")
    .option("--name <name>", "which of the file's templates; default: its only one")
    .option("--arg <name=value>", "an argument; may be given again", gather, [])
    .option("--secret <name/key=file>", "a secret's value, read from a file; may be given again", gather, [])
    .option("--allow <host>", "ask these hosts only, such as *.example.com; default: any", gather, [])
    .option("--kubeconfig <file>", "for Jobs: the cluster to run them in")
    .option("--context <name>", "context of the kubeconfig")
    .option("--namespace <name>", "for Jobs: the namespace; a template with a job wants it")
    .addOption(outputOption("text", "json", "yaml"))
    .action(async (file: string, options: Options) => {
      code = await measure(file, options);
    });
  return (await runNested(program, argv)) ?? code;
}

async function measure(file: string, options: Options): Promise<number> {
  const templates = readFileOf(file);
  const template = chosen(templates, options.name, file);
  const secrets = new Map(
    pairs(options.secret, "--secret", "NAME/KEY=FILE").map(([name, path]) => [name, readGiven("--secret", path).replace(/\r?\n$/, "")]),
  );
  const asked: Asked = {
    templates: [{ templateName: template.metadata.name, clusterScope: template.kind === "ClusterAnalysisTemplate" }],
    args: pairs(options.arg, "--arg", "NAME=VALUE").map(([name, value]) => ({ name, value })),
  };
  const sources = { templates, secret: (name: string, key: string) => secrets.get(`${name}/${key}`), field: () => undefined };
  const clock = wallClock();
  const policy = { allow: options.allow.length === 0 ? ("any" as const) : options.allow };
  const engine = builtinEngine({ clock, policy, ...jobsOf(options, clock) });
  try {
    if (options.namespace === undefined) refuseJobs(templatesFor(asked, templates));
    const over = untilOver(engine, template.metadata.name, isData(options.output));
    await engine.start("run", { asked, sources, mustEnd: false });
    const state = await over;
    if (isData(options.output)) process.stdout.write(formatData({ template: template.metadata.name, ...state }, options.output));
    return state.phase === "Successful" ? 0 : state.phase === "Error" ? 3 : 1;
  } catch (error) {
    if (!(error instanceof AnalysisError)) throw error;
    const { message, hint } = sayProblem(error.reason);
    const isMissing = error.reason.code === "ANALYSIS_ARG" && error.reason.kind === "NoValue";
    throw new CommandError(2, visible(`${message}; ${isMissing ? "give it one: --arg NAME=VALUE" : hint}`));
  } finally {
    await engine.close();
  }
}

/** Five tries that cannot succeed would tell no more than this. */
function refuseJobs(templates: readonly AnalysisTemplate[]): void {
  const job = templates.flatMap(({ spec }) => spec.metrics ?? []).find(({ provider }) => provider.job !== undefined);
  if (job === undefined) return;
  const how = "say where with --namespace NAME, and with --kubeconfig FILE or --context NAME in which cluster";
  throw new CommandError(2, visible(`the metric ${job.name} runs a Job, and there is nowhere to run it: ${how}`));
}

function readFileOf(file: string): AnalysisTemplate[] {
  if (!existsSync(file) || !statSync(file).isFile()) throw new CommandError(2, `${visible(file)} is not a file`);
  const { templates, problems } = readTemplates(readFileSync(file, "utf8"), file, { builtin: true });
  for (const problem of problems) {
    const { message, hint } = sayProblem(problem);
    const line = `${problem.file}:${problem.line}:${problem.column}: ${problem.severity} ${problem.code}: ${message}\n  → ${hint}`;
    process.stderr.write(`${visible(line)}\n`);
  }
  if (problems.some((problem) => problem.severity === "error")) throw new CommandError(1, `${visible(file)} cannot be run as it stands`);
  return templates;
}

function chosen(templates: readonly AnalysisTemplate[], name: string | undefined, file: string): AnalysisTemplate {
  const names = templates.map(({ metadata }) => metadata.name).join(", ");
  const [first, second] = templates;
  if (first === undefined) throw new CommandError(2, `${visible(file)} holds no AnalysisTemplate`);
  if (name === undefined) {
    if (second !== undefined) throw new CommandError(2, visible(`${file} holds ${names}: choose one with --name`));
    return first;
  }
  const found = templates.find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new CommandError(2, visible(`${file} holds no template ${name}; it holds ${names}`));
  return found;
}

function pairs(given: readonly string[], option: string, shape: string): [string, string][] {
  return given.map((text) => {
    const at = text.indexOf("=");
    if (at < 1) throw new CommandError(2, `${option} ${visible(text)} is not ${shape}`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
}

/** Shows it while it is measured. Ctrl-C stops it, and what has not failed by then has passed. */
function untilOver(engine: ReturnType<typeof builtinEngine>, name: string, quiet: boolean): Promise<AnalysisState> {
  const screen = analysisScreen(name, quiet);
  return new Promise((resolve) => {
    const stop = () => void engine.stop("run");
    process.once("SIGINT", stop);
    engine.onChange(() => {
      const state = engine.state("run");
      if (state === undefined) return;
      screen.draw(state);
      if (!isOver(state)) return;
      process.removeListener("SIGINT", stop);
      resolve(state);
    });
  });
}

/** Where Jobs are run: nowhere, unless a namespace is given. */
function jobsOf({ kubeconfig, context, namespace }: Options, clock: Clock): { jobs?: JobRunner } {
  if (namespace === undefined) {
    if (kubeconfig !== undefined || context !== undefined) throw new CommandError(2, "--kubeconfig and --context want --namespace");
    return {};
  }
  try {
    return { jobs: jobRunner({ kubeConfig: kubeConfigOf({ kubeconfig, context }), namespace, clock }) };
  } catch (error) {
    throw new CommandError(2, visible(`the kubeconfig cannot be used: ${errorText(error)}`));
  }
}

const COLOURS: Record<AnalysisState["phase"], string> = {
  Pending: "2",
  Running: "36",
  Successful: "32",
  Failed: "31",
  Inconclusive: "33",
  Error: "31",
};

/** A table drawn in place on a terminal; elsewhere a line for each measurement, and the table at the end. */
function analysisScreen(name: string, quiet: boolean): { draw(state: AnalysisState): void } {
  const out = process.stdout;
  const live = out.isTTY === true;
  const taken = new Map<string, number>();
  let drawn = 0;
  return {
    draw(state) {
      if (quiet) return;
      if (drawn > 0) out.write(`\u001b[${drawn}A\u001b[J`);
      if (!live) for (const metric of state.metrics) tell(metric, taken);
      if (!live && !isOver(state)) return;
      const text = analysisTable(name, state, wantsColour());
      out.write(text);
      drawn = live ? text.split("\n").length - 1 : 0;
    },
  };
}

function tell(metric: MetricState, taken: Map<string, number>): void {
  const count = metric.count + metric.error;
  if (taken.get(metric.name) === count || count === 0) return;
  taken.set(metric.name, count);
  const said = metric.value ?? metric.message ?? "";
  process.stdout.write(visible(`${metric.name} ${count}: ${said}\n`));
}

/** Ends in a newline. */
function analysisTable(name: string, state: AnalysisState, colour: boolean): string {
  const paint = (phase: AnalysisState["phase"], text: string) => (colour ? `\u001b[${COLOURS[phase]}m${text}\u001b[0m` : text);
  const head = ["metric", "state", "ok", "failed", "inconclusive", "errors", "last value"];
  const rows = state.metrics.map((metric) => [
    `${metric.name}${metric.dryRun ? " (dry run)" : ""}`,
    metric.phase,
    ...[metric.successful, metric.failed, metric.inconclusive, metric.error].map(String),
    metric.value ?? "",
  ]);
  const [title = "", ...lines] = alignColumns([head, ...rows].map((row) => row.map(visible)));
  const painted = lines.map((line, at) => paint(state.metrics[at]?.phase ?? "Pending", line));
  const phase = paint(state.phase, state.phase);
  return `${[`${visible(name)}: ${phase}, ${visible(state.message)}`, "", title, ...painted].join("\n")}\n`;
}
