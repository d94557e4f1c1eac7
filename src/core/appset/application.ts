/** Applications out of a set's template: merged with a generator's own, rendered with parameters, then patched. */
import { defined } from "../base/defined.ts";
import { errorText } from "../base/error-text.ts";
import { isRecord } from "../base/is-record.ts";
import { parseYaml } from "../base/yaml-read.ts";
import { failure, ownKey, setKey } from "./problem.ts";
import { type Environment, renderTree } from "./templating.ts";
import type { ParamSet, RenderedApplication } from "./types.ts";

type Fields = Record<string, unknown>;

/** What all Applications of a set have in common. */
export interface Blueprint {
  namespace: string;
  /** Whether Applications get the finalizer that deletes their workloads with them. */
  cascades: boolean;
  patch: string | undefined;
  owner: Fields | undefined;
}

/** One list for all of them; not to be written to. */
const RESOURCES_FINALIZERS = ["resources-finalizer.argocd.argoproj.io"];
const NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
/** Of the template's metadata Argo CD takes these. */
const METADATA = ["name", "labels", "annotations", "finalizers"];

/**
 * One Application. Without parameters the template is used as it is written, and gets no finalizer.
 * @throws RenderFailure
 */
export function renderApplication(
  template: Fields,
  params: ParamSet,
  blueprint: Blueprint,
  environment: Environment,
  where: string,
): RenderedApplication {
  const metadata = pick(isRecord(template["metadata"]) ? template["metadata"] : {});
  const spec = isRecord(template["spec"]) ? template["spec"] : {};
  const unrendered = Object.keys(params).length === 0;
  const rendered = unrendered
    ? structuredClone({ metadata, spec })
    : (renderTree(environment.templating, { metadata, spec }, params, where) as typeof template);
  let result = { metadata: rendered["metadata"] as Fields, spec: rendered["spec"] as Fields };
  const finalizers = result.metadata["finalizers"];
  if (!unrendered && blueprint.cascades && !(Array.isArray(finalizers) && finalizers.length > 0))
    result.metadata["finalizers"] = RESOURCES_FINALIZERS;
  if (blueprint.patch !== undefined) {
    const source = environment.templating.text(blueprint.patch, params, () => "spec.templatePatch");
    result = applyPatch(result, source, "spec.templatePatch");
  }
  return finished(result, blueprint, where);
}

function pick(metadata: Fields): Fields {
  const kept: Fields = {};
  for (const key of METADATA) if (metadata[key] !== undefined && metadata[key] !== null) kept[key] = metadata[key];
  return kept;
}

function finished(
  { metadata, spec }: { metadata: Fields; spec: Fields },
  { namespace, owner }: Blueprint,
  where: string,
): RenderedApplication {
  const { labels, annotations, finalizers } = metadata;
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: defined({
      name: checkedName(metadata["name"], `${where}.metadata.name`),
      namespace,
      labels: isRecord(labels) && Object.keys(labels).length > 0 ? (labels as Record<string, string>) : undefined,
      annotations: isRecord(annotations) && Object.keys(annotations).length > 0 ? (annotations as Record<string, string>) : undefined,
      finalizers: Array.isArray(finalizers) && finalizers.length > 0 ? (finalizers as string[]) : undefined,
      ownerReferences: owner === undefined ? undefined : [owner],
    }),
    spec,
  };
}

