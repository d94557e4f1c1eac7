import { child, type Fields, fields, list, own, word } from "./lenient.ts";
import type { DestinationView, SourceView } from "./port.ts";

const NAMED = ["repoURL", "path", "chart", "targetRevision", "ref"] as const;
/** A position in `sources`, which Argo CD has no use for past a few dozen. */
const MAX_SOURCES = 100;

/** One source. What is not named in SourceView goes to `rest` as it is, since it is compared as a whole. */
export function decodeSource(raw: unknown): SourceView {
  const object = fields(raw);
  const source: SourceView = { repoURL: word(object, "repoURL") ?? "" };
  for (const key of NAMED.slice(1)) {
    const value = word(object, key);
    if (value !== undefined) source[key] = value;
  }
  const rest = restOf(object);
  if (rest !== undefined) source.rest = rest;
  return source;
}

function restOf(object: Fields): Fields | undefined {
  let rest: Fields | undefined;
  for (const key of Object.keys(object)) {
    if ((NAMED as readonly string[]).includes(key) || key === "__proto__") continue;
    rest ??= {};
    rest[key] = object[key];
  }
  return rest;
}

/**
 * The sources of a spec (or of `status.sync.comparedTo`, or of an operation): a hydrator's sync source wins, then
 * `sources`, then `source`, as in Argo CD.
 */
export function decodeSources(raw: unknown): { sources: SourceView[]; multiSource: boolean } {
  const spec = fields(raw);
  const hydrator = own(spec, "sourceHydrator");
  if (typeof hydrator === "object" && hydrator !== null) return { sources: [hydratedSource(fields(hydrator))], multiSource: false };
  const several = list(spec, "sources");
  if (several.length > 0) return { sources: several.slice(0, MAX_SOURCES).map(decodeSource), multiSource: true };
  const single = own(spec, "source");
  return { sources: typeof single === "object" && single !== null ? [decodeSource(single)] : [], multiSource: false };
}

/** What Argo CD syncs of a hydrated Application: the branch and path that hydration writes to, in the dry source's repo. */
function hydratedSource(hydrator: Fields): SourceView {
  const sync = child(hydrator, "syncSource");
  const source: SourceView = { repoURL: word(sync, "repoURL") ?? word(child(hydrator, "drySource"), "repoURL") ?? "" };
  const path = word(sync, "path");
  const branch = word(sync, "targetBranch");
  if (path !== undefined) source.path = path;
  if (branch !== undefined) source.targetRevision = branch;
  return source;
}

export function decodeDestination(raw: unknown): DestinationView {
  const object = fields(raw);
  const destination: DestinationView = {};
  for (const key of ["server", "name", "namespace"] as const) {
    const value = word(object, key);
    if (value !== undefined) destination[key] = value;
  }
  return destination;
}
