import { epoch } from "../../../core/base/time.ts";
import { shortAge } from "../../../core/report/tree/tree-marks.ts";
import { outputOption, parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { columns, json, plain, utc } from "../print.ts";
import { entryOf, type JournalSource, journalCommand, runNumber, type SourceOptions, withSource } from "./source.ts";

/** `stagecoach history NAME [RUN]`: the runs of a rollout, or what happened in one, from the journal in Git. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = journalCommand("history", "Runs of a rollout; with a number, what happened in that run")
    .argument("<name>", "the rollout")
    .argument("[run]", "number of a run")
    .addOption(outputOption("text", "json"));
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<SourceOptions & { output: "text" | "json" }>();
  const [name = "", number] = command.args;
  const asJson = options.output === "json";
  return await withSource(options, async (source) => {
    entryOf(await source.index(), name);
    process.stdout.write(
      number === undefined ? await runsOf(source, name, asJson) : await eventsOf(source, name, runNumber(number), asJson),
    );
    return 0;
  });
}

async function runsOf(source: JournalSource, name: string, asJson: boolean): Promise<string> {
  const runs = (await source.runs(name)).toReversed();
  if (asJson) return json({ rollout: name, runs });
  const rows = runs.map(({ number, release, phase, startedAt, endedAt }) => {
    const took = endedAt === undefined ? "-" : shortAge(epoch(endedAt) - epoch(startedAt));
    return [`#${number}`, plain(release), plain(phase), startedAt === "" ? "-" : utc(startedAt, "minute"), took];
  });
  return columns([["RUN", "RELEASE", "STATUS", "STARTED", "TOOK"], ...rows]);
}

async function eventsOf(source: JournalSource, name: string, number: number, asJson: boolean): Promise<string> {
  const events = await source.log(name, number);
  if (events.length === 0) throw new CommandError(1, `the journal has no run ${name} #${number}`);
  if (asJson) return json({ rollout: name, run: number, events });
  const rows = events.map(({ at, subject, trailers, sha }) => {
    const by = trailers["Stagecoach-Actor"];
    return [utc(at), sha.slice(0, 10), plain(by === undefined ? subject : `${subject} (by ${by})`)];
  });
  return columns([["TIME", "COMMIT", "WHAT HAPPENED"], ...rows]);
}
