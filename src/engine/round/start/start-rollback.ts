import type { IndexEntry } from "../../../adapters/git/journal/port.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { planRollback } from "../../../core/run/outcome/rollback.ts";
import { startRollback } from "../../../core/run/start.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { releaseEdits } from "../../config-repo/release-place.ts";
import type { RepoContext } from "../context.ts";
import type { StartedRun } from "./started.ts";

/**
 * The rollback that the last run of a rollout asks for, once it has ended: then all its PRs are observed closed or merged (docs/spec.md §9.17).
 * `alone`: no release waits. Where one does, the release value is its own, and stays.
 */
export async function startRollbackOf(
  { clock, log }: Pick<RepoContext, "clock" | "log">,
  commits: Commits,
  { rollout, entry, before, base, alone }: { rollout: Rollout; entry: IndexEntry; before: Run | undefined; base: string; alone: boolean },
): Promise<StartedRun | undefined> {
  const asked = before?.rollback;
  if (before === undefined || asked === undefined || !isEnded(before) || before.number !== entry.lastRun) return undefined;
  const back = planRollback(before, asked.to);
  if ("error" in back) {
    log.error({ rollout: rollout.name, run: before.number, why: back.error }, "a rollback cannot be planned");
    return undefined;
  }
  const { values } = back.plan.release;
  // Where nothing is committed, what is asked for stays in its file.
  const writes = rollout.delivery.strategy !== "Commit";
  const edits =
    alone && writes ? await commits.snapshot(base).with((files) => releaseEdits(rollout, values, (path) => files.read(path))) : [];
  const number = entry.lastRun + 1;
  return {
    // What is asked for stays asked for until the last batch puts it back: nothing is a new release meanwhile.
    entry: { ...entry, lastRun: number, cursor: alone ? base : entry.cursor },
    run: startRollback({ of: before, back, number, asked, restore: edits ?? [], now: clock.now() }),
    events: [{ run: number, reason: engineReason("RUN_ROLLS_BACK", { run: before.number, because: asked.reason }) }],
    waiting: false,
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
