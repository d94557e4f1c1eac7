import type { Batch, BatchTarget, Run } from "../../../core/run/state/run.ts";
import type { Guard } from "../../../core/run/state/world.ts";
import type { RepoContext } from "../context.ts";
import { readAll } from "./refresh-read.ts";

/** Of those confirmed last: more reads would delay the merge past its intention. Older ones are listed anew from time to time. */
const MOST_READ = 200;
const ILL: ReadonlySet<string> = new Set(["Degraded", "Missing", "Unknown"]);

/**
 * Reads what the batches before this one have confirmed once more, right before it merges: what happened since they settled may
 * not have been told. False: one is not well any more or cannot be read, so the next round decides anew by what is known then.
 */
export async function mayFollow(context: RepoContext, run: Run, batch: Batch): Promise<boolean> {
  const targets = before(context, run, batch);
  const problem = await readAll(
    context,
    targets.map((target) => target.key),
  );
  const why = problem ?? illness(context, targets);
  if (why !== undefined) context.log.info({ rollout: run.rollout, batch: batch.number, why }, "not merged: what came before is not well");
  return why === undefined;
}

/** The guard of a batch as far as what was confirmed before it is well, by what is known now. */
export function guardFollowing(context: RepoContext, run: Run, batch: Batch, guard: Guard): Guard {
  const why = guard.ok ? illness(context, before(context, run, batch)) : undefined;
  return why === undefined ? guard : { ok: false, base: guard.base, at: guard.at, why, retry: true };
}

/** The last to be confirmed first. What puts clusters back, or is urgent, waits for nobody's health. */
function before({ planes }: RepoContext, run: Run, batch: Batch): BatchTarget[] {
  if (batch.kind === "Revert" || batch.kind === "Hotfix") return [];
  const found: BatchTarget[] = [];
  for (const one of [...run.batches].reverse()) {
    if (one.number === batch.number || one.merged === undefined || one.phase === "Closed") continue;
    for (const target of one.targets) {
      const isConfirmed = target.phase === "Healthy" || target.phase === "Baked";
      // A plane that is lost holds its own targets, and no others.
      if (isConfirmed && planes.get(planeNameOf(target))?.state().fresh === true) found.push(target);
      if (found.length >= MOST_READ) return found;
    }
  }
  return found;
}

const planeNameOf = ({ key }: BatchTarget) => key.slice(0, key.indexOf("/"));

function illness({ planes }: RepoContext, targets: readonly BatchTarget[]): string | undefined {
  for (const target of targets) {
    const [plane = "", namespace = "", name = ""] = target.key.split("/");
    const application = planes.get(plane)?.application(namespace, name);
    const status = application === undefined ? "gone" : application.status.health.status;
    if (status !== undefined && (application === undefined || ILL.has(status)))
      return `${name}, confirmed before, is ${status} now: it gets well or counts as failed first`;
  }
  return undefined;
}
