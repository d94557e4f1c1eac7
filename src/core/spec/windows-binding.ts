/**
 * Says which windows bind a batch: those of its rollout, of its stage, and the freezes of the repo and of the server that are for it. All sets
 * of them have to be open together. Called by the gate, by plans, and by what says when a run is done.
 */
import type { z } from "zod";
import { defined } from "../base/defined.ts";
import { formatSelector, matcher, type Selectable } from "../base/selector.ts";
import type { WindowOwner } from "../reasons/refs.ts";
import type { Rollout } from "./rollout.ts";
import type { freezeSchema } from "./schema-common.ts";
import { type ScopedWindow, toWindow } from "./windows.ts";
import type { PlacedWindow, WindowSet } from "./windows-together.ts";

/** A window of the repo's settings or the server's, and whom it binds; absent: everybody. */
export interface Freeze extends ScopedWindow {
  rollouts?: readonly string[] | undefined;
}

/** A freeze with who says it, and its place there. */
export type PlacedFreeze = Freeze & Pick<PlacedWindow, "at"> & { where: WindowOwner };

/** Returns a freeze with its duration read, which the schema has checked. */
export function toFreeze({ selector, rollouts, stages, ...window }: z.output<typeof freezeSchema>): Freeze {
  return { ...toWindow(window), ...defined({ selector, rollouts, stages }) };
}

/** A cluster, or what is counted on one: then a freeze for either binds it. */
export type Bindable = Selectable & { on?: Selectable | undefined };

/** What windows are judged of: clusters by key, undefined where their labels are not known. */
export interface Travels {
  rollout: Pick<Rollout, "name" | "windows"> & {
    file?: string | undefined;
    stages: readonly { name: string; windows?: readonly ScopedWindow[] | undefined }[];
  };
  stage: number;
  clusters: readonly (Bindable | undefined)[];
}

/** The sets that bind what travels: each has to be open. A cluster whose labels are not known is bound by every selector. */
export function windowSets({ rollout, stage, clusters }: Travels, freezes: readonly PlacedFreeze[]): WindowSet[] {
  const bound = inStage({ rollout, stage }, freezes).filter((freeze) => bindsSome(freeze, clusters));
  return grouped<PlacedFreeze, WindowOwner>(bound, ownerOf).map(([where, windows]) => ({ windows, where }));
}

/** Whether which clusters travel may decide what binds them. */
export function hangsOnLabels(travels: Pick<Travels, "rollout" | "stage">, freezes: readonly PlacedFreeze[]): boolean {
  return inStage(travels, freezes).some(({ selector }) => selector !== undefined);
}

/** All that is for a stage, whatever travels: of the rollout, of the stage, then freezes. */
function inStage({ rollout, stage }: Pick<Travels, "rollout" | "stage">, freezes: readonly PlacedFreeze[]): PlacedFreeze[] {
  const staged = rollout.stages[stage];
  const place = (windows: readonly ScopedWindow[], path: string, where: WindowOwner) =>
    windows.map((window, i) => ({ ...window, where, at: { path: `${path}[${i}]`, file: rollout.file } }));
  const own = [
    ...place(rollout.windows ?? [], "spec.windows", { kind: "Rollout" }),
    ...place(staged?.windows ?? [], `spec.stages[${stage}].windows`, { kind: "Stage", stage: staged?.name ?? "" }),
  ];
  return [...own, ...freezes].filter((freeze) => isFor(freeze, rollout.name, staged?.name));
}

/** Windows of the settings, by whom they bind: those of one scope are judged as one set. */
export function scopesOf<F extends Freeze>(freezes: readonly F[]): F[][] {
  return grouped(freezes, scopeOf).map(([, those]) => those);
}

/** Whether a freeze is for a rollout and its stage; which clusters it binds there is another question. */
export function isFor({ rollouts, stages }: Pick<Freeze, "rollouts" | "stages">, rollout: string, stage: string | undefined): boolean {
  return rollouts?.includes(rollout) !== false && (stage === undefined || stages?.includes(stage) !== false);
}

function bindsSome({ selector }: Freeze, clusters: Travels["clusters"]): boolean {
  if (selector === undefined) return true;
  const selects = matcher(selector);
  return clusters.some((cluster) => cluster === undefined || selects(cluster) || (cluster.on !== undefined && selects(cluster.on)));
}

function ownerOf(freeze: PlacedFreeze): WindowOwner {
  const only = scopeOf(freeze);
  return only === undefined ? freeze.where : { ...freeze.where, only };
}

/** Returns whom a freeze binds; undefined: everybody. */
function scopeOf({ selector, rollouts, stages }: Freeze) {
  if (selector === undefined && rollouts === undefined && stages === undefined) return undefined;
  return defined({ selector: selector && formatSelector(selector), rollouts, stages });
}

/** Groups by equal data, in the order of the first of each. */
function grouped<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): [Key, Item[]][] {
  const found = new Map<string, [Key, Item[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const text = JSON.stringify(key) ?? "";
    const same = found.get(text);
    if (same === undefined) found.set(text, [key, [item]]);
    else same[1].push(item);
  }
  return [...found.values()];
}

/**
 * The sets that bind each batch, by its stage and clusters. Batches that the same windows bind share one list, so that they can be told apart
 * by it. `clusterOf`: undefined where its labels are not known.
 */
export function bindingOf(
  rollout: Travels["rollout"],
  freezes: readonly PlacedFreeze[],
  clusterOf: (key: string) => Bindable | undefined,
): (stage: number, clusters: readonly string[]) => readonly WindowSet[] {
  const known = new Map<string, WindowSet[]>();
  return (stage, clusters) => {
    const sets = windowSets({ rollout, stage, clusters: clusters.map(clusterOf) }, freezes);
    const key = JSON.stringify(sets.map(({ where }) => where));
    const same = known.get(key) ?? sets;
    known.set(key, same);
    return same;
  };
}
