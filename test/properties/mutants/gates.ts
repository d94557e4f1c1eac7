import { iso } from "../../../src/core/base/time.ts";
import type { Plan, PlannedTarget } from "../../../src/core/plan/plan-types.ts";
import { advance } from "../../../src/core/run/advance.ts";
import { gatesOf } from "../../../src/core/run/gates/gate-state.ts";
import { approvalHash } from "../../../src/core/run/state/amend.ts";
import type { Batch, Run } from "../../../src/core/run/state/run.ts";
import type { World } from "../../../src/core/run/state/world.ts";
import { TEAM } from "../../../src/simulate/generate/scenario.ts";
import { blind, type Mutant, mapped, others, without, withPlan, withRun, withSpec, withStages } from "../plant.ts";

/** What is waited for with the pull request open. */
export const GATE_MUTANTS: readonly Mutant[] = [
  {
    name: "settings that cannot be read freeze nothing",
    bug: { advance: blind((world) => without(world, "settingsBroken")) },
    by: /settings could not be read/,
  },
  {
    name: "branches that others may write to are no matter",
    bug: { advance: blind((world) => without(world, "unprotected")) },
    by: /others may write to the branches of ours/,
  },
  {
    name: "a tag that is moved is not looked at again",
    bug: {
      advance: blind((world, run) => (run.resolved === undefined ? world : { ...world, revisions: run.resolved })),
    },
    by: /its tag was moved/,
  },
  {
    name: "approvals are not asked for",
    bug: { advance: withStages((stage) => without(stage, "approval")) },
    by: /without the approvals/,
  },
  {
    name: "the author of a release approves it",
    bug: { advance: withRun((run) => ({ ...run, trigger: { ...run.trigger, author: "nobody" } })) },
    by: /without the approvals/,
  },
  {
    name: "who merged a release approves it, though the stage says not",
    bug: { advance: withRun((run) => ({ ...run, trigger: without(run.trigger, "merger") })) },
    within: 20_000,
    by: /without the approvals/,
  },
  {
    name: "a commit of nobody's is taken for nobody's",
    bug: { advance: withRun((run) => ({ ...run, trigger: without(run.trigger, "unlinked") })) },
    within: 20_000,
    by: /without the approvals/,
  },
  {
    name: "who is in no team approves by command",
    bug: { advance: blind((world) => ({ ...world, commands: world.commands.map((one) => ({ ...one, teams: [TEAM] })) })) },
    by: /without the approvals/,
  },
  {
    name: "an approval does not lapse when its stage becomes another",
    bug: { advance: withRun(unlapsed) },
    within: 20_000,
    by: /without the approvals/,
  },
  {
    name: "one who approves twice is two",
    bug: {
      advance: withStages((stage) => (stage.approval === undefined ? stage : { ...stage, approval: { ...stage.approval, count: 1 } })),
    },
    by: /without the approvals/,
  },
  {
    name: "a halt made on the run's own pull request is ignored",
    bug: { advance: (run, world, now) => keepHalts(run, advance(without(run, "halts"), world, now)) },
    within: 6000,
  },
  {
    name: "a halt made on another rollout's pull request is ignored",
    bug: { advance: blind((world) => others(world, (one) => without(one, "halts"))) },
    within: 6000,
    by: /halted|halt was answered/,
  },
  {
    name: "what is halted stays in the merge queue",
    bug: { gates: (run, world, { cleared = [] }) => gatesOf(run, world, { cleared }) },
    by: /halt was answered/,
    within: 20_000,
  },
  {
    name: "what is paused stays in the merge queue",
    bug: { gates: () => [] },
    by: /merged while the journal says|merged after its pause/,
  },
  {
    name: "limits are counted for each run alone",
    bug: {
      advance: blind((world, run) =>
        run.spec.dependsOn === undefined && world.limits !== undefined ? others(world, (one) => ({ ...one, batches: [] })) : world,
      ),
    },
    by: /in flight of/,
    within: 6000,
  },
  {
    name: "a review of before its stage became another approves it",
    bug: { advance: withRun((run) => without(run, "amended")) },
    by: /without the approvals/,
    within: 6000,
  },
  {
    name: "limits take all that is counted for one cluster's",
    bug: { advance: withPlan((plan) => onHost(plan, () => "hub/h1")) },
    by: /in flight/,
    within: 6000,
  },
  {
    name: "dependsOn goes by what is counted, and not by its cluster",
    bug: { advance: withPlan((plan) => onHost(plan, () => undefined)) },
    by: /although payments is not at/,
    within: 6000,
  },
  {
    name: "dependsOn waits for another stage than its own",
    bug: { advance: blind((world) => others(world, otherStages)) },
    by: /although payments is not at/,
    within: 6000,
  },
  {
    name: "dependsOn waits for nothing where the stage of its name has nothing on the cluster",
    bug: { advance: blind((world, run) => others(world, (one) => onlyStages(one, run))) },
    by: /although payments is not at/,
    within: 20_000,
  },
  { name: "dependsOn is ignored", bug: { advance: withSpec((spec) => without(spec, "dependsOn")) }, by: /although payments is not at/ },
  {
    name: "what failed in the run before counts as being there",
    bug: { advance: blind((world) => others(world, (one) => without(one, "unproven"))) },
    by: /although payments is not at/,
    within: 6000,
  },
  { name: "jitter is left out", bug: { advance: withStages((stage) => without(stage, "jitterMs")) }, by: /before its jitter/ },
  {
    name: "merge: Manual merges by itself",
    bug: { advance: withSpec((spec) => ({ ...spec, delivery: { ...spec.delivery, merge: "Auto" } })) },
    by: /a person is to merge it/,
  },
  { name: "mode: Propose merges", bug: { advance: withSpec((spec) => ({ ...spec, mode: "Run" })) }, by: /its mode is Propose/ },
  {
    name: "the render guard's no is not heard",
    bug: {
      advance: blind((world) => ({
        ...world,
        guards: new Map([...world.guards].map(([number, { base, at }]) => [number, { ok: true as const, base, at }])),
      })),
    },
    by: /render guard/,
  },
  {
    name: "before a merge health is what was last told of",
    bug: { advance: blind((world, _run, now) => ({ ...world, health: read(world, (one) => ({ ...one, readAt: iso(now) })) })) },
    by: /confirmed before it, is/,
  },
  {
    name: "what a read before the merge shows is not heard",
    bug: { advance: blind((world) => ({ ...world, health: read(world, (one) => without(without(one, "status"), "failed")) })) },
    by: /confirmed before it, is/,
  },
  {
    name: "a head that somebody else pushed is merged",
    bug: {
      advance: blind((world) => ({
        ...world,
        pulls: new Map([...world.pulls].map(([number, pull]) => [number, pull === null ? null : { ...pull, headIsOurs: true }])),
      })),
    },
    by: /none of its pins/,
  },
  {
    name: "/promote --full skips health",
    bug: {
      advance: blind((world, run) =>
        run.promotedFully === undefined ? world : { ...world, targets: mapped(world.targets, (one) => asLive(one)) },
      ),
    },
    within: 6000,
  },
  {
    name: "a hotfix leaves approvals behind",
    bug: {
      advance: withStages((stage, run) => (run.batches.some((batch) => batch.kind === "Hotfix") ? without(stage, "approval") : stage)),
    },
    by: /without the approvals/,
    within: 20_000,
  },
];

