import { isRecord } from "../../core/base/is-record.ts";

/** Under these keys stand parameters: there an absent one and an empty one are not the same. */
const EXACT_BELOW = new Set(["elements", "values", "valuesObject"]);

/** Changes which labels and annotations an Application keeps, never which Applications there are or what they deploy. */
const WITHOUT_EFFECT = new Set(["spec.preservedFields"]);

/**
 * Where the spec in the cluster is not the one in Git, as a path; undefined: nowhere. A field that only one of them has
 * counts, unless it is empty: the API server and older clients write empty fields out.
 */
export function specDifference(live: unknown, git: unknown, path = "spec", exact = false): string | undefined {
  if (live === git || WITHOUT_EFFECT.has(path)) return undefined;
  if (Array.isArray(live) && Array.isArray(git)) {
    if (live.length !== git.length) return path;
    for (const [index, item] of live.entries()) {
      const found = specDifference(item, git[index], `${path}[${index}]`, exact);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isRecord(live) && isRecord(git)) {
    for (const key of new Set([...Object.keys(git), ...Object.keys(live)])) {
      const found = specDifference(live[key], git[key], `${path}.${key}`, exact || EXACT_BELOW.has(key));
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return isEmpty(live, exact) && isEmpty(git, exact) && (isAbsent(live) || isAbsent(git)) ? undefined : path;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isEmpty(value: unknown, exact: boolean): boolean {
  if (isAbsent(value)) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (isRecord(value)) return Object.values(value).every((part) => isEmpty(part, exact));
  return !exact && (value === "" || value === false || value === 0);
}
