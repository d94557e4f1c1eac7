/** The last run of each rollout of an index, read one by one: one that cannot be used stops alone. */
import type { Run } from "../../../core/run/state/run.ts";
import { GitError } from "../port.ts";
import type { Broken, IndexEntry } from "./port.ts";
import type { RunFiles } from "./print-run.ts";
import { JournalFileError, type ReadTexts, readRun } from "./read-run.ts";
import { runDirectory, runName } from "./run-paths.ts";

interface LastRuns {
  /** By `ROLLOUT#NUMBER`. */
  files: Map<string, RunFiles>;
  /** By rollout. */
  runs: Map<string, Run>;
  broken: Map<string, Broken>;
}

/** `prior`: by `ROLLOUT#NUMBER`, what was read before; files with the same text give the same objects. */
export async function readLastRuns(
  read: ReadTexts,
  rollouts: Iterable<readonly [string, Pick<IndexEntry, "lastRun">]>,
  prior: { get(name: string): RunFiles | undefined } | undefined,
): Promise<LastRuns> {
  const files = new Map<string, RunFiles>();
  const runs = new Map<string, Run>();
  const broken = new Map<string, Broken>();
  for (const [rollout, { lastRun }] of rollouts) {
    if (lastRun === 0) continue;
    const name = runName(rollout, lastRun);
    try {
      const found = await readRun(read, rollout, lastRun, prior?.get(name));
      if (found === undefined) throw new JournalFileError(runDirectory(rollout, lastRun), { code: "JOURNAL_NO_FILE", indexed: true });
      files.set(name, found);
      runs.set(rollout, found.run);
    } catch (error) {
      if (error instanceof JournalFileError) broken.set(rollout, { run: lastRun, file: error.file, why: error.reason });
      else if (error instanceof GitError && error.kind !== "Unavailable")
        broken.set(rollout, { run: lastRun, file: runDirectory(rollout, lastRun), why: error.message });
      else throw error;
    }
  }
  return { files, runs, broken };
}
