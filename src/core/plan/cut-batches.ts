/** Which units a stage takes, in which order, and how they are cut into batches. Called by `plan.ts`. */
import { compareText } from "../base/compare-text.ts";
import { seededNumber } from "../base/seeded.ts";
import { labelOf, matcher } from "../base/selector.ts";
import type { Quantity, Stage } from "../spec/rollout.ts";
import { apart, topologyOf } from "./kept-apart.ts";
import type { Limiter, Sized } from "./limits.ts";
import type { Cluster } from "./plan-types.ts";
import type { Unit } from "./units.ts";

/** What one stage takes of the units that are left. */
export interface Pick {
  /** In the order they travel: first those of the batches, then the requeued ones. */
  batched: Unit[];
  requeued: Unit[];
  /** Units of which the selector takes some members and not others. */
  split: Unit[];
  /** How many clusters the selector matched. */
  matched: number;
}

/**
 * docs/spec.md §2.2: of the units left, those the stage selects, ordered, those that match `requeue` last, and the first
 * `maxClusters` of them. A unit that would go past the limit is left whole to a later stage, and the next that fits is taken.
 */
export function pick(stage: Stage, units: readonly Unit[]): Pick {
  const selects = matcher(stage.selector);
  const isRequeued = stage.requeue === undefined ? () => false : matcher(stage.requeue.selector);
  const result: Pick = { batched: [], requeued: [], split: [], matched: 0 };
  const normal: Unit[] = [];
  const late: Unit[] = [];
  for (const unit of units) {
    let selected = 0;
    let drained = false;
    for (const { cluster } of unit.members) {
      if (!selects(cluster)) continue;
      selected++;
      drained ||= isRequeued(cluster);
    }
    if (selected === 0) continue;
    if (selected < unit.members.length) {
      result.split.push(unit);
      continue;
    }
    result.matched += selected;
    // One drained member puts its whole unit off: the pin is one.
    (drained ? late : normal).push(unit);
  }
  let room = atMost(stage.maxClusters, result.matched);
  const take = (from: Unit[], into: Unit[]) => {
    for (const unit of arrange(from, stage)) {
      if (unit.members.length > room) continue;
      room -= unit.members.length;
      into.push(unit);
    }
  };
  take(normal, result.batched);
  take(late, result.requeued);
  return result;
}

/** `maxClusters`: a percentage is rounded up, and at least 1 where anything matches. */
export function atMost(quantity: Quantity, matched: number): number {
  return "count" in quantity ? quantity.count : Math.ceil((quantity.percent * matched) / 100);
}

/** `maxUnavailable`: a percentage is rounded down, and at least 1. */
export function windowOf(quantity: Quantity, clusters: number): number {
  return "count" in quantity ? quantity.count : Math.max(1, Math.floor((quantity.percent * clusters) / 100));
}

/** Units come ordered by name, which decides between ties. */
function arrange(units: Unit[], { order, topologyKey }: Stage): Unit[] {
  const ordered = order.by === "name" ? units : order.by === "label" ? sortByLabel(units, order.key) : shuffle(units, order.seed);
  return topologyKey === undefined ? ordered : cycle(ordered, topologyKey);
}

function shuffle(units: readonly Unit[], seed: string): Unit[] {
  const ranks = new Map(units.map((unit) => [unit, seededNumber(`${seed}\n${first(unit).key}`)]));
  return units.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
}

function sortByLabel(units: readonly Unit[], key: string): Unit[] {
  const rows = units.map((unit) => {
    const text = labelOf(first(unit), key);
    return { unit, text, number: text === undefined ? undefined : numeric(text) };
  });
  return rows.sort(compareLabel).map(({ unit }) => unit);
}

interface Label {
  text: string | undefined;
  number: number | undefined;
}

/** Numbers as numbers, other text after them by code points, absent last. */
function compareLabel(a: Label, b: Label): number {
  if (a.text === undefined || b.text === undefined) return Number(a.text === undefined) - Number(b.text === undefined);
  if (a.number !== undefined && b.number !== undefined) return a.number - b.number || compareText(a.text, b.text);
  if (a.number !== undefined || b.number !== undefined) return a.number === undefined ? 1 : -1;
  return compareText(a.text, b.text);
}

function numeric(text: string): number | undefined {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** Goes round the values of a label, in the order in which they first appear: one unit of each value a round. */
function cycle(units: readonly Unit[], topologyKey: string): Unit[] {
  const result: Unit[] = [];
  let left = [...Map.groupBy(units, (unit) => topologyOf(first(unit), topologyKey)).values()];
  for (let round = 0; left.length > 0; round++) {
    for (const queue of left) result.push(queue[round] as Unit);
    left = left.filter((queue) => queue.length > round + 1);
  }
  return result;
}

function first(unit: Unit): Cluster {
  return (unit.members[0] as Unit["members"][number]).cluster;
}

/**
 * Cuts the units into batches: the n-th (from 0) of at most `sizeOf(n)` clusters, never two in one that are kept apart, nor more than
 * `begin` says may ever be in flight.
 */
export function cutBatches(units: readonly Unit[], sizeOf: (batch: number) => number, stage: Stage, begin?: Limiter): Unit[][] {
  const batches: Unit[][] = [];
  const valuesOf = apart(stage);
  let batch: Unit[] = [];
  let count = 0;
  let values = new Set<string>();
  let tally = begin?.();
  for (const unit of units) {
    const sizes = tally === undefined ? [] : sizesOfUnits([unit]);
    const own = unit.members.flatMap(({ cluster }) => valuesOf(cluster));
    // Units go round the topology's values, so once one comes again hardly any later unit would still fit.
    const full = count + unit.members.length > sizeOf(batches.length) || own.some((value) => values.has(value));
    if (batch.length > 0 && (full || tally?.add(sizes) !== undefined)) {
      batches.push(batch);
      batch = [];
      count = 0;
      values = new Set();
      tally = begin?.();
    }
    if (batch.length === 0) tally?.add(sizes);
    batch.push(unit);
    count += unit.members.length;
    for (const value of own) values.add(value);
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

/** What limits count of units that travel together. */
export function sizesOfUnits(units: readonly Unit[]): Sized[] {
  return units.flatMap(({ members }) =>
    members.map(({ cluster, targets }) => ({ cluster: (cluster.on ?? cluster).key, counted: cluster.key, targets: targets.length })),
  );
}

/** Size of the n-th batch (from 0) of those since the stage's start or last failure: it grows from `start` up to `most`. */
export function grownSize(grow: NonNullable<Stage["grow"]>, clean: number, most: number): number {
  return Math.max(1, Math.min(most, Math.floor(grow.start * grow.factor ** Math.min(clean, 64))));
}
