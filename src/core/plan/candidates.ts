import type { Selector } from "../base/selector.ts";
import { labelOf } from "../base/selector.ts";
import type { Unit } from "./units.ts";

/** The units that are left, and a short way to those that a stage may select. */
export interface Candidates {
  /** Units left of which at least one member has the first label that the selector asks for; in their order. */
  of(selector: Selector): Unit[];
  take(units: Iterable<Unit>): void;
  left(): Unit[];
}

/** Indexes units by a label when a selector first asks for it, so that twenty stages do not look at every cluster twenty times. */
export function candidates(units: readonly Unit[]): Candidates {
  const gone = new Set<Unit>();
  const byLabel = new Map<string, Map<string, Unit[]>>();
  const left = (from: readonly Unit[]) => from.filter((unit) => !gone.has(unit));
  return {
    of({ matchLabels }) {
      const [first] = Object.entries(matchLabels);
      if (first === undefined) return left(units);
      const [key, value] = first;
      const index = byLabel.get(key) ?? indexBy(units, key);
      byLabel.set(key, index);
      return left(index.get(value) ?? []);
    },
    take(taken) {
      for (const unit of taken) gone.add(unit);
    },
    left: () => left(units),
  };
}

function indexBy(units: readonly Unit[], key: string): Map<string, Unit[]> {
  const index = new Map<string, Unit[]>();
  for (const unit of units) {
    for (const { cluster } of unit.members) {
      const value = labelOf(cluster, key);
      if (value === undefined) continue;
      const same = index.get(value);
      if (same === undefined) index.set(value, [unit]);
      else if (same.at(-1) !== unit) same.push(unit);
    }
  }
  return index;
}
