import { iso } from "../../src/core/base/time.ts";
import { advance } from "../../src/core/run/advance.ts";
import type { Batch, Run } from "../../src/core/run/state/run.ts";
import type { Advanced, Assessment, Effect, ObservedTarget, World } from "../../src/core/run/state/world.ts";
import type { Rollout, Stage } from "../../src/core/spec/rollout.ts";
import type { DriveOptions } from "../../src/simulate/driver.ts";
import type { Advance } from "../../src/simulate/truth/moment.ts";

/** A bug, by what it stands for. It is found within so many seeds (3,000), by a message that matches. */
export interface Mutant {
  name: string;
  bug: Pick<DriveOptions, "advance" | "start" | "gates">;
  within?: number;
  by?: RegExp;
}

/** The machine is shown another world than the one there is. */
export function blind(change: (world: World, run: Run, now: number) => World): Advance {
  return (run, world, now) => advance(run, change(world, run, now), now);
}

/** It reads another resource than the one the run was started with. */
export function withSpec(change: (spec: Rollout, run: Run) => Rollout): Advance {
  return withRun((run) => ({ ...run, spec: change(run.spec, run) }));
}

export function withStages(change: (stage: Stage, run: Run) => Stage): Advance {
  return withSpec((spec, run) => ({ ...spec, stages: spec.stages.map((stage) => change(stage, run)) }));
}

/** It reads another run than the journal holds; what is frozen goes back to what it was. */
export function withRun(change: (run: Run) => Run): Advance {
  return (run, world, now) => {
    const advanced = advance(change(run), world, now);
    return { ...advanced, run: { ...advanced.run, spec: run.spec, plan: run.plan, trigger: run.trigger } };
  };
}

export function withPlan(change: (plan: Run["plan"]) => Run["plan"]): Advance {
  const plans = new WeakMap<Run["plan"], Run["plan"]>();
  return withRun((run) => {
    const plan = plans.get(run.plan) ?? change(run.plan);
    plans.set(run.plan, plan);
    return { ...run, plan };
  });
}

/** Some of what it wants is never done. `run`: as it was before. */
export function withoutEffects(drop: (effect: Effect, run: Run) => boolean): Advance {
  return (run, world, now) => {
    const advanced = advance(run, world, now);
    return { ...advanced, effects: advanced.effects.filter((effect) => !drop(effect, run)) };
  };
}

/** What it says afterwards is another thing. */
export function patched(advanced: Advanced<Run>, map: (batch: Batch) => Batch): Advanced<Run> {
  return { ...advanced, run: { ...advanced.run, batches: advanced.run.batches.map(map) } };
}

export function live(assessment: Assessment, now: number): Assessment {
  const evidence = { ...assessment.evidence, verdict: "live" as const, clause: "all", readAt: iso(now) };
  return { ...assessment, verdict: "live", clause: "all", firstSeenAt: assessment.firstSeenAt ?? iso(now), evidence };
}

export function mapped(targets: World["targets"], map: (one: ObservedTarget, key: string) => ObservedTarget): World["targets"] {
  return new Map([...targets].map(([key, one]) => [key, map(one, key)]));
}

export function seeing(world: World, map: (one: Assessment) => Assessment): World {
  const targets = mapped(world.targets, (one) => (one.assessment === undefined ? one : { ...one, assessment: map(one.assessment) }));
  return { ...world, targets };
}

/** The runs of the other rollouts are shown as other than they are. */
export function others(world: World, change: (run: Run) => Run): World {
  return world.others === undefined ? world : { ...world, others: world.others.map(change) };
}

/** Without one key. */
export function without<T extends object, K extends keyof T>(value: T, key: K): T {
  const { [key]: _, ...rest } = value;
  return rest as T;
}
