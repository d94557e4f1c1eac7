import type { ScalarNode, YamlNode, YamlTree } from "../base/yaml-scan/model.ts";
import { scalarText } from "../base/yaml-scan/scalar.ts";
import type { Items, Op, Over, Tree, Value } from "./create.ts";

/** How one node must differ after a splice. Every other node must be as before, and stand where the edits moved it to. */
export type Expect =
  | { kind: "text"; text: string }
  /** A block scalar whose header adds the last line break. */
  | { kind: "block"; text: string }
  | { kind: "tree"; tree: Tree | Items | Over }
  /** To a mapping or a list. */
  | { kind: "added"; tree: Value }
  | { kind: "list"; texts: readonly string[] };

interface Sides {
  before: string;
  after: string;
  expects: ReadonlyMap<YamlNode, Expect>;
  shift(offset: number, empty: boolean): number;
}

/** undefined: the two differ in exactly what was expected. Otherwise the offset (before) of the first node that does not. */
export function differsElsewhere(
  before: { text: string; documents: readonly YamlTree[] },
  after: { text: string; documents: readonly YamlTree[] },
  ops: readonly Op[],
  expects: ReadonlyMap<YamlNode, Expect>,
  root: Tree | Items | undefined,
): number | undefined {
  if (before.documents.length !== after.documents.length) return 0;
  const sides: Sides = { before: before.text, after: after.text, expects, shift: shifter(ops) };
  for (let at = 0; at < before.documents.length; at++) {
    const one = before.documents[at]?.root;
    const two = after.documents[at]?.root;
    if (one === undefined) {
      const same = two === undefined ? root === undefined : root !== undefined && isValue(after.text, two, root);
      if (!same) return 0;
      continue;
    }
    if (two === undefined) return one.start;
    const differs = compare(one, two, sides);
    if (differs !== undefined) return differs;
  }
  return undefined;
}

/**
 * Where an offset before the edits is after them. An empty value keeps its place when something is written right behind it. It is asked in
 * the order of the text, or nearly, so it goes on from where it was last.
 */
function shifter(ops: readonly Op[]): (offset: number, empty: boolean) => number {
  const moved = [0];
  for (const op of ops) moved.push((moved.at(-1) ?? 0) + op.text.length - (op.end - op.start));
  const isBefore = ({ start, end }: Op, offset: number, empty: boolean) => start < offset || (!empty && start === offset && end === start);
  let at = 0;
  return (offset, empty) => {
    for (let op = ops[at - 1]; op !== undefined && !isBefore(op, offset, empty); op = ops[at - 1]) at--;
    for (let op = ops[at]; op !== undefined && isBefore(op, offset, empty); op = ops[at]) at++;
    return offset + (moved[at] ?? 0);
  };
}

function compare(one: YamlNode, two: YamlNode, sides: Sides): number | undefined {
  const expect = sides.expects.get(one);
  if (expect !== undefined) {
    if (expect.kind !== "added" && isAsExpected(two, expect, sides.after)) return undefined;
    if (expect.kind !== "added" || (one.kind !== "map" && one.kind !== "seq")) return one.start;
  }
  if (one.kind !== two.kind) return one.start;
  const empty = one.kind === "scalar" && one.style === "empty";
  if (sides.shift(one.start, empty) !== two.start) return one.start;
  if (one.kind === "scalar" && two.kind === "scalar") return compareScalars(one, two, sides);
  if (one.kind === "alias" && two.kind === "alias") return one.name === two.name ? undefined : one.start;
  if (one.kind === "map" && two.kind === "map") {
    if (one.anchor !== two.anchor || one.flow !== two.flow) return one.start;
    const more = expect?.kind === "added" && expect.tree instanceof Map ? expect.tree : undefined;
    if (two.pairs.length !== one.pairs.length + (more?.size ?? 0)) return one.start;
    for (let at = 0; at < one.pairs.length; at++) {
      const differs = comparePairs(one.pairs[at], two.pairs[at], sides);
      if (differs !== undefined) return differs;
    }
    return more === undefined || hasPairs(sides.after, two.pairs.slice(one.pairs.length), more) ? undefined : one.start;
  }
  if (one.kind === "seq" && two.kind === "seq") {
    const more =
      expect?.kind === "added" && typeof expect.tree !== "string" && !("own" in expect.tree) && "items" in expect.tree
        ? expect.tree.items
        : [];
    if (one.items.length + more.length !== two.items.length || one.anchor !== two.anchor || one.flow !== two.flow) return one.start;
    for (let at = 0; at < one.items.length; at++) {
      const differs = compareMaybe(one.items[at], two.items[at], sides);
      if (differs !== undefined) return differs;
    }
    const added = two.items.slice(one.items.length);
    if (!more.every((tree, at) => isTree(sides.after, added[at], tree))) return one.start;
  }
  return undefined;
}

