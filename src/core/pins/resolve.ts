import { nearest } from "../base/nearest.ts";
import type { PinFile } from "./file.ts";
import { endOf, type MapNode, type PinDocument, type PinNode, position, type ScalarNode, type SeqNode } from "./model.ts";
import { type PinStep, printPinPath } from "./path.ts";
import { scalarText } from "./scalar.ts";
import type { PinError, PinErrorCode } from "./types.ts";

/** Where some steps lead in one document. */
export interface Reached {
  document: PinDocument;
  /** From the root to the node, with what stands behind aliases on the way. */
  chain: PinNode[];
  /** Column of the block collection that holds the last node. */
  column: number;
  /** The way went through an alias or a merge key: somebody else has the value too. */
  borrowed: boolean;
}

export type Resolution =
  | { kind: "found"; node: PinNode; reached: Reached }
  /** `at`: the mapping that lacks the key, or the empty value that would become one. `rest`: the keys to write; undefined: not only keys. */
  | { kind: "missing"; at: MapNode | ScalarNode | undefined; rest: string[] | undefined; depth: number; reached: Reached; error: PinError }
  | { kind: "error"; depth: number; error: PinError };

export interface Way {
  file: PinFile;
  document: PinDocument;
  steps: readonly PinStep[];
  /** Whether messages name the document. */
  numbered: boolean;
  /** Keys that only a merge brings do not count: they would be overridden, not changed. */
  ownOnly: boolean;
}

/** Follows steps (none of them `into`) through a document. */
export function resolve(way: Way): Resolution {
  const { document } = way;
  const reached: Reached = { document, chain: [], column: 0, borrowed: false };
  if (document.root === undefined) return missing(way, reached, undefined, 0, "the document is empty", "");
  let node = follow(way, reached, document.root);
  for (let depth = 0; depth < way.steps.length; depth++) {
    const next = stepInto(way, reached, node, depth);
    if ("kind" in next && (next.kind === "missing" || next.kind === "error")) return next;
    if (!node.kind.startsWith("s") || node.kind === "seq") reached.column = columnOf(node, reached.column);
    node = follow(way, reached, next as PinNode);
  }
  return { kind: "found", node, reached };
}

function columnOf(node: PinNode, outer: number): number {
  return node.kind === "map" || node.kind === "seq" ? (node.flow ? outer : node.column) : outer;
}

