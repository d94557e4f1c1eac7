import { lineAt, type MapNode, position, type ScalarNode, type SeqNode, type YamlNode } from "../base/yaml-scan/model.ts";
import { scalarText } from "../base/yaml-scan/scalar.ts";
import { type PinFile, readPinFile } from "./file.ts";
import { type PinPath, type PinStep, parsePinPath, printPinPath } from "./path.ts";
import { isNull, opensTemplate, type Reached, type Resolution, resolve } from "./resolve.ts";
import { sharedBy } from "./shared.ts";
import { type PinError, type Refused, refuse } from "./types.ts";

/** Where a path leads in one text (a file, or what a block scalar holds). */
export type Spot =
  | { kind: "value"; node: ScalarNode; reached: Reached }
  /** To be written: `rest` below `at`, a mapping, a list or an empty value; no `rest`: the empty value itself. `at` undefined: an empty file. */
  | { kind: "hole"; at: MapNode | SeqNode | ScalarNode | undefined; rest: PinStep[]; reached: Reached }
  | { kind: "inside"; node: ScalarNode; reached: Reached; inner: Inner; steps: PinStep[] };

type Located = { ok: true; spot: Spot } | Refused;

/** A path with its steps read, and whether an absent value may be written. */
export interface Query {
  path: PinPath;
  create: boolean;
}

export function readQuery(path: string, create: boolean | undefined): { ok: true; query: Query } | Refused {
  const parsed = parsePinPath(path);
  return parsed.ok ? { ok: true, query: { path: parsed.value, create: create === true } } : parsed;
}

/** Finds the one document that has the path, and the place in it. */
export function locate(file: PinFile, query: Query): Located {
  const { document, steps } = query.path;
  const into = steps.findIndex((step) => step.kind === "into");
  const ahead = into === -1 ? steps : steps.slice(0, into);
  const resolution = choose(file, document, ahead, query.create && into === -1);
  if (!resolution.ok) return resolution;
  const { found } = resolution;
  if (found.kind === "error") return { ok: false, error: found.error };
  if (found.kind === "missing") {
    if (!query.create || found.rest === undefined || into !== -1) return { ok: false, error: found.error };
    return clean(file, found.reached, { kind: "hole", at: found.at, rest: found.rest, reached: found.reached });
  }
  const { node, reached } = found;
  const pinPath = printPinPath({ document, steps: ahead });
  if (node.kind !== "scalar") return notScalar(file.text, pinPath, node);
  if (into !== -1) {
    const inner = openInner(file.text, node);
    if (inner === undefined) return refuse("PIN_NOT_SCALAR", { pinPath, kind: "NoBlock", style: node.style }, file.text, node.start);
    return clean(file, reached, { kind: "inside", node, reached, inner, steps: steps.slice(into + 1) });
  }
  if (!isNull(file.text, node)) return clean(file, reached, { kind: "value", node, reached });
  if (query.create) return clean(file, reached, { kind: "hole", at: node, rest: [], reached });
  return refuse("PIN_NOT_FOUND", { pinPath, kind: "Empty", what: "value", writable: true }, file.text, node.start);
}

/** Finds a node of any kind. What it holds may be shared by nobody, and the document must be certain. */
export function locateNode(file: PinFile, path: string): { ok: true; node: YamlNode } | Refused {
  const read = readQuery(path, false);
  if (!read.ok) return read;
  const { document, steps } = read.query.path;
  const own = steps.filter((step) => step.kind !== "into");
  const chosen = choose(file, document, own, false);
  if (!chosen.ok) return chosen;
  const { found } = chosen;
  if (found.kind !== "found") return { ok: false, error: found.error };
  const checked = clean(file, found.reached, { kind: "hole", at: undefined, rest: [], reached: found.reached });
  if (!checked.ok) return checked;
  const error = sharedBy(file, found.reached, undefined);
  return error === undefined ? { ok: true, node: found.node } : { ok: false, error };
}

type Chosen = { ok: true; found: Resolution } | Refused;

/** Without a prefix the one document that has the path is meant; with `create` and none that has, the one that has most of it. */
function choose(file: PinFile, number: number | undefined, steps: readonly PinStep[], ownOnly: boolean): Chosen {
  const tried = (number === undefined ? file.documents : file.documents.slice(number - 1, number)).map((document) => ({
    document,
    resolution: resolve({ file, document, steps, ownOnly }),
  }));
  const [first] = tried;
  if (first === undefined) return refuse("PIN_NOT_FOUND", { kind: "NoDocument", documents: file.documents.length, asked: number ?? 1 });
  const found = tried.filter((one) => one.resolution.kind === "found");
  const hits = found.length > 0 ? found : deepest(tried, ownOnly);
  const [hit] = hits;
  if (hits.length > 1 && (found.length > 0 || ownOnly)) return ambiguous(file, steps, hits, found.length === 0);
  return { ok: true, found: (hit ?? first).resolution };
}

