import { defined } from "../core/base/defined.ts";
import type { Cluster } from "../core/plan/plan-types.ts";
import type { Behaviour, Scenario } from "./generate/scenario.ts";
import { partsOf, windowOf } from "./world/fleet.ts";
import type { Setup } from "./world/world.ts";

const PROMPT: Behaviour = { lagMs: 1000, script: [] };

/** The world that a scenario describes. */
export function setupOf(scenario: Scenario): Setup {
  const fleets = scenario.rollouts.map((_, index) => partsOf(scenario, index));
  const clusters: readonly Cluster[] = fleets[0]?.clusters ?? [];
  return {
    seed: scenario.seed,
    chaos: scenario.chaos,
    queue: scenario.queue === true,
    rollouts: fleets.map(({ rollout: spec, targets }, index) =>
      defined({
        index,
        name: spec.name,
        spec,
        targets,
        model: scenario.rollouts[index],
      }),
    ),
    clusters,
    behaviourOf: ({ application }) => scenario.behaviours[application] ?? PROMPT,
    freezes: (scenario.freezes ?? []).map((model) => ({ ...windowOf(model), model })),
    limits: scenario.limits,
    outside: scenario.outside,
  };
}
