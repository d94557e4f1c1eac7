import { advance } from "../../src/rollout/advance.ts";
import type { Batch, Run } from "../../src/rollout/run.ts";
import { iso } from "../../src/rollout/time.ts";
import type { Advanced, Assessment, ObservedTarget, World } from "../../src/rollout/world.ts";
import type { Advance } from "../../src/sim/model/drive.ts";

/** Bugs planted around the state machine: each stands for a guard somebody might drop, and the suite has to notice. */
export const MUTANTS: readonly { name: string; advance: Advance }[] = [
  {
    name: "health is not waited for",
    advance: (run, world, now) =>
      advance(
        run,
        seeing(world, (one) => live(one, now)),
        now,
      ),
  },
  {
    name: "the settle time is left out: a healthy flash counts",
    advance: (run, world, now) =>
      advance(
        run,
        seeing(world, (one) => (one.clause === "settled" ? live(one, now) : one)),
        now,
      ),
  },
  {
    name: "stale reads count: pending for staleness is taken as live",
    advance: (run, world, now) =>
      advance(
        run,
        seeing(world, (one) => (one.clause === "compared" ? live(one, now) : one)),
        now,
      ),
  },
  {
    name: "a lost cluster counts as healthy",
    advance: (run, world, now) =>
      advance(
        run,
        seeing(world, (one) => (one.verdict === "lost" ? live(one, now) : one)),
        now,
      ),
  },
  {
    name: "permissions are not looked at",
    advance: (run, world, now) =>
      advance(run, { ...world, commands: world.commands.map((one) => ({ ...one, permission: "admin" as const })) }, now),
  },
  { name: "a pause is not honoured", advance: (run, world, now) => advance(unpaused(run), world, now) },
  {
    name: "the window is not kept",
    advance: withPlan((plan) => ({ ...plan, stages: plan.stages.map((stage) => ({ ...stage, maxUnavailable: 99 })) })),
  },
  { name: "failures are not counted", advance: tolerant },
  {
    name: "a merge is tried before its intention is journalled",
    advance: (run, world, now) => patched(advance(run, world, now), ({ intention: _, ...batch }) => batch),
  },
  {
    name: "the evidence of a confirmation is not stored",
    advance: (run, world, now) => patched(advance(run, world, now), withoutEvidence),
  },
  { name: "a run does not say what comes next", advance: silent },
  { name: "an effect is tried only once", advance: forgetful },
  {
    name: "drift of what has moved is not looked at",
    advance: (run, world, now) => advance(run, { ...world, targets: undrifted(run, world) }, now),
  },
  {
    name: "a commit gone from the history is not looked at",
    advance: (run, world, now) =>
      advance(
        run,
        { ...world, targets: mapped(world.targets, (one) => (one.inHistory === false ? { ...one, inHistory: true } : one)) },
        now,
      ),
  },
  { name: "commands are handled again and again", advance: amnesiac },
  { name: "an aborted or superseded run goes on", advance: unending },
];

function live(assessment: Assessment, now: number): Assessment {
  const evidence = { ...assessment.evidence, verdict: "live" as const, clause: "all", readAt: iso(now) };
  return { ...assessment, verdict: "live", clause: "all", firstSeenAt: assessment.firstSeenAt ?? iso(now), evidence };
}

function mapped(targets: World["targets"], map: (one: ObservedTarget, key: string) => ObservedTarget): World["targets"] {
  return new Map([...targets].map(([key, one]) => [key, map(one, key)]));
}

function seeing(world: World, map: (one: Assessment) => Assessment): World {
  const targets = mapped(world.targets, (one) => (one.assessment === undefined ? one : { ...one, assessment: map(one.assessment) }));
  return { ...world, targets };
}

function undrifted(run: Run, world: World): World["targets"] {
  const moved = new Map<string, string[]>();
  for (const batch of run.batches) {
    if (batch.merged !== undefined)
      for (const target of batch.targets)
        moved.set(
          target.key,
          target.edits.map((edit) => edit.to),
        );
  }
  return mapped(world.targets, (one, key) => {
    const pins = moved.get(key);
    return pins === undefined || one.pins === undefined ? one : { ...one, pins };
  });
}

function unpaused(run: Run): Run {
  if (run.phase !== "Paused" || run.ending !== undefined) return run;
  const { paused: _, ...rest } = run;
  return { ...rest, phase: "Progressing" };
}

function unending(run: Run, world: World, now: number): Advanced<Run> {
  if (run.ending === undefined) return advance(run, world, now);
  const { paused: _, ending: __, ...rest } = run;
  return advance({ ...rest, phase: "Progressing" }, { ...world, commands: world.commands.filter(({ name }) => name !== "abort") }, now);
}

function withPlan(change: (plan: Run["plan"]) => Run["plan"]): Advance {
  const plans = new WeakMap<Run["plan"], Run["plan"]>();
  return (run, world, now) => {
    const plan = plans.get(run.plan) ?? change(run.plan);
    plans.set(run.plan, plan);
    const advanced = advance({ ...run, plan }, world, now);
    return { ...advanced, run: { ...advanced.run, plan: run.plan } };
  };
}

function tolerant(run: Run, world: World, now: number): Advanced<Run> {
  const spec = { ...run.spec, onFailure: { ...run.spec.onFailure, maxFailures: { count: 99 } } };
  const advanced = advance({ ...run, spec }, world, now);
  return { ...advanced, run: { ...advanced.run, spec: run.spec } };
}

function patched(advanced: Advanced<Run>, map: (batch: Batch) => Batch): Advanced<Run> {
  return { ...advanced, run: { ...advanced.run, batches: advanced.run.batches.map(map) } };
}

function withoutEvidence(batch: Batch): Batch {
  return { ...batch, targets: batch.targets.map(({ evidence: _, ...target }) => target) };
}

function silent(run: Run, world: World, now: number): Advanced<Run> {
  const advanced = advance(run, world, now);
  return { ...advanced, run: { ...advanced.run, next: null } };
}

/** Asks for a PR only in the round that made the batch: right, as long as nothing ever fails in between. */
function forgetful(run: Run, world: World, now: number): Advanced<Run> {
  const advanced = advance(run, world, now);
  const asked = (number: number) => run.batches.some((batch) => batch.number === number && batch.why.startsWith("the PR for"));
  return { ...advanced, effects: advanced.effects.filter((effect) => effect.kind !== "Propose" || !asked(effect.batch)) };
}

function amnesiac(run: Run, world: World, now: number): Advanced<Run> {
  const advanced = advance({ ...run, commands: [] }, world, now);
  return { ...advanced, run: { ...advanced.run, commands: [...run.commands, ...advanced.run.commands] } };
}
