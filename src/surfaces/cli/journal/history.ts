import { Argument, Command, Option } from "commander";
import { epoch } from "../../../core/base/time.ts";
import { shortAge } from "../../../core/report/tree/tree-marks.ts";
import { parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { columns, entryOf, type JournalSource, plain, withSource } from "./source.ts";

/** `stagecoach history NAME [RUN]`: the runs of a rollout, or what happened in one, from the journal in Git. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command("stagecoach history")
    .description("Runs of a rollout; with a number, what happened in that run")
    .addArgument(new Argument("<name>", "the rollout"))
    .addArgument(new Argument("[run]", "number of a run"))
    .option("--repo <dir>", "checkout of the config repo", ".")
    .option("--branch <name>", "the journal's branch", "stagecoach/journal")
    .option("--fetch", "fetch the journal first")
    .addOption(new Option("-o, --output <format>", "how to print").choices(["text", "json"]).default("text"));
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<{ repo: string; branch: string; fetch?: boolean; output: "text" | "json" }>();
  const [name = "", number] = command.args;
  const json = options.output === "json";
  return await withSource(options, async (source) => {
    entryOf(await source.index(), name);
    process.stdout.write(number === undefined ? await runsOf(source, name, json) : await eventsOf(source, name, runNumber(number), json));
    return 0;
  });
}

/** `42` or `#42`. */
export function runNumber(text: string): number {
  const found = /^#?([1-9]\d{0,8})$/.exec(text)?.[1];
  if (found === undefined) throw new CommandError(2, `"${text}" is no number of a run`);
  return Number(found);
}

async function runsOf(source: JournalSource, name: string, json: boolean): Promise<string> {
  const runs = (await source.runs(name)).toReversed();
  if (json) return `${JSON.stringify({ rollout: name, runs }, null, 2)}\n`;
  const rows = runs.map(({ number, release, phase, startedAt, endedAt }) => {
    const took = endedAt === undefined ? "-" : shortAge(epoch(endedAt) - epoch(startedAt));
    return [`#${number}`, plain(release), plain(phase), startedAt === "" ? "-" : `${startedAt.slice(0, 16).replace("T", " ")} UTC`, took];
  });
  return columns([["RUN", "RELEASE", "STATUS", "STARTED", "TOOK"], ...rows]);
}

async function eventsOf(source: JournalSource, name: string, number: number, json: boolean): Promise<string> {
  const events = await source.log(name, number);
  if (events.length === 0) throw new CommandError(1, `the journal has no run ${name} #${number}`);
  if (json) return `${JSON.stringify({ rollout: name, run: number, events }, null, 2)}\n`;
  const rows = events.map(({ at, subject, trailers, sha }) => {
    const by = trailers["Stagecoach-Actor"];
    return [`${at.slice(0, 19).replace("T", " ")} UTC`, sha.slice(0, 10), plain(by === undefined ? subject : `${subject} (by ${by})`)];
  });
  return columns([["TIME", "COMMIT", "WHAT HAPPENED"], ...rows]);
}
