import { dig, isRecord, listAt, textAt } from "../../core/base/is-record.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { type PinStep, printPinPath } from "../../core/pins/path.ts";
import type { PlaceHindrance } from "../../core/reasons/onboarding.ts";
import { itemOfList, key } from "./places-spec.ts";
import type { InitTarget, Manifest, Place } from "./types.ts";
import { add, isFloating, isVersionKey } from "./versions.ts";

/** A parameter that the template writes where a version goes. */
interface Wanted {
  param: string;
  /** Where in the template: for people. */
  at: string;
}

interface GeneratorPlaces {
  places: Place[];
  /** Why a version that the template takes from a parameter has no place in Git. */
  why: PlaceHindrance[];
}

/**
 * Places in the generators that versions of the template come from: list elements, files of a git generator. The values
 * of a clusters generator stand once for all of its clusters, so they are a place only for a pair of entries.
 */
export function generatorPlaces(set: Manifest, target: InitTarget, files: RepoFiles): GeneratorPlaces {
  const found: GeneratorPlaces = { places: [], why: [] };
  const text = readOrNull(files, set.file);
  if (text === null) return found;
  const go = dig(set.object, "spec", "goTemplate") === true;
  for (const { param, at } of wantedParams(dig(set.object, "spec", "template", "spec"))) {
    const here: Trace = { set, target, files, text, go, param, at, found };
    for (const [i, generator] of listAt(set.object, "spec", "generators").entries()) {
      trace(here, generator, [...itemOfList(set), key("spec"), key("generators"), { kind: "index", index: i }]);
    }
    const value = target.params[param];
    if (value !== undefined && isFloating(value)) found.why.push({ kind: "Floating", at, value });
  }
  return found;
}

interface Trace extends Wanted {
  set: Manifest;
  target: InitTarget;
  files: RepoFiles;
  text: string;
  go: boolean;
  found: GeneratorPlaces;
}

function trace(here: Trace, generator: unknown, path: readonly PinStep[]): void {
  if (!isRecord(generator)) return;
  for (const combined of ["matrix", "merge"]) {
    for (const [i, inner] of listAt(generator, combined, "generators").entries()) {
      trace(here, inner, [...path, key(combined), key("generators"), { kind: "index", index: i }]);
    }
  }
  if (isRecord(generator["list"])) traceList(here, generator["list"], [...path, key("list")]);
  if (isRecord(generator["git"])) traceGit(here, generator["git"]);
  if (isRecord(generator["clusters"])) traceClusters(here, generator["clusters"], [...path, key("clusters")]);
}

/** The element whose every field the target has as a parameter. */
function traceList({ set, target, text, param, found }: Trace, list: Record<string, unknown>, path: readonly PinStep[]): void {
  const elements = listAt(list, "elements");
  const mine = likelyPlaces(elements, target.params).find((at) => fits(elements[at], target.params));
  const element = elements[mine ?? -1];
  if (mine === undefined || !isRecord(element)) return;
  const keys = keysFor(element, param);
  if (keys === undefined) return;
  const chosen = identity(elements, element);
  const step: PinStep =
    chosen === undefined ? { kind: "index", index: mine } : { kind: "match", key: chosen, value: String(element[chosen]) };
  const document = set.documents > 1 ? set.document : undefined;
  const pin = printPinPath({ document, steps: [...path, key("elements"), step, ...keys.map(key)] });
  add(found, { kind: "generator field", slot: `generator field ${param}`, file: set.file, path: pin }, text);
}

/** Where the elements of a list stand, by the value of one field; under undefined those that have no plain one. */
type FieldIndex = Map<string | undefined, number[]>;

/** A list has thousands of elements, and each of them is looked for. */
const INDEXES = new WeakMap<readonly unknown[], Map<string, FieldIndex>>();

function indexOf(elements: readonly unknown[], name: string): FieldIndex {
  const own = INDEXES.get(elements) ?? new Map<string, FieldIndex>();
  INDEXES.set(elements, own);
  const made = own.get(name) ?? indexed(elements, name);
  own.set(name, made);
  return made;
}

function indexed(elements: readonly unknown[], name: string): FieldIndex {
  const index: FieldIndex = new Map();
  for (const [at, element] of elements.entries()) {
    const value = isRecord(element) && Object.hasOwn(element, name) ? element[name] : undefined;
    const key = value === undefined || typeof value === "object" ? undefined : String(value);
    const places = index.get(key);
    if (places === undefined) index.set(key, [at]);
    else places.push(at);
  }
  return index;
}

/** Of so few elements each is looked at. */
const FEW = 8;

/** Those that may fit, in their order: by a field that few of them have the same value of. */
function likelyPlaces(elements: readonly unknown[], params: Readonly<Record<string, string>>): readonly number[] {
  for (const name of likelyFirst(params)) {
    const index = params[name] === undefined ? undefined : indexOf(elements, name);
    const places = index && [...(index.get(params[name]) ?? []), ...(index.get(undefined) ?? []).slice(0, FEW)];
    if (places !== undefined && places.length < FEW) return places.toSorted((a, b) => a - b);
  }
  return [...elements.keys()];
}

/** Names of fields. The first one mostly does. */
function* likelyFirst(fields: object): Generator<string> {
  yield* LIKELY;
  for (const name of Object.keys(fields)) if (!LIKELY.includes(name)) yield name;
}

