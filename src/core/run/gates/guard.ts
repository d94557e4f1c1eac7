import { epoch } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { pullRef } from "../state/names.ts";
import type { Batch } from "../state/run.ts";
import type { ObservedPull } from "../state/world.ts";
import { type Decision, type Scene, wait } from "./decision.ts";

/** How old a guard's answer may be. */
const GUARD_MS = 60_000;
/** How soon one that is missing is looked for. */
const AGAIN_MS = 2_000;

/** docs/spec.md §9.4: nothing would be deleted, renamed or moved, judged on this very base. */
export function guardGate({ world, now }: Scene, batch: Batch, observed: ObservedPull): Decision | undefined {
  const pull = pullRef(observed);
  const guard = world.guards.get(batch.number);
  const next = { what: runReason("NEXT_GUARD") };
  if (guard === undefined || guard.base !== world.base.commit || Math.abs(now - epoch(guard.at)) >= GUARD_MS)
    return wait(runReason("GUARD_PENDING", { pull }), next, now + AGAIN_MS);
  if (guard.ok) return undefined;
  const because = guard.why;
  const why = runReason("NOT_MERGED_YET", { pull, because });
  if (guard.retry) return wait(why, next);
  const reason = runReason("GUARD_REFUSES", { pull, because });
  return { kind: "pause", closing: because, reason, ask: runReason("ASK_GUARD"), why, next };
}
