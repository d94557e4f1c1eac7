import { emptyNode, type MapNode, type Pair, type SeqNode, scalarNode, type YamlNode, type YamlTree } from "./model.ts";
import { keyText } from "./scalar.ts";
import { scanBlockScalar } from "./scan-block.ts";
import {
  BAIL,
  type Cursor,
  enter,
  finishLine,
  isBlank,
  keyOnce,
  lineEnds,
  nextContent,
  plainEnd,
  quotedEnd,
  skipSpaces,
} from "./scan-cursor.ts";
import { scanFlow } from "./scan-flow.ts";

/** Control characters, line breaks that some readers know and others do not, and a byte order mark that does not come first. */
const ODD_CHARACTER = /[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\uffff\ufeff]|\r(?!\n)|(?<!^)\ufeff/;

/** What was scanned last, until it is asked for again: a large file is mostly read for its values and then for its pins. */
let last: { text: string; trees: YamlTree[] | undefined } | undefined;

/**
 * A line scanner for the YAML that config repos are made of: block mappings and lists, one-line scalars, block scalars, flow
 * collections, anchors and aliases. It finds where things stand, about twenty times faster than a full parse. Whatever it does not
 * fully understand (tags, `?` keys, scalars over several lines, odd tabs, any mistake) it gives up on, and the `yaml` package
 * reads the file instead. Tests hold the two against each other.
 *
 * @returns undefined where it gives up.
 * @throws RangeError where collections nest too deep for anyone.
 */
export function scanYaml(text: string): YamlTree[] | undefined {
  const again = last?.text === text ? last : undefined;
  last = undefined;
  if (again !== undefined) return again.trees;
  last = { text, trees: scanAnew(text) };
  return last.trees;
}

function scanAnew(text: string): YamlTree[] | undefined {
  if (ODD_CHARACTER.test(text)) return undefined;
  const cursor: Cursor = { text, pos: 0, indent: -1, lineStart: 0, stop: 0, depth: 0, json: false, keys: new Map(), pairs: [] };
  try {
    return scanDocuments(cursor);
  } catch (error) {
    if (error === BAIL) return undefined;
    throw error;
  }
}

function scanDocuments(c: Cursor): YamlTree[] {
  const documents: YamlTree[] = [];
  c.lineStart = c.text.charCodeAt(0) === 0xfeff ? 1 : 0;
  nextContent(c, c.lineStart);
  for (;;) {
    const explicit = c.indent === -1 && c.pos < c.text.length;
    if (explicit) {
      if (c.text.charCodeAt(c.pos) !== 45) throw BAIL;
      if (!lineEnds(c, skipSpaces(c, c.pos + 3))) throw BAIL;
      finishLine(c, c.pos + 3);
    }
    const root = c.indent === -1 ? undefined : scanBlock(c, -1);
    if (c.indent !== -1) throw BAIL;
    documents.push({ number: documents.length + 1, root, end: c.pos });
    if (c.pos >= c.text.length) return documents;
  }
}

/** A node that begins on a line of its own, or right after a dash. The cursor stands on it. */
function scanBlock(c: Cursor, parent: number): YamlNode {
  enter(c);
  const code = c.text.charCodeAt(c.pos);
  let node: YamlNode;
  if (code === 45 && isBlank(c, c.pos + 1)) node = scanSeq(c, c.indent);
  else if (isKeyAhead(c)) node = scanMap(c, c.indent);
  else node = scanInline(c, c.pos, parent);
  c.depth--;
  return node;
}

function isKeyAhead(c: Cursor): boolean {
  const code = c.text.charCodeAt(c.pos);
  if (code === 34 || code === 39) {
    const end = skipSpaces(c, quotedEnd(c, c.pos));
    return c.text.charCodeAt(end) === 58 && isBlank(c, end + 1);
  }
  if (code === 123 || code === 91 || code === 124 || code === 62 || code === 42) return false;
  plainEnd(c, c.pos);
  return c.text.charCodeAt(c.stop) === 58;
}

function scanSeq(c: Cursor, column: number): SeqNode {
  const node: SeqNode = { kind: "seq", flow: false, start: c.pos, end: -1, column, anchor: undefined, items: [], dashes: [] };
  while (c.indent === column && c.text.charCodeAt(c.pos) === 45 && isBlank(c, c.pos + 1)) {
    const dash = c.pos;
    node.dashes.push(dash);
    const at = skipSpaces(c, dash + 1);
    if (c.text.charCodeAt(at) === 38 || lineEnds(c, at)) {
      node.items.push(scanValue(c, at, column, dash + 1, false));
      continue;
    }
    c.pos = at;
    c.indent = at - c.lineStart;
    node.items.push(scanBlock(c, column));
  }
  if (c.indent > column) throw BAIL;
  return node;
}

