import { Argument, Command, Option } from "commander";
import { defined } from "../../../core/base/defined.ts";
import { runComment } from "../../../core/report/run/run-comment.ts";
import { renderTree } from "../../../core/report/tree/tree.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import { parseArgs, wantsColour } from "../args.ts";
import { CommandError } from "../command.ts";
import { runNumber } from "./history.ts";
import { entryOf, type JournalSource, withSource } from "./source.ts";

type Format = "text" | "json" | "markdown";

interface GetOptions {
  repo: string;
  branch: string;
  fetch?: boolean;
  watch?: boolean;
  output: Format;
}

/** How often the journal's ref is looked at, and with `--fetch` the remote. */
const POLL_MS = 1000;
const FETCH_MS = 5000;

/** `stagecoach get NAME [RUN] [-w]`: one run as a tree, as JSON (as it is in the journal) or as the PR comment has it. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command("stagecoach get")
    .description("One run: stages, batches, clusters and Applications, why it waits and what comes next")
    .addArgument(new Argument("<name>", "the rollout"))
    .addArgument(new Argument("[run]", "number of a run; default: the last one"))
    .option("--repo <dir>", "checkout of the config repo", ".")
    .option("--branch <name>", "the journal's branch", "stagecoach/journal")
    .option("--fetch", "fetch the journal first; with -w again every few seconds")
    .option("-w, --watch", "draw again on every change, until the run has ended; exit 1 unless it succeeded")
    .addOption(new Option("-o, --output <format>", "how to print").choices(["text", "json", "markdown"]).default("text"));
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<GetOptions>();
  const [name = "", number] = command.args;
  const wanted = number === undefined ? undefined : runNumber(number);
  return await withSource(options, async (source) => {
    if (options.watch === true) return await watch(source, name, wanted, options);
    process.stdout.write(shown(await load(source, name, wanted), options.output));
    return 0;
  });
}

async function load(source: JournalSource, name: string, wanted: number | undefined): Promise<Run> {
  const { lastRun } = entryOf(await source.index(), name);
  const number = wanted ?? lastRun;
  const found = await source.run(name, number);
  if (found === undefined) throw new CommandError(1, `the journal has no run ${name} #${number}; the last one is #${lastRun}`);
  return found;
}

/** `rows`: as many lines at most, where the tree is drawn in place. */
function shown(run: Run, format: Format, rows?: number): string {
  if (format === "json") return `${JSON.stringify(run, null, 2)}\n`;
  if (format === "markdown") return `${runComment(run, Date.now())}\n`;
  return renderTree(run, Date.now(), defined({ color: wantsColour(), width: process.stdout.columns ?? 120, rows }));
}

/**
 * Draws until the run has ended: 0 if it succeeded, else 1. On a terminal in place, with ages going on; elsewhere once for
 * each change. Without a number the run that is the last one when it starts is watched.
 */
async function watch(source: JournalSource, name: string, wanted: number | undefined, options: GetOptions): Promise<number> {
  const inPlace = process.stdout.isTTY === true && options.output === "text";
  let head: string | undefined;
  let run = await load(source, name, wanted);
  let fetched = Date.now();
  for (let first = true; ; first = false) {
    if (options.fetch === true && Date.now() - fetched >= FETCH_MS) {
      await source.fetch();
      fetched = Date.now();
    }
    const now = await source.head();
    const moved = now !== head;
    if (moved && !first) run = await load(source, name, run.number);
    head = now;
    const rows = inPlace ? (process.stdout.rows ?? 50) - 1 : undefined;
    if (moved || inPlace) process.stdout.write(`${inPlace ? "\u001b[H\u001b[2J" : ""}${shown(run, options.output, rows)}`);
    if (isEnded(run)) return run.phase === "Succeeded" ? 0 : 1;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
