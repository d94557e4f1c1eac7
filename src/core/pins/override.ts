/**
 * Says a value anew below something borrowed, an alias or what a merge key brings: `image: {<<: *image, tag: v2}`. What others share stays
 * as it is to the byte, and all else of it still follows the default. Called by `splice.ts`, and by `shared.ts` for what to say.
 */
import type { AliasNode, MapNode, YamlNode } from "../base/yaml-scan/model.ts";
import type { Over, Tree, Value } from "./create.ts";
import type { PinFile } from "./file.ts";
import { opensTemplate, type Reached } from "./resolve.ts";

/** Where it is written, and what: in the place of an alias, or as a key of a mapping. */
export interface Override {
  at: AliasNode | MapNode;
  key: string | undefined;
  /** From the outside in: what each mapping is based on, and the key in it that is its own. */
  levels: { base: string | undefined; key: string }[];
}

/** `bare`: the shared mapping that has more than the value and no anchor, by which it could be followed. */
type Overriding = { ok: true; override: Override } | { ok: false; bare?: MapNode | undefined };

export function overrideOf(file: PinFile, reached: Reached): Overriding {
  const { lent, chain, document } = reached;
  const shares = file.surveys[document.number - 1]?.shares ?? new Map<YamlNode, AliasNode[]>();
  if (lent === undefined || lent.within.length === 0 || file.json) return { ok: false };
  const around = chain.slice(0, chain.indexOf(lent.at) + (lent.at.kind === "map" ? 1 : 0));
  // What stands in something shared would be shared again.
  if (around.some((node) => shares.has(node))) return { ok: false };
  const levels: Override["levels"] = [];
  for (const { step, node } of lent.within) {
    if (node.kind !== "map" || step.kind !== "key" || opensTemplate(file.text, node)) return { ok: false };
    const base = node.anchor !== undefined && isAlone(document.root, node.anchor) ? node.anchor : undefined;
    if (base === undefined && !node.pairs.every(({ key }) => key === step.key)) return { ok: false, bare: node };
    levels.push({ base, key: step.key });
  }
  return { ok: true, override: { at: lent.at, key: lent.key, levels } };
}

/** An anchor may be given anew: from then on its name means something else. */
function isAlone(root: YamlNode | undefined, anchor: string): boolean {
  return root !== undefined && countAnchors(root, anchor) === 1;
}

function countAnchors(node: YamlNode, anchor: string): number {
  if (node.kind === "alias") return 0;
  const own = node.anchor === anchor ? 1 : 0;
  if (node.kind === "map") return node.pairs.reduce((sum, pair) => sum + countAnchors(pair.value, anchor), own);
  return node.kind === "seq" ? node.items.reduce((sum, item) => sum + countAnchors(item, anchor), own) : own;
}

/** Adds a value to what is to be written there; undefined: another edit says something else of the same place. */
export function plantOver(before: Value | undefined, levels: Override["levels"], value: string): Over | undefined {
  const [level, ...rest] = levels;
  if (level === undefined) return undefined;
  if (before !== undefined && (typeof before === "string" || !("own" in before))) return undefined;
  const over = before ?? { base: level.base, own: new Map() as Tree };
  const there = over.own.get(level.key);
  const next = rest.length === 0 ? (there === undefined || there === value ? value : undefined) : plantOver(there, rest, value);
  if (next === undefined) return undefined;
  over.own.set(level.key, next);
  return over;
}