function checkedName(given: unknown, where: string): string {
  if (typeof given !== "string" || given === "") throw failure("INVALID_NAME", where, { kind: "NoName" });
  if (given.length > 253 || !NAME.test(given))
    throw failure("INVALID_NAME", where, { kind: /\{\{|<no value>/.test(given) ? "Parameter" : "Characters", given });
  return given;
}

/**
 * A generator's own `template` over the set's: what it leaves empty is filled from the set's, field by field; lists and
 * raw values (`valuesObject`) are taken whole.
 */
export function mergeTemplates(own: unknown, base: Fields): Fields {
  return isRecord(own) ? filled(own, base) : base;
}

function filled(own: Fields, base: Fields): Fields {
  const result: Fields = { ...own };
  for (const [key, theirs] of Object.entries(base)) {
    const mine = ownKey(result, key);
    if (isRecord(mine) && isRecord(theirs) && key !== "valuesObject") setKey(result, key, filled(mine, theirs));
    else if (isEmpty(mine)) setKey(result, key, theirs);
  }
  return result;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === false || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

const SOURCE_TEXTS = ["repoURL", "path", "chart", "targetRevision", "ref"];

/** Fields the API server would refuse for their type, so that a set which cannot exist is not rendered. */
export function checkTemplate(template: Fields, where: string): void {
  const metadata = requireMap(template["metadata"] ?? {}, `${where}.metadata`);
  const spec = requireMap(template["spec"] ?? {}, `${where}.spec`);
  requireTexts(metadata, ["name", "namespace"], `${where}.metadata`);
  for (const key of ["labels", "annotations"]) {
    const map = requireMap(metadata[key] ?? {}, `${where}.metadata.${key}`);
    requireTexts(map, Object.keys(map), `${where}.metadata.${key}`);
  }
  requireTexts(spec, ["project"], `${where}.spec`);
  requireTexts(
    requireMap(spec["destination"] ?? {}, `${where}.spec.destination`),
    ["server", "name", "namespace"],
    `${where}.spec.destination`,
  );
  const sources = spec["sources"] ?? [];
  if (!Array.isArray(sources)) throw failure("INVALID", `${where}.spec.sources`, { kind: "SourcesNoList" });
  for (const [index, source] of sources.entries()) {
    const place = `${where}.spec.sources[${index}]`;
    requireTexts(requireMap(source, place), SOURCE_TEXTS, place);
  }
  requireTexts(requireMap(spec["source"] ?? {}, `${where}.spec.source`), SOURCE_TEXTS, `${where}.spec.source`);
}

function requireMap(given: unknown, where: string): Fields {
  if (!isRecord(given)) throw failure("INVALID", where, { kind: "NoMap", given });
  return given;
}

function requireTexts(map: Fields, keys: readonly string[], where: string): void {
  for (const key of keys) {
    const given = ownKey(map, key);
    if (given === undefined || given === null || typeof given === "string") continue;
    throw failure("INVALID", `${where}.${key}`, { kind: "NoText", given });
  }
}

/**
 * Applies a rendered `templatePatch` as Argo CD does: a strategic merge, where maps merge, null removes, lists are
 * replaced (finalizers are joined), and the project stays what the template says.
 * @throws RenderFailure
 */
function applyPatch(application: { metadata: Fields; spec: Fields }, source: string, where: string): { metadata: Fields; spec: Fields } {
  const merged = mergeMap({ ...application }, parsedPatch(source, where), where, "");
  const metadata = isRecord(merged["metadata"]) ? merged["metadata"] : {};
  const spec = isRecord(merged["spec"]) ? { ...merged["spec"] } : {};
  delete spec["project"];
  if (application.spec["project"] !== undefined) spec["project"] = application.spec["project"];
  return { metadata, spec };
}

function parsedPatch(source: string, where: string): Fields {
  let value: unknown;
  try {
    value = parseYaml(source) ?? {};
  } catch (error) {
    throw failure("TEMPLATE_ERROR", where, { kind: "PatchNotYaml", said: errorText(error) });
  }
  if (!isRecord(value)) throw failure("TEMPLATE_ERROR", where, { kind: "PatchNoMap" });
  return value;
}

function mergeMap(original: Fields, patch: Fields, where: string, path: string): Fields {
  const directive = patch["$patch"];
  if (directive === "replace") return withoutDirectives(patch);
  if (directive === "delete") return {};
  if (directive !== undefined && directive !== "merge") throw unsupported(`$patch: ${JSON.stringify(directive)}`, where);
  const result: Fields = { ...original };
  for (const [key, value] of Object.entries(patch)) {
    if (key === "$patch") continue;
    if (key.startsWith("$")) throw unsupported(key, where);
    const here = path === "" ? key : `${path}.${key}`;
    if (value === null) delete result[key];
    else setKey(result, key, mergeValue(ownKey(result, key), value, where, here));
  }
  return result;
}

function mergeValue(mine: unknown, theirs: unknown, where: string, path: string): unknown {
  if (isRecord(theirs)) {
    if (!isRecord(mine)) return withoutDirectives(theirs);
    if (/(^|\.)valuesObject$/.test(path)) return mergeRaw(mine, theirs, where, path);
    return mergeMap(mine, theirs, where, path);
  }
  if (Array.isArray(theirs) && path === "metadata.finalizers") return [...new Set([...(Array.isArray(mine) ? mine : []), ...theirs])];
  return Array.isArray(theirs) ? theirs.map((item) => (isRecord(item) ? withoutDirectives(item) : item)) : theirs;
}

/** Of `valuesObject` Kubernetes knows no schema: it replaces plain values and stumbles over maps and lists both sides have. */
function mergeRaw(mine: Fields, theirs: Fields, where: string, path: string): Fields {
  for (const [key, value] of Object.entries(theirs)) {
    const old = ownKey(mine, key);
    if ((isRecord(old) && isRecord(value)) || (Array.isArray(old) && Array.isArray(value)))
      throw failure("UNSUPPORTED_PATCH", where, { kind: "Raw", field: `${path}.${key}` });
  }
  return mergeMap(mine, theirs, where, path);
}

/** What the patch brings new: nulls in it mean nothing there. */
function withoutDirectives(map: Fields): Fields {
  const result: Fields = {};
  for (const [key, value] of Object.entries(map)) {
    if (key.startsWith("$patch") || value === null) continue;
    setKey(result, key, isRecord(value) ? withoutDirectives(value) : value);
  }
  return result;
}

function unsupported(directive: string, where: string): Error {
  return failure("UNSUPPORTED_PATCH", where, { kind: "Directive", directive });
}
