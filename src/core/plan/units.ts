/** Units: clusters that change together, because they share a pin. Planning groups them here, and takes them stage by stage. */
import { sortedByText } from "../base/compare-text.ts";
import { labelOf, type Selector } from "../base/selector.ts";
import { type Cluster, type Edit, editKey, type Target } from "./plan-types.ts";

/** Clusters that change together, because targets of theirs share a pin. Most have one member. */
export interface Unit {
  members: Member[];
  /** A pin that the members share, for messages. Absent for a single one. */
  sharedPin: { file: string; path: string } | undefined;
}

/** A cluster with its targets. */
export interface Member {
  cluster: Cluster;
  targets: Target[];
}

/**
 * Groups clusters that have targets into units, ordered by the cluster's name (then key) of their first member.
 * Clusters without targets are left out; a target whose cluster is not given is named in `strays`.
 */
export function groupUnits(clusters: readonly Cluster[], targets: readonly Target[]): { units: Unit[]; strays: Target[] } {
  const members = new Map<string, Member>();
  const strays: Target[] = [];
  for (const cluster of clusters) if (!members.has(cluster.key)) members.set(cluster.key, { cluster, targets: [] });
  for (const target of targets) {
    const member = members.get(target.cluster);
    if (member === undefined) strays.push(target);
    else member.targets.push(target);
  }
  const having = [...members.values()].filter((member) => member.targets.length > 0);
  const withTargets = sortedByText(
    having,
    ({ cluster }) => cluster.name,
    ({ cluster }) => cluster.key,
  );
  for (const member of withTargets) {
    if (member.targets.length === 1) continue;
    member.targets = sortedByText(
      member.targets,
      ({ application }) => application,
      ({ key }) => key,
    );
  }
  return { units: joinByPins(withTargets), strays };
}

function joinByPins(members: readonly Member[]): Unit[] {
  const parent = members.map((_, i) => i);
  const find = (i: number): number => {
    let root = i;
    while (parent[root] !== root) root = parent[root] as number;
    parent[i] = root;
    return root;
  };
  const firstWith = pinOwners();
  const shared = new Map<number, { file: string; path: string }>();
  for (const [i, member] of members.entries()) {
    for (const target of member.targets) {
      for (const edit of target.edits) {
        const first = find(firstWith(edit, i));
        const own = find(i);
        if (first === own) continue;
        const root = Math.min(first, own);
        parent[Math.max(first, own)] = root;
        shared.set(root, { file: edit.file, path: edit.path });
      }
    }
  }
  const units: Unit[] = [];
  const unitOf: Unit[] = [];
  for (const [i, member] of members.entries()) {
    const root = find(i);
    const known = unitOf[root];
    if (known !== undefined) {
      known.members.push(member);
      continue;
    }
    // A root is the first of its unit, so that this grows without holes but for those that joined.
    const unit = { members: [member], sharedPin: shared.get(root) };
    unitOf[root] = unit;
    units.push(unit);
  }
  return units;
}

/** The first that came with a pin. Looked up by path first: where a path names one pin, no long key has to be made. */
function pinOwners(): (edit: Edit, owner: number) => number {
  const byPath = new Map<string, { edit: Edit; owner: number; byKey?: Map<string, number> }>();
  return (edit, owner) => {
    const known = byPath.get(edit.path);
    if (known === undefined) {
      byPath.set(edit.path, { edit, owner });
      return owner;
    }
    known.byKey ??= new Map([[editKey(known.edit), known.owner]]);
    const key = editKey(edit);
    const first = known.byKey.get(key);
    if (first === undefined) known.byKey.set(key, owner);
    return first ?? owner;
  };
}

/** The units that are left, and a short way to those that a stage may select. */
interface Candidates {
  /** Units left of which at least one member has the first label that the selector asks for; in their order. */
  of(selector: Selector): Unit[];
  take(units: Iterable<Unit>): void;
  left(): Unit[];
}

/** Indexes units by a label when a selector first asks for it. */
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
