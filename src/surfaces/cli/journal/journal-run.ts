import { iso } from "../../../core/base/time.ts";
import { outputOption, parseArgs } from "../args.ts";
import { type DataFormat, formatData } from "../print.ts";
import { onlyRollout } from "./known-rollouts.ts";
import { journalCommand, runNumber, type SourceOptions, withSource } from "./source.ts";

/** `stagecoach journal run NAME [RUN]`: what `get` is drawn from, and all that it leaves out. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = journalCommand("journal run", "One run as its files in the journal have it: the frozen plan, edits, evidence, commands")
    .argument("[name]", "the rollout; default: the only one there is")
    .argument("[run]", "number of a run; default: the last one")
    .addOption(outputOption("yaml", "json"));
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<SourceOptions & { output: DataFormat }>();
  const [named, number] = command.args;
  return await withSource(options, async (source) => {
    const name = named ?? (await onlyRollout(source));
    const found = await source.runOf(name, number === undefined ? undefined : runNumber(number));
    const asOf = iso((await source.asOf())?.at ?? Date.now());
    process.stdout.write(formatData({ ...found, asOf }, options.output));
    return 0;
  });
}
