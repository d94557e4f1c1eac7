import { emptyNode, type MapNode, type Pair, type SeqNode, scalarNode, type YamlNode } from "./model.ts";
import { keyText } from "./scalar.ts";
import { BAIL, type Cursor, enter, quotedEnd, startsPlain } from "./scan-cursor.ts";

/** A flow collection (and with `json` a whole JSON file, whose validity was checked before). The cursor's depth alone moves. */
export function scanFlow(c: Cursor, at: number, parent: number): MapNode | SeqNode {
  enter(c);
  const node = c.text.charCodeAt(at) === 123 ? scanFlowMap(c, at, parent) : scanFlowSeq(c, at, parent);
  c.depth--;
  return node;
}

function scanFlowMap(c: Cursor, start: number, parent: number): MapNode {
  const node: MapNode = { kind: "map", flow: true, start, end: -1, column: -1, anchor: undefined, pairs: [] };
  let at = gap(c, start + 1, parent);
  while (c.text.charCodeAt(at) !== 125) {
    const pair = scanFlowPair(c, at, parent);
    node.pairs.push(pair);
    at = gap(c, pair.value.end, parent);
    const code = c.text.charCodeAt(at);
    if (code === 44) at = gap(c, at + 1, parent);
    else if (code !== 125) throw BAIL;
  }
  node.end = at + 1;
  return node;
}

function scanFlowPair(c: Cursor, keyStart: number, parent: number): Pair {
  const { text } = c;
  const code = text.charCodeAt(keyStart);
  const keyQuoted = code === 34 || code === 39;
  const keyEnd = keyQuoted ? quotedEnd(c, keyStart) : flowPlainEnd(c, keyStart);
  const key = keyText(text, keyStart, keyEnd);
  let colon = keyEnd;
  while (text.charCodeAt(colon) === 32 || (c.json && gapCode(text.charCodeAt(colon)))) colon++;
  if (text.charCodeAt(colon) !== 58 || colon - keyStart > 1000) throw BAIL;
  const after = text.charCodeAt(colon + 1);
  if (!keyQuoted && !gapCode(after) && after !== 44 && after !== 125) throw BAIL;
  const at = gap(c, colon + 1, parent);
  const next = text.charCodeAt(at);
  const value = next === 44 || next === 125 ? emptyNode(colon + 1) : scanFlowValue(c, at, parent);
  return { keyStart, key, keyQuoted, keyNode: undefined, colon, value };
}

function scanFlowSeq(c: Cursor, start: number, parent: number): SeqNode {
  const node: SeqNode = { kind: "seq", flow: true, start, end: -1, column: -1, anchor: undefined, items: [], dashes: [] };
  let at = gap(c, start + 1, parent);
  while (c.text.charCodeAt(at) !== 93) {
    const item = scanFlowValue(c, at, parent);
    node.items.push(item);
    at = gap(c, item.end, parent);
    const code = c.text.charCodeAt(at);
    if (code === 44) at = gap(c, at + 1, parent);
    else if (code !== 93) throw BAIL;
  }
  node.end = at + 1;
  return node;
}

function scanFlowValue(c: Cursor, at: number, parent: number): YamlNode {
  const code = c.text.charCodeAt(at);
  if (code === 123 || code === 91) return scanFlow(c, at, parent);
  if (code === 34 || code === 39) return scalarNode(code === 34 ? "double" : "single", at, quotedEnd(c, at));
  if (code === 42) {
    const name = /[A-Za-z0-9_-]+(?=[ ,\]}\r\n])/y;
    name.lastIndex = at + 1;
    const found = name.exec(c.text)?.[0];
    if (found === undefined) throw BAIL;
    return { kind: "alias", start: at, end: at + 1 + found.length, name: found };
  }
  return scalarNode("plain", at, flowPlainEnd(c, at));
}

/** End of a plain scalar inside brackets, on one line. What follows it the caller checks. */
function flowPlainEnd(c: Cursor, from: number): number {
  const { text } = c;
  const first = text.charCodeAt(from);
  if (!startsPlain(first) || Number.isNaN(first)) throw BAIL;
  if (first === 45 && !/[^\s,[\]{}]/.test(text.charAt(from + 1))) throw BAIL;
  let end = from;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13 || code === 44 || code === 91 || code === 93 || code === 123 || code === 125) return end;
    if (code === 32) continue;
    if (code === 9) throw BAIL;
    if (code === 58 && (gapCode(text.charCodeAt(at + 1)) || /[,[\]{}]/.test(text.charAt(at + 1)))) return end;
    if (code === 35 && end < at) return end;
    end = at + 1;
  }
  throw BAIL;
}

function gapCode(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/** Over spaces, line breaks and comments to the next token. A line must stand deeper than the block that holds the collection. */
function gap(c: Cursor, from: number, parent: number): number {
  const { text } = c;
  let at = from;
  let line = -1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 9 && !c.json) throw BAIL;
    if (code === 10) line = at + 1;
    else if (code === 35 && !c.json) {
      if (at === from || !gapCode(text.charCodeAt(at - 1))) throw BAIL;
      const newline = text.indexOf("\n", at);
      if (newline === -1) throw BAIL;
      at = newline;
      line = at + 1;
    } else if (!gapCode(code)) break;
  }
  if (at >= text.length) throw BAIL;
  if (line !== -1 && !c.json) {
    if (at - line <= parent) throw BAIL;
    c.lineStart = line;
    if (at === line && (text.startsWith("---", at) || text.startsWith("...", at))) throw BAIL;
  }
  return at;
}
