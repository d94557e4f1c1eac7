import { isRecord } from "../../../core/base/is-record.ts";

/** An entry of an ApplicationSet's `ignoreApplicationDifferences`: fields of live Applications that it leaves as they are. */
export interface IgnoredDifference {
  /** Only of this Application. */
  name?: string;
  /** `/spec/syncPolicy`. */
  jsonPointers?: readonly string[];
  /** Only plain paths (`.spec.syncPolicy`) are understood. */
  jqPathExpressions?: readonly string[];
}

type Json = Record<string, unknown>;

/** The paths below `spec` that an entry names. */
export function ignoredPaths({ jsonPointers = [], jqPathExpressions = [] }: IgnoredDifference): string[][] {
  const pointers = jsonPointers.map((pointer) =>
    pointer
      .split("/")
      .slice(1)
      .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~")),
  );
  const plain = jqPathExpressions.filter((path) => /^(\.\w+)+$/.test(path)).map((path) => path.slice(1).split("."));
  return [...pointers, ...plain].filter(([root, ...rest]) => root === "spec" && rest.length > 0).map(([, ...rest]) => rest);
}

/** `wanted` with the value that `live` has at a path; without one where `live` has none. Lists are left alone. */
export function keepLive(wanted: unknown, live: unknown, [key = "", ...rest]: readonly string[]): unknown {
  if (!isRecord(wanted)) return wanted;
  const theirs = isRecord(live) ? live[key] : undefined;
  const next: Json = { ...wanted };
  const value = rest.length === 0 ? theirs : keepLive(next[key] ?? (isRecord(theirs) ? {} : undefined), theirs, rest);
  if (value === undefined) delete next[key];
  else next[key] = value;
  return next;
}
