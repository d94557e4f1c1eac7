import { errorText } from "../../../core/base/error-text.ts";
import { epoch } from "../../../core/base/time.ts";
import { refusedModel } from "../../../core/report/model/refused.ts";
import { type ListedRollout, listedRun, rolloutList } from "../../../core/report/model/run-document.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import { refusedLine } from "../../../core/report/refused.ts";
import { statusWord } from "../../../core/report/tree/tree.ts";
import { shortAge } from "../../../core/report/tree/tree-marks.ts";
import { releaseName } from "../../../core/report/words.ts";
import { outputOption, parseArgs } from "../args.ts";
import { columnsOf, fittedColumns, formatData, plain, utc, visible } from "../print.ts";
import { withProgress } from "../progress.ts";
import { asCommandError, type JournalSource, journalCommand, type SourceOptions, withSource } from "./source.ts";

/** `stagecoach list`: every rollout the journal knows, and how its last run stands. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = journalCommand("list", "Rollouts and how their last runs stand, from the journal in Git").addOption(
    outputOption("text", "wide", "json", "yaml"),
  );
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<SourceOptions & { output: "text" | "wide" | "json" | "yaml" }>();
  const { output } = options;
  return await withSource(options, async (source) => {
    const rollouts = await withProgress("reading the runs", async () => await listed(source));
    const asOf = (await source.asOf())?.at ?? Date.now();
    const head = await source.head();
    // The clock of a bot may be ahead of this one, as the demo's is: then it is at least as late as what it last wrote.
    const wrote = head === undefined ? 0 : ((await source.reader.commitInfo(head))?.at ?? 0);
    if (output === "json" || output === "yaml") process.stdout.write(formatData(rolloutList(rollouts, asOf), output));
    else
      process.stdout.write(
        rollouts.length === 0 ? NOTHING : `${table(rollouts, Math.max(Date.now(), wrote), output === "wide")}${notStarted(rollouts)}`,
      );
    return 0;
  });
}

const NOTHING = "No rollout is known to the bot yet: stagecoach lint checks those in rollouts/, and the App has to be installed.\n";

async function listed(source: JournalSource): Promise<ListedRollout[]> {
  const rollouts: ListedRollout[] = [];
  for (const [rollout, { lastRun, lastRelease, refused: told }] of (await source.index()).rollouts) {
    const refused = told === undefined ? undefined : refusedModel({ rollout, ...told });
    const idle = { rollout, release: releaseName(lastRelease), refused };
    if (lastRun === 0) {
      rollouts.push({ ...idle, state: "Adopted", says: "no run yet" });
      continue;
    }
    try {
      const found = await source.run(rollout, lastRun);
      if (found === undefined) throw new Error("its files are missing");
      const run = listedRun(modelOf(found, Date.now()));
      const { state, says, release } = run;
      rollouts.push({ rollout, state, says, release, number: lastRun, run, refused });
    } catch (error) {
      // One run that cannot be read hides no other.
      rollouts.push({ ...idle, state: "Unreadable", number: lastRun, says: errorText(asCommandError(error, 1)) });
    }
  }
  return rollouts;
}

/** Below the table: what is merged and goes nowhere. */
function notStarted(rollouts: readonly ListedRollout[]): string {
  const lines = rollouts.flatMap(({ refused }) => (refused === undefined ? [] : [refusedLine(refused)]));
  return lines.length === 0 ? "" : `\n${lines.map(visible).join("\n")}\n`;
}

/** `-` of what was written last by a bot whose clock is ahead of this one: how long ago that was nobody here can tell. */
function ageOf(since: string | undefined, now: number): string {
  return since === undefined || (now > Date.now() && epoch(since) >= now) ? "-" : shortAge(now - epoch(since));
}

function table(rollouts: readonly ListedRollout[], now: number, wide: boolean): string {
  const rows = rollouts.map(({ rollout, release, state, says, number, run }) => {
    const status = state === "Adopted" ? "○ Adopted" : run === undefined ? "⚠ Unreadable" : statusWord(run);
    const cells = [rollout, number === undefined ? "-" : `#${number}`, release, status, ageOf(run?.since, now)];
    if (wide)
      cells.push(
        run === undefined ? "-" : utc(run.startedAt, "minute"),
        run?.pull === undefined ? "-" : `#${run.pull}`,
        run?.author ?? "-",
      );
    return [...cells, says].map(plain);
  });
  const head = ["ROLLOUT", "RUN", "RELEASE", "STATUS", "AGE", ...(wide ? ["STARTED", "PULL", "BY"] : []), "WHY"];
  return fittedColumns([head, ...rows], wide ? undefined : columnsOf());
}
