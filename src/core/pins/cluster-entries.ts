import type { PinFile } from "./file.ts";
import { locateNode } from "./locate.ts";
import { type MapNode, type PinNode, position, type ScalarNode, type SeqNode } from "./model.ts";
import { scalarText } from "./scalar.ts";
import type { PinError, PinErrorCode } from "./types.ts";

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

type Read<T> = ({ ok: true } & T) | { ok: false; error: PinError };

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
  if (old.entry === young.entry)
    return refuse("PIN_AMBIGUOUS", `${move.old} and ${move.new} are one entry`, "Name two entries.", file.text, at);
  const missing = [
    ...old.list.texts.filter((name) => !young.list.texts.includes(name)),
    ...young.list.texts.filter((name) => !old.list.texts.includes(name)),
  ];
  if (missing.length > 0) {
    const message = `the lists of In and NotIn differ (${missing.slice(0, 5).join(", ")}), so some clusters are in both entries or in none`;
    return refuse("PIN_AMBIGUOUS", message, "Make the two lists the same.", file.text, at);
  }
  if (old.rest !== young.rest) {
    const message = "the two entries select by more than name In and NotIn, and not by the same";
    return refuse("PIN_AMBIGUOUS", message, "Give both the same clusters.selector and the same other expressions.", file.text, at);
  }
  return { ok: true, entries: { old: old.list, young: young.list, names: young.list.texts } };
}

function readEntry(file: PinFile, path: string, operator: "In" | "NotIn"): Read<{ entry: PinNode; list: NameList; rest: string }> {
  const located = locateNode(file, path);
  if (!located.ok) return located;
  const entry = located.node;
  const clusters = entry.kind === "map" ? valueAt(entry, "clusters") : undefined;
  if (entry.kind !== "map" || clusters === undefined) {
    return refuse("PIN_NOT_FOUND", `${path} is not a clusters generator`, "Name an entry that has `clusters:`.", file.text, entry.start);
  }
  const expressions = mapAt(entry, "selector") === undefined ? undefined : valueAt(mapAt(entry, "selector") as MapNode, "matchExpressions");
  const own = (expressions?.kind === "seq" ? expressions.items : []).filter(
    (one): one is MapNode => one.kind === "map" && textOf(file, one, "key") === "name" && textOf(file, one, "operator") === operator,
  );
  const [expression] = own;
  if (expression === undefined || own.length > 1) {
    const hint = `Give it selector.matchExpressions with one {key: name, operator: ${operator}, values: […]}.`;
    return refuse(
      "PIN_NOT_FOUND",
      `${path} has ${own.length === 0 ? "no" : "more than one"} selector "name ${operator}"`,
      hint,
      file.text,
      entry.start,
    );
  }
  const list = listOf(file, expression);
  if (!list.ok) return list;
  const selector = clusters.kind === "map" ? valueAt(clusters, "selector") : undefined;
  const rest = [describe(file, selector), describe(file, mapAt(entry, "selector"), expression)].join("\n");
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
  const why = node === undefined ? "the selector has no `values`" : "the selector's `values` is not a plain list of names";
  return refuse("PIN_NOT_FOUND", why, "Write `values: []` there.", file.text, node?.start ?? expression.start);
}

/** A node as comparable text: keys sorted, styles and comments gone, `except` left out. */
function describe(file: PinFile, node: PinNode | undefined, except?: PinNode): string {
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

function valueAt(node: MapNode, key: string): PinNode | undefined {
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

export function refuse(code: PinErrorCode, message: string, hint: string, text: string, offset: number): { ok: false; error: PinError } {
  return { ok: false, error: { code, message, hint, ...position(text, offset) } };
}
