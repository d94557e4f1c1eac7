/**
 * Reads YAML as Argo CD's parser does: manifests, inventories and what templates parse. Rollouts and settings are read by
 * `core/spec/parse/yaml.ts` (YAML 1.2, each value with its place), files with pins by `core/pins/compose.ts` (every byte kept).
 */
import { type Document, isCollection, LineCounter, parseAllDocuments, type ScalarTag, Schema, type Tags, visit } from "yaml";
import { errorText } from "./error-text.ts";
import { isRecord } from "./is-record.ts";
import { apart, stepsOfYaml } from "./pass.ts";
import { expandsTooFar, hasTooManyDocuments, LINEAR } from "./yaml-bounds.ts";
import { position } from "./yaml-scan/model.ts";
import { MAX_DEPTH } from "./yaml-scan/scan-cursor.ts";
import { scanValues } from "./yaml-scan/values.ts";

/** Types JSON cannot hold, and timestamps, stay text; numbers are read as Go's parser reads them, see below. */
const REPLACED = new Set(["timestamp", "binary", "omap", "pairs", "set", "int", "float"].map((name) => `tag:yaml.org,2002:${name}`));

const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const INT = /^[-+]?(?:0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;

/** A leading 0 is octal where the digits allow it, underscores are passed over, and what no float64 holds is text. */
function goNumber(source: string): number | string {
  const plain = source.replaceAll("_", "");
  if (INT.test(plain)) {
    const digits = plain.replace(/^[-+]/, "");
    const value = Number(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
    return plain.startsWith("-") ? -value : value;
  }
  if (/^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$/.test(plain)) throw new Error(`${plain} cannot be a parameter: JSON has no such number`);
  const value = FLOAT.test(plain) ? Number(plain) : Number.NaN;
  return Number.isFinite(value) ? value : source;
}

const GO_NUMBER: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  test: /^[-+.0-9](?:[-+._0-9a-fA-FxXoO]*|\.?(?:inf|Inf|INF|nan|NaN|NAN))$/,
  identify: () => false,
  resolve: goNumber,
};

function goTags(tags: Tags): Tags {
  return [...tags.filter((tag) => typeof tag === "string" || !REPLACED.has(tag.tag)), GO_NUMBER];
}

/**
 * Reads the first document of a YAML (or JSON) text as Argo CD's parser does: YAML 1.1 (`on` and `yes` are true, a leading
 * 0 is octal), numbers as JSON's, the last of equal keys wins.
 * @throws Error with line and column
 */
export function parseYaml(text: string): unknown {
  const start = text.trimStart();
  if (start.startsWith("{") || start.startsWith("[")) {
    const json = parseJson(text);
    if (json !== undefined) return json;
  }
  const document = readYamlDocuments(text)[0];
  if (document === undefined) return null;
  if (document.problem !== undefined) throw new Error(`${document.problem} at line ${document.line}, column ${document.column}`);
  return document.value;
}

/** One document of a YAML text: its value, or why there is none. */
export interface YamlDocument {
  value?: unknown;
  problem?: string;
  /** Where it begins, or where the problem is. */
  line: number;
  column: number;
}

/** Every document of a text, read as Argo CD reads YAML. Never throws. */
export function readYamlDocuments(text: string): YamlDocument[] {
  const tooMuch = [{ problem: "reading it takes too long", line: 1, column: 1 }];
  return apart({ name: "documents", text, steps: () => stepsOfYaml(text), here: () => documentsOf(text), empty: [], tooMuch });
}

function documentsOf(text: string): YamlDocument[] {
  if (hasTooManyDocuments(text)) return [{ problem: "it has too many documents", line: 1, column: 1 }];
  return scannedDocuments(text) ?? parsedDocuments(text);
}

/** A text of JSON, which the scanner gives up on. undefined: it is none, or holds what the package is to judge. */
function jsonDocument(text: string): YamlDocument[] | undefined {
  const offset = /[^ \t\r\n]/.exec(text)?.index ?? 0;
  const value = /[{[]/.test(text.charAt(offset)) ? parseJson(text.slice(offset)) : undefined;
  return value === undefined || !isUsual(value) ? undefined : [{ value, ...position(text, offset) }];
}

/** Nested no deeper than anybody writes, and without numbers that no float64 holds. */
function isUsual(value: unknown, depth = 0): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  return depth < MAX_DEPTH && Object.values(value).every((item) => isUsual(item, depth + 1));
}

const GO_SCHEMA = new Schema({ schema: "yaml-1.1", customTags: goTags, merge: true, resolveKnownTags: false });

/** undefined: the package is to read it. */
export function scannedDocuments(text: string): YamlDocument[] | undefined {
  return jsonDocument(text) ?? scanValues(text, GO_SCHEMA)?.map(({ value, offset }) => ({ value, ...position(text, offset) }));
}

/** By the `yaml` package in full: what the scanner reads comes out the same. */
export function parsedDocuments(text: string): YamlDocument[] {
  const lines = new LineCounter();
  const options = { ...LINEAR, version: "1.1", customTags: goTags, lineCounter: lines } as const;
  return [...parseAllDocuments(text, options)].map((document) => {
    const error = document.errors[0];
    const { line, column } = located(lines, error?.pos[0] ?? document.contents?.range?.[0] ?? 0);
    if (error !== undefined) return { problem: saidOf(error.message), line, column };
    const odd = oddKey(text, document);
    cutLastBlock(text, document);
    if (odd !== undefined) return { problem: ODD_KEY, ...located(lines, odd) };
    try {
      if (expandsTooFar(document)) return { problem: "its aliases stand for too much", line, column };
      return { value: document.toJS({ maxAliasCount: -1 }), line, column };
    } catch (cause) {
      return { problem: saidOf(errorText(cause)), line, column };
    }
  });
}

/** Without the place, which is told apart, and in words of YAML where the parser ran out of stack. */
function saidOf(message: string): string {
  if (/call stack/.test(message)) return "it is nested too deeply";
  return (message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:$/, "");
}

/** The objects of a text, one a document; broken documents and those that are no map have none. */
export function readManifests(text: string): Record<string, unknown>[] {
  return readYamlDocuments(text).flatMap(({ value }) => (isRecord(value) ? [value] : []));
}

const ODD_KEY = "a map or list stands where a key belongs: a value that begins with {{ needs quotes";

function located(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

/** Where a key is a map or list, as in `name: {{ x }}` without quotes: Go's parser refuses that. */
function oddKey(text: string, document: Document.Parsed): number | undefined {
  if (!/[{[]\s*[{[]|^[ \t]*\?\s|[\]}]\s*:/m.test(text)) return undefined;
  let found: number | undefined;
  visit(document, {
    Pair(_, pair) {
      if (!isCollection(pair.key)) return undefined;
      found = pair.key.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return found;
}

/** A block scalar that ends the text without a newline has none either, by Go's parser. */
function cutLastBlock(text: string, document: Document.Parsed): void {
  if (text.endsWith("\n") || !/[|>][-+0-9]*[ \t]*(#.*)?$/m.test(text)) return;
  visit(document, {
    Scalar(_, node) {
      const isBlock = node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED";
      if (isBlock && typeof node.value === "string" && (node.range?.[1] ?? 0) >= text.length) node.value = node.value.replace(/\n$/, "");
    },
  });
}

/** Reads JSON; undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
