import type { AnyReason } from "../../core/base/reason.ts";
import { advance } from "../../core/run/advance.ts";
import { checkInvariants } from "../../core/run/state/invariants.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { Advanced, World } from "../../core/run/state/world.ts";
import type { RepoContext } from "./context.ts";
import type { TargetReader } from "./guard/reread.ts";
import type { CommandPlace } from "./observe/command-source.ts";
import type { Observe } from "./observe/observe.ts";
import { readHealth } from "./observe/observe-health.ts";

/** What one round found out about one run, and what it decided. */
export interface Decision {
  /** Wall milliseconds (performance.now) when the round decided. */
  decidedAt: number;
  /** The bot's time at that moment. */
  now: number;
  before: Run;
  world: World;
  /** What people are told of it on the run's page beside its own words. */
  remarks: readonly AnyReason[];
  advanced: Advanced<Run>;
  /** A bug of ours kept it from being judged. */
  stoodStill?: true;
}

/** Looks at what one run depends on and has the core decide; what would violate an invariant is not decided. */
export type Decide = (
  run: Run,
  places: readonly CommandPlace[],
  others: readonly Run[],
  base: string,
  baseBranch: string,
) => Promise<Decision>;

type Context = Pick<RepoContext, "commands" | "clock" | "log" | "planes">;

export function openDecider({ commands: source, clock, log, planes }: Context, observe: Observe, reader: TargetReader): Decide {
  function judge(before: Run, world: World, remarks: readonly AnyReason[]): Decision {
    const decidedAt = performance.now();
    const now = clock.now();
    return { decidedAt, now, before, world, remarks, advanced: advance(before, world, now) };
  }

  return async (run, places, others, base, baseBranch) => {
    const commands = await source.read(run.rollout, places, { late: true });
    const { world: looked, remarks } = await observe({ run, base, baseBranch, commands, others });
    const first = judge(run, looked, remarks);
    // What came before a merge is read by name only where nothing else stands against it: then it is decided again, by what was read.
    const { wantsHealth } = first.advanced;
    const judged = wantsHealth === undefined ? first : judge(run, await readHealth(planes, reader, looked, wantsHealth), remarks);
    const { world, now, advanced } = judged;
    const violations = checkInvariants(run, advanced.run, advanced.effects, world, now);
    if (violations.length === 0) return judged;
    // A bug of ours: nothing is recorded and nothing done, and it is said loudly.
    log.error({ rollout: run.rollout, run: run.number, violations }, "an invariant would be violated; the run stands still");
    return { ...judged, advanced: { run, effects: [], change: "none", events: [] }, stoodStill: true };
  };
}
