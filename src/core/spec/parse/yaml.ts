/**
 * Reads rollouts and settings as YAML 1.2, within bounds of size, depth and aliases, each value with its place. For YAML as Argo CD reads it
 * see `core/base/yaml-read.ts`.
 */
import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, type ParsedNode, parseAllDocuments } from "yaml";
import { duplicateKeys, expandsTooFar, hasTooManyDocuments, LINEAR, yamlMarks } from "../../base/yaml-bounds.ts";
import { type Finding, type Problem, type ProblemReason, problemIn } from "../../reasons/problems/problem.ts";
import type { Slip } from "./yaml-indent.ts";
import { aliasSlip, otherEncoding, slipOf } from "./yaml-slips.ts";

/** How large a text may be: what is larger was not written by a person. */
interface YamlSize {
  kibibytes: number;
  /** Brackets, colons, dashes: the parser takes time for each of them. */
  marks: number;
}

const SIZE_OF_ROLLOUTS: YamlSize = { kibibytes: 256, marks: 60_000 };
export const SIZE_OF_SETTINGS: YamlSize = { kibibytes: 64, marks: 20_000 };

const KIBIBYTE = 1024;
const DEEPEST = 64;
const MOST_EXPANDED = 10_000;
/** Nobody mends more mistakes of one document at once. */
const MOST_ERRORS = 100;
/** Rollouts and settings of so many documents were not written by a person. */
const MOST_DOCUMENTS = 500;

/** One YAML document with the way back from a path to its place in the text. */
export interface Source {
  file: string;
  /** Plain data, as JSON has it. */
  data: unknown;
  place(finding: Finding): Problem;
}

interface ReadYaml {
  sources: Source[];
  problems: Problem[];
}

/** Reads every document of a YAML text. Too large, too deep, aliases that multiply, duplicate keys and syntax errors are problems, never thrown. */
export function readYaml(text: string, file: string, { kibibytes: most, marks }: YamlSize = SIZE_OF_ROLLOUTS): ReadYaml {
  const whole = (reason: ProblemReason): ReadYaml => ({ sources: [], problems: [problemIn(file, reason)] });
  const kibibytes = Math.ceil(text.length / KIBIBYTE);
  if (kibibytes > most) return whole({ code: "TOO_LARGE", kind: "Size", kibibytes, most });
  if (yamlMarks(text) > marks) return whole({ code: "TOO_LARGE", kind: "Marks", most: marks });
  const deep = deepFlow(text);
  if (deep !== undefined)
    return { sources: [], problems: [{ ...problemIn(file, { code: "TOO_DEEP", kind: "Brackets" }), ...placeOf(text, deep) }] };
  const odd = otherEncoding(text);
  const encoding = odd && { ...problemIn(file, { code: "SYNTAX", kind: "Encoding" }), ...placeOf(text, odd.offset) };
  if (encoding !== undefined && odd?.isWhole === true) return { sources: [], problems: [encoding] };
  if (hasTooManyDocuments(text, MOST_DOCUMENTS)) return whole({ code: "TOO_MANY_DOCUMENTS", most: MOST_DOCUMENTS });
  try {
    const { sources, problems } = readDocuments(text, file);
    return { sources, problems: encoding === undefined ? problems : [{ ...encoding, severity: "warning" }, ...problems] };
  } catch (error) {
    if (error instanceof RangeError) return whole({ code: "TOO_DEEP", kind: "File" });
    throw error;
  }
}

function readDocuments(text: string, file: string): ReadYaml {
  const lines = new LineCounter();
  const problems: Problem[] = [];
  const sources: Source[] = [];
  // Without documents the result is an object that carries the empty stream's errors.
  const documents = parseAllDocuments(text, { ...LINEAR, merge: true, lineCounter: lines });
  for (const document of Array.isArray(documents) ? documents : []) {
    if (document.errors.length > 0) {
      if (document.errors.some((error) => /call stack/.test(error.message))) throw new RangeError("nested too deep");
      // The others follow from the first one, more often than not.
      for (const error of document.errors.slice(0, 1)) problems.push(syntaxProblem(file, slipOf(text, error, document.range[0]), lines));
      continue;
    }
    const twice = duplicateKeys(document).slice(0, MOST_ERRORS);
    if (twice.length > 0) {
      for (const offset of twice) problems.push({ ...problemIn(file, { code: "DUPLICATE_KEY" }), ...at(lines, offset) });
      continue;
    }
    const read = toData(document);
    if (!read.ok) {
      const [offset] = document.range;
      const slip = read.reason === undefined ? aliasSlip(document, offset) : undefined;
      if (slip !== undefined) problems.push(syntaxProblem(file, slip, lines));
      else problems.push({ ...problemIn(file, read.reason ?? { code: "ALIAS_BOMB" }), ...at(lines, offset) });
      continue;
    }
    if (read.data === null || read.data === undefined) continue;
    sources.push({ file, data: read.data, place: (finding) => placeIn(document.contents, lines, file, finding) });
  }
  return { sources, problems };
}

