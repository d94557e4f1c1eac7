import { defined } from "../../base/defined.ts";
import type { ApplicationView, DestinationView, SourceView } from "../views.ts";
import { child, type Fields, fields, isWord, list, MOST_LISTED, own, word } from "./lenient.ts";
import { sharedSources, sharedText } from "./shared.ts";

const NAMED = ["repoURL", "path", "chart", "targetRevision", "ref"] as const;

/**
 * One source. What is not named in SourceView, or is and cannot be read, goes to `rest` as it is, since that is compared as a
 * whole: two that are too long, or no text, are only the same if they are.
 */
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
    if (key === "__proto__" || ((NAMED as readonly string[]).includes(key) && isAbsentOrWord(object[key]))) continue;
    if (isZeroBlock(key, object[key])) continue;
    rest ??= {};
    rest[key] = object[key];
  }
  return rest;
}

/** Blocks that Argo CD takes out of a source where they say nothing, with the fields that it does not look at then. */
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  helm: [],
  kustomize: ["forceCommonLabels", "forceCommonAnnotations", "commonAnnotationsEnvsubst", "labelWithoutSelector", "labelIncludeTemplates"],
  directory: [],
};

/**
 * Whether Argo CD takes this block out of a source: `directory: { recurse: false }`, `kustomize: { images: [] }`, `helm: {}`. The
 * ApplicationSet controller does before it writes an Application, so what is rendered has it and what lives has not.
 */
export function isZeroBlock(key: string, block: unknown): boolean {
  const skipped = Object.hasOwn(BLOCKS, key) ? BLOCKS[key] : undefined;
  if (skipped === undefined || block === null || typeof block !== "object" || Array.isArray(block)) return false;
  return Object.entries(block).every(([field, value]) => {
    if (field === "valuesObject") return value === null;
    return skipped.includes(field) || isZeroField(value) || (field === "jsonnet" && Object.values(fields(value)).every(isZeroField));
  });
}

function isZeroField(value: unknown): boolean {
  if (value === null || value === undefined || value === "" || value === false || value === 0) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function isAbsentOrWord(value: unknown): boolean {
  return value == null || value === "" || isWord(value);
}

/**
 * The sources of a spec (or of `status.sync.comparedTo`, or of an operation): a hydrator's sync source wins, then
 * `sources`, then `source`, as in Argo CD. One more than may be are kept, so that too many are never the same as just enough.
 */
export function decodeSources(raw: unknown): { sources: SourceView[]; multiSource: boolean } {
  const spec = fields(raw);
  const hydrator = own(spec, "sourceHydrator");
  if (typeof hydrator === "object" && hydrator !== null) return { sources: [hydratedSource(fields(hydrator))], multiSource: false };
  const several = list(spec, "sources");
  if (several.length > 0) return { sources: several.slice(0, MOST_LISTED + 1).map(decodeSource), multiSource: true };
  const single = own(spec, "source");
  return { sources: typeof single === "object" && single !== null ? [decodeSource(single)] : [], multiSource: false };
}

/** What people commit to, of a `sourceHydrator`; undefined where there is none. */
export function drySourceOf(sourceHydrator: unknown): SourceView | undefined {
  if (typeof sourceHydrator !== "object" || sourceHydrator === null) return undefined;
  return decodeSource(own(fields(sourceHydrator), "drySource"));
}

/** The sources whose repositories people commit to: those of the spec, and of a hydrated one the dry source in place of the synced one. */
export function committedSources(spec: { sources: SourceView[]; sourceHydrator?: unknown }): SourceView[] {
  const dry = drySourceOf(spec.sourceHydrator);
  return dry === undefined ? spec.sources : [dry];
}

/** What Argo CD syncs of a hydrated Application: the branch and path that hydration writes to, in the dry source's repo. */
export function hydratedSource(hydrator: Fields): SourceView {
  const sync = child(hydrator, "syncSource");
  const repoURL = word(sync, "repoURL") ?? word(child(hydrator, "drySource"), "repoURL") ?? "";
  return defined({ repoURL, path: word(sync, "path"), targetRevision: word(sync, "targetBranch") });
}

/** The part of a spec, live or as Git gives it, that says what is deployed where. */
export type IntendedSpec = Pick<ApplicationView["spec"], "sources" | "destination" | "project" | "ignoreDifferences" | "sourceHydrator">;

export function intendedOf(raw: unknown): IntendedSpec {
  const spec = fields(raw);
  return defined({
    project: sharedText(word(spec, "project") ?? ""),
    sources: sharedSources(decodeSources(spec).sources),
    destination: decodeDestination(own(spec, "destination")),
    ignoreDifferences: own(spec, "ignoreDifferences") ?? undefined,
    sourceHydrator: own(spec, "sourceHydrator") ?? undefined,
  });
}

export function decodeDestination(raw: unknown): DestinationView {
  const object = fields(raw);
  return defined({ server: word(object, "server"), name: word(object, "name"), namespace: word(object, "namespace") });
}
