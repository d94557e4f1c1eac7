/**
 * Tells the values of one release apart: which of them each pin writes, and what becomes of each. A release of one value has nothing to
 * tell apart, and is shown as it is. Called by gates, warnings and reports.
 */
import { parseTemplate } from "../base/template.ts";
import type { PinTemplate, Rollout } from "../spec/rollout.ts";
import { type Edit, type Plan, type Release, targetsOf } from "./plan-types.ts";

/** Name of a value for each pin, in their order; undefined: the pin writes more than that value, or none. */
type ValueNames = readonly (string | undefined)[];

const NONE: ValueNames = [];

/** Pins are never changed, and asked of for every target. */
const known = new WeakMap<readonly PinTemplate[], ValueNames>();

/** Names of the values that a target's edits write, in the edits' order; empty where the release has one value alone. */
export function valuesOfEdits({ pins }: Pick<Rollout, "pins">, { values }: Pick<Release, "values">): ValueNames {
  const names = known.get(pins) ?? pins.map(valueOfPin);
  known.set(pins, names);
  const several = Object.keys(values).length > 1 || new Set(names.filter((name) => name !== undefined)).size > 1;
  return several ? names : NONE;
}

function valueOfPin(pin: PinTemplate): string | undefined {
  if (pin.kind === "branch") return "version";
  if (pin.kind === "copy") return undefined;
  const parsed = parseTemplate(pin.value.trim());
  const [part, ...more] = parsed.ok ? parsed.parts : [];
  if (part === undefined || more.length > 0 || !("variable" in part)) return undefined;
  const { variable } = part;
  if ("part" in variable && variable.part !== undefined) return undefined;
  if (variable.root === "release.version") return "version";
  return variable.root === "release.values" ? variable.key : undefined;
}

/** What becomes of one value. */
export interface ValueChange {
  name: string;
  /** What stands in its pins when the run begins, each once; empty: nothing does. */
  from: string[];
  to: string;
}

/** What becomes of each value of a release that has several, by name; empty where it has one alone. */
export function valueChanges(rollout: Pick<Rollout, "pins">, plan: Pick<Plan, "release" | "stages">): ValueChange[] {
  const { values } = plan.release;
  if (Object.keys(values).length < 2) return [];
  const names = valuesOfEdits(rollout, plan.release);
  const standing = new Map<string, Set<string>>();
  for (const { edits } of targetsOf(plan))
    for (const [name, { from }] of namedEdits(edits, names)) {
      const found = standing.get(name) ?? new Set();
      standing.set(name, from === null ? found : found.add(from));
    }
  return Object.entries(values)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, to]) => ({ name, from: [...(standing.get(name) ?? [])], to }));
}

/** The edits of one target that write a value as it is, with its name. */
export function namedEdits(edits: readonly Edit[], names: ValueNames): [string, Edit][] {
  return edits.flatMap((edit, i): [string, Edit][] => {
    const name = names[i];
    return name === undefined ? [] : [[name, edit]];
  });
}