/** Without a reason: an alias stands for nothing. */
function toData(document: Document.Parsed): { ok: true; data: unknown } | { ok: false; reason?: ProblemReason } {
  try {
    if (expandsTooFar(document, MOST_EXPANDED)) return { ok: false, reason: { code: "ALIAS_BOMB" } };
    const data: unknown = document.toJS({ maxAliasCount: -1 });
    if (depthOf(data, 0) > DEEPEST) return { ok: false, reason: { code: "TOO_DEEP", kind: "Values", most: DEEPEST } };
    return { ok: true, data };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { ok: false };
  }
}

function depthOf(data: unknown, depth: number): number {
  if (typeof data !== "object" || data === null || depth > DEEPEST) return depth;
  let deepest = depth;
  for (const value of Object.values(data)) deepest = Math.max(deepest, depthOf(value, depth + 1));
  return deepest;
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** A cheap look before parsing: where too many brackets are open, whatever they stand in; undefined: nowhere. */
function deepFlow(text: string): number | undefined {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === 0x5b || char === 0x7b) depth++;
    else if ((char === 0x5d || char === 0x7d) && depth > 0) depth--;
    if (depth > 200) return i;
  }
  return undefined;
}

function at(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function syntaxProblem(file: string, { what, offset }: Slip, lines: LineCounter): Problem {
  return { ...problemIn(file, { code: "SYNTAX", ...what }), ...at(lines, offset) };
}

/** Where the ancestor's resource keeps what ours calls otherwise; `clusters` also stand under their other name. */
const ELSEWHERE: Record<string, readonly (readonly string[])[]> = {
  maxClusters: [["maxTargets"]],
  maxUnavailable: [["maxParallel"]],
  clusters: [["targets", "clusters"], ["targets"]],
  sourceRef: [["appSetRef"]],
};

function placeIn(root: ParsedNode | null, lines: LineCounter, file: string, finding: Finding): Problem {
  const offset = offsetOf(root, finding.path, finding.atKey === true);
  const { atKey: _, severity = "error", ...found } = finding;
  return { ...found, severity, file, ...at(lines, offset) };
}

/** Offset of the value at a path, or of the last thing on the way that is there. */
function offsetOf(root: Node | null, path: readonly (string | number)[], atKey: boolean): number {
  let node: Node | null | undefined = root;
  let offset = root?.range?.[0] ?? 0;
  for (const [i, step] of path.entries()) {
    const last = i === path.length - 1;
    const found: Child | undefined = child(node, step) ?? elsewhere(node, step);
    if (found === undefined) return offset;
    offset = (last && !atKey ? found.value?.range?.[0] : undefined) ?? found.key ?? found.value?.range?.[0] ?? offset;
    node = found.value;
  }
  return offset;
}

/** A value, and where its key begins if it has one. */
interface Child {
  key: number | undefined;
  value: Node | null;
}

function child(parent: Node | null | undefined, step: string | number): Child | undefined {
  if (isMap(parent)) {
    for (const pair of parent.items) {
      if (!isScalar(pair.key) || String(pair.key.value) !== String(step)) continue;
      return { key: pair.key.range?.[0], value: pair.value as Node | null };
    }
    return undefined;
  }
  if (isSeq(parent) && typeof step === "number") {
    const value = parent.items[step] as Node | undefined;
    return value && { key: undefined, value };
  }
  return undefined;
}

function elsewhere(parent: Node | null | undefined, step: string | number): Child | undefined {
  for (const names of ELSEWHERE[String(step)] ?? []) {
    const found = childBelow(parent, names);
    if (found !== undefined) return found;
  }
  return undefined;
}

function childBelow(parent: Node | null | undefined, names: readonly string[]): Child | undefined {
  let found: Child = { key: undefined, value: parent ?? null };
  for (const name of names) {
    const inner: Child | undefined = child(found.value, name);
    if (inner === undefined) return undefined;
    found = inner;
  }
  return found;
}
