import { nearest } from "../base/nearest.ts";
import {
  type AliasNode,
  endOf,
  type MapNode,
  position,
  type ScalarNode,
  type SeqNode,
  type YamlNode,
  type YamlTree,
} from "../base/yaml-scan/model.ts";
import { scalarText } from "../base/yaml-scan/scalar.ts";
import type { PinProblems } from "../reasons/pins.ts";
import type { PinFile } from "./file.ts";
import { type Lent, lend } from "./lent.ts";
import { type PinStep, printPinPath } from "./path.ts";
import { type PinError, pinError } from "./types.ts";

/** Where some steps lead in one document. */
export interface Reached {
  document: YamlTree;
  /** From the root to the node, with what stands behind aliases on the way. */
  chain: YamlNode[];
  /** Column of the block collection that holds the last node. */
  column: number;
  /** The way went through an alias or a merge key: somebody else has the value too. */
  borrowed: boolean;
  /** The alias that is the value itself, where nothing else on the way was borrowed: it can be written out in its place. */
  alias?: AliasNode | undefined;
  /** A merge key of the mapping itself brings the value in, and nothing else on the way was borrowed: its key can be written there. */
  merged?: true | undefined;
  /** Where a value in something borrowed can be said anew, over what is borrowed: see `override.ts`. */
  lent?: Lent | undefined;
}

export type Resolution =
  | { kind: "found"; node: YamlNode; reached: Reached }
  /** `at`: the mapping or list that lacks it, or the empty value that would become one. `rest`: what is to be written; undefined: it cannot be. */
  | {
      kind: "missing";
      at: MapNode | SeqNode | ScalarNode | undefined;
      rest: PinStep[] | undefined;
      depth: number;
      reached: Reached;
      error: PinError;
    }
  | { kind: "error"; depth: number; error: PinError };

interface Way {
  file: PinFile;
  document: YamlTree;
  steps: readonly PinStep[];
  /** Keys that only a merge brings do not count: they would be overridden, not changed. */
  ownOnly: boolean;
}

type Failed = Resolution & { kind: "error" };
type Dead = Exclude<Resolution, { kind: "found" }>;
/** Why a step leads nowhere, without how far the path went. */
type Fault = WithoutWay<PinProblems["PIN_NOT_FOUND"]>;
type WithoutWay<Kind> = Kind extends { pinPath: string } ? Omit<Kind, "pinPath" | "within" | "document"> : never;

/** Follows steps (none of them `into`) through a document. */
export function resolve(way: Way): Resolution {
  const { document } = way;
  const reached: Reached = { document, chain: [], column: 0, borrowed: false };
  const last = way.steps.length - 1;
  if (document.root === undefined) return empty(way, reached, undefined, 0, "document");
  let node = follow(way, reached, document.root);
  for (let depth = 0; depth < way.steps.length; depth++) {
    const borrowed = reached.borrowed;
    const next = stepInto(way, reached, node, depth);
    if (next.kind === "missing" || next.kind === "error") return next;
    reached.column = columnOf(node, reached.column);
    if (depth === last && !borrowed && reached.borrowed) reached.merged = true;
    if (depth === last && !reached.borrowed && next.kind === "alias") reached.alias = next;
    lend(reached, borrowed, { node, next, step: way.steps[depth] });
    node = follow(way, reached, next);
  }
  return { kind: "found", node, reached };
}

function columnOf(node: YamlNode, outer: number): number {
  return node.kind === "map" || node.kind === "seq" ? (node.flow ? outer : node.column) : outer;
}

/** The node, or what stands behind the alias that it is. */
function follow(way: Way, reached: Reached, node: YamlNode): Exclude<YamlNode, { kind: "alias" }> {
  reached.chain.push(node);
  if (node.kind !== "alias") return node;
  reached.borrowed = true;
  const target = surveyOf(way).targets.get(node);
  if (target === undefined) throw new Error(`alias *${node.name} was not surveyed`);
  return follow(way, reached, target);
}

