import type { PlannedStage, PlannedTarget } from "../../../src/core/plan/plan-types.ts";
import { advance } from "../../../src/core/run/advance.ts";
import type { Run } from "../../../src/core/run/state/run.ts";
import type { Step } from "../../../src/core/spec/rollout.ts";
import { startAll } from "../../../src/simulate/world/start.ts";
import { blind, type Mutant, patched, without, withSpec, withStages } from "../plant.ts";

/** Weights, and clusters that come, go, cannot be reached or are put off. */
export const CLUSTER_MUTANTS: readonly Mutant[] = [
  { name: "weights do not grow", bug: { start: weighing((values) => [...values.slice(0, -1).reverse(), "100"]) }, by: /to weight/ },
  { name: "a weight is skipped", bug: { start: weighing((values) => values.map((_, at) => values[at + 1] ?? "100")) }, by: /to weight/ },
  {
    name: "the clusters of a batch are given different weights",
    bug: { start: weighing((values, target) => (target.cluster.endsWith("2") ? values.map(() => "100") : values)) },
    by: /to weight/,
  },
  {
    name: "a pause between weights is left out",
    bug: { advance: stepping((step) => (step.kind === "pause" ? [] : [step])) },
    by: /pause before its weight/,
  },
  {
    name: "a pause that lasts until it is promoted ends by itself",
    bug: { advance: stepping((step) => [step.kind === "pause" && step.durationMs === undefined ? { ...step, durationMs: 60_000 } : step]) },
    by: /ended by nobody/,
  },
  {
    name: "a pause between weights is shorter than it says",
    bug: { advance: stepping((step) => [step.kind === "pause" && step.durationMs !== undefined ? { ...step, durationMs: 1000 } : step]) },
    by: /before the pause before its weight was over/,
  },
  {
    name: "an analysis between weights is left out",
    bug: { advance: stepping((step) => (step.kind === "analysis" ? [] : [step])) },
    by: /the analysis .* never passed/,
  },
  {
    name: "joiners: Ignore takes them in",
    bug: { advance: withSpec((spec) => (spec.joiners === "Ignore" ? { ...spec, joiners: "Append" } : spec)) },
    by: /joined, and its policy is Ignore/,
  },
  {
    name: "joiners: Hold asks nobody",
    bug: { advance: withSpec((spec) => (spec.joiners === "Hold" ? { ...spec, joiners: "Append" } : spec)) },
    by: /nobody has said that it may/,
  },
  {
    name: "clusters that appear are not seen",
    bug: { advance: blind((world) => without(world, "joiners")) },
    by: /appeared and did not join|neither taken nor named/,
  },
  {
    name: "clusters that cannot be reached are tried all the same",
    bug: { advance: blind((world) => without(world, "unreachable")) },
    by: /which is to be in quarantine/,
  },
  {
    name: "what is stopped is tried all the same",
    bug: {
      advance: withSpec((spec) => (spec.quarantine === undefined ? spec : { ...spec, quarantine: without(spec.quarantine, "selector") })),
    },
    by: /which is to be in quarantine/,
  },
  {
    name: "any number of clusters may be in quarantine",
    bug: {
      advance: withSpec((spec) =>
        spec.quarantine === undefined ? spec : { ...spec, quarantine: { ...spec.quarantine, max: { count: 99 } } },
      ),
    },
    by: /in quarantine of \d+, and nobody was asked/,
    within: 6000,
  },
  {
    name: "what is back from quarantine is forgotten",
    bug: {
      advance: withSpec((spec) =>
        spec.quarantine === undefined ? spec : { ...spec, quarantine: { ...spec.quarantine, onReturn: "Skip" } },
      ),
    },
    by: /is back and was not caught up/,
    within: 6000,
  },
  {
    name: "what is put off keeps its new value",
    bug: { advance: unreverted },
    by: /put .* (?:off|back), and/,
  },
  {
    name: "what is put back is not what stood there before",
    bug: {
      advance: (run, world, now) =>
        patched(advance(run, world, now), (batch) =>
          batch.kind !== "Revert" || batch.phase !== "Proposing"
            ? batch
            : {
                ...batch,
                targets: batch.targets.map((target) => ({ ...target, edits: target.edits.map((edit) => ({ ...edit, to: "v0" })) })),
              },
        ),
    },
    by: /and .* is v0/,
  },
];

/** Runs begin with another plan of their weights than the resource says. */
function weighing(map: (values: string[], target: PlannedTarget) => string[]): typeof startAll {
  const target = (one: PlannedTarget): PlannedTarget => ({
    ...one,
    edits: one.edits.map((edit) => (edit.steps === undefined ? edit : { ...edit, steps: map(edit.steps, one) })),
  });
  const stage = (one: PlannedStage): PlannedStage => ({
    ...one,
    batches: one.batches.map((batch) => ({ ...batch, targets: batch.targets.map(target) })),
    requeuedTargets: one.requeuedTargets.map(target),
  });
  return (truth, entries, now) =>
    startAll(truth, entries, now).map((one) => {
      const { run } = one.entry;
      if (run === undefined || run.kind === "Rollback" || run.number === entries[one.index]?.run?.number) return one;
      return { ...one, entry: { ...one.entry, run: { ...run, plan: { ...run.plan, stages: run.plan.stages.map(stage) } } } };
    });
}

function stepping(map: (step: Step) => Step[]) {
  return withStages((stage) => (stage.steps === undefined ? stage : { ...stage, steps: stage.steps.flatMap(map) }));
}

/** The batch that puts it back is taken for done. */
function unreverted(...[run, world, now]: Parameters<typeof advance>): ReturnType<typeof advance> {
  const advanced = advance(run, world, now);
  const done = patched(advanced, (batch) =>
    batch.kind === "Revert" && batch.phase === "Proposing"
      ? {
          ...batch,
          phase: "Settled",
          settledAt: new Date(now).toISOString(),
          next: null,
          targets: batch.targets.map((target): Run["batches"][number]["targets"][number] => ({ ...target, phase: "RolledBack" })),
        }
      : batch,
  );
  const settled = new Set(done.run.batches.filter((batch) => batch.kind === "Revert").map((batch) => batch.number));
  return { ...done, effects: done.effects.filter((effect) => effect.kind !== "Propose" || !settled.has(effect.batch)) };
}
