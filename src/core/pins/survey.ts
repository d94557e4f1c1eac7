import type { AliasNode, MapNode, PinDocument, PinNode } from "./model.ts";

/** What must be known of a whole document before a pin in it can be trusted. */
export interface Survey {
  /** What each alias stands for. */
  targets: Map<AliasNode, PinNode>;
  /** Who shares an anchored node. */
  shares: Map<PinNode, AliasNode[]>;
  /** The first key that a mapping has twice: offsets of both. */
  duplicate: { key: string; first: number; second: number } | undefined;
  /** An alias without an anchor before it. */
  dangling: AliasNode | undefined;
  /** Expanding the aliases would blow up, or never end. */
  bomb: AliasNode | undefined;
}

interface Walk extends Survey {
  anchors: Map<string, PinNode>;
  weights: Map<PinNode, number>;
  nodes: number;
}

/** Aliases may make a document this much larger than it is, and no more. */
const SPARE_NODES = 100_000;
const SPARE_RATIO = 10;

export function surveyDocument(document: PinDocument): Survey {
  const walk: Walk = {
    targets: new Map(),
    shares: new Map(),
    duplicate: undefined,
    dangling: undefined,
    bomb: undefined,
    anchors: new Map(),
    weights: new Map(),
    nodes: 0,
  };
  if (document.root !== undefined) {
    const weight = weigh(document.root, walk);
    const last = [...walk.targets.keys()].at(-1);
    if (weight > SPARE_NODES + SPARE_RATIO * walk.nodes) walk.bomb ??= last;
  }
  return walk;
}

/** How many nodes this one is once every alias is written out. */
function weigh(node: PinNode, walk: Walk): number {
  walk.nodes++;
  if (node.kind === "alias") return weighAlias(node, walk);
  if (node.anchor !== undefined) {
    walk.anchors.set(node.anchor, node);
    walk.weights.delete(node);
  }
  let weight = 1;
  if (node.kind === "map") {
    if (walk.duplicate === undefined) walk.duplicate = duplicateOf(node);
    for (const pair of node.pairs) {
      if (pair.keyNode !== undefined) weight += weigh(pair.keyNode, walk);
      weight += weigh(pair.value, walk);
    }
  } else if (node.kind === "seq") {
    for (const item of node.items) weight += weigh(item, walk);
  }
  if (node.anchor !== undefined) walk.weights.set(node, weight);
  return weight;
}

function weighAlias(node: AliasNode, walk: Walk): number {
  const target = walk.anchors.get(node.name);
  if (target === undefined) {
    walk.dangling ??= node;
    return 1;
  }
  walk.targets.set(node, target);
  const shares = walk.shares.get(target);
  if (shares === undefined) walk.shares.set(target, [node]);
  else shares.push(node);
  const weight = walk.weights.get(target);
  // An anchor without a weight is still open: the alias stands inside what it names.
  if (weight === undefined) walk.bomb ??= node;
  return weight ?? 1;
}

function duplicateOf(node: MapNode): Survey["duplicate"] {
  const { pairs } = node;
  if (pairs.length <= 8) {
    for (let second = 1; second < pairs.length; second++) {
      const key = pairs[second]?.key;
      for (let first = 0; first < second; first++) {
        if (pairs[first]?.key === key && key !== undefined) return twice(node, key, first, second);
      }
    }
    return undefined;
  }
  const seen = new Map<string, number>();
  for (let at = 0; at < pairs.length; at++) {
    const key = pairs[at]?.key;
    if (key === undefined) continue;
    const first = seen.get(key);
    if (first !== undefined) return twice(node, key, first, at);
    seen.set(key, at);
  }
  return undefined;
}

function twice(node: MapNode, key: string, first: number, second: number): Survey["duplicate"] {
  return { key, first: node.pairs[first]?.keyStart ?? 0, second: node.pairs[second]?.keyStart ?? 0 };
}