interface Try {
  document: PinFile["documents"][number];
  resolution: Resolution;
}

function deepest(tried: Try[], writable: boolean): Try[] {
  let best: Try[] = [];
  let depth = -1;
  for (const one of tried) {
    if (one.resolution.kind === "found") continue;
    if (writable && one.resolution.kind === "error" && tried.some((other) => other.resolution.kind === "missing")) continue;
    if (one.resolution.depth > depth) {
      depth = one.resolution.depth;
      best = [];
    }
    if (one.resolution.depth === depth) best.push(one);
  }
  return best;
}

function ambiguous(file: PinFile, steps: readonly PinStep[], hits: readonly Try[], writing: boolean): Refused {
  const documents = hits.map(({ document: { number, root, end } }) => ({ number, line: position(file.text, root?.start ?? end).line }));
  const data = { kind: "Documents", pinPath: printPinPath({ steps }), documents, writing } as const;
  return refuse("PIN_AMBIGUOUS", data, file.text, hits[0]?.document.root?.start);
}

/** A document in which a key stands twice has no certain value. */
function clean(file: PinFile, reached: Reached, spot: Spot): Located {
  const duplicate = file.surveys[reached.document.number - 1]?.duplicate;
  if (duplicate === undefined) return { ok: true, spot };
  const [first, second] = [position(file.text, duplicate.first).line, position(file.text, duplicate.second).line];
  return refuse("PIN_DUPLICATE_KEY", { key: duplicate.key, first, second }, file.text, duplicate.second);
}

function notScalar(text: string, pinPath: string, node: Exclude<YamlNode, ScalarNode>): Refused {
  if (opensTemplate(text, node) && "end" in node)
    return refuse("PIN_IS_TEMPLATE", { kind: "Map", pinPath, template: text.slice(node.start, node.end) }, text, node.start);
  const keys = node.kind === "map" ? node.pairs.flatMap((pair) => pair.key ?? []).slice(0, 8) : [];
  if (node.kind === "map") return refuse("PIN_NOT_SCALAR", { pinPath, kind: "Map", keys }, text, node.start);
  return refuse("PIN_NOT_SCALAR", { pinPath, kind: "List", items: node.kind === "seq" ? node.items.length : 0 }, text, node.start);
}

/** Opens what a block scalar holds, as YAML or JSON of its own. */
export function openInside(spot: Spot & { kind: "inside" }): ReturnType<typeof readPinFile> {
  return readPinFile(spot.inner.text, {});
}

/** An error inside a block scalar, with its place in the file. */
export function outward(text: string, inner: Inner, error: PinError): PinError {
  if (error.line === undefined) return error;
  let start = 0;
  for (let line = 1; line < error.line; line++) start = inner.text.indexOf("\n", start) + 1;
  return { ...error, ...position(text, inner.outer(start + (error.column ?? 1) - 1)) };
}

/** The text that a literal block scalar holds, and where each of its characters stands in the file. */
interface Inner {
  text: string;
  /** From an offset in `text` to one in the file. */
  outer(offset: number): number;
  /** Text to be inserted in the file, from text to be inserted in `text`. */
  indent(insert: string): string;
}

/** undefined: not a literal block scalar (`|`), so its characters do not stand in the file as they are read. */
function openInner(file: string, node: ScalarNode): Inner | undefined {
  if (node.style !== "literal") return undefined;
  const text = scalarText(file, node);
  const inner = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) inner.push(at + 1);
  const outer: number[] = [];
  let line = file.indexOf("\n", node.start) + 1;
  const eol = file[line - 2] === "\r" ? "\r\n" : "\n";
  while (outer.length < inner.length) {
    const newline = file.indexOf("\n", line);
    const end = newline === -1 || newline >= node.end ? node.end : newline;
    const length = end - line - (file[end - 1] === "\r" ? 1 : 0);
    const start = line + Math.max(Math.min(node.bodyIndent, length), 0);
    const from = inner[outer.length] ?? 0;
    const to = (inner[outer.length + 1] ?? text.length + 1) - 1;
    if (file.slice(start, start + to - from) !== text.slice(from, to)) return undefined;
    outer.push(start);
    line = newline === -1 || newline >= node.end ? node.end : newline + 1;
  }
  const pad = " ".repeat(node.bodyIndent);
  return {
    text,
    outer(offset) {
      const at = lineAt(inner, offset);
      return (outer[at] ?? node.start) + offset - (inner[at] ?? 0);
    },
    indent: (insert) => insert.replaceAll(/\r?\n(?=[^\r\n])/g, eol + pad).replaceAll(/(?<!\r)\n/g, eol),
  };
}
