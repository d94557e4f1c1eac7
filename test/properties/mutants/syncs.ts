import { hasCode } from "../../../src/core/base/reason.ts";
import { advance } from "../../../src/core/run/advance.ts";
import type { Run } from "../../../src/core/run/state/run.ts";
import type { Advanced, Effect, World } from "../../../src/core/run/state/world.ts";
import { blind, live, type Mutant, seeing, withStages } from "../plant.ts";

/** Applications without automated sync. */
export const SYNC_MUTANTS: readonly Mutant[] = [
  {
    name: "a sync is asked for of another revision than the batch's",
    bug: { advance: (run, world, now) => asking(advance(run, world, now), (one) => [{ ...one, commit: world.base.commit }]) },
    by: /which (?:is no change of it|no batch of it)/,
  },
  {
    name: "a sync is asked for of the release's own commit",
    bug: { advance: (run, world, now) => asking(advance(run, world, now), (one) => [{ ...one, commit: run.trigger.commit }]) },
    by: /which is no change of it/,
  },
  {
    name: "what waits for a sync passes without it",
    bug: { advance: blind((world, _run, now) => seeing(world, (one) => (one.sync === undefined ? one : live(one, now)))) },
    by: /is taken as confirmed/,
  },
  {
    name: "sync: Wait asks all the same",
    bug: { advance: withStages((stage) => (stage.sync === "Wait" ? { ...stage, sync: "Request" } : stage)) },
    by: /leaves that to people/,
  },
  { name: "syncs are asked for though they are held", bug: { advance: unheld }, by: /pause was answered|halt of its cluster|invariant 6/ },
];

function asking(advanced: Advanced<Run>, map: (effect: Extract<Effect, { kind: "Sync" }>) => Effect[]): Advanced<Run> {
  return { ...advanced, effects: advanced.effects.flatMap((effect) => (effect.kind === "Sync" ? map(effect) : [effect])) };
}

function unheld(run: Run, world: World, now: number): Advanced<Run> {
  const advanced = advance(run, world, now);
  const held = advanced.run.batches.flatMap(({ merged, targets }) =>
    targets.flatMap(({ key, why }): Effect[] =>
      merged !== undefined && hasCode(why, "SYNC_HELD") ? [{ kind: "Sync", target: key, commit: merged.commit }] : [],
    ),
  );
  return { ...advanced, effects: [...advanced.effects, ...held] };
}
