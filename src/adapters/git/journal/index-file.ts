import { compareText } from "../../../core/base/compare-text.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { IndexEntry } from "./port.ts";
import { checkShape, JournalFileError, readDocument, refuseOtherFormat } from "./read-run.ts";
import { whyNoRollout } from "./run-paths.ts";
import { indexSchema } from "./run-schema.ts";
import { printYaml } from "./yaml-rows.ts";

export const INDEX_FILE = "index.yaml";
/** Of this file; runs have their own. */
const FORMAT = 1;

export interface Index {
  app: string;
  rollouts: ReadonlyMap<string, IndexEntry>;
}

/** `index.yaml`: the last run of each rollout, and whose journal this is. Rollouts by name, so that a diff shows one. */
export function printIndex(index: Index): string {
  const rollouts: Record<string, unknown> = {};
  for (const [name, entry] of [...index.rollouts].sort(([a], [b]) => compareText(a, b))) {
    const { lastRun, lastRelease, attempt, cursor, ...rest } = entry;
    rollouts[name] = { lastRun, lastRelease, attempt, cursor, ...rest };
  }
  return printYaml({ format: FORMAT, app: index.app, rollouts }, new Set());
}

/** Throws JournalFileError. A rollout's name that could not be a path is refused here, once for all. */
export function parseIndex(text: string | undefined): Index {
  const document = readDocument(text, INDEX_FILE);
  refuseOtherFormat(document, INDEX_FILE, FORMAT);
  const { app, rollouts } = checkShape(indexSchema, document, INDEX_FILE);
  for (const name of Object.keys(rollouts)) {
    const said = whyNoRollout(name);
    if (said !== undefined) throw new JournalFileError(INDEX_FILE, { code: "JOURNAL_UNREADABLE", said });
  }
  return { app, rollouts: new Map(Object.entries(rollouts)) };
}

/** The entries of `given` over those of before. A run that is recorded is never missing from the index. */
export function mergeIndex(
  before: ReadonlyMap<string, IndexEntry>,
  given: ReadonlyMap<string, IndexEntry> | undefined,
  runs: readonly Run[],
): Map<string, IndexEntry> {
  const merged = new Map([...before, ...(given ?? [])]);
  for (const run of runs) {
    const entry = merged.get(run.rollout);
    if (entry === undefined) {
      const { values, attempt } = run.release;
      merged.set(run.rollout, { lastRun: run.number, lastRelease: values, attempt, cursor: run.trigger.commit });
    } else if (entry.lastRun < run.number) {
      merged.set(run.rollout, { ...entry, lastRun: run.number });
    }
  }
  return merged;
}