function surveyOf(way: Way): PinFile["surveys"][number] {
  const survey = way.file.surveys[way.document.number - 1];
  if (survey === undefined) throw new Error(`document ${way.document.number} was not surveyed`);
  return survey;
}

function stepInto(way: Way, reached: Reached, node: YamlNode, depth: number): YamlNode | Dead {
  const step = way.steps[depth];
  if (step === undefined || step.kind === "into") throw new Error("a step into a block scalar is not the resolver's");
  if (node.kind === "map" && step.kind === "key") return keyOf(way, reached, node, depth, step.key);
  if (node.kind === "seq" && step.kind === "index")
    return node.items[step.index] ?? fail(way, node, depth, { kind: "NoItem", index: step.index, items: node.items.length });
  if (node.kind === "seq" && step.kind === "match") return matchOf(way, reached, node, depth, step);
  if (node.kind === "scalar" && isNull(way.file.text, node)) return empty(way, reached, node, depth, "value");
  if (node.kind === "map") return fail(way, node, depth, { kind: "IsMap", ...some(keysOf(node)) });
  if (node.kind === "seq") return fail(way, node, depth, { kind: "IsList", items: node.items.length });
  const block = node.kind === "scalar" && (node.style === "literal" || node.style === "folded");
  return fail(way, node, depth, { kind: "IsValue", key: step.kind === "key" ? step.key : undefined, block });
}

function keysOf(node: MapNode): string[] {
  return node.pairs.flatMap((pair) => pair.key ?? []);
}

function some(names: readonly string[]): { some: string[]; of: number } {
  return { some: names.slice(0, 8), of: names.length };
}

function keyOf(way: Way, reached: Reached, node: MapNode, depth: number, key: string): YamlNode | Dead {
  for (const pair of node.pairs) if (pair.key === key) return pair.value;
  const merged = mergedKey(way, node, key, 0);
  if (merged !== undefined && !(way.ownOnly && depth === way.steps.length - 1)) {
    reached.borrowed = true;
    return merged;
  }
  const keys = keysOf(node);
  const failed = fail(way, node, depth, { kind: "NoKey", key, near: nearest(key, keys), ...some(keys) });
  return opensTemplate(way.file.text, node) ? failed : { ...failed, kind: "missing", at: node, rest: restOf(way, depth), reached };
}

