import { iso } from "../../../src/core/base/time.ts";
import { advance } from "../../../src/core/run/advance.ts";
import { promotableWaits } from "../../../src/core/run/commands/promotable.ts";
import { isEnded, type Run } from "../../../src/core/run/state/run.ts";
import { startAll } from "../../../src/simulate/world/start.ts";
import type { Entry } from "../../../src/simulate/world/world.ts";
import { blind, type Mutant, mapped, patched, without, withStages } from "../plant.ts";

type Start = typeof startAll;

/** How runs follow each other, how they are cut, merges that are tried again, and the way back. */
export const RUN_MUTANTS: readonly Mutant[] = [
  {
    name: "a /promote ends a wait that its author had not seen",
    bug: { advance: blind((world, run) => ({ ...world, shown: { waits: promotableWaits(run), at: run.startedAt } })) },
    by: /was not shown by then/,
  },
  {
    name: "what is shut between an intention and its next try is passed",
    bug: {
      advance: blind((world, run) => {
        const isAgain = run.batches.some(({ intention, merged }) => intention !== undefined && merged === undefined);
        return isAgain ? without(without(world, "freezes"), "settingsBroken") : world;
      }),
    },
    within: 20_000,
    by: /asked again for the merge/,
  },
  {
    name: "a growing window does not begin anew after a failure",
    bug: { advance: withStages((stage) => without(stage, "grow")) },
    by: /were earned/,
  },
  {
    name: "pairs travel together",
    bug: { advance: withStages((stage) => without(stage, "pairs")) },
    by: /kept apart/,
    within: 30_000,
  },
  {
    name: "two clusters of one topology value travel together",
    bug: { advance: withStages((stage) => without(stage, "topologyKey")) },
    by: /of one region/,
    within: 30_000,
  },
  {
    name: "a new run does not wait for the one that makes way",
    bug: { start: endingIsEnded },
    by: /before #\d+ had ended|is open/,
  },
  {
    name: "Reject starts all the same",
    bug: { start: withPolicy((policy) => (policy === "Reject" ? "Supersede" : policy)) },
    by: /rejects|makes way/,
  },
  {
    name: "Queue pushes the run in progress aside",
    bug: { start: withPolicy((policy) => (policy === "Queue" ? "Supersede" : policy)) },
    by: /makes way/,
  },
  {
    name: "releases that come fast starve the rollout",
    bug: {
      start: (truth, entries, now) =>
        startAll(
          truth,
          mappedRuns(entries, (run) => without(run, "superseded")),
          now,
        ),
    },
    by: /in a row/,
    within: 30_000,
  },
  {
    name: "a rollback writes over what people pinned",
    bug: { advance: blind((world, run) => (run.kind === "Rollback" ? { ...world, targets: asWritten(run, world.targets) } : world)) },
    by: /wrote over|is not at its value/,
    within: 30_000,
  },
  {
    name: "what was last good is forgotten",
    bug: {
      start: (truth, entries, now) =>
        startAll(
          truth,
          mappedRuns(entries, (run) => without(run, "lastGood")),
          now,
        ),
    },
    by: /rolled back, and/,
    within: 6000,
  },
  {
    name: "a rollback leaves a stage behind",
    bug: { start: lessOf },
    by: /rolled back, and/,
    within: 6000,
  },
  {
    name: "halts end with the run they were made on",
    bug: {
      start: (truth, entries, now) =>
        startAll(truth, entries, now).map((one) =>
          one.entry.run === undefined ? one : { ...one, entry: { ...one.entry, run: without(one.entry.run, "halts") } },
        ),
    },
    by: /halt was answered/,
    within: 30_000,
  },
  {
    name: "under baseline: Tolerate every failure is excused",
    bug: {
      advance: (run, world, now) =>
        patched(advance(run, world, now), (batch) => ({
          ...batch,
          targets: batch.targets.map((target) =>
            target.phase === "Failed" && run.spec.baseline === "Tolerate" ? { ...target, excused: true as const } : target,
          ),
        })),
    },
    by: /excused/,
  },
];

/** As if a run that makes way had ended already. */
function endingIsEnded(...[truth, entries, now]: Parameters<Start>): ReturnType<Start> {
  const early = mappedRuns(entries, (run) => {
    if (run.ending === undefined || isEnded(run)) return run;
    return { ...without(run, "ending"), phase: run.ending.phase, endedAt: iso(now) };
  });
  return startAll(truth, early, now);
}

function mappedRuns(entries: readonly Entry[], map: (run: Run) => Run): Entry[] {
  return entries.map((entry) => (entry.run === undefined ? entry : { ...entry, run: map(entry.run) }));
}

function withPolicy(map: (policy: Run["spec"]["onNewRelease"]) => Run["spec"]["onNewRelease"]): Start {
  return (truth, entries, now) => {
    const rollouts = truth.rollouts.map((rollout) => ({
      ...rollout,
      spec: { ...rollout.spec, onNewRelease: map(rollout.spec.onNewRelease) },
    }));
    return startAll({ ...truth, rollouts }, entries, now);
  };
}

/** Shown the value that the forward run wrote, whatever stands there. */
function asWritten(run: Run, targets: Parameters<typeof mapped>[0]): ReturnType<typeof mapped> {
  const from = new Map<string, (string | null)[]>();
  for (const batch of run.batches) {
    if (batch.merged !== undefined) continue;
    for (const { key } of batch.targets) {
      const planned = run.plan.stages.flatMap((stage) => stage.batches.flatMap((one) => one.targets)).find((one) => one.key === key);
      if (planned !== undefined)
        from.set(
          key,
          planned.edits.map((edit) => edit.from),
        );
    }
  }
  return mapped(targets, (one, key) => {
    const pins = from.get(key);
    return pins === undefined || one.pins === undefined ? one : { ...one, pins };
  });
}

function lessOf(...[truth, entries, now]: Parameters<Start>): ReturnType<Start> {
  return startAll(truth, entries, now).map((one) => {
    const { run } = one.entry;
    if (run?.kind !== "Rollback" || run.number === entries[one.index]?.run?.number) return one;
    return { ...one, entry: { ...one.entry, run: { ...run, plan: { ...run.plan, stages: run.plan.stages.slice(1) } } } };
  });
}
