import { errorText } from "../base/error-text.ts";
import { hasTooManyDocuments, MOST_DOCUMENTS, yamlMarks } from "../base/yaml-bounds.ts";
import type { AliasNode, MapNode, YamlNode, YamlTree } from "../base/yaml-scan/model.ts";
import { scanYaml } from "../base/yaml-scan/scan.ts";
import { BAIL, type Cursor } from "../base/yaml-scan/scan-cursor.ts";
import { scanFlow } from "../base/yaml-scan/scan-flow.ts";
import { composeYaml } from "./compose.ts";
import { type Refused, refuse } from "./types.ts";

export interface PinOptions {
  /** auto: JSON where the text is valid JSON that begins with `{` or `[`, otherwise YAML. */
  format?: "yaml" | "json" | "auto";
  /** Default 10 MiB. */
  maxBytes?: number;
}

/** A file that was read once; `locate` and `spliceFile` take it as often as needed. */
export interface PinFile {
  text: string;
  json: boolean;
  /** Read by the line scanner, not by the `yaml` package. */
  fast: boolean;
  documents: YamlTree[];
  surveys: Survey[];
}

type Reading = { ok: true; documents: YamlTree[]; json: boolean; fast: boolean } | Refused;

/** Of a file that the scanner cannot read: tags, keys behind `?`, mistakes. */
const MOST_MARKS = 60_000;
/** Of any file: 10 MB of manifests have a fifth of them, and the scanner takes half a second for so many. */
const MOST_MARKS_SCANNED = 1_500_000;
const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;

interface Opened {
  text: string;
  options: string;
  file: PinFile;
}

/**
 * The last files that were opened, the last first: whoever asks for one pin of a file mostly asks for the next and then writes them, in turns
 * with other files, or with the same one at another commit.
 */
let recent: readonly Opened[] = [];
/** Of them together; two are kept, however large. */
const MOST_RECENT = 16;
const MOST_RECENT_TEXT = DEFAULT_MAX_BYTES;

/** Reads a file. Errors: PIN_FILE_TOO_LARGE, PIN_FILE_NOT_YAML, PIN_ALIAS_BOMB. */
export function openPinFile(text: string, options: PinOptions = {}): { ok: true; file: PinFile } | Refused {
  const key = `${options.format}/${options.maxBytes}`;
  const known = recent.find((one) => one.options === key && one.text === text);
  if (known !== undefined && known === recent[0]) return { ok: true, file: known.file };
  const opened = known === undefined ? readPinFile(text, options) : ({ ok: true, file: known.file } as const);
  if (opened.ok) keep(known ?? { text, options: key, file: opened.file });
  return opened;
}

function keep(newest: Opened): void {
  const kept = [newest];
  let size = newest.text.length;
  for (const one of recent) {
    if (one === newest) continue;
    size += one.text.length;
    if (kept.length === MOST_RECENT || (kept.length >= 2 && size > MOST_RECENT_TEXT)) break;
    kept.push(one);
  }
  recent = kept;
}

/** As `openPinFile`, of a text that is asked for once. */
export function readPinFile(text: string, options: PinOptions): { ok: true; file: PinFile } | Refused {
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  if (text.length > maxBytes || (text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes))
    return refuse("PIN_FILE_TOO_LARGE", { kind: "Bytes", most: maxBytes });
  if (text.length > MOST_MARKS_SCANNED && yamlMarks(text) > MOST_MARKS_SCANNED)
    return refuse("PIN_FILE_TOO_LARGE", { kind: "Crowded", most: MOST_MARKS_SCANNED });
  const reading = readDocuments(text, options.format ?? "auto");
  if (!reading.ok) return reading;
  const surveys = reading.documents.map(surveyDocument);
  for (const { dangling, bomb } of surveys) {
    if (dangling !== undefined) return refuse("PIN_FILE_NOT_YAML", { kind: "Alias", alias: dangling.name }, text, dangling.start);
    if (bomb !== undefined) return refuse("PIN_ALIAS_BOMB", { alias: bomb.name }, text, bomb.start);
  }
  return { ok: true, file: { text, json: reading.json, fast: reading.fast, documents: reading.documents, surveys } };
}