/** The node, or what stands behind the alias that it is. */
function follow(way: Way, reached: Reached, node: PinNode): Exclude<PinNode, { kind: "alias" }> {
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

function stepInto(way: Way, reached: Reached, node: PinNode, depth: number): PinNode | Exclude<Resolution, { kind: "found" }> {
  const step = way.steps[depth];
  if (step === undefined || step.kind === "into") throw new Error("a step into a block scalar is not the resolver's");
  if (node.kind === "map" && step.kind === "key") return keyOf(way, reached, node, depth, step.key);
  if (node.kind === "seq" && step.kind === "index") {
    const items = plural(node.items.length, "item");
    return node.items[step.index] ?? fail(way, node, depth, "PIN_NOT_FOUND", `there is no item ${step.index}`, `The list has ${items}.`);
  }
  if (node.kind === "seq" && step.kind === "match") return matchOf(way, node, depth, step.key, step.value);
  if (node.kind === "scalar" && isNull(way.file.text, node)) return missing(way, reached, node, depth, "the value is empty", "");
  return wrongKind(way, node, depth, step);
}

function wrongKind(way: Way, node: PinNode, depth: number, step: PinStep): Resolution & { kind: "error" } {
  if (node.kind === "map") {
    const keys = node.pairs.flatMap((pair) => pair.key ?? []);
    return fail(way, node, depth, "PIN_NOT_FOUND", "it is a mapping, not a list", `Name one of its keys: ${some(keys)}.`);
  }
  if (node.kind === "seq") {
    const hint = `Pick one of its ${plural(node.items.length, "item")}, such as [0] or [name=…].`;
    return fail(way, node, depth, "PIN_NOT_FOUND", "it is a list, not a mapping", hint);
  }
  const block = node.kind === "scalar" && (node.style === "literal" || node.style === "folded");
  const what = step.kind === "key" ? `key "${step.key}"` : "item";
  const hint = block ? "Write ! to go on inside the YAML that it holds." : "Shorten the path, or mend the file.";
  return fail(way, node, depth, "PIN_NOT_FOUND", `it is a single value and has no ${what}`, hint);
}

function keyOf(way: Way, reached: Reached, node: MapNode, depth: number, key: string): PinNode | Exclude<Resolution, { kind: "found" }> {
  for (const pair of node.pairs) if (pair.key === key) return pair.value;
  const merged = mergedKey(way, node, key, 0);
  if (merged !== undefined && !(way.ownOnly && depth === way.steps.length - 1)) {
    reached.borrowed = true;
    return merged;
  }
  if (opensTemplate(way.file.text, node)) return wrongKind(way, node, depth, { kind: "index", index: 0 });
  const keys = node.pairs.flatMap((pair) => pair.key ?? []);
  const near = nearest(key, keys);
  const hint = near === undefined ? `Keys there: ${some(keys)}.` : `Did you mean "${near}"?`;
  return missing(way, reached, node, depth, `there is no key "${key}"`, hint);
}

/** A key that `<<` brings in. What stands first in a list of merges wins. */
function mergedKey(way: Way, node: MapNode, key: string, depth: number): PinNode | undefined {
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
const indexes = new WeakMap<SeqNode, Map<string, Map<string, PinNode[]>>>();

function matchOf(way: Way, node: SeqNode, depth: number, key: string, value: string): PinNode | (Resolution & { kind: "error" }) {
  const found = indexOf(way, node, key).get(value) ?? [];
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  if (first === undefined) {
    const values = indexOf(way, node, key).keys().toArray();
    const near = nearest(value, values);
    const hint =
      values.length === 0
        ? `None of its ${plural(node.items.length, "item")} has the key "${key}".`
        : near === undefined
          ? `There are: ${some(values)}.`
          : `Did you mean "${near}"?`;
    return fail(way, node, depth, "PIN_NOT_FOUND", `no item has ${key}=${value}`, hint);
  }
  const lines = found.map((item) => position(way.file.text, item.start).line);
  const why = `${found.length} items have ${key}=${value} (lines ${lines.join(", ")})`;
  return fail(way, first, depth, "PIN_AMBIGUOUS", why, "Make the key unique, or pick the item by its index.");
}

function indexOf(way: Way, node: SeqNode, key: string): Map<string, PinNode[]> {
  const known = indexes.get(node)?.get(key);
  if (known !== undefined) return known;
  const index = new Map<string, PinNode[]>();
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
  const all = indexes.get(node) ?? new Map<string, Map<string, PinNode[]>>();
  indexes.set(node, all.set(key, index));
  return index;
}

function missing(
  way: Way,
  reached: Reached,
  at: MapNode | ScalarNode | undefined,
  depth: number,
  why: string,
  hint: string,
): Resolution & { kind: "missing" } {
  const rest: string[] = [];
  for (const step of way.steps.slice(depth)) if (step.kind === "key") rest.push(step.key);
  const whole = rest.length === way.steps.length - depth;
  const advice = hint === "" ? (whole ? "Say `create` to write it." : "Write it first.") : hint;
  const { error } = fail(way, at, depth, "PIN_NOT_FOUND", why, advice);
  return { kind: "missing", at, rest: whole ? rest : undefined, depth, reached, error };
}

function fail(
  way: Way,
  node: PinNode | undefined,
  depth: number,
  code: PinErrorCode,
  why: string,
  hint: string,
): Resolution & { kind: "error" } {
  const { text } = way.file;
  const document = way.numbered ? way.document.number : undefined;
  const seen = depth === 0 ? "" : ` in ${printPinPath({ document, steps: way.steps.slice(0, depth) })}`;
  const where = seen === "" && way.numbered ? ` in document ${way.document.number}` : seen;
  const path = printPinPath({ document, steps: [...way.steps] });
  const template = node !== undefined && opensTemplate(text, node);
  const place = position(
    text,
    node === undefined ? way.document.end : node.kind === "scalar" && node.style === "empty" ? endOf(node) : node.start,
  );
  if (template) {
    const message = `${path}: a template stands there (${text.slice(node.start, text.indexOf("\n", node.start) + 1 || text.length).trim()})`;
    return {
      kind: "error",
      depth,
      error: { code: "PIN_IS_TEMPLATE", message, hint: "Pin the place that the template takes its value from.", ...place },
    };
  }
  return { kind: "error", depth, error: { code, message: `${path}: ${why}${where}`, hint, ...place } };
}

/** `{{ x }}` without quotes is, to YAML, a mapping with a mapping as its key. */
export function opensTemplate(text: string, node: PinNode): boolean {
  return node.kind === "map" && node.flow && text.startsWith("{{", node.start);
}

export function isNull(text: string, node: ScalarNode): boolean {
  if (node.tag !== undefined) return false;
  return (
    node.style === "empty" ||
    (node.style === "plain" && node.end - node.start <= 4 && /^(?:~|null|Null|NULL)$/.test(text.slice(node.start, node.end)))
  );
}

export function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function some(names: readonly string[]): string {
  const first = names.slice(0, 8).join(", ");
  return names.length === 0 ? "none" : names.length > 8 ? `${first} and ${names.length - 8} more` : first;
}
