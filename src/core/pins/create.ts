import { type EncodeContext, encodePlain } from "./encode.ts";
import { endOf, type MapNode, type ScalarNode } from "./model.ts";

/** Keys to be written: a value, or a mapping of more of them. */
export type Tree = Map<string, Tree | string>;

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
}

/** Adds a path to a tree of keys; false where another edit writes something else there. */
export function plant(tree: Tree, keys: readonly string[], value: string): boolean {
  const [key, ...rest] = keys;
  if (key === undefined) return false;
  const there = tree.get(key);
  if (rest.length === 0) {
    tree.set(key, there ?? value);
    return there === undefined || there === value;
  }
  if (typeof there === "string") return false;
  const below = there ?? new Map<string, Tree | string>();
  tree.set(key, below);
  return plant(below, rest, value);
}

/** The file's own indentation: the first line that is deeper than the one before it. */
export function layoutOf(text: string, context: EncodeContext): Layout {
  const head = text.slice(0, 20_000);
  const step = /^( *)[^\s#-][^\n]*:[ \t]*\r?\n\1( {1,8})[^\s#-]/m.exec(head)?.[2]?.length ?? 2;
  const newline = text.indexOf("\n");
  return { ...context, eol: newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n", step };
}

/** Adds keys to a mapping, after its last one. A comment on that line stays on it; comments on lines below come after. */
export function addToMap(text: string, node: MapNode, tree: Tree, layout: Layout): Op {
  if (node.flow) return addToFlow(text, node, tree, layout);
  let at = endOf(node);
  if (text[at - 1] === "\n") at -= text[at - 2] === "\r" ? 2 : 1;
  at = lineEnd(text, at);
  return insert(at, layout.eol + " ".repeat(node.column) + blockTree(tree, node.column, layout));
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

/** Turns an empty value into one, or into a mapping. `column`: of the block collection around it. */
export function fillEmpty(text: string, node: ScalarNode, value: Tree | string, layout: Layout, column: number, colon: boolean): Op {
  const lead = colon ? " " : ": ";
  if (typeof value === "string") {
    const source = encodePlain(value, layout, undefined);
    return node.style === "empty" ? insert(node.start, lead + source) : { start: node.start, end: node.end, text: source };
  }
  if (node.style !== "empty" || layout.flow) {
    const source = flowTree(value, { ...layout, flow: true });
    return node.style === "empty" ? insert(node.start, lead + source) : { start: node.start, end: node.end, text: source };
  }
  const deep = column + layout.step;
  return insert(lineEnd(text, node.start), layout.eol + " ".repeat(deep) + blockTree(value, deep, layout));
}

/** The first keys of a file that has none. */
export function fillFile(text: string, tree: Tree, layout: Layout): Op {
  const gap = text === "" || text.endsWith("\n") || text === "\ufeff" ? "" : layout.eol;
  const source = layout.json ? flowTree(tree, layout) : blockTree(tree, 0, layout);
  return insert(text.length, gap + source + layout.eol);
}

function blockTree(tree: Tree, column: number, layout: Layout): string {
  const lines: string[] = [];
  for (const [key, value] of tree) {
    const name = encodeKey(key, layout);
    const deep = column + layout.step;
    if (typeof value === "string") lines.push(`${name}: ${encodePlain(value, layout, undefined)}`);
    else lines.push(`${name}:${layout.eol}${" ".repeat(deep)}${blockTree(value, deep, layout)}`);
  }
  return lines.join(layout.eol + " ".repeat(column));
}

function flowTree(tree: Tree, layout: Layout): string {
  return `{${[...tree].map(([key, value]) => flowEntry(key, value, layout)).join(", ")}}`;
}

function flowEntry(key: string, value: Tree | string, layout: Layout): string {
  const source = typeof value === "string" ? encodePlain(value, layout, undefined) : flowTree(value, layout);
  return `${encodeKey(key, layout)}: ${source}`;
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
