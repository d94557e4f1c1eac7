import type { IndexEntry } from "../../../adapters/git/journal/port.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { planRollback } from "../../../core/run/outcome/rollback.ts";
import { startRollback } from "../../../core/run/start.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { releaseEdits } from "../../config-repo/release-place.ts";
import type { RepoContext } from "../context.ts";
import type { RepoMemory } from "../memory.ts";

export interface StartedRollback {
  entry: IndexEntry;
  run: Run;
  event: string;
}

/** The rollback that the last run of a rollout asks for, once it has ended: then all its PRs are observed closed or merged (docs/spec.md §9.17). */
export async function startRollbackOf(
  context: RepoContext,
  memory: RepoMemory,
  rollout: Rollout,
  entry: IndexEntry,
  before: Run | undefined,
  base: string,
  /** No release waits. Where one does, the release value is its own, and stays. */
  alone: boolean,
): Promise<StartedRollback | undefined> {
  const asked = before?.rollback;
  if (before === undefined || asked === undefined || !isEnded(before) || before.number !== entry.lastRun) return undefined;
  const back = planRollback(before, asked.to);
  if ("error" in back) {
    context.log.error({ rollout: rollout.name, run: before.number, why: back.error }, "a rollback cannot be planned");
    return undefined;
  }
  const values = back.plan.release.values;
  const restore = !alone
    ? []
    : ((await memory.commits.snapshot(base).with((files) => releaseEdits(rollout, values, (path) => files.read(path)))) ?? []);
  const number = entry.lastRun + 1;
  const now = context.clock.now();
  const run = startRollback({ of: before, back, number, asked, restore, now });
  return {
    // What is asked for stays asked for until the last batch puts it back: nothing is a new release meanwhile.
    entry: { ...entry, lastRun: number, ...(alone ? { cursor: base } : {}) },
    run,
    event: `${rollout.name} #${number}: rolls back #${before.number}: ${sentenceOf(asked.reason, before)}`,
  };
}

/**
 * Once a rollback is done, the release it went back to is the last one: the version it took back can be released again. That may have been
 * merged already, and what is merged after the rollback's own last commit is still to be looked at: between it and the commit before
 * the rollback no release value differs.
 */
export function afterRollback(entry: IndexEntry, before: Run | undefined, base: string): IndexEntry | undefined {
  if (before === undefined || before.kind !== "Rollback" || before.phase !== "RolledBack" || (before.restore ?? []).length === 0)
    return undefined;
  const restored = before.release.values;
  const same = Object.keys(restored).every((name) => entry.lastRelease[name] === restored[name]);
  const last = before.batches.findLast((batch) => batch.merged !== undefined)?.merged?.commit;
  return same ? undefined : { ...entry, lastRelease: { ...entry.lastRelease, ...restored }, cursor: last ?? base };
}

/** Merges of ours are never releases: the last of a rollback changes the release value, and starts nothing. */
export function isOwnMerge(before: Run | undefined, commit: string): boolean {
  return before?.batches.some((batch) => batch.merged?.commit === commit) ?? false;
}