type Health = NonNullable<World["health"]> extends ReadonlyMap<string, infer T> ? T : never;

function read({ health }: World, change: (one: Health) => Health): Map<string, Health> {
  return new Map([...(health ?? [])].map(([key, one]) => [key, change(one)]));
}

function isOpen({ phase }: Batch): boolean {
  return phase === "Proposing" || phase === "Open" || phase === "Merging";
}

/** Another cluster for what is counted on clusters. */
function onHost(plan: Plan, host: () => string | undefined): Plan {
  if (plan.targetBy === undefined) return plan;
  const put = (target: PlannedTarget): PlannedTarget => ({ ...target, on: host() });
  const stages = plan.stages.map((stage) => ({
    ...stage,
    batches: stage.batches.map((batch) => ({ ...batch, targets: batch.targets.map(put) })),
    requeuedTargets: stage.requeuedTargets.map(put),
  }));
  return { ...plan, stages };
}

/** Each stage of what is counted on clusters bears the name of the next. */
function otherStages(run: Run): Run {
  const { stages, targetBy } = run.plan;
  if (targetBy === undefined) return run;
  return { ...run, plan: { ...run.plan, stages: stages.map((stage, at) => ({ ...stage, name: stages.at(at - 1)?.name ?? stage.name })) } };
}

/** As it once was: of a rollout that has the stage of an open batch somewhere, no other stage is there. */
function onlyStages(other: Run, run: Run): Run {
  const open = run.batches.filter(isOpen).map(({ stage }) => run.plan.stages[stage]?.name);
  const { stages, targetBy } = other.plan;
  if (targetBy === undefined || !stages.some(({ name }) => open.includes(name))) return other;
  const none = { clusters: [], requeued: [], batches: [], requeuedTargets: [] };
  return { ...other, plan: { ...other.plan, stages: stages.map((stage) => (open.includes(stage.name) ? stage : { ...stage, ...none })) } };
}

type Seen = World["targets"] extends ReadonlyMap<string, infer T> ? T : never;

function asLive(one: Seen): Seen {
  if (one.assessment === undefined) return one;
  const evidence = { ...one.assessment.evidence, verdict: "live" as const, clause: "all" };
  return { ...one, assessment: { ...one.assessment, verdict: "live", clause: "all", evidence } };
}

function unlapsed(run: Run): Run {
  if (run.approvals === undefined) return run;
  return { ...run, approvals: run.approvals.map((one) => ({ ...one, hash: approvalHash(run, one.stage) })) };
}

function keepHalts<T extends { run: Run }>(before: Run, advanced: T): T {
  const halts = [...(before.halts ?? []), ...(advanced.run.halts ?? [])];
  return halts.length === 0 ? advanced : { ...advanced, run: { ...advanced.run, halts } };
}
