import { endOf, type MapNode, type ScalarNode, type SeqNode } from "../base/yaml-scan/model.ts";
import { type EncodeContext, encodePlain, encodeQuoted, type Quote } from "./encode.ts";
import type { PinStep } from "./path.ts";

/** Keys to be written, each with its value. */
export type Tree = Map<string, Value>;

/** Items of a list to be written, each with the key that it is found by. */
export interface Items {
  items: Tree[];
}

/** A mapping that says what is its own, over all that the one of an anchor has; without `base`: over nothing. On one line, for the least diff. */
export interface Over {
  base: string | undefined;
  own: Tree;
}

export type Value = Tree | Items | Over | string;

export interface Op {
  start: number;
  end: number;
  text: string;
}

export interface Layout extends EncodeContext {
  /** "\n" or "\r\n", as the file has it. */
  eol: string;
  /** Spaces a level. */
  step: number;
  /** Spaces from a key to the dashes of its list. */
  listStep: number;
  /** Keys of an item whose values the list's other items have in quotes. */
  quoted?: ReadonlyMap<string, Quote> | undefined;
}

/** Nothing yet, of the kind that a step goes into. */
export function emptyFor(step: PinStep | undefined): Tree | Items {
  return step?.kind === "match" ? { items: [] } : new Map();
}

/** Adds a path to what is to be written; false where another edit writes something else there. */
export function plant(into: Value, steps: readonly PinStep[], value: string): boolean {
  const [step, ...rest] = steps;
  if (step === undefined || typeof into === "string" || "own" in into) return false;
  if (step.kind === "match") return "items" in into && plant(itemOf(into, step), rest, value);
  if (step.kind !== "key" || "items" in into) return false;
  const there = into.get(step.key);
  if (rest.length === 0) {
    into.set(step.key, there ?? value);
    return there === undefined || there === value;
  }
  const below = there ?? emptyFor(rest[0]);
  into.set(step.key, below);
  return plant(below, rest, value);
}

function itemOf({ items }: Items, { key, value }: PinStep & { kind: "match" }): Tree {
  const there = items.find((item) => item.get(key) === value);
  if (there !== undefined) return there;
  const made: Tree = new Map([[key, value]]);
  items.push(made);
  return made;
}