/** The documents alone, unchecked: enough to verify a splice by. */
export function readDocuments(text: string, format: "yaml" | "json" | "auto"): Reading {
  try {
    const first = /^\ufeff?\s*([[{])(?!\{)/.exec(text.slice(0, 10_000));
    if (format === "json" || (format === "auto" && first !== null)) {
      const reading = readJson(text);
      if (reading.ok || format === "json") return reading;
    }
    return readYaml(text);
  } catch (error) {
    // Both a limit of ours and the engine's own, should the `yaml` package run out of stack first.
    if (!(error instanceof RangeError)) throw error;
    return refuse("PIN_FILE_TOO_LARGE", { kind: "Deep" });
  }
}

function readYaml(text: string): Reading {
  if (hasTooManyDocuments(text)) return refuse("PIN_FILE_TOO_LARGE", { kind: "Documents", most: MOST_DOCUMENTS });
  const fast = scanYaml(text);
  if (fast !== undefined) return { ok: true, documents: fast, json: false, fast: true };
  // It takes a hundred times as long as the scanner.
  if (yamlMarks(text) > MOST_MARKS) return refuse("PIN_FILE_TOO_LARGE", { kind: "Marks", most: MOST_MARKS });
  const composed = composeYaml(text);
  // The `yaml` package reports its own overflow as a mistake of the file.
  if (!Array.isArray(composed) && composed.message.includes("call stack")) throw new RangeError("nested too deep");
  if (Array.isArray(composed)) return { ok: true, documents: composed, json: false, fast: false };
  const helm = /\{\{-?\s*(?:[.$/"(]|if|else|end|range|with|include|define|template|toYaml|tpl|block|printf)/.test(text);
  return refuse("PIN_FILE_NOT_YAML", { kind: helm ? "Helm" : "Yaml", said: composed.message }, text, composed.offset);
}

function readJson(text: string): Reading {
  try {
    JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    const said = errorText(error);
    return refuse("PIN_FILE_NOT_YAML", { kind: "Json", said }, text, Number(/position (\d+)/.exec(said)?.[1] ?? 0));
  }
  const start = /^\ufeff?\s*/.exec(text)?.[0].length ?? 0;
  const c: Cursor = { text, pos: start, indent: 0, lineStart: 0, stop: 0, depth: 0, json: true, keys: new Map(), pairs: [] };
  const isCollection = text[start] === "{" || text[start] === "[";
  try {
    const root = isCollection ? scanFlow(c, start, -1) : undefined;
    return { ok: true, documents: [{ number: 1, root, end: text.length }], json: true, fast: true };
  } catch (error) {
    if (error !== BAIL) throw error;
    return refuse("PIN_FILE_NOT_YAML", { kind: "OddJson" });
  }
}

/** What must be known of a whole document before a pin in it can be trusted. */
interface Survey {
  /** What each alias stands for. */
  targets: Map<AliasNode, YamlNode>;
  /** Who shares an anchored node. */
  shares: Map<YamlNode, AliasNode[]>;
  /** The first key that a mapping has twice: offsets of both. */
  duplicate: { key: string; first: number; second: number } | undefined;
  /** An alias without an anchor before it. */
  dangling: AliasNode | undefined;
  /** Expanding the aliases would blow up, or never end. */
  bomb: AliasNode | undefined;
}

interface Walk extends Survey {
  anchors: Map<string, YamlNode>;
  weights: Map<YamlNode, number>;
  nodes: number;
}

/** Aliases may make a document this much larger than it is, and no more. */
const SPARE_NODES = 100_000;
const SPARE_RATIO = 10;

function surveyDocument(document: YamlTree): Survey {
  const walk: Walk = {
    targets: new Map(),
    shares: new Map(),
    duplicate: undefined,
    dangling: undefined,
    bomb: undefined,
    anchors: new Map(),
    weights: new Map(),
    nodes: 0,
  };
  if (document.root !== undefined) {
    const weight = weigh(document.root, walk);
    const last = [...walk.targets.keys()].at(-1);
    if (weight > SPARE_NODES + SPARE_RATIO * walk.nodes) walk.bomb ??= last;
  }
  return walk;
}

/** How many nodes this one is once every alias is written out. */
function weigh(node: YamlNode, walk: Walk): number {
  walk.nodes++;
  if (node.kind === "alias") return weighAlias(node, walk);
  if (node.anchor !== undefined) {
    walk.anchors.set(node.anchor, node);
    walk.weights.delete(node);
  }
  let weight = 1;
  if (node.kind === "map") {
    if (walk.duplicate === undefined) walk.duplicate = duplicateOf(node);
    for (const pair of node.pairs) {
      if (pair.keyNode !== undefined) weight += weigh(pair.keyNode, walk);
      weight += weigh(pair.value, walk);
    }
  } else if (node.kind === "seq") {
    for (const item of node.items) weight += weigh(item, walk);
  }
  if (node.anchor !== undefined) walk.weights.set(node, weight);
  return weight;
}

function weighAlias(node: AliasNode, walk: Walk): number {
  const target = walk.anchors.get(node.name);
  if (target === undefined) {
    walk.dangling ??= node;
    return 1;
  }
  walk.targets.set(node, target);
  const shares = walk.shares.get(target);
  if (shares === undefined) walk.shares.set(target, [node]);
  else shares.push(node);
  const weight = walk.weights.get(target);
  // An anchor without a weight is still open: the alias stands inside what it names.
  if (weight === undefined) walk.bomb ??= node;
  return weight ?? 1;
}

function duplicateOf(node: MapNode): Survey["duplicate"] {
  const { pairs } = node;
  if (pairs.length <= 8) {
    for (let second = 1; second < pairs.length; second++) {
      const key = pairs[second]?.key;
      for (let first = 0; first < second; first++) {
        if (pairs[first]?.key === key && key !== undefined) return twice(node, key, first, second);
      }
    }
    return undefined;
  }
  const seen = new Map<string, number>();
  for (let at = 0; at < pairs.length; at++) {
    const key = pairs[at]?.key;
    if (key === undefined) continue;
    const first = seen.get(key);
    if (first !== undefined) return twice(node, key, first, at);
    seen.set(key, at);
  }
  return undefined;
}

function twice(node: MapNode, key: string, first: number, second: number): Survey["duplicate"] {
  return { key, first: node.pairs[first]?.keyStart ?? 0, second: node.pairs[second]?.keyStart ?? 0 };
}
