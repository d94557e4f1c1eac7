/** Labels and names in selectors that no cluster has. Called by planning and by lint. */
import { nearest } from "../base/nearest.ts";
import { labelOf, matcher, type Selectable, type Selector } from "../base/selector.ts";
import { isSlip, nearKey } from "../base/slip.ts";
import type { Path } from "../reasons/problems/problem.ts";
import type { Rollout } from "../spec/rollout.ts";
import type { Bindable } from "../spec/windows-binding.ts";

/** A key, or a value of it, that nothing has; `near` is what was most likely meant. */
interface Typo {
  key: string;
  value?: string | undefined;
  near: string;
  /** In the selector. */
  path: Path;
  /** The key itself is meant. */
  atKey: boolean;
}

/** Nobody mends more at once. */
export const MOST_TYPOS = 20;
/** Labels and names looked at, for all stages: thousands of names in a selector are not compared with thousands of clusters. */
export const MOST_LOOKS = 200_000;

/** `setting`: it is in no stage's own selector, but in that of its `requeue`. */
type StageTypo = Typo & { stage?: string; setting?: string };

/**
 * Returns what is likely mistyped in the stages' selectors and in those of their `requeue`, with its path in the rollout. `reached`: stages of
 * which it is known that they select one of the clusters, so that it has all that they ask of everybody.
 */
export function stageTypos(
  { stages }: Pick<Rollout, "stages">,
  clusters: readonly Selectable[],
  reached: ReadonlySet<string> = new Set(),
): StageTypo[] {
  const selected = new Set(
    stages.flatMap(({ selector }) => wantsOf(selector).flatMap(({ key, value }) => (value === undefined ? [] : [pair(key, value)]))),
  );
  const labels = labelsOf(clusters);
  const found: StageTypo[] = [];
  for (const [at, { name, selector }] of stages.entries()) {
    for (const typo of typosIn(selector, labels, selected, reached.has(name))) {
      if (found.length === MOST_TYPOS) return found;
      found.push({ ...typo, stage: name, path: ["spec", "stages", at, "clusters", "selector", ...typo.path] });
    }
  }
  // The selectors of clusters come first: looks are counted.
  for (const [at, { requeue }] of stages.entries()) {
    if (requeue === undefined) continue;
    for (const typo of typosIn(requeue.selector, labels, new Set())) {
      if (found.length === MOST_TYPOS) return found;
      found.push({ ...typo, setting: `spec.stages[${at}].requeue`, path: ["spec", "stages", at, "requeue", "selector", ...typo.path] });
    }
  }
  return found;
}

/**
 * Returns the labels of a selector that nothing has, each with one like it that something has. A label that is like no other
 * may be given to a cluster to come, and so may the next of a row (eu-2 after eu-1): nothing is said of these.
 */
export function selectorTypos(selector: Selector, items: readonly Selectable[]): Typo[] {
  return [...typosIn(selector, labelsOf(items), new Set())];
}

/** A label that nothing has; without `near` it is like no other. */
type Unknown = Omit<Typo, "near"> & { near?: string | undefined };

/** Returns the same of what binds those that it selects; where it binds none of `all` there are, labels that are like no other, too. */
export function bindingTypos(selector: Selector, items: readonly Bindable[], all = true): Unknown[] {
  const either = items.flatMap((item) => (item.on === undefined ? [item] : [item, item.on]));
  const typos: Unknown[] = selectorTypos(selector, either);
  if (!all || either.length === 0 || either.some(matcher(selector))) return typos;
  const told = new Set(typos.map(({ key }) => key));
  const unknown = wantsOf(selector).flatMap(({ key, value, path }): Unknown[] => {
    const has = either.some((item) => (value === undefined ? labelOf(item, key) !== undefined : labelOf(item, key) === value));
    return has || told.has(key) ? [] : [{ key, value, path, atKey: false }];
  });
  return [...typos, ...unknown.slice(0, MOST_TYPOS)];
}

/** Returns that of a rollout's windows and limits. */
export function scopeTypos(
  { windows = [], limits, stages }: Pick<Rollout, "windows" | "limits" | "stages">,
  items: readonly Bindable[],
): (Unknown & { setting: string })[] {
  const scoped = [
    ...windows.map(({ selector }, i) => ({ selector, path: ["spec", "windows", i], setting: `spec.windows[${i}]` })),
    ...stages.flatMap((stage, at) =>
      (stage.windows ?? []).map(({ selector }, i) => ({
        ...{ selector, path: ["spec", "stages", at, "windows", i], setting: `spec.stages[${at}].windows[${i}]` },
      })),
    ),
    ...(limits?.selected ?? []).map(({ selector }, i) => ({
      ...{ selector, path: ["spec", "limits", "selected", i], setting: `spec.limits.selected[${i}]` },
    })),
  ];
  return scoped.flatMap(({ selector, path, setting }) =>
    (selector === undefined ? [] : bindingTypos(selector, items)).map((typo) => ({
      ...{ ...typo, setting, path: [...path, "selector", ...typo.path] },
    })),
  );
}

/** Every Argo CD has it, so it tells no fleet from another. */
const IN_CLUSTER = "in-cluster";

/** A cluster that a stage asks for by name, and nothing is called that. */
interface Stranger {
  stage: string;
  name: string;
  near?: string | undefined;
  path: Path;
}

