/** Labels in selectors that no cluster has and that are nearly like one that is there. Called by planning and by lint. */
import { nearest } from "../base/nearest.ts";
import { labelOf, type Selectable, type Selector } from "../base/selector.ts";
import type { Path } from "../reasons/problem.ts";
import type { Rollout } from "../spec/rollout.ts";

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

/** Returns what is likely mistyped in the stages' selectors, with its path in the rollout. */
export function stageTypos({ stages }: Pick<Rollout, "stages">, clusters: readonly Selectable[]): (Typo & { stage: string })[] {
  const selected = new Set(
    stages.flatMap(({ selector }) => wantsOf(selector).flatMap(({ key, value }) => (value === undefined ? [] : [pair(key, value)]))),
  );
  return stages.flatMap(({ name, selector }, at) =>
    selectorTypos(selector, clusters, selected).map((typo) => ({
      ...typo,
      stage: name,
      path: ["spec", "stages", at, "clusters", "selector", ...typo.path],
    })),
  );
}

/**
 * Returns the labels of a selector that nothing has, each with one like it that something has. A label that is like no other
 * may be given to a cluster to come, and so may the next of a row (eu-2 after eu-1): nothing is said of these. `selected`:
 * pairs that are meant as they stand, so that nobody else means them.
 */
export function selectorTypos(selector: Selector, items: readonly Selectable[], selected: ReadonlySet<string> = new Set()): Typo[] {
  const keys = new Set(["name", ...items.flatMap(({ labels }) => Object.keys(labels))]);
  const values = new Map<string, Set<string>>();
  const valuesOf = (key: string) => {
    const known = values.get(key) ?? new Set(items.flatMap((item) => labelOf(item, key) ?? []));
    values.set(key, known);
    return known;
  };
  return wantsOf(selector).flatMap(({ key, value, path }): Typo[] => {
    const there = valuesOf(key);
    if (there.size === 0) {
      const near = nearest(key, keys);
      return near === undefined || isSibling(key, near) ? [] : [{ key, near, path: path.slice(0, 2), atKey: path[0] === "matchLabels" }];
    }
    if (value === undefined || there.has(value)) return [];
    const near = nearest(
      value,
      [...there].filter((one) => !selected.has(pair(key, one)) && !isSibling(value, one)),
    );
    return near === undefined ? [] : [{ key, value, near, path, atKey: false }];
  });
}

interface Want {
  key: string;
  value?: string;
  path: Path;
}

/** What a selector asks to be there. */
function wantsOf({ matchLabels, matchExpressions }: Selector): Want[] {
  const labels = Object.entries(matchLabels).map(([key, value]) => ({ key, value, path: ["matchLabels", key] }));
  const expressions = matchExpressions.flatMap(({ key, operator, values }, at): Want[] => {
    if (operator === "Exists") return [{ key, path: ["matchExpressions", at, "key"] }];
    if (operator !== "In") return [];
    return values.map((value, index) => ({ key, value, path: ["matchExpressions", at, "values", index] }));
  });
  return [...labels, ...expressions];
}

function pair(key: string, value: string): string {
  return `${key}=${value}`;
}

/**
 * Says whether a name is a sibling and no slip: names differ in their numbers, in a letter at the end, or in a part that is
 * another word (`eu-east-1` beside `eu-west-1`, `us-west-1` beside it).
 */
function isSibling(one: string, other: string): boolean {
  const stem = (text: string) => text.replace(/\d+/g, "0").replace(/(?<=[-_.0])[a-z]$/, "a");
  const [parts, others] = [stem(one).split(/[-_./]/), stem(other).split(/[-_./]/)];
  if (parts.join() === others.join()) return true;
  if (parts.length !== others.length) return false;
  return parts.some((part, at) => part !== others[at] && (part.length < 3 || nearest(part, [others[at] ?? ""]) === undefined));
}
