import { epoch, iso } from "../../../core/base/time.ts";
import { stateLabel } from "../../../core/report/model/labels.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import { recordedEvents } from "../../../core/report/recorded-events.ts";
import { shortAge } from "../../../core/report/tree/tree-marks.ts";
import { outputOption, parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { columnsOf, fittedColumns, formatData, plain, utc } from "../print.ts";
import { entryOf, onlyRollout } from "./known-rollouts.ts";
import { type JournalSource, journalCommand, runNumber, type SourceOptions, withSource } from "./source.ts";

/** `stagecoach history NAME [RUN]`: the runs of a rollout, or what happened in one, from the journal in Git. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = journalCommand("history", "Runs of a rollout; with a number, what happened in that run")
    .argument("[name]", "the rollout; default: the only one there is")
    .argument("[run]", "number of a run")
    .addOption(outputOption("text", "wide", "json", "yaml"));
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<SourceOptions & { output: Output }>();
  const [named, number] = command.args;
  return await withSource(options, async (source) => {
    const name = named ?? (await onlyRollout(source));
    await entryOf(source, name);
    const { output } = options;
    const told =
      number === undefined ? await runsOf(source, name, output) : await eventsOf(source, { name, number: runNumber(number) }, output);
    process.stdout.write(told);
    return 0;
  });
}

type Output = "text" | "wide" | "json" | "yaml";

async function runsOf(source: JournalSource, name: string, output: Output): Promise<string> {
  const runs = (await source.runs(name)).toReversed();
  const asOf = iso((await source.asOf())?.at ?? Date.now());
  if (output === "json" || output === "yaml") return formatData({ rollout: name, runs, asOf }, output);
  const rows: string[][] = [];
  for (const { number, release, phase, startedAt, endedAt } of runs) {
    const took = endedAt === undefined ? "-" : shortAge(epoch(endedAt) - epoch(startedAt));
    const cells = [`#${number}`, release, stateLabel(phase), startedAt === "" ? "-" : utc(startedAt, "minute"), took];
    rows.push(output === "wide" ? [...cells, ...(await moreOf(source, name, number))] : cells);
  }
  const head = ["RUN", "RELEASE", "STATUS", "STARTED", "TOOK", ...(output === "wide" ? ["PULL", "BY", "WHY"] : [])];
  return fittedColumns([head, ...rows.map((row) => row.map(plain))], output === "wide" ? undefined : columnsOf());
}

/** A run that cannot be read is said to be so in its status already. */
async function moreOf(source: JournalSource, name: string, number: number): Promise<string[]> {
  const run = await source.run(name, number).catch(() => undefined);
  if (run === undefined) return ["-", "-", "-"];
  const { pull, author, says } = modelOf(run, Date.now());
  return [pull === undefined ? "-" : `#${pull}`, author, says];
}

async function eventsOf(source: JournalSource, { name, number }: { name: string; number: number }, output: Output): Promise<string> {
  const events = await source.log(name, number);
  if (events.length === 0) throw new CommandError(1, `the journal has no run ${name} #${number}`);
  const asOf = iso((await source.asOf())?.at ?? Date.now());
  if (output === "json" || output === "yaml") return formatData({ rollout: name, run: number, events, asOf }, output);
  const rows = events.flatMap(({ at, subject, trailers, sha }) => {
    const by = trailers["Stagecoach-Actor"];
    return recordedEvents({ rollout: name, number }, subject, trailers).map((says, index) => {
      const [time, commit] = index === 0 ? [utc(at), sha] : ["", ""];
      if (output === "wide") return [time, commit, index === 0 ? plain(by ?? "-") : "", plain(says)];
      return [time, commit.slice(0, 10), plain(by === undefined || index > 0 ? says : `${says} (by ${by})`)];
    });
  });
  const head = output === "wide" ? ["TIME", "COMMIT", "BY", "WHAT HAPPENED"] : ["TIME", "COMMIT", "WHAT HAPPENED"];
  return fittedColumns([head, ...rows], output === "wide" ? undefined : columnsOf());
}
