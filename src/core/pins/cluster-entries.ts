import type { MapNode, ScalarNode, SeqNode, YamlNode } from "../base/yaml-scan/model.ts";
import { scalarText } from "../base/yaml-scan/scalar.ts";
import type { PinFile } from "./file.ts";
import { locateNode } from "./locate.ts";
import { type Refused, refuse } from "./types.ts";

/** Stands in a list that would otherwise be empty: Argo CD refuses a selector without values, and with it the whole set. */
export const NO_CLUSTER = "no-cluster.stagecoach.dev";

/** The list of names in one post-selector. `node` is an empty scalar where `values:` has nothing behind it. */
export interface NameList {
  node: SeqNode | ScalarNode;
  texts: string[];
  /** Column of the mapping that holds `values`. */
  column: number;
}

export interface Entries {
  old: NameList;
  young: NameList;
  /** What both lists hold, in the order of `new`. */
  names: string[];
}

type Read<T> = ({ ok: true } & T) | Refused;

/**
 * Reads both entries and refuses unless, by construction, every cluster is in exactly one of them: the same clusters
 * generator, and post-selectors that are equal but for `In` and `NotIn` of one list on `name`.
 */
export function readEntries(file: PinFile, move: { old: string; new: string }): Read<{ entries: Entries }> {
  const old = readEntry(file, move.old, "NotIn");
  if (!old.ok) return old;
  const young = readEntry(file, move.new, "In");
  if (!young.ok) return young;
  const at = young.list.node.start;
  if (old.entry === young.entry) return refuse("PIN_AMBIGUOUS", { kind: "OneEntry", old: move.old, new: move.new }, file.text, at);
  const differing = [...new Set(old.list.texts).symmetricDifference(new Set(young.list.texts))];
  if (differing.length > 0) return refuse("PIN_AMBIGUOUS", { kind: "ListsDiffer", some: differing.slice(0, 5) }, file.text, at);
  if (old.rest !== young.rest) return refuse("PIN_AMBIGUOUS", { kind: "SelectorsDiffer" }, file.text, at);
  return { ok: true, entries: { old: old.list, young: young.list, names: young.list.texts } };
}

function readEntry(file: PinFile, path: string, operator: "In" | "NotIn"): Read<{ entry: YamlNode; list: NameList; rest: string }> {
  const located = locateNode(file, path);
  if (!located.ok) return located;
  const entry = located.node;
  const clusters = entry.kind === "map" ? valueAt(entry, "clusters") : undefined;
  if (entry.kind !== "map" || clusters === undefined)
    return refuse("PIN_NOT_FOUND", { kind: "NoGenerator", entry: path }, file.text, entry.start);
  const selector = mapAt(entry, "selector");
  const expressions = selector === undefined ? undefined : valueAt(selector, "matchExpressions");
  const own = (expressions?.kind === "seq" ? expressions.items : []).filter(
    (one): one is MapNode => one.kind === "map" && textOf(file, one, "key") === "name" && textOf(file, one, "operator") === operator,
  );
  const [expression] = own;
  if (expression === undefined || own.length > 1)
    return refuse("PIN_NOT_FOUND", { kind: "Selector", entry: path, several: own.length > 1, operator }, file.text, entry.start);
  const list = listOf(file, expression);
  if (!list.ok) return list;
  const ofClusters = clusters.kind === "map" ? valueAt(clusters, "selector") : undefined;
  const rest = [describe(file, ofClusters), describe(file, selector, expression)].join("\n");
  return { ok: true, entry, list: list.list, rest };
}

function listOf(file: PinFile, expression: MapNode): Read<{ list: NameList }> {
  const node = valueAt(expression, "values");
  const column = expression.flow ? -1 : expression.column;
  if (node?.kind === "seq" && node.anchor === undefined) {
    const scalars = node.items.filter(
      (item): item is ScalarNode => item.kind === "scalar" && item.style !== "empty" && item.style !== "literal" && item.style !== "folded",
    );
    if (scalars.length === node.items.length)
      return { ok: true, list: { node, texts: scalars.map((item) => scalarText(file.text, item)), column } };
  }
  if (node?.kind === "scalar" && node.style === "empty" && node.anchor === undefined)
    return { ok: true, list: { node, texts: [], column } };
  return refuse("PIN_NOT_FOUND", { kind: node === undefined ? "NoValues" : "OddValues" }, file.text, node?.start ?? expression.start);
}

/** A node as comparable text: keys sorted, styles and comments gone, `except` left out. */
function describe(file: PinFile, node: YamlNode | undefined, except?: YamlNode): string {
  if (node === undefined || node === except) return "";
  if (node.kind === "scalar") return JSON.stringify(scalarText(file.text, node));
  if (node.kind === "alias") return `*${node.name}`;
  if (node.kind === "seq")
    return `[${node.items
      .map((item) => describe(file, item, except))
      .filter((text) => text !== "")
      .sort()
      .join()}]`;
  const pairs = node.pairs.map((pair) => `${pair.key}:${describe(file, pair.value, except)}`);
  return `{${pairs.sort().join()}}`;
}

function valueAt(node: MapNode, key: string): YamlNode | undefined {
  return node.pairs.find((pair) => pair.key === key)?.value;
}

function mapAt(node: MapNode, key: string): MapNode | undefined {
  const value = valueAt(node, key);
  return value?.kind === "map" ? value : undefined;
}

function textOf(file: PinFile, node: MapNode, key: string): string | undefined {
  const value = valueAt(node, key);
  return value?.kind === "scalar" ? scalarText(file.text, value) : undefined;
}
