import { type Document, isAlias, isMap, isScalar, isSeq, parseAllDocuments, type Scalar, type Pair as YamlPair } from "yaml";
import {
  emptyNode,
  type MapNode,
  type Pair,
  type ScalarNode,
  type SeqNode,
  scalarNode,
  type YamlNode,
  type YamlTree,
} from "../base/yaml-scan/model.ts";
import { scalarText } from "../base/yaml-scan/scalar.ts";
import { MAX_DEPTH } from "../base/yaml-scan/scan-cursor.ts";

/** A mistake in a file that the `yaml` package found. */
interface YamlMistake {
  message: string;
  offset: number;
}

interface Place {
  text: string;
  depth: number;
}

/**
 * Reads what the scanner gives up on with the `yaml` package, into the same model. @throws RangeError where collections nest too deep.
 */
export function composeYaml(whole: string): YamlTree[] | YamlMistake {
  // The package counts a byte order mark as a column, and so misreads the first line. A line break keeps all offsets.
  const text = whole.charCodeAt(0) === 0xfeff ? `\n${whole.slice(1)}` : whole;
  const options = { keepSourceTokens: true, uniqueKeys: false, logLevel: "silent", prettyErrors: false, schema: "failsafe" } as const;
  const parsed = parseAllDocuments(text, options);
  const documents: Document[] = Array.isArray(parsed) ? parsed : [];
  for (const document of documents) {
    const [error] = document.errors;
    if (error !== undefined) return { message: error.message, offset: error.pos[0] };
  }
  const place = { text, depth: 0 };
  const found = documents.map((document, index) => ({
    number: index + 1,
    root: document.contents === null ? undefined : rootOf(document.contents, place),
    end: document.range?.[2] ?? text.length,
  }));
  return found.length > 0 ? found : [{ number: 1, root: undefined, end: text.length }];
}

function rootOf(contents: unknown, place: Place): YamlNode | undefined {
  const node = convert(contents, place, 0, 0);
  return node.kind === "scalar" && node.style === "empty" && node.anchor === undefined && node.tag === undefined ? undefined : node;
}

/** `hole`: where a value would go if there is none. `column`: of the block collection around. */
function convert(node: unknown, place: Place, hole: number, column: number): YamlNode {
  if (isAlias(node)) {
    const [start, end] = rangeOf(node.range);
    return { kind: "alias", start, end, name: node.source };
  }
  if (isScalar(node)) return convertScalar(node, place, hole, column);
  if (!isMap(node) && !isSeq(node)) return emptyNode(hole);
  if (++place.depth > MAX_DEPTH) throw new RangeError("nested too deep");
  const flow = node.flow === true;
  const [start, end] = rangeOf(node.range);
  const own = flow ? -1 : start - (place.text.lastIndexOf("\n", start - 1) + 1);
  const shape = { flow, start, end: flow ? end : -1, column: own, anchor: node.anchor };
  const inner = flow ? column : own;
  let result: MapNode | SeqNode;
  if (isMap(node)) result = { kind: "map", ...shape, pairs: node.items.map((pair) => convertPair(pair, place, inner)) };
  else {
    const dashes = flow ? [] : dashesOf(node.srcToken);
    result = { kind: "seq", ...shape, items: node.items.map((item, at) => convert(item, place, (dashes[at] ?? start) + 1, inner)), dashes };
  }
  place.depth--;
  return result;
}

function convertScalar(node: Scalar, place: Place, hole: number, column: number): ScalarNode {
  const [start, end] = rangeOf(node.range);
  const styles = {
    QUOTE_DOUBLE: "double",
    QUOTE_SINGLE: "single",
    BLOCK_LITERAL: "literal",
    BLOCK_FOLDED: "folded",
    PLAIN: "plain",
  } as const;
  const style = styles[(node.type ?? "PLAIN") as keyof typeof styles];
  let result: ScalarNode;
  if (style === "plain" && start === end)
    result = emptyNode(node.anchor === undefined && node.tag === undefined ? hole : place.text.slice(0, start).trimEnd().length);
  else if (style === "literal" || style === "folded") result = convertBlock(node, style, place.text, start, end, column);
  else result = scalarNode(style, start, end);
  result.anchor = node.anchor;
  result.tag = node.tag;
  return result;
}

/** `yaml` counts comments and blank lines after a block scalar to it; here it ends where its value does. */
function convertBlock(node: Scalar, style: "literal" | "folded", text: string, start: number, limit: number, column: number): ScalarNode {
  const headerEnd = text.indexOf("\n", start) + 1 || text.length;
  const keep = /^[|>][1-9]?\+/.test(text.slice(start, start + 3));
  const lines = text.slice(headerEnd, limit).match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const first = lines.find((line) => line.trim() !== "");
  const lead = spacesOf(
    String(node.value)
      .split("\n")
      .find((line) => line.trim() !== "") ?? "",
  );
  const explicit = /^[|>][-+]?[1-9]/.test(text.slice(start, start + 3));
  const seen = first === undefined ? column + 2 : spacesOf(first);
  const indent = explicit && first !== undefined ? seen - lead : seen;
  let end = headerEnd;
  let at = headerEnd;
  for (const line of lines) {
    const blank = line.trim() === "";
    const width = spacesOf(line);
    if (!blank && width < indent) break;
    at += line.length;
    if (!blank || keep || (first !== undefined && line.replace(/\r?\n$/, "").length > indent && end > headerEnd)) end = at;
  }
  return scalarNode(style, start, end, indent);
}

function spacesOf(line: string): number {
  return /^ */.exec(line)?.[0].length ?? 0;
}

function convertPair(pair: YamlPair, place: Place, column: number): Pair {
  const colon = colonOf(pair);
  const keyNode = convert(pair.key, place, 0, column);
  const keyStart = keyNode.start;
  const keyEnd = keyNode.kind === "scalar" ? keyNode.end : keyStart;
  const value = convert(pair.value, place, colon === -1 ? keyEnd : colon + 1, column);
  const scalar = keyNode.kind === "scalar" && keyNode.style !== "empty";
  const simple = scalar && keyNode.anchor === undefined;
  return {
    keyStart,
    key: scalar ? scalarText(place.text, keyNode) : undefined,
    keyQuoted: scalar && keyNode.style !== "plain",
    keyNode: simple ? undefined : keyNode,
    colon,
    value,
  };
}

function colonOf(pair: YamlPair): number {
  const token: unknown = pair.srcToken;
  if (typeof token !== "object" || token === null || !("sep" in token) || !Array.isArray(token.sep)) return -1;
  for (const part of token.sep as { type: string; offset: number }[]) if (part.type === "map-value-ind") return part.offset;
  return -1;
}

function dashesOf(token: unknown): number[] {
  if (typeof token !== "object" || token === null || !("items" in token) || !Array.isArray(token.items)) return [];
  const dashes: number[] = [];
  for (const item of token.items as { start: { type: string; offset: number }[] }[]) {
    const dash = item.start.find((part) => part.type === "seq-item-ind");
    if (dash !== undefined) dashes.push(dash.offset);
  }
  return dashes;
}

function rangeOf(range: readonly [number, number, number] | null | undefined): [number, number] {
  return range === null || range === undefined ? [0, 0] : [range[0], range[1]];
}
