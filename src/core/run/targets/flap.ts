import type { AnyReason } from "../../base/reason.ts";
import { epoch, iso, type Time } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { type Draft, touchTarget, wakeAt } from "../state/draft.ts";
import type { BatchTarget } from "../state/run.ts";

/**
 * A baking target is not healthy: with `flap`, a dip that is short and one of few is ignored. Returns the target while that
 * is so; undefined: the dip counts.
 */
export function ignoreDip(draft: Draft, target: BatchTarget, sentence: AnyReason): BatchTarget | undefined {
  const { flap } = draft.run.spec;
  if (flap === undefined) return undefined;
  const dippedAt = target.dippedAt ?? draft.at;
  const over = epoch(dippedAt) + flap.ignoreMs;
  if (draft.now >= over || recent(draft, target, flap.windowMs).length >= flap.most) return undefined;
  wakeAt(draft, over);
  return touchTarget(target, { dippedAt, why: runReason("FLAP_IGNORED", { until: iso(over), because: sentence }) });
}

/** The dip is over: it is one of those counted in the window. */
export function endDip(draft: Draft, target: BatchTarget): BatchTarget {
  const { flap } = draft.run.spec;
  if (flap === undefined || target.dippedAt === undefined) return target;
  return touchTarget(target, { dippedAt: undefined, dips: [...recent(draft, target, flap.windowMs), target.dippedAt] });
}

function recent(draft: Draft, target: BatchTarget, windowMs: number): Time[] {
  return (target.dips ?? []).filter((time) => epoch(time) > draft.now - windowMs);
}
