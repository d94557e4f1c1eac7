import { apart, keepsApart } from "../../plan/apart.ts";
import { type Draft, say } from "../state/draft.ts";
import { unitOf } from "../state/names.ts";
import { occupied } from "../state/progress.ts";

/** At most `free` clusters in order, units whole, and none that is kept apart from another or from one in flight. */
export function choose(draft: Draft, stage: number, left: readonly string[], free: number): string[] {
  const valuesOf = apartIn(draft, stage);
  const inFlight = occupied(draft.run, stage);
  const values = new Set([...inFlight].flatMap(valuesOf));
  const chosen: string[] = [];
  for (const cluster of left) {
    if (chosen.includes(cluster)) continue;
    const unit = unitOf(draft.run, cluster).filter((member) => left.includes(member));
    // Order is kept: a unit that has no room yet is not overtaken for ever by smaller ones.
    if (chosen.length > 0 && chosen.length + unit.length > free) break;
    // A window that grows begins smaller than a unit may be: it travels alone then.
    if (unit.length > free && (draft.run.spec.stages[stage]?.grow === undefined || inFlight.size > 0)) break;
    const own = unit.flatMap(valuesOf);
    if (own.some((value) => values.has(value))) continue;
    for (const value of own) values.add(value);
    chosen.push(...unit);
  }
  return chosen;
}

/** Two of these clusters that never travel in one batch; undefined: there are none, as far as is known. */
export function keptApart(draft: Draft, stage: number, clusters: readonly string[]): [string, string] | undefined {
  const valuesOf = apartIn(draft, stage);
  const held = new Map<string, string>();
  for (const cluster of clusters) {
    for (const value of valuesOf(cluster)) {
      const other = held.get(value);
      if (other !== undefined) return [other, cluster];
      held.set(value, cluster);
    }
  }
  return undefined;
}

/** Whether clusters are kept apart by labels that cannot be read now: which may travel together is not known then. */
export function isUnreadable(draft: Draft, stage: number): boolean {
  if (draft.world.clustersKnown || draft.run.spec.stages[stage]?.topologyKey === undefined) return false;
  say(draft, "waiting for the clusters to be read: which are kept apart is not known", { what: "they are read" });
  return true;
}

function apartIn(draft: Draft, stage: number): (cluster: string) => string[] {
  const spec = draft.run.spec.stages[stage];
  if (spec === undefined || !keepsApart(spec)) return () => [];
  const from = apart(spec);
  // Labels that cannot be read now keep nothing apart; names still do.
  return (key) => from(draft.world.clusters.get(key) ?? { key, name: key.slice(key.indexOf("/") + 1), labels: {}, server: "" });
}