function fits(element: unknown, params: Readonly<Record<string, string>>, prefix = ""): boolean {
  if (!isRecord(element)) return false;
  return Object.keys(element).every((name) => {
    const value = element[name];
    if (isRecord(value)) return fits(value, params, `${prefix}${name}.`);
    if (typeof value === "object") return true;
    const given = params[prefix + name];
    return given === undefined || given === String(value);
  });
}

/** `values.revision` may be a key with a dot, or keys below each other. */
function keysFor(data: Record<string, unknown>, param: string): string[] | undefined {
  if (Object.hasOwn(data, param)) return [param];
  const keys = param.split(".");
  return dig(data, ...keys) === undefined ? undefined : keys;
}

export const LIKELY = ["cluster", "clusterName", "cluster_name", "name", "env", "environment", "stage", "server", "url"];

/** A field that no other element has the value of: one that tells all of them apart, where there is one, so that they share a template. */
function identity(elements: readonly unknown[], element: Record<string, unknown>): string | undefined {
  let own: string | undefined;
  for (const name of likelyFirst(element)) {
    const value = element[name];
    if (typeof value !== "string" || value === "" || value.includes("{{") || isVersionKey(name)) continue;
    const index = indexOf(elements, name);
    if (index.get(value)?.length !== 1) continue;
    if (index.size === elements.length && !index.has(undefined)) return name;
    own ??= name;
  }
  return own;
}

/** A file of a git generator: its folder and name are parameters themselves. */
function traceGit({ target, files, go, param, found }: Trace, git: Record<string, unknown>): void {
  if (listAt(git, "files").length === 0) return;
  const prefix = textAt(git, "pathParamPrefix");
  const base = prefix === undefined ? "path" : `${prefix}.path`;
  const folder = target.params[go ? `${base}.path` : base];
  const name = target.params[`${base}.filename`];
  if (folder === undefined || name === undefined) return;
  const file = folder === "" || folder === "." ? name : `${folder}/${name}`;
  const text = readOrNull(files, file);
  if (text === null) return;
  for (const path of new Set([
    printPinPath({ document: undefined, steps: param.split(".").map(key) }),
    printPinPath({ document: undefined, steps: [key(param)] }),
  ])) {
    if (add(found, { kind: "generator field", slot: `generator field ${param}`, file, path }, text)) return;
  }
}

/** Values stand once for all clusters of the entry: that is found, too, so that it can be told. */
function traceClusters({ set, text, param, at, found }: Trace, clusters: Record<string, unknown>, path: readonly PinStep[]): void {
  const way = param.replace(/^values\./, "").split(".");
  const value = textAt(clusters, "values", ...way);
  if (value === undefined) return;
  if (value.includes("{{")) {
    found.why.push({ kind: "OfSecret", at, value });
    return;
  }
  const document = set.documents > 1 ? set.document : undefined;
  const pin = printPinPath({ document, steps: [...path, key("values"), ...way.map(key)] });
  add(found, { kind: "generator field", slot: `generator field ${param}`, file: set.file, path: pin }, text);
}

/** A set of thousands of Applications has one template. */
const WANTED = new WeakMap<object, Wanted[]>();

/** Parameters written at places of the template where versions go. */
function wantedParams(spec: unknown): Wanted[] {
  if (!isRecord(spec)) return [];
  const known = WANTED.get(spec) ?? paramsWanted(spec);
  WANTED.set(spec, known);
  return known;
}

function paramsWanted(spec: Record<string, unknown>): Wanted[] {
  const wanted = new Map<string, Wanted>();
  for (const { path, text, isVersionPlace } of leaves(spec, [], 0)) {
    if (!isVersionPlace) continue;
    for (const [, param = ""] of text.matchAll(/\{\{-?\s*\.?([A-Za-z_][\w.-]*)\s*-?\}\}/g)) {
      if (!wanted.has(param)) wanted.set(param, { param, at: path.join(".") });
    }
  }
  return [...wanted.values()];
}

interface Leaf {
  path: string[];
  text: string;
  isVersionPlace: boolean;
}

const DEEPEST = 20;

/** Helm values in a block scalar: a line at a time, by its key. */
function* linesOf(text: string, path: string[]): Generator<Leaf> {
  for (const line of text.split("\n")) {
    const name = /^\s*(?:-\s*)?([\w.-]+)\s*:/.exec(line)?.[1];
    if (name !== undefined) yield { path: [...path, name], text: line, isVersionPlace: isVersionKey(name) || name === "image" };
  }
}

function* leaves(value: unknown, path: string[], depth: number): Generator<Leaf> {
  if (depth > DEEPEST) return;
  if (typeof value === "string") {
    const name = path.at(-1) ?? "";
    if (name === "values") yield* linesOf(value, path);
    else yield { path, text: value, isVersionPlace: isVersionKey(name) || path.includes("images") || name === "image" };
    return;
  }
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      // A Helm parameter says in `name` what its `value` is.
      const parameter = isRecord(item) && typeof item["name"] === "string" && path.at(-1) === "parameters" ? item["name"] : undefined;
      if (parameter !== undefined && isRecord(item) && typeof item["value"] === "string") {
        yield { path: [...path, parameter], text: item["value"], isVersionPlace: isVersionKey(parameter) || /image$/i.test(parameter) };
      } else yield* leaves(item, [...path, String(i)], depth + 1);
    }
    return;
  }
  if (isRecord(value)) for (const [name, item] of Object.entries(value)) yield* leaves(item, [...path, name], depth + 1);
}
