import { advance } from "../../../src/core/run/advance.ts";
import type { ObservedAnalysis } from "../../../src/core/run/state/analysis-types.ts";
import type { HookAnswer } from "../../../src/core/run/state/hooks-types.ts";
import type { Batch, Run } from "../../../src/core/run/state/run.ts";
import type { World } from "../../../src/core/run/state/world.ts";
import { blind, type Mutant, without, withoutEffects, withStages } from "../plant.ts";

/** What is measured, and who is asked. */
export const OUTSIDE_MUTANTS: readonly Mutant[] = [
  {
    name: "analyses are left out",
    bug: { advance: withStages((stage) => without(stage, "analysis")) },
    by: /the analysis .* never passed/,
  },
  { name: "a failed analysis counts as passed", bug: { advance: measured((one) => taken(one, "Failed")) }, by: /never passed/ },
  {
    name: "an inconclusive analysis counts as passed",
    bug: { advance: measured((one) => taken(one, "Inconclusive")) },
    by: /never passed/,
  },
  {
    name: "an analysis that could not be measured counts as passed",
    bug: { advance: measured((one) => taken(one, "Error")) },
    by: /never passed/,
  },
  {
    name: "an analysis that is under way counts as passed",
    bug: { advance: measured((one) => taken(one, "Running")) },
    by: /never passed/,
  },
  { name: "what was measured before an unhealthy moment counts", bug: { advance: unhurried }, by: /never passed since/, within: 6000 },
  {
    name: "measurements that a crash lost are not begun again",
    bug: { advance: withoutEffects((effect, run) => effect.kind === "StartAnalysis" && isKnown(run, effect.analysis)) },
    by: /hangs|never ends/,
  },
  {
    name: "hooks are not asked",
    bug: { advance: withStages((stage) => without(stage, "hooks")) },
    by: /the hook .* never said|no hook was told/,
  },
  { name: "a hook that holds is taken to agree", bug: { advance: answered((one) => agreeing(one, "hold")) }, by: /the hook .* never said/ },
  {
    name: "a hook that fails the run is taken to agree",
    bug: { advance: answered((one) => agreeing(one, "fail")) },
    by: /the hook .* never said/,
  },
  {
    name: "a hook without an answer is taken to agree",
    bug: { advance: answered((one) => agreeing(one, "error")) },
    by: /the hook .* never said/,
  },
  {
    name: "hooks are not told what failed",
    bug: {
      advance: withStages((stage) => (stage.hooks === undefined ? stage : { ...stage, hooks: { ...stage.hooks, onFailure: [] } })),
    },
    by: /no hook was told/,
  },
];

function measured(map: (one: ObservedAnalysis) => ObservedAnalysis) {
  return blind((world) =>
    world.analyses === undefined ? world : { ...world, analyses: new Map([...world.analyses].map(([id, one]) => [id, map(one)])) },
  );
}

function taken(one: ObservedAnalysis, phase: ObservedAnalysis["phase"]): ObservedAnalysis {
  return one.phase === phase ? { ...one, phase: "Successful" } : one;
}

function answered(map: (one: HookAnswer) => HookAnswer) {
  return blind((world: World) =>
    world.hooks === undefined ? world : { ...world, hooks: new Map([...world.hooks].map(([key, one]) => [key, map(one)])) },
  );
}

function agreeing(one: HookAnswer, kind: HookAnswer["kind"]): HookAnswer {
  return one.kind === kind ? { kind: "go", message: "" } : one;
}

function isKnown(run: Run, id: string): boolean {
  return [...(run.analyses ?? []), ...run.batches.flatMap((batch) => batch.analyses ?? [])].some((one) => one.id === id);
}

/** As if it had begun just now, whatever happened since. */
function unhurried(...[run, world, now]: Parameters<typeof advance>): ReturnType<typeof advance> {
  const fresh = ({ analyses, ...batch }: Batch): Batch =>
    analyses === undefined ? batch : { ...batch, analyses: analyses.map((one) => ({ ...one, startedAt: new Date(now).toISOString() })) };
  return advance({ ...run, batches: run.batches.map(fresh) }, world, now);
}
