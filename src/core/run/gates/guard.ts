import { epoch } from "../../base/time.ts";
import { gateReason } from "../../reasons/gates.ts";
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
  const next = { what: gateReason("NEXT_GUARD") };
  if (guard === undefined || guard.base !== world.base.commit || now - epoch(guard.at) >= GUARD_MS)
    return wait(gateReason("GUARD_PENDING", { pull }), next, now + AGAIN_MS);
  if (guard.ok) return undefined;
  const why = gateReason("NOT_MERGED_YET", { pull, because: guard.why });
  if (guard.retry) return wait(why, next);
  const reason = gateReason("GUARD_REFUSES", { pull, because: guard.why });
  return { kind: "pause", closing: guard.why, reason, ask: gateReason("ASK_GUARD"), why, next };
}