/** A key that `<<` brings in. What stands first in a list of merges wins. */
function mergedKey(way: Way, node: MapNode, key: string, depth: number): YamlNode | undefined {
  if (depth > 20) return undefined;
  for (const pair of node.pairs) {
    if (pair.key !== "<<" || pair.keyQuoted) continue;
    const sources = pair.value.kind === "seq" ? pair.value.items : [pair.value];
    for (const source of sources) {
      const map = source.kind === "alias" ? surveyOf(way).targets.get(source) : source;
      if (map?.kind !== "map") continue;
      const found = map.pairs.find((one) => one.key === key)?.value ?? mergedKey(way, map, key, depth + 1);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Lists are searched once a key: a batch asks for hundreds of items of one list. */
const indexes = new WeakMap<SeqNode, Map<string, Map<string, YamlNode[]>>>();

function matchOf(way: Way, reached: Reached, node: SeqNode, depth: number, { key, value }: PinStep & { kind: "match" }): YamlNode | Dead {
  const found = indexOf(way, node, key).get(value) ?? [];
  const [first] = found;
  if (first === undefined) {
    const values = indexOf(way, node, key).keys().toArray();
    const near = nearest(value, values);
    const none = fail(way, node, depth, { kind: "NoMatch", key, value, items: node.items.length, near, ...some(values) });
    // A list whose items go by another key would not be read with such an item.
    const alike = node.items.length === 0 || values.length > 0;
    return alike ? { ...none, kind: "missing", at: node, rest: restOf(way, depth), reached } : none;
  }
  if (found.length === 1) return first;
  const lines = found.map((item) => position(way.file.text, item.start).line);
  return failed(way, first, depth, "PIN_AMBIGUOUS", { kind: "Items", key, value, lines, ...wayTo(way, depth) });
}

function indexOf(way: Way, node: SeqNode, key: string): Map<string, YamlNode[]> {
  const known = indexes.get(node)?.get(key);
  if (known !== undefined) return known;
  const index = new Map<string, YamlNode[]>();
  for (const item of node.items) {
    const map = item.kind === "alias" ? surveyOf(way).targets.get(item) : item;
    if (map?.kind !== "map") continue;
    const own = map.pairs.find((pair) => pair.key === key)?.value ?? mergedKey(way, map, key, 0);
    const value = own?.kind === "alias" ? surveyOf(way).targets.get(own) : own;
    if (value?.kind !== "scalar") continue;
    const text = scalarText(way.file.text, value);
    const same = index.get(text);
    if (same === undefined) index.set(text, [item]);
    else same.push(item);
  }
  const all = indexes.get(node) ?? new Map<string, Map<string, YamlNode[]>>();
  indexes.set(node, all.set(key, index));
  return index;
}

function empty(way: Way, reached: Reached, at: ScalarNode | undefined, depth: number, what: "document" | "value"): Dead {
  const rest = restOf(way, depth);
  const { error } = fail(way, at, depth, { kind: "Empty", what, writable: rest !== undefined });
  return { kind: "missing", at, rest, depth, reached, error };
}

/** The steps that are left; undefined: an index among them says nothing of the item, or they do not end at a key. */
function restOf(way: Way, depth: number): PinStep[] | undefined {
  const left = way.steps.slice(depth);
  const writable = left.at(-1)?.kind === "key" && left.every(({ kind }) => kind === "key" || kind === "match");
  return writable || left.length === 0 ? left : undefined;
}

function fail(way: Way, node: YamlNode | undefined, depth: number, fault: Fault): Failed {
  return failed(way, node, depth, "PIN_NOT_FOUND", { ...fault, ...wayTo(way, depth) } as PinProblems["PIN_NOT_FOUND"]);
}

function failed<Code extends "PIN_NOT_FOUND" | "PIN_AMBIGUOUS">(
  way: Way,
  node: YamlNode | undefined,
  depth: number,
  code: Code,
  data: PinProblems[Code],
): Failed {
  const { text } = way.file;
  const isEmpty = node?.kind === "scalar" && node.style === "empty";
  const at = node === undefined ? way.document.end : isEmpty ? endOf(node) : node.start;
  if (node === undefined || !opensTemplate(text, node)) return { kind: "error", depth, error: pinError(code, data, text, at) };
  const template = text.slice(node.start, text.indexOf("\n", node.start) + 1 || text.length).trim();
  const { pinPath } = wayTo(way, depth);
  return { kind: "error", depth, error: pinError("PIN_IS_TEMPLATE", { kind: "There", pinPath, template }, text, at) };
}

/** The path, and how far it leads. They name the document where there are several. */
function wayTo({ file, document: { number }, steps }: Way, depth: number) {
  const document = file.documents.length > 1 ? number : undefined;
  const within = depth === 0 ? undefined : printPinPath({ document, steps: steps.slice(0, depth) });
  return { pinPath: printPinPath({ document, steps }), within, document: depth === 0 ? document : undefined };
}

/** `{{ x }}` without quotes is, to YAML, a mapping with a mapping as its key. */
export function opensTemplate(text: string, node: YamlNode): boolean {
  return node.kind === "map" && node.flow && text.startsWith("{{", node.start);
}

export function isNull(text: string, node: ScalarNode): boolean {
  if (node.tag !== undefined) return false;
  return (
    node.style === "empty" ||
    (node.style === "plain" && node.end - node.start <= 4 && /^(?:~|null|Null|NULL)$/.test(text.slice(node.start, node.end)))
  );
}