function compareMaybe(one: YamlNode | undefined, two: YamlNode | undefined, sides: Sides): number | undefined {
  if (one === undefined || two === undefined) return one === two ? undefined : (one?.start ?? 0);
  return compare(one, two, sides);
}

type Pairs = Extract<YamlNode, { kind: "map" }>["pairs"];

function comparePairs(one: Pairs[number] | undefined, two: Pairs[number] | undefined, sides: Sides): number | undefined {
  if (one === undefined || two === undefined) return 0;
  if (one.key !== two.key || one.keyQuoted !== two.keyQuoted) return one.keyStart;
  const differs = one.keyNode === undefined ? undefined : compareMaybe(one.keyNode, two.keyNode, sides);
  return differs ?? compare(one.value, two.value, sides);
}

/** A scalar that no edit touched ends where it ended; a block scalar may meet an edit right behind it. */
function compareScalars(one: ScalarNode, two: ScalarNode, sides: Sides): number | undefined {
  if (one.style !== two.style || one.anchor !== two.anchor || one.tag !== two.tag) return one.start;
  if (one.end - one.start === two.end - two.start && sides.shift(one.end, true) === two.end) return undefined;
  return scalarText(sides.before, one) === scalarText(sides.after, two) ? undefined : one.start;
}

function isAsExpected(node: YamlNode, expect: Expect, text: string): boolean {
  if (expect.kind === "tree") return isValue(text, node, expect.tree);
  if (expect.kind === "list") {
    if (node.kind !== "seq" || node.items.length !== expect.texts.length) return false;
    return node.items.every((item, at) => item.kind === "scalar" && scalarText(text, item) === expect.texts[at]);
  }
  if (node.kind !== "scalar" || expect.kind === "added") return false;
  const value = scalarText(text, node);
  return value === expect.text || (expect.kind === "block" && value === `${expect.text}\n`);
}

function isValue(text: string, node: YamlNode, value: Value): boolean {
  if (typeof value === "string") return node.kind === "scalar" && scalarText(text, node) === value;
  if ("own" in value) return isOver(text, node, value);
  if (!("items" in value)) return isTree(text, node, value);
  return (
    node.kind === "seq" && node.items.length === value.items.length && value.items.every((item, at) => isTree(text, node.items[at], item))
  );
}

function isTree(text: string, node: YamlNode | undefined, tree: Tree): boolean {
  return node?.kind === "map" && node.pairs.length === tree.size && hasPairs(text, node.pairs, tree);
}

function isOver(text: string, node: YamlNode, { base, own }: Over): boolean {
  if (node.kind !== "map") return false;
  const [merge] = node.pairs;
  const isBased = base === undefined || (merge?.key === "<<" && merge.value.kind === "alias" && merge.value.name === base);
  const others = base === undefined ? node.pairs : node.pairs.slice(1);
  return isBased && others.length === own.size && hasPairs(text, others, own);
}

function hasPairs(text: string, pairs: Pairs, tree: Tree): boolean {
  for (const pair of pairs) {
    const expected = pair.key === undefined ? undefined : tree.get(pair.key);
    if (expected === undefined) return false;
    if (!isValue(text, pair.value, expected)) return false;
  }
  return true;
}
