import { openPinFile, type PinFile } from "./file.ts";
import { type Inner, openInner } from "./inner.ts";
import { type PinNode, position, type ScalarNode } from "./model.ts";
import { type PinPath, type PinStep, parsePinPath, printPinPath } from "./path.ts";
import { isNull, plural, type Reached, type Resolution, resolve } from "./resolve.ts";
import { sharedBy } from "./shared.ts";
import type { Spot } from "./spot.ts";
import type { PinError } from "./types.ts";

export type Located = { ok: true; spot: Spot } | { ok: false; error: PinError };

/** A path with its steps read, and whether an absent value may be written. */
export interface Query {
  path: PinPath;
  create: boolean;
}

export function readQuery(path: string, create: boolean | undefined): { ok: true; query: Query } | { ok: false; error: PinError } {
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
  const path = printPinPath({ document, steps: [...ahead] });
  if (node.kind !== "scalar") return { ok: false, error: notScalar(file, path, node) };
  if (into === -1) return locateScalar(file, path, node, reached, query.create);
  const inner = openInner(file.text, node);
  if (inner !== undefined) return clean(file, reached, { kind: "inside", node, reached, inner, steps: steps.slice(into + 1) });
  const message = `${path}: ! goes on inside a block scalar (|), and this is ${nameOf(node)}`;
  return {
    ok: false,
    error: {
      code: "PIN_NOT_SCALAR",
      message,
      hint: "Write the value as a block scalar with | and its text below.",
      ...position(file.text, node.start),
    },
  };
}

/** Finds a node of any kind. What it holds may be shared by nobody, and the document must be certain. */
export function locateNode(file: PinFile, path: string): { ok: true; node: PinNode } | { ok: false; error: PinError } {
  const read = readQuery(path, false);
  if (!read.ok) return read;
  const { document, steps } = read.query.path;
  const chosen = choose(
    file,
    document,
    steps.filter((step) => step.kind !== "into"),
    false,
  );
  if (!chosen.ok) return chosen;
  const { found } = chosen;
  if (found.kind !== "found") return { ok: false, error: found.error };
  const checked = clean(file, found.reached, { kind: "hole", at: undefined, rest: [], reached: found.reached });
  const shared = checked.ok ? sharedBy(file, checked.spot) : checked.error;
  return shared === undefined ? { ok: true, node: found.node } : { ok: false, error: shared };
}

function locateScalar(file: PinFile, path: string, node: ScalarNode, reached: Reached, create: boolean): Located {
  if (!isNull(file.text, node)) return clean(file, reached, { kind: "value", node, reached });
  if (create) return clean(file, reached, { kind: "hole", at: node, rest: [], reached });
  const message = `${path}: the value is empty`;
  return { ok: false, error: { code: "PIN_NOT_FOUND", message, hint: "Say `create` to write it.", ...position(file.text, node.start) } };
}

type Chosen = { ok: true; found: Resolution } | { ok: false; error: PinError };

/** Without a prefix the one document that has the path is meant; with `create` and none that has, the one that has most of it. */
function choose(file: PinFile, number: number | undefined, steps: readonly PinStep[], ownOnly: boolean): Chosen {
  const several = file.documents.length > 1;
  const tried = (number === undefined ? file.documents : file.documents.slice(number - 1, number)).map((document) => ({
    document,
    resolution: resolve({ file, document, steps, numbered: several, ownOnly }),
  }));
  const [first] = tried;
  if (first === undefined) {
    const message = `the file has ${plural(file.documents.length, "document")}, and the path asks for number ${number ?? 1}`;
    return { ok: false, error: { code: "PIN_NOT_FOUND", message, hint: "Documents are counted from 1." } };
  }
  const found = tried.filter((one) => one.resolution.kind === "found");
  const hits = found.length > 0 ? found : deepest(tried, ownOnly);
  const [hit] = hits;
  if (hit === undefined || hits.length === 1 || found.length === 0) {
    if (hits.length > 1 && ownOnly) return ambiguous(file, steps, hits, "could be written in");
    return { ok: true, found: (hit ?? first).resolution };
  }
  return ambiguous(file, steps, hits, "is in");
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

function ambiguous(file: PinFile, steps: readonly PinStep[], hits: Try[], verb: string): Chosen {
  const places = hits.map(({ document }) => `#${document.number} (line ${position(file.text, document.root?.start ?? document.end).line})`);
  const path = printPinPath({ document: undefined, steps: [...steps] });
  const message = `${path} ${verb} ${hits.length} documents: ${places.join(", ")}`;
  const hint = `Say which, such as #${hits[0]?.document.number ?? 1}/${path}.`;
  return { ok: false, error: { code: "PIN_AMBIGUOUS", message, hint, ...position(file.text, hits[0]?.document.root?.start ?? 0) } };
}

/** A document in which a key stands twice has no certain value. */
function clean(file: PinFile, reached: Reached, spot: Spot): Located {
  const duplicate = file.surveys[reached.document.number - 1]?.duplicate;
  if (duplicate === undefined) return { ok: true, spot };
  const first = position(file.text, duplicate.first);
  const second = position(file.text, duplicate.second);
  const message = `the key "${duplicate.key}" stands twice in one mapping (lines ${first.line} and ${second.line})`;
  return {
    ok: false,
    error: { code: "PIN_DUPLICATE_KEY", message, hint: "Readers disagree on which one counts; remove one of them.", ...second },
  };
}

function notScalar(file: PinFile, path: string, node: PinNode): PinError {
  const place = position(file.text, node.start);
  if (node.kind === "map" && node.flow && file.text.startsWith("{{", node.start)) {
    const message = `${path} is a template (${file.text.slice(node.start, node.end)})`;
    return { code: "PIN_IS_TEMPLATE", message, hint: "Pin the place that the template takes its value from.", ...place };
  }
  const keys = node.kind === "map" ? node.pairs.flatMap((pair) => pair.key ?? []).slice(0, 8) : [];
  const items = node.kind === "seq" ? node.items.length : 0;
  const message = `${path} is a ${node.kind === "map" ? "mapping" : "list"}, not a single value`;
  const hint =
    node.kind === "map" ? `Go on to one of its keys: ${keys.join(", ")}.` : `Go on to one of its ${plural(items, "item")}, such as [0].`;
  return { code: "PIN_NOT_SCALAR", message, hint, ...place };
}

function nameOf(node: ScalarNode): string {
  const names = {
    plain: "a plain value",
    single: "a quoted value",
    double: "a quoted value",
    folded: "a folded one (>)",
    literal: "one whose indentation varies",
    empty: "empty",
  };
  return names[node.style];
}

/** Opens what a block scalar holds, as YAML or JSON of its own. */
export function openInside(spot: Spot & { kind: "inside" }): ReturnType<typeof openPinFile> {
  return openPinFile(spot.inner.text);
}

/** An error inside a block scalar, with its place in the file. */
export function outward(text: string, inner: Inner, error: PinError): PinError {
  if (error.line === undefined) return error;
  let start = 0;
  for (let line = 1; line < error.line; line++) start = inner.text.indexOf("\n", start) + 1;
  return { ...error, ...position(text, inner.outer(start + (error.column ?? 1) - 1)) };
}