function scanMap(c: Cursor, column: number): MapNode {
  const start = c.pos;
  const first = c.pairs.length;
  while (c.indent === column) c.pairs.push(scanPair(c, column));
  if (c.indent > column) throw BAIL;
  return { kind: "map", flow: false, start, end: -1, column, anchor: undefined, pairs: c.pairs.splice(first) };
}

function scanPair(c: Cursor, column: number): Pair {
  const keyStart = c.pos;
  const code = c.text.charCodeAt(keyStart);
  const keyQuoted = code === 34 || code === 39;
  let colon: number;
  let key: string;
  if (keyQuoted) {
    const end = quotedEnd(c, keyStart);
    key = keyText(c.text, keyStart, end);
    colon = skipSpaces(c, end);
  } else {
    if (code === 45 && isBlank(c, keyStart + 1)) throw BAIL;
    const end = plainEnd(c, keyStart);
    key = keyOnce(c, c.text.slice(keyStart, end));
    colon = c.stop;
  }
  if (c.text.charCodeAt(colon) !== 58 || !isBlank(c, colon + 1) || colon - keyStart > 1000) throw BAIL;
  const value = scanValue(c, skipSpaces(c, colon + 1), column, colon + 1, true);
  return { keyStart, key, keyQuoted, keyNode: undefined, colon, value };
}

/** What follows a colon, or a dash with nothing or an anchor behind it. `hole` is where a value would go if there is none. */
function scanValue(c: Cursor, from: number, column: number, hole: number, ofMap: boolean): YamlNode {
  let at = from;
  let anchor: string | undefined;
  let empty = hole;
  if (c.text.charCodeAt(at) === 38) {
    anchor = nameAt(c, at);
    empty = at + 1 + anchor.length;
    at = skipSpaces(c, empty);
    const code = c.text.charCodeAt(at);
    if (code === 38 || code === 42) throw BAIL;
  }
  if (!lineEnds(c, at)) {
    if (anchor !== undefined && !ofMap) {
      c.pos = at;
      c.indent = at - c.lineStart;
      if (isKeyAhead(c) || (c.text.charCodeAt(at) === 45 && isBlank(c, at + 1))) throw BAIL;
    }
    return withAnchor(scanInline(c, at, column), anchor);
  }
  finishLine(c, at);
  if (c.indent > column) return withAnchor(scanBlock(c, column), anchor);
  const dash = c.text.charCodeAt(c.pos) === 45 && isBlank(c, c.pos + 1);
  if (ofMap && c.indent === column && dash) return withAnchor(scanNestedSeq(c, column), anchor);
  return withAnchor(emptyNode(empty), anchor);
}

/** A list as a mapping's value may stand in the mapping's own column. */
function scanNestedSeq(c: Cursor, column: number): SeqNode {
  enter(c);
  const node = scanSeq(c, column);
  c.depth--;
  return node;
}

function withAnchor(node: YamlNode, anchor: string | undefined): YamlNode {
  if (anchor === undefined) return node;
  // Two anchors meet when the block below brings its own; the full parser decides what that means.
  if (node.kind === "alias" || node.anchor !== undefined) throw BAIL;
  node.anchor = anchor;
  return node;
}

function nameAt(c: Cursor, at: number): string {
  const match = /[A-Za-z0-9_-]+/y;
  match.lastIndex = at + 1;
  const name = match.exec(c.text)?.[0];
  if (name === undefined || !isBlank(c, at + 1 + name.length)) throw BAIL;
  return name;
}

/** A value that begins in the middle of a line; leaves the cursor on the next content. */
function scanInline(c: Cursor, at: number, parent: number): YamlNode {
  const code = c.text.charCodeAt(at);
  if (code === 34 || code === 39) {
    const end = quotedEnd(c, at);
    finishLine(c, end);
    return scalarNode(code === 34 ? "double" : "single", at, end);
  }
  if (code === 124 || code === 62) return scanBlockScalar(c, at, parent);
  if (code === 123 || code === 91) {
    const node = scanFlow(c, at, parent);
    finishLine(c, node.end);
    return node;
  }
  if (code === 42) {
    const name = nameAt(c, at);
    const end = at + 1 + name.length;
    finishLine(c, end);
    return { kind: "alias", start: at, end, name };
  }
  const end = plainEnd(c, at);
  if (c.text.charCodeAt(c.stop) === 58) throw BAIL;
  if (code === 45 && isBlank(c, at + 1)) throw BAIL;
  finishLine(c, end);
  if (c.indent > parent) throw BAIL;
  return scalarNode("plain", at, end);
}
