import { isRecord } from "../base/is-record.ts";
import { parseYaml } from "../base/yaml-read.ts";
import { failure, setKey } from "./problem.ts";
import type { RenderedApplication } from "./types.ts";

type Map = Record<string, unknown>;

/**
 * Applies a rendered `templatePatch` as Argo CD does: a strategic merge, where maps merge, null removes, lists are
 * replaced (finalizers are joined), and the project stays what the template says.
 * @throws RenderFailure
 */
export function applyPatch(
  application: Omit<RenderedApplication, "apiVersion" | "kind">,
  source: string,
  where: string,
): { metadata: Map; spec: Map } {
  const patch = parsed(source, where);
  const before: Map = { metadata: application.metadata, spec: application.spec };
  const merged = mergeMap(before, patch ?? {}, where, "");
  const metadata = isRecord(merged["metadata"]) ? merged["metadata"] : {};
  const spec = isRecord(merged["spec"]) ? { ...merged["spec"] } : {};
  delete spec["project"];
  if (application.spec["project"] !== undefined) spec["project"] = application.spec["project"];
  return { metadata, spec };
}

function parsed(source: string, where: string): Map | undefined {
  let value: unknown;
  try {
    value = parseYaml(source);
  } catch (error) {
    throw failure(
      "TEMPLATE_ERROR",
      where,
      `the rendered patch is not YAML: ${error instanceof Error ? error.message : "unknown reason"}`,
      "check its indentation, and what the template yields",
    );
  }
  if (value === null || value === undefined) return undefined;
  if (!isRecord(value))
    throw failure("TEMPLATE_ERROR", where, "the rendered patch is no map", "it patches an Application: begin with spec: or metadata:");
  return value;
}

function mergeMap(original: Map, patch: Map, where: string, path: string): Map {
  const directive = patch["$patch"];
  if (directive === "replace") return withoutDirectives(patch);
  if (directive === "delete") return {};
  if (directive !== undefined && directive !== "merge") throw unsupported(`$patch: ${JSON.stringify(directive)}`, where);
  const result: Map = { ...original };
  for (const [key, value] of Object.entries(patch)) {
    if (key === "$patch") continue;
    if (key.startsWith("$")) throw unsupported(key, where);
    const here = path === "" ? key : `${path}.${key}`;
    if (value === null) delete result[key];
    else setKey(result, key, mergeValue(Object.hasOwn(result, key) ? result[key] : undefined, value, where, here));
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
function mergeRaw(mine: Map, theirs: Map, where: string, path: string): Map {
  for (const [key, value] of Object.entries(theirs)) {
    const old = Object.hasOwn(mine, key) ? mine[key] : undefined;
    if ((isRecord(old) && isRecord(value)) || (Array.isArray(old) && Array.isArray(value))) {
      throw failure(
        "UNSUPPORTED_PATCH",
        where,
        `the patch and the template both set ${path}.${key}, which versions of Argo CD refuse to merge`,
        "set all of valuesObject in the template or all of it in the patch",
      );
    }
  }
  return mergeMap(mine, theirs, where, path);
}

/** What the patch brings new: nulls in it mean nothing there. */
function withoutDirectives(map: Map): Map {
  const result: Map = {};
  for (const [key, value] of Object.entries(map)) {
    if (key.startsWith("$patch") || value === null) continue;
    setKey(result, key, isRecord(value) ? withoutDirectives(value) : value);
  }
  return result;
}

function unsupported(what: string, where: string): Error {
  return failure("UNSUPPORTED_PATCH", where, `the patch directive ${what} is not supported`, "write the patch as plain fields");
}
