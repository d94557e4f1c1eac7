import { hasCode } from "../../../src/core/base/reason.ts";
import { matches, type Selector } from "../../../src/core/base/selector.ts";
import { iso } from "../../../src/core/base/time.ts";
import { runReason } from "../../../src/core/reasons/run.ts";
import { advance } from "../../../src/core/run/advance.ts";
import type { Batch, Run } from "../../../src/core/run/state/run.ts";
import type { Advanced, World } from "../../../src/core/run/state/world.ts";
import type { Limits } from "../../../src/core/spec/schema-common.ts";
import type { ScopedWindow } from "../../../src/core/spec/windows.ts";
import { windowSets } from "../../../src/core/spec/windows-binding.ts";
import { closedNow } from "../../../src/core/spec/windows-together.ts";
import { blind, type Mutant, patched, without, withSpec, withStages } from "../plant.ts";

/** Windows, freezes and limits, and whom they are for. */
export const WINDOW_MUTANTS: readonly Mutant[] = [
  { name: "windows are ignored", bug: { advance: withSpec((spec) => without(spec, "windows")) }, by: /outside of its windows/ },
  { name: "freezes are ignored", bug: { advance: blind((world) => without(world, "freezes")) }, by: /in a freeze/ },
  {
    name: "windows of a stage are ignored",
    bug: { advance: withStages((stage) => without(stage, "windows")) },
    by: /outside of the windows of its stage/,
    within: 6000,
  },
  {
    name: "freezes for some clusters are ignored",
    bug: { advance: blind((world) => ({ ...world, freezes: (world.freezes ?? []).filter(({ selector }) => selector === undefined) })) },
    by: /in a freeze of its clusters/,
    within: 6000,
  },
  {
    name: "a freeze for some clusters binds nobody once one of a batch is none of them",
    bug: { advance: blind(narrowly) },
    by: /in a freeze of its clusters/,
    within: 20_000,
  },
  {
    name: "freezes for one stage are ignored",
    bug: { advance: blind((world) => ({ ...world, freezes: (world.freezes ?? []).filter(({ stages }) => stages === undefined) })) },
    by: /in a freeze of its stage/,
    within: 6000,
  },
  {
    name: "limits for some clusters are ignored",
    bug: { advance: blind((world) => (world.limits === undefined ? world : { ...world, limits: without(world.limits, "selected") })) },
    by: /of those selected/,
    within: 6000,
  },
  {
    name: "windows of a rollout for some clusters or stages are ignored",
    bug: { advance: withSpec((spec) => ({ ...spec, windows: (spec.windows ?? []).filter(isForAll) })) },
    by: /outside of its windows for/,
    within: 6000,
  },
  {
    name: "windows of a stage for some clusters are ignored",
    bug: { advance: withStages((stage) => ({ ...stage, windows: (stage.windows ?? []).filter(isForAll) })) },
    by: /outside of the windows of its stage for its clusters/,
    within: 20_000,
  },
  {
    name: "limits of a rollout are ignored",
    bug: { advance: withSpec((spec) => without(spec, "limits")) },
    by: /of its own limits/,
    within: 6000,
  },
  {
    name: "limits for one stage are ignored",
    bug: {
      advance: (run, world, now) => {
        const spec = run.spec.limits === undefined ? run.spec : { ...run.spec, limits: overAll(run.spec.limits) };
        const advanced = advance({ ...run, spec }, world.limits === undefined ? world : { ...world, limits: overAll(world.limits) }, now);
        return { ...advanced, run: { ...advanced.run, spec: run.spec } };
      },
    },
    by: /in its stage/,
    within: 20_000,
  },
  {
    name: "what is promised is when the first of windows and freezes opens, not when all do",
    bug: { advance: hasty },
    by: /promises an opening/,
    within: 6000,
  },
  {
    name: "batches are not cut to the limits",
    bug: { advance: blind((world, run) => (run.batches.some(isOpen) ? world : without(world, "limits"))) },
    by: /and limits allow/,
  },
  {
    name: "a batch larger than the limits waits for ever",
    bug: { advance: waiting },
    by: /hangs|never ends/,
    within: 6000,
  },
  { name: "limits are ignored", bug: { advance: blind((world) => without(world, "limits")) }, by: /in flight/ },
];

function isForAll({ selector, stages }: ScopedWindow): boolean {
  return selector === undefined && stages === undefined;
}

/** Without those for some stages. */
function overAll(limits: Limits): Limits {
  return { ...limits, selected: (limits.selected ?? []).filter(({ stages }) => stages === undefined) };
}

/** As it once was: promises when the first set that is closed opens. */
function hasty(run: Run, world: World, now: number): Advanced<Run> {
  const advanced = advance(run, world, now);
  return patched(advanced, (batch) => {
    const clusters = batch.targets.map(({ cluster }) => world.clusters.get(cluster));
    const sets = windowSets({ rollout: run.spec, stage: batch.stage, clusters }, world.freezes ?? []);
    const at = closedNow(sets, now)?.changesAt;
    if (at === undefined || !hasCode(batch.next?.what, "NEXT_WINDOW") || batch.next?.eta === iso(at)) return batch;
    return { ...batch, next: { what: runReason("NEXT_WINDOW", {}), eta: iso(at) } };
  });
}

/** As if a freeze bound a batch only where it is for all of its clusters. */
function narrowly(world: World, run: Run): World {
  const clusters = run.batches.filter(isOpen).flatMap(({ targets }) => targets.map(({ cluster }) => world.clusters.get(cluster)));
  const binds = ({ selector }: { selector?: Selector | undefined }) =>
    selector === undefined || clusters.every((cluster) => cluster === undefined || matches(selector, cluster));
  return { ...world, freezes: (world.freezes ?? []).filter(binds) };
}

/** As it once was: what is too large is neither made smaller nor told to anybody. */
function waiting(run: Run, world: World, now: number): Advanced<Run> {
  if (world.limits === undefined) return advance(run, world, now);
  if (!run.batches.some(isOpen)) return advance(run, without(world, "limits"), now);
  const advanced = advance(run, world, now);
  const told = hasCode(advanced.run.paused?.reason, "BATCH_NEVER_FITS") && run.paused === undefined;
  const closes = advanced.run.batches.some((batch) => hasCode(batch.closing?.why, "BATCH_TOO_LARGE"));
  return told || closes ? { run, effects: [], change: "none", events: [] } : advanced;
}

function isOpen({ phase }: Batch): boolean {
  return phase === "Proposing" || phase === "Open" || phase === "Merging";
}
