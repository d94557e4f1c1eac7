/** What two renderings, or a rendered and a live Application, have in common and where they differ. */
import { compareText } from "../base/compare-text.ts";
import { isRecord } from "../base/is-record.ts";
import { ownKey, setKey } from "./problem.ts";
import type { RenderedApplication, RenderResult } from "./types.ts";

/** What becomes of a set's Applications from one rendering to another. Compare only results that are `ok`. */
interface RenderDifference {
  /** Names that go: Argo CD would delete these Applications, and with the finalizer their workloads. Renamed ones too. */
  removed: string[];
  /** Names that come, renamed ones too. */
  added: string[];
  /** Pairs of a name that goes and one that comes for the same project, destination and sources (revisions aside). */
  renamed: { from: string; to: string }[];
  /** Applications that stay and whose spec differs, with the paths of what differs (`spec.source.targetRevision`). */
  changed: { name: string; paths: string[] }[];
  /** Applications that stay and whose labels, annotations or finalizers differ, with the paths of those. */
  relabelled: { name: string; paths: string[] }[];
  /** How many specs stay as they are. */
  same: number;
}

/** Of two renderings that are looked at by more than one. */
const COMPARED = new WeakMap<RenderResult, { before: RenderResult; difference: RenderDifference }>();

/** Compares by name, then spec by spec, and apart from that what else is written of them. In the order of names. */
export function compareRenders(before: RenderResult, after: RenderResult): RenderDifference {
  const known = COMPARED.get(after);
  if (known?.before === before) return known.difference;
  const difference = compareAnew(before, after);
  COMPARED.set(after, { before, difference });
  return difference;
}

function compareAnew(before: RenderResult, after: RenderResult): RenderDifference {
  const old = new Map(before.applications.map((application) => [application.metadata.name, application]));
  const fresh = new Map(after.applications.map((application) => [application.metadata.name, application]));
  const removed = [...old.keys()].filter((name) => !fresh.has(name)).sort();
  const added = [...fresh.keys()].filter((name) => !old.has(name)).sort();
  const changed: { name: string; paths: string[] }[] = [];
  const relabelled: { name: string; paths: string[] }[] = [];
  let same = 0;
  let paths: string[] = [];
  for (const [name, application] of [...old].sort(([a], [b]) => compareText(a, b))) {
    const next = fresh.get(name);
    if (next === undefined) continue;
    const found: string[] = [];
    difference(application.spec, next.spec, "spec", found);
    // In a list of thousands mostly the same place differs.
    if (found.length !== paths.length || found.some((path, i) => path !== paths[i])) paths = found.slice();
    if (found.length > 0) changed.push({ name, paths });
    else same++;
    const said = metadataDifference(application.metadata, next.metadata);
    if (said.length > 0) relabelled.push({ name, paths: said });
  }
  return { removed, added, renamed: pairs(removed, added, old, fresh), changed, relabelled, same };
}

const WRITTEN = ["labels", "annotations", "finalizers"] as const;

/** Paths of what differs between two `metadata` in what people write of an object; an empty one is none. */
export function metadataDifference(a: unknown, b: unknown): string[] {
  const paths: string[] = [];
  const [was, is] = [a, b].map((one) => (isRecord(one) ? one : {}));
  for (const key of WRITTEN) {
    const empty = key === "finalizers" ? [] : {};
    difference(was?.[key] ?? empty, is?.[key] ?? empty, `metadata.${key}`, paths);
  }
  return paths;
}

function pairs(
  removed: readonly string[],
  added: readonly string[],
  old: ReadonlyMap<string, RenderedApplication>,
  fresh: ReadonlyMap<string, RenderedApplication>,
) {
  const byIdentity = Map.groupBy(added, (name) => identity(fresh.get(name)));
  const renamed: { from: string; to: string }[] = [];
  for (const from of removed) {
    const to = byIdentity.get(identity(old.get(from)))?.shift();
    if (to !== undefined) renamed.push({ from, to });
  }
  return renamed;
}

/** What stays the same when only the name changes. */
function identity(application: RenderedApplication | undefined): string {
  const spec = application?.spec ?? {};
  const sources = Array.isArray(spec["sources"]) ? spec["sources"] : [spec["source"]];
  const places = sources.map((source) => (isRecord(source) ? [source["repoURL"], source["path"], source["chart"]] : []));
  return JSON.stringify([spec["project"], spec["destination"], places]);
}

/** Puts the paths of the smallest parts that differ on the list. */
function difference(a: unknown, b: unknown, path: string, paths: string[]): void {
  if (isAlike(a, b)) return;
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    a.forEach((item, index) => {
      difference(item, b[index], `${path}[${index}]`, paths);
    });
    return;
  }
  if (!isRecord(a) || !isRecord(b)) {
    paths.push(path);
    return;
  }
  const keys = Object.keys(a);
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key)) keys.push(key);
  for (const key of keys.filter((one) => !isAlike(ownKey(a, one), ownKey(b, one))).sort()) {
    const here = /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
    difference(ownKey(a, key), ownKey(b, key), here, paths);
  }
}

/** Most parts of most Applications are: nothing is made to find that out. */
function isAlike(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => isAlike(item, b[index]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isAlike(a[key], b[key]));
}

/** What an Application deploys, where, and under which rules of a project. */
interface NormalSpec {
  project: string;
  /** One item for a single `source`; `sources` wins where both are set. */
  sources: Record<string, unknown>[];
  destination: Record<string, unknown>;
}

/**
 * The part of an Application's spec by which a live one and a rendered one are compared: source(s), destination and
 * project, without what Argo CD leaves out or fills in by itself. `syncPolicy` and the rest do not count.
 */
export function normaliseSpec(spec: unknown): NormalSpec {
  const raw = isRecord(spec) ? spec : {};
  const many = Array.isArray(raw["sources"]) && raw["sources"].length > 0 ? raw["sources"] : [raw["source"]];
  const destination = compact(isRecord(raw["destination"]) ? raw["destination"] : {});
  if (typeof destination["server"] === "string") destination["server"] = destination["server"].replace(/(?<!\/)\/+$/, "");
  const project = raw["project"];
  return {
    project: typeof project === "string" && project !== "" ? project : "default",
    sources: many.filter(isRecord).map(compact),
    destination,
  };
}

/** `normaliseSpec` of an Application object, rendered or live. */
export function sourceOf(application: unknown): NormalSpec {
  return normaliseSpec(isRecord(application) ? application["spec"] : undefined);
}

/** Drops what Go's JSON leaves out when empty, at every level but inside raw Helm values; keys in order. */
function compact(map: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const key of Object.keys(map).sort()) {
    const value = key === "valuesObject" ? map[key] : compacted(map[key]);
    if (value !== undefined) setKey(kept, key, value);
  }
  return kept;
}

function compacted(value: unknown): unknown {
  if (value === null || value === undefined || value === "" || value === false) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => (isRecord(item) ? compact(item) : item));
  if (!isRecord(value)) return value;
  const inner = compact(value);
  return Object.keys(inner).length === 0 ? undefined : inner;
}
