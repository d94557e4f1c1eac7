import { epoch } from "../../../core/base/time.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { statusWord } from "../../../core/report/tree/tree.ts";
import { shortAge } from "../../../core/report/tree/tree-marks.ts";
import { releaseName } from "../../../core/report/words.ts";
import type { RunPhase } from "../../../core/run/state/run.ts";
import { errorText, outputOption, parseArgs } from "../args.ts";
import { columns, json, plain } from "../print.ts";
import { type JournalSource, journalCommand, type SourceOptions, withSource } from "./source.ts";

/** `stagecoach list`: every rollout the journal knows, and how its last run stands. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = journalCommand("list", "Rollouts and how their last runs stand, from the journal in Git").addOption(
    outputOption("text", "json"),
  );
  if (parseArgs(command, argv) === undefined) return 0;
  const options = command.opts<SourceOptions & { output: "text" | "json" }>();
  return await withSource(options, async (source) => {
    const rollouts = await listed(source);
    if (options.output === "json") process.stdout.write(json({ rollouts }));
    else process.stdout.write(rollouts.length === 0 ? "The journal has no rollouts yet.\n" : table(rollouts, Date.now()));
    return 0;
  });
}

interface ListedRollout {
  rollout: string;
  run: number;
  release: string;
  phase: RunPhase | "Adopted" | "Unreadable";
  since: string | null;
  why: string;
}

async function listed(source: JournalSource): Promise<ListedRollout[]> {
  const rollouts: ListedRollout[] = [];
  for (const [rollout, { lastRun, lastRelease }] of (await source.index()).rollouts) {
    const idle = { rollout, run: lastRun, release: releaseName(lastRelease), since: null };
    if (lastRun === 0) {
      rollouts.push({ ...idle, phase: "Adopted", why: "no run yet" });
      continue;
    }
    try {
      const found = await source.run(rollout, lastRun);
      if (found === undefined) throw new Error("its files are missing");
      const { phase, since, why, release } = found;
      rollouts.push({ rollout, run: lastRun, release: releaseName(release.values), phase, since, why: sentenceOf(why) });
    } catch (error) {
      // One run that cannot be read hides no other.
      rollouts.push({ ...idle, phase: "Unreadable", why: errorText(error) });
    }
  }
  return rollouts;
}

function table(rollouts: readonly ListedRollout[], now: number): string {
  const rows = rollouts.map(({ rollout, run, release, phase, since, why }) => {
    const status = phase === "Adopted" ? "○ Adopted" : phase === "Unreadable" ? "⚠ Unreadable" : statusWord({ phase });
    return [rollout, run === 0 ? "-" : `#${run}`, release, status, since === null ? "-" : shortAge(now - epoch(since)), plain(why)];
  });
  return columns([["ROLLOUT", "RUN", "RELEASE", "STATUS", "AGE", "WHY"], ...rows]);
}
