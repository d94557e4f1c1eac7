import { ApiError } from "./api-error.ts";
import type { KubeObject } from "./types.ts";

/** What the CRDs require and the controllers take for granted: the paths of objects and lists. Everything else is let in as it is. */
const REQUIRED: Record<string, readonly (readonly [path: string, list: boolean])[]> = {
  Application: [
    ["spec", false],
    ["spec.destination", false],
  ],
  ApplicationSet: [
    ["spec", false],
    ["spec.generators", true],
    ["spec.template", false],
  ],
  AppProject: [["spec", false]],
};

function at(object: KubeObject, path: string): unknown {
  let value: unknown = object;
  for (const key of path.split("."))
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return value;
}

/** Throws 422 in the API server's words where a field is missing or of another kind. */
export function checkRequired(object: KubeObject): void {
  for (const [path, list] of REQUIRED[object.kind] ?? []) {
    const value = at(object, path);
    const fits = list ? Array.isArray(value) : typeof value === "object" && value !== null && !Array.isArray(value);
    if (fits) continue;
    const why = value === undefined || value === null ? "Required value" : `Invalid value: must be of type ${list ? "array" : "object"}`;
    throw new ApiError(422, "Invalid", `${object.kind}.argoproj.io "${object.metadata.name}" is invalid: ${path}: ${why}`, {
      name: object.metadata.name,
    });
  }
}
