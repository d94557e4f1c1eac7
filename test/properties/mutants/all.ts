import { advance } from "../../../src/core/run/advance.ts";
import type { Batch, Run } from "../../../src/core/run/state/run.ts";
import type { Advanced, World } from "../../../src/core/run/state/world.ts";
import { blind, live, type Mutant, mapped, patched, seeing, withPlan, withSpec } from "../plant.ts";
import { AHEAD_MUTANTS } from "./ahead.ts";
import { CLUSTER_MUTANTS } from "./clusters.ts";
import { GATE_MUTANTS } from "./gates.ts";
import { OUTSIDE_MUTANTS } from "./outside.ts";
import { RUN_MUTANTS } from "./runs.ts";
import { SYNC_MUTANTS } from "./syncs.ts";
import { WINDOW_MUTANTS } from "./windows.ts";

const CORE_MUTANTS: readonly Mutant[] = [
  { name: "health is not waited for", bug: { advance: blind((world, _run, now) => seeing(world, (one) => live(one, now))) } },
  {
    name: "the settle time is left out: a healthy flash counts",
    bug: { advance: blind((world, _run, now) => seeing(world, (one) => (one.clause === "settled" ? live(one, now) : one))) },
  },
  {
    name: "stale reads count: pending for staleness is taken as live",
    bug: { advance: blind((world, _run, now) => seeing(world, (one) => (one.clause === "compared" ? live(one, now) : one))) },
  },
  {
    name: "a lost cluster counts as healthy",
    bug: { advance: blind((world, _run, now) => seeing(world, (one) => (one.verdict === "lost" ? live(one, now) : one))) },
  },
  {
    name: "permissions are not looked at",
    bug: { advance: blind((world) => ({ ...world, commands: world.commands.map((one) => ({ ...one, permission: "admin" as const })) })) },
  },
  { name: "a pause is not honoured", bug: { advance: (run, world, now) => advance(unpaused(run), world, now) } },
  {
    name: "the window of a stage is not kept",
    bug: {
      advance: withPlan((plan) => ({ ...plan, stages: plan.stages.map((stage) => ({ ...stage, maxUnavailable: 99 })) })),
    },
  },
  {
    name: "failures are not counted",
    bug: { advance: withSpec((spec) => ({ ...spec, onFailure: { ...spec.onFailure, maxFailures: { count: 99 } } })) },
  },
  {
    name: "a merge is tried before its intention is journalled",
    bug: { advance: (run, world, now) => patched(advance(run, world, now), ({ intention: _, ...batch }) => batch) },
  },
  {
    name: "the evidence of a confirmation is not stored",
    bug: { advance: (run, world, now) => patched(advance(run, world, now), withoutEvidence) },
  },
  { name: "a run does not say what comes next", bug: { advance: silent } },
  { name: "an effect is tried only once", bug: { advance: forgetful } },
  {
    name: "drift of what has moved is not looked at",
    bug: { advance: (run, world, now) => advance(run, { ...world, targets: undrifted(run, world) }, now) },
  },
  {
    name: "a commit gone from the history is not looked at",
    bug: {
      advance: blind((world) => ({
        ...world,
        targets: mapped(world.targets, (one) => (one.inHistory === false ? { ...one, inHistory: true } : one)),
      })),
    },
  },
  { name: "commands are handled again and again", bug: { advance: amnesiac } },
  { name: "an aborted or superseded run goes on", bug: { advance: unending } },
];

/** Bugs planted around the state machine: each stands for a guard somebody might drop, and the suite has to notice. */
export const MUTANTS: readonly Mutant[] = [
  ...CORE_MUTANTS,
  ...GATE_MUTANTS,
  ...WINDOW_MUTANTS,
  ...RUN_MUTANTS,
  ...OUTSIDE_MUTANTS,
  ...CLUSTER_MUTANTS,
  ...AHEAD_MUTANTS,
  ...SYNC_MUTANTS,
];

function undrifted(run: Run, world: World): World["targets"] {
  const moved = new Map<string, string[]>();
  for (const batch of run.batches) {
    if (batch.merged === undefined) continue;
    for (const target of batch.targets)
      moved.set(
        target.key,
        target.edits.map((edit) => edit.to),
      );
  }
  return mapped(world.targets, (one, key) => {
    const pins = moved.get(key);
    const { changedBy: _, ...assessment } = one.assessment ?? { verdict: "pending" as const };
    const seen = one.assessment === undefined ? one : { ...one, assessment: { ...one.assessment, ...assessment } };
    return pins === undefined || one.pins === undefined ? one : { ...seen, pins };
  });
}

function unpaused(run: Run): Run {
  if (run.phase !== "Paused" || run.ending !== undefined) return run;
  const { paused: _, ...rest } = run;
  return { ...rest, phase: run.kind === "Rollback" ? "RollingBack" : "Progressing" };
}

function unending(run: Run, world: World, now: number): Advanced<Run> {
  if (run.ending === undefined) return advance(run, world, now);
  const { paused: _, ending: __, ...rest } = run;
  return advance({ ...rest, phase: "Progressing" }, { ...world, commands: world.commands.filter(({ name }) => name !== "abort") }, now);
}

function withoutEvidence(batch: Batch): Batch {
  return { ...batch, targets: batch.targets.map(({ evidence: _, ...target }) => target) };
}

function silent(run: Run, world: World, now: number): Advanced<Run> {
  const advanced = advance(run, world, now);
  return { ...advanced, run: { ...advanced.run, next: null } };
}

function isAskedFor(why: Batch["why"]): boolean {
  return (
    typeof why === "object" && why.code === "BATCH_OPENING" && "clusters" in why && Array.isArray(why.clusters) && why.clusters.length > 0
  );
}

/** Asks for a PR only in the round that made the batch: right, as long as nothing ever fails in between. */
function forgetful(run: Run, world: World, now: number): Advanced<Run> {
  const advanced = advance(run, world, now);
  const asked = (number: number) => run.batches.some((batch) => batch.number === number && isAskedFor(batch.why));
  return { ...advanced, effects: advanced.effects.filter((effect) => effect.kind !== "Propose" || !asked(effect.batch)) };
}

function amnesiac(run: Run, world: World, now: number): Advanced<Run> {
  const advanced = advance({ ...run, commands: [] }, world, now);
  return { ...advanced, run: { ...advanced.run, commands: [...run.commands, ...advanced.run.commands] } };
}
