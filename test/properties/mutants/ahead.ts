import { advance } from "../../../src/core/run/advance.ts";
import type { Batch, Run } from "../../../src/core/run/state/run.ts";
import type { Advanced, World } from "../../../src/core/run/state/world.ts";
import { blind, type Mutant, patched, without } from "../plant.ts";

/** What a batch that was opened before its turn waits for. */
export const AHEAD_MUTANTS: readonly Mutant[] = [
  {
    name: "a batch that was opened ahead merges before the one before it is settled",
    bug: { advance: hasty },
    by: /its turn has not come|never was|was never healthy|confirmed|proof|invariant 2/,
  },
  {
    name: "what is to be put off since its PR was opened ahead travels all the same",
    bug: { advance: blind((world, run) => (run.batches.some(isAhead) ? undrained(world, run.batches.filter(isAhead)) : world)) },
    within: 20_000,
    by: /which is to be put off/,
  },
  {
    name: "what was left out since its PR was opened ahead is merged all the same",
    bug: { advance: stale },
    within: 6000,
    by: /which was left out or put off/,
  },
  {
    name: "a PR is opened ahead while the one before it may still be refused",
    bug: { advance: impatient },
    within: 6000,
    by: /invariant 5|open at once/,
  },
  {
    name: "a PR that was opened ahead stays open when its run ends",
    bug: { advance: forgotten },
    within: 6000,
  },
];

function isAhead({ ahead }: Batch): boolean {
  return ahead === true;
}

/** Asks for the PR of a batch as soon as it is made. */
function impatient(run: Run, world: World, now: number): Advanced<Run> {
  const advanced = advance(run, world, now);
  const made = advanced.run.batches.find((batch) => isAhead(batch) && batch.phase === "Proposing");
  return made === undefined ? advanced : { ...advanced, effects: [...advanced.effects, { kind: "Propose", batch: made.number }] };
}

/** Takes its turn as soon as its PR is open. */
function hasty(run: Run, world: World, now: number): Advanced<Run> {
  const advanced = advance(run, world, now);
  if (!run.batches.some((batch) => isAhead(batch) && world.pulls.get(batch.number)?.state === "open")) return advanced;
  const batches = run.batches.map((batch) => (batch.merged === undefined || batch.phase === "Settled" ? batch : settled(batch)));
  return advance({ ...run, batches }, world, now);
}

function settled(batch: Batch): Batch {
  return { ...batch, phase: "Settled", targets: batch.targets.map((target) => ({ ...target, phase: "Baked" as const })) };
}

function undrained(world: World, batches: readonly Batch[]): World {
  const mine = new Set(batches.flatMap(({ targets }) => targets.map(({ cluster }) => cluster)));
  const clusters = [...world.clusters].map(
    ([key, one]) => [key, mine.has(key) ? { ...one, labels: without(one.labels, "drained") } : one] as const,
  );
  return { ...world, clusters: new Map(clusters) };
}

/** Its PR is never closed over what was amended. */
function stale(run: Run, world: World, now: number): Advanced<Run> {
  const advanced = advance(run, world, now);
  const mine = new Set(run.batches.filter(isAhead).map(({ number }) => number));
  const kept = patched(advanced, (batch) => (mine.has(batch.number) ? without(batch, "closing") : batch));
  return { ...kept, effects: kept.effects.filter((effect) => effect.kind !== "Close" || !mine.has(effect.batch)) };
}

/** A run ends without a look at what it has opened ahead. */
function forgotten(run: Run, world: World, now: number): Advanced<Run> {
  const advanced = advance(run, world, now);
  if (run.ending === undefined) return advanced;
  const ahead = new Set(run.batches.filter(isAhead).map(({ number }) => number));
  const hidden = (one: Run) => ({ ...one, batches: one.batches.filter(({ number }) => !ahead.has(number)) });
  const after = advance(hidden(run), world, now);
  return { ...after, run: { ...after.run, batches: [...after.run.batches, ...run.batches.filter(({ number }) => ahead.has(number))] } };
}