/**
 * Returns the names in the stages' selectors that no cluster has, without those that `stageTypos` tells of. `some`: only where the stages
 * name one of the clusters, too: otherwise these may be others than those that are meant.
 */
export function stageStrangers({ stages }: Pick<Rollout, "stages">, clusters: readonly Selectable[], { some = false } = {}): Stranger[] {
  const known = new Set(clusters.flatMap((cluster) => [cluster.name, labelOf(cluster, "name") ?? cluster.name]));
  const asked = stages.flatMap(({ name: stage, selector }, at) =>
    wantsOf(selector).flatMap(({ key, value, path }) =>
      key === "name" && value !== undefined && value !== IN_CLUSTER
        ? [{ stage, name: value, path: ["spec", "stages", at, "clusters", "selector", ...path] }]
        : [],
    ),
  );
  const strange = asked.filter(({ name }) => !known.has(name));
  if (strange.length === 0 || known.size === 0 || (some && strange.length === asked.length)) return [];
  const told = new Set(stageTypos({ stages }, clusters).map(({ path }) => path.join("\n")));
  const left = strange.filter(({ path }) => !told.has(path.join("\n")));
  return left.slice(0, MOST_TYPOS).map((one) => ({ ...one, near: nearest(one.name, known) }));
}

/**
 * Returns the keys of the stages' selectors that are told nowhere, each a slip of one that is: where no cluster's labels are known. A key that
 * two stages go by is meant.
 */
export function keySlips({ stages }: Pick<Rollout, "stages">, told: ReadonlySet<string>): (Typo & { stage: string })[] {
  const asked = stages.flatMap(({ name: stage, selector }, at) => {
    const wants = wantsOf(selector).filter(({ key, path }) => key !== "name" && (path[3] ?? 0) === 0);
    return wants.map(({ key, path }) => ({ stage, key, path: ["spec", "stages", at, "clusters", "selector", ...path.slice(0, 2)] }));
  });
  const stagesBy = Map.groupBy(asked, ({ key }) => key);
  const meant = new Set([...told, ...[...stagesBy].flatMap(([key, by]) => (by.length > 1 ? [key] : []))]);
  const strange = asked.filter(({ key }) => !meant.has(key));
  return strange.slice(0, MOST_TYPOS).flatMap(({ stage, key, path }) => {
    const near = nearest(key, meant, (one) => isSlip(key, one));
    return near === undefined ? [] : [{ stage, key, near, path, atKey: path.includes("matchLabels") }];
  });
}

/** What some items have, and how often it may still be looked at. */
interface LabelsThere {
  left: number;
  keys: ReadonlySet<string>;
  of(key: string): ReadonlySet<string>;
}

function labelsOf(items: readonly Selectable[]): LabelsThere {
  const known = new Map<string, ReadonlySet<string>>();
  let keys: Set<string> | undefined;
  return {
    left: MOST_LOOKS,
    get keys() {
      keys ??= keysOf(items);
      return keys;
    },
    of(key) {
      const before = known.get(key);
      if (before !== undefined) return before;
      this.left -= items.length;
      const values = new Set<string>();
      for (const item of items) {
        const value = labelOf(item, key);
        if (value !== undefined) values.add(value);
      }
      known.set(key, values);
      return values;
    },
  };
}

function keysOf(items: readonly Selectable[]): Set<string> {
  const keys = new Set(["name"]);
  for (const { labels } of items) for (const key of Object.keys(labels)) keys.add(key);
  return keys;
}

/** `selected`: pairs that are meant as they stand, so that nobody else means them. `reached`: the selector selects one of the items. */
function* typosIn(selector: Selector, there: LabelsThere, selected: ReadonlySet<string>, reached = false): Generator<Typo> {
  for (const { key, value, path, sole } of wantsOf(selector)) {
    if (reached && sole) continue;
    if (there.left <= 0) return;
    const values = there.of(key);
    if (values.size === 0) {
      // No cluster is known, so none has a name; and the key of an expression is told with the first of its values.
      if (there.keys.has(key) || (path[3] ?? 0) !== 0) continue;
      there.left -= there.keys.size;
      const near = nearKey(key, there.keys);
      if (near !== undefined) yield { key, near, path: path.slice(0, 2), atKey: path[0] === "matchLabels" };
    } else if (value !== undefined && !values.has(value)) {
      there.left -= values.size;
      const near = nearest(value, values, (one) => !selected.has(pair(key, one)) && isSlip(value, one));
      if (near !== undefined) yield { key, value, near, path, atKey: false };
    }
  }
}

interface Want {
  key: string;
  value?: string;
  path: Path;
  /** Whatever the selector selects has it, as nothing else would do. */
  sole: boolean;
}

/** What a selector asks to be there. */
export function wantsOf({ matchLabels, matchExpressions }: Selector): Want[] {
  const labels = Object.entries(matchLabels).map(([key, value]) => ({ key, value, path: ["matchLabels", key], sole: true }));
  const expressions = matchExpressions.flatMap(({ key, operator, values }, at): Want[] => {
    if (operator === "Exists") return [{ key, path: ["matchExpressions", at, "key"], sole: true }];
    if (operator !== "In") return [];
    const sole = values.length === 1;
    return values.map((value, index) => ({ key, value, path: ["matchExpressions", at, "values", index], sole }));
  });
  return [...labels, ...expressions];
}

function pair(key: string, value: string): string {
  return `${key}=${value}`;
}
