import { advance } from "../../core/run/advance.ts";
import { checkInvariants } from "../../core/run/state/invariants.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { World } from "../../core/run/state/world.ts";
import type { RepoContext } from "./context.ts";
import type { Decision } from "./decision.ts";
import type { RepoMemory } from "./memory.ts";
import type { CommandPlace } from "./observe/command-source.ts";
import { observe } from "./observe/observe.ts";
import { readHealth } from "./observe/observe-health.ts";

/** Looks at what one run depends on and has the core decide; what would violate an invariant is not decided. */
export async function decide(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
  places: readonly CommandPlace[],
  others: readonly Run[],
  base: string,
  baseBranch: string,
): Promise<Decision> {
  const commands = await context.commands.read(run.rollout, places);
  const { world: looked, remarks } = await observe(context, memory, { run, base, baseBranch, commands, others });
  const first = judge(context, run, looked, remarks);
  // What came before a merge is read by name only where nothing else stands against it: then it is decided again, by what was read.
  const { wantsHealth } = first.advanced;
  const judged =
    wantsHealth === undefined ? first : judge(context, run, await readHealth(context, memory.reader, looked, wantsHealth), remarks);
  const { world, now, advanced } = judged;
  const violations = checkInvariants(run, advanced.run, advanced.effects, world, now);
  if (violations.length > 0) {
    // A bug of ours: nothing is recorded and nothing done, and it is said loudly.
    context.log.error({ rollout: run.rollout, run: run.number, violations }, "an invariant would be violated; the run stands still");
    return { ...judged, advanced: { run, effects: [], change: "none", events: [] }, stoodStill: true };
  }
  return judged;
}

function judge({ clock }: RepoContext, before: Run, world: World, remarks: readonly string[]): Decision {
  const decidedAt = performance.now();
  const now = clock.now();
  return { decidedAt, now, before, world, remarks, advanced: advance(before, world, now) };
}