/** The file's own indentation: the first line that is deeper than the one before it. */
export function layoutOf(text: string, context: EncodeContext): Layout {
  const head = text.slice(0, 20_000);
  const step = /^( *)[^\s#-][^\n]*:[ \t]*\r?\n\1( {1,8})[^\s#-]/m.exec(head)?.[2]?.length ?? 2;
  const listStep = /^( *)[^\s#-][^\n]*:[ \t]*\r?\n\1( {0,8})- /m.exec(head)?.[2]?.length ?? step;
  const newline = text.indexOf("\n");
  return { ...context, eol: newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n", step, listStep };
}

/** Adds keys to a mapping, after its last one. A comment on that line stays on it; comments on lines below come after. */
export function addToMap(text: string, node: MapNode, tree: Tree, layout: Layout): Op {
  if (node.flow) return addToFlow(text, node, tree, layout);
  return insert(lineAfter(text, node), layout.eol + " ".repeat(node.column) + blockTree(tree, node.column, layout));
}

/** Adds items to a list, after its last one, as that is written: over lines or in braces, with its quotes. */
export function addToList(text: string, node: SeqNode, { items }: Items, layout: Layout): Op {
  const last = node.items.at(-1);
  const own = { ...layout, quoted: quotesOf(text, last) };
  if (node.flow) return addToFlowList(text, node, items, own);
  const dash = node.dashes.at(-1) ?? node.start;
  const space =
    last !== undefined && last.kind !== "alias" && last.start - dash > 1 && !text.slice(dash, last.start).includes("\n")
      ? last.start - dash
      : 2;
  const braces = last?.kind === "map" && last.flow ? /^\{ */.exec(text.slice(last.start))?.[0] : undefined;
  const lines = items.map((item) => {
    if (braces === undefined) return blockTree(item, node.column + space, own);
    const pad = braces.slice(1);
    return `{${pad}${flowEntries(item, { ...own, flow: true })}${pad}}`;
  });
  const lead = layout.eol + " ".repeat(node.column) + "-".padEnd(space);
  return insert(lineAfter(text, node), lines.map((line) => lead + line).join(""));
}

function addToFlowList(text: string, node: SeqNode, items: readonly Tree[], layout: Layout): Op {
  const last = node.items.at(-1);
  const entries = items.map((item) => flowTree(item, { ...layout, flow: true }));
  if (last === undefined) return insert(node.start + 1, entries.join(", "));
  const before = /[[,](\s*)$/.exec(text.slice(0, last.start))?.[1] ?? " ";
  const gap = before === "" ? " " : before;
  return insert(endOf(last), entries.map((entry) => `,${gap}${entry}`).join(""));
}

/** Which keys of an item have their values in quotes. */
function quotesOf(text: string, item: SeqNode["items"][number] | undefined): Map<string, Quote> {
  const quoted = new Map<string, Quote>();
  if (item?.kind !== "map") return quoted;
  for (const { key, value } of item.pairs)
    if (key !== undefined && value.kind === "scalar" && (value.style === "single" || value.style === "double"))
      quoted.set(key, text[value.start] === "'" ? "'" : '"');
  return quoted;
}

/** Where the line ends that a block collection's last value ends on. */
export function lineAfter(text: string, node: MapNode | SeqNode): number {
  let at = endOf(node);
  if (text[at - 1] === "\n") at -= text[at - 2] === "\r" ? 2 : 1;
  return lineEnd(text, at);
}

function addToFlow(text: string, node: MapNode, tree: Tree, layout: Layout): Op {
  const last = node.pairs.at(-1);
  const inside = { ...layout, flow: true };
  const entries = [...tree].map(([key, value]) => flowEntry(key, value, inside));
  if (last === undefined) return insert(node.start + 1, entries.join(", "));
  const before = /[{,](\s*)$/.exec(text.slice(0, last.keyStart))?.[1] ?? " ";
  const gap = before === "" ? " " : before;
  return insert(
    last.value.kind === "scalar" ? Math.max(last.value.end, last.colon + 1) : last.value.end,
    entries.map((entry) => `,${gap}${entry}`).join(""),
  );
}

/** Turns an empty value into one, or into a mapping or list. `column`: of the block collection around it. */
export function fillEmpty(text: string, node: ScalarNode, value: Exclude<Value, Over>, layout: Layout, column: number, colon: boolean): Op {
  const lead = colon ? " " : ": ";
  if (typeof value === "string") {
    const source = encodePlain(value, layout, undefined);
    return node.style === "empty" ? insert(node.start, lead + source) : { start: node.start, end: node.end, text: source };
  }
  if (node.style !== "empty" || layout.flow) {
    const source = flowValue(value, { ...layout, flow: true });
    return node.style === "empty" ? insert(node.start, lead + source) : { start: node.start, end: node.end, text: source };
  }
  return insert(lineEnd(text, node.start), blockBelow(value, column, layout));
}

/** The first keys of a file that has none. */
export function fillFile(text: string, tree: Tree | Items, layout: Layout): Op {
  const gap = text === "" || text.endsWith("\n") || text === "\ufeff" ? "" : layout.eol;
  const source = layout.json ? flowValue(tree, layout) : blockValue(tree, 0, layout);
  return insert(text.length, gap + source + layout.eol);
}

function blockTree(tree: Tree, column: number, layout: Layout): string {
  const { quoted, ...below } = layout;
  const lines = [...tree].map(([key, value]) => {
    const name = encodeKey(key, layout);
    if (typeof value === "string") return `${name}: ${encodeValue(key, value, layout)}`;
    return "own" in value ? `${name}: ${flowOver(value, below)}` : `${name}:${blockBelow(value, column, below)}`;
  });
  return lines.join(layout.eol + " ".repeat(column));
}

/** On the lines below a key at a column. */
function blockBelow(value: Tree | Items, column: number, layout: Layout): string {
  const deep = column + ("items" in value ? layout.listStep : layout.step);
  return layout.eol + " ".repeat(deep) + blockValue(value, deep, layout);
}

function blockValue(value: Tree | Items, column: number, layout: Layout): string {
  if (!("items" in value)) return blockTree(value, column, layout);
  return value.items.map((item) => `- ${blockTree(item, column + 2, layout)}`).join(layout.eol + " ".repeat(column));
}

function flowTree(tree: Tree, layout: Layout): string {
  return `{${flowEntries(tree, layout)}}`;
}

function flowEntries(tree: Tree, layout: Layout): string {
  return [...tree].map(([key, value]) => flowEntry(key, value, layout)).join(", ");
}

function flowEntry(key: string, value: Value, layout: Layout): string {
  const { quoted, ...below } = layout;
  return `${encodeKey(key, layout)}: ${typeof value === "string" ? encodeValue(key, value, layout) : flowValue(value, below)}`;
}

/** `{<<: *image, tag: v2}` */
export function flowOver({ base, own }: Over, layout: Layout): string {
  const entries = flowEntries(own, { ...layout, flow: true });
  return base === undefined ? `{${entries}}` : `{<<: *${base}, ${entries}}`;
}

function flowValue(value: Tree | Items | Over, layout: Layout): string {
  if ("own" in value) return flowOver(value, layout);
  return "items" in value ? `[${value.items.map((item) => flowTree(item, layout)).join(", ")}]` : flowTree(value, layout);
}

function encodeValue(key: string, value: string, layout: Layout): string {
  const quote = layout.json ? undefined : layout.quoted?.get(key);
  return quote === undefined ? encodePlain(value, layout, undefined) : encodeQuoted(value, quote);
}

function encodeKey(key: string, layout: Layout): string {
  return layout.json ? JSON.stringify(key) : encodePlain(key, layout, undefined);
}

export function insert(at: number, text: string): Op {
  return { start: at, end: at, text };
}

export function lineEnd(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  if (newline === -1) return text.length;
  return text[newline - 1] === "\r" && newline > from ? newline - 1 : newline;
}
