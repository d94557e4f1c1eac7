import { compareText } from "../base/compare-text.ts";
import { isRecord } from "../base/is-record.ts";
import type { RenderedApplication, RenderResult } from "./types.ts";

/** What becomes of a set's Applications from one rendering to another. Compare only results that are `ok`. */
export interface RenderDifference {
  /** Names that go: Argo CD would delete these Applications, and with the finalizer their workloads. Renamed ones too. */
  removed: string[];
  /** Names that come, renamed ones too. */
  added: string[];
  /** Pairs of a name that goes and one that comes for the same project, destination and sources (revisions aside). */
  renamed: { from: string; to: string }[];
  /** Applications that stay and whose spec differs, with the paths of what differs (`spec.source.targetRevision`). */
  changed: { name: string; paths: string[] }[];
  /** How many stay as they are. */
  same: number;
}

/** Compares by name, and then spec by spec; labels and annotations do not count. In the order of names. */
export function compareRenders(before: RenderResult, after: RenderResult): RenderDifference {
  const old = new Map(before.applications.map((application) => [application.metadata.name, application]));
  const fresh = new Map(after.applications.map((application) => [application.metadata.name, application]));
  const removed = [...old.keys()].filter((name) => !fresh.has(name)).sort();
  const added = [...fresh.keys()].filter((name) => !old.has(name)).sort();
  const changed: { name: string; paths: string[] }[] = [];
  let same = 0;
  for (const [name, application] of [...old].sort(([a], [b]) => compareText(a, b))) {
    const next = fresh.get(name);
    if (next === undefined) continue;
    const paths: string[] = [];
    difference(application.spec, next.spec, "spec", paths);
    if (paths.length > 0) changed.push({ name, paths });
    else same++;
  }
  return { removed, added, renamed: pairs(removed, added, old, fresh), changed, same };
}

function pairs(
  removed: readonly string[],
  added: readonly string[],
  old: ReadonlyMap<string, RenderedApplication>,
  fresh: ReadonlyMap<string, RenderedApplication>,
) {
  const byIdentity = new Map<string, string[]>();
  for (const name of added) {
    const key = identity(fresh.get(name));
    byIdentity.set(key, [...(byIdentity.get(key) ?? []), name]);
  }
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
  if (a === b) return;
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
  for (const key of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()) {
    const here = /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
    difference(Object.hasOwn(a, key) ? a[key] : undefined, Object.hasOwn(b, key) ? b[key] : undefined, here, paths);
  }
}
