import { epoch, iso } from "../../../core/base/time.ts";
import { type RefusedModel, refusedModel } from "../../../core/report/model/refused.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { refusedLine } from "../../../core/report/refused.ts";
import { statusWord } from "../../../core/report/tree/tree.ts";
import { shortAge } from "../../../core/report/tree/tree-marks.ts";
import { releaseName } from "../../../core/report/words.ts";
import type { RunPhase } from "../../../core/run/state/run.ts";
import { errorText, outputOption, parseArgs } from "../args.ts";
import { fittedColumns, plain, printed, utc, visible } from "../print.ts";
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
    const asOf = iso((await source.asOf())?.at ?? Date.now());
    const head = await source.head();
    // The clock of a bot may be ahead of this one, as the demo's is: then it is at least as late as what it last wrote.
    const wrote = head === undefined ? 0 : ((await source.reader.commitInfo(head))?.at ?? 0);
    if (output === "json" || output === "yaml") process.stdout.write(printed({ rollouts, asOf }, output));
    else
      process.stdout.write(
        rollouts.length === 0 ? NOTHING : `${table(rollouts, Math.max(Date.now(), wrote), output === "wide")}${notStarted(rollouts)}`,
      );
    return 0;
  });
}

const NOTHING = "No rollout is known to the bot yet: stagecoach lint checks those in rollouts/, and the App has to be installed.\n";

interface ListedRollout {
  rollout: string;
  run: number;
  release: string;
  phase: RunPhase | "Adopted" | "Unreadable";
  since: string | null;
  why: string;
  startedAt: string | null;
  /** The release PR. */
  pull: number | null;
  by: string | null;
  /** A release that was merged since and started no run. */
  refused: RefusedModel | null;
}

async function listed(source: JournalSource): Promise<ListedRollout[]> {
  const rollouts: ListedRollout[] = [];
  for (const [rollout, { lastRun, lastRelease, refused: told }] of (await source.index()).rollouts) {
    const refused = told === undefined ? null : refusedModel({ rollout, ...told });
    const idle = { rollout, run: lastRun, release: releaseName(lastRelease), since: null, startedAt: null, pull: null, by: null, refused };
    if (lastRun === 0) {
      rollouts.push({ ...idle, phase: "Adopted", why: "no run yet" });
      continue;
    }
    try {
      const found = await source.run(rollout, lastRun);
      if (found === undefined) throw new Error("its files are missing");
      const { phase, since, why, release, startedAt, trigger } = found;
      const { author: by, pull = null } = trigger;
      const words = { release: releaseName(release.values), why: sentenceOf(why, found) };
      rollouts.push({ rollout, run: lastRun, ...words, phase, since, startedAt, pull, by, refused });
    } catch (error) {
      // One run that cannot be read hides no other.
      const told = asCommandError(error, 1);
      rollouts.push({ ...idle, phase: "Unreadable", why: errorText(told) });
    }
  }
  return rollouts;
}

/** Below the table: what is merged and goes nowhere. */
function notStarted(rollouts: readonly ListedRollout[]): string {
  const lines = rollouts.flatMap(({ refused }) => (refused === null ? [] : [refusedLine(refused)]));
  return lines.length === 0 ? "" : `\n${lines.map(visible).join("\n")}\n`;
}

/** `-` of what was written last by a bot whose clock is ahead of this one: how long ago that was nobody here can tell. */
function ageOf(since: string | null, now: number): string {
  return since === null || (now > Date.now() && epoch(since) >= now) ? "-" : shortAge(now - epoch(since));
}

function table(rollouts: readonly ListedRollout[], now: number, wide: boolean): string {
  const rows = rollouts.map(({ rollout, run, release, phase, since, why, startedAt, pull, by }) => {
    const status = phase === "Adopted" ? "○ Adopted" : phase === "Unreadable" ? "⚠ Unreadable" : statusWord({ phase });
    const cells = [rollout, run === 0 ? "-" : `#${run}`, release, status, ageOf(since, now)];
    if (wide) cells.push(startedAt === null ? "-" : utc(startedAt, "minute"), pull === null ? "-" : `#${pull}`, by ?? "-");
    return [...cells, why].map(plain);
  });
  const head = ["ROLLOUT", "RUN", "RELEASE", "STATUS", "AGE", ...(wide ? ["STARTED", "PULL", "BY"] : []), "WHY"];
  return fittedColumns([head, ...rows], wide ? undefined : process.stdout.columns);
}
