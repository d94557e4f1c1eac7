import { BoundedMap } from "../../../core/base/bounded.ts";
import { epoch, type Time } from "../../../core/base/time.ts";
import type { PromotableWait } from "../../../core/run/state/promotable-types.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { World } from "../../../core/run/state/world.ts";

const MOST_KEPT = 1000;

/** The waits that each run's page shows, as this process last edited it: `/promote` ends none that nobody could read of. */
export interface ShownWaits {
  note(run: Run, waits: readonly PromotableWait[], at: Time): void;
  of(run: Run): World["shown"];
}

export function openShownWaits(): ShownWaits {
  const kept = new BoundedMap<string, NonNullable<World["shown"]>>(MOST_KEPT);
  const keyOf = ({ rollout, number }: Run) => `${rollout} #${number}`;
  return {
    note(run, waits, at) {
      const before = kept.get(keyOf(run));
      if (before === undefined || epoch(before.at) <= epoch(at)) kept.set(keyOf(run), { waits, at });
    },
    of: (run) => kept.get(keyOf(run)),
  };
}
