/**
 * What both readers (the line scanner and the `yaml` package) make of a file: where each node stands, and nothing decoded
 * that nobody asks for. Offsets are UTF-16 indices into the text.
 */
type ScalarStyle = "plain" | "single" | "double" | "literal" | "folded" | "empty";

export interface ScalarNode {
  kind: "scalar";
  style: ScalarStyle;
  /** With quotes; a block scalar from its header on. Empty: where a value would be written (right after the colon or dash). */
  start: number;
  end: number;
  anchor: string | undefined;
  /** An explicit tag (`!!str`, `!vault`). */
  tag: string | undefined;
  /** Block scalars: column of their content. Otherwise -1. */
  bodyIndent: number;
}

export interface AliasNode {
  kind: "alias";
  start: number;
  end: number;
  name: string;
}

export interface Pair {
  keyStart: number;
  /** undefined: the key is not a scalar. */
  key: string | undefined;
  keyQuoted: boolean;
  keyNode: YamlNode | undefined;
  /** Offset of `:`; -1 in `{a, b}`. */
  colon: number;
  value: YamlNode;
}

export interface MapNode {
  kind: "map";
  flow: boolean;
  start: number;
  /** Flow: after the closing brace. Block: not kept (-1); see `endOf`. */
  end: number;
  /** Block: column of the keys. */
  column: number;
  anchor: string | undefined;
  pairs: Pair[];
}

export interface SeqNode {
  kind: "seq";
  flow: boolean;
  start: number;
  end: number;
  /** Block: column of the dashes. */
  column: number;
  anchor: string | undefined;
  items: YamlNode[];
  /** Block: offsets of the dashes. */
  dashes: number[];
}

export type YamlNode = ScalarNode | AliasNode | MapNode | SeqNode;

/** One document of a file. */
export interface YamlTree {
  /** Counts from 1, as in the prefix `#2/`. */
  number: number;
  /** undefined: nothing but comments. */
  root: YamlNode | undefined;
  /** Where its text ends: the next `---`, `...` or the end of the file. */
  end: number;
}

export function scalarNode(style: ScalarStyle, start: number, end: number, bodyIndent = -1): ScalarNode {
  return { kind: "scalar", style, start, end, anchor: undefined, tag: undefined, bodyIndent };
}

export function emptyNode(at: number): ScalarNode {
  return scalarNode("empty", at, at);
}

/** Where a node's last character stands, comments not counted. A block scalar's last line break belongs to it. */
export function endOf(node: YamlNode): number {
  let at = node;
  for (;;) {
    if (at.kind === "scalar" || at.kind === "alias" || at.flow) return at.end;
    if (at.kind === "map") {
      const last = at.pairs.at(-1);
      if (last === undefined) return at.start;
      if (last.value.kind === "scalar" && last.value.style === "empty") return Math.max(last.value.end, last.colon + 1);
      at = last.value;
    } else {
      const last = at.items.at(-1);
      if (last === undefined) return at.start;
      at = last;
    }
  }
}

/** The line starts of the text asked about last: a batch asks for hundreds of places in one file. */
let lines: { text: string; starts: number[] } = { text: "", starts: [0] };

/** Those up to an offset, and maybe more: nobody pays for the rest of a large file. */
function lineStarts(text: string, offset: number): number[] {
  if (lines.text !== text) lines = { text, starts: [0] };
  const { starts } = lines;
  for (let start = starts.at(-1) ?? 0; start <= offset; ) {
    const at = text.indexOf("\n", start);
    if (at === -1) break;
    start = at + 1;
    starts.push(start);
  }
  return starts;
}

/** Which of the lines that start there an offset is in, from 0. */
export function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Line and column of an offset, both from 1. A byte order mark takes no column. */
export function position(text: string, offset: number): { line: number; column: number } {
  const starts = lineStarts(text, offset);
  const low = lineAt(starts, offset);
  const start = low === 0 && text.charCodeAt(0) === 0xfeff ? 1 : (starts[low] ?? 0);
  return { line: low + 1, column: Math.max(offset - start, 0) + 1 };
}
