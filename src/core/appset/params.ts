import { isRecord } from "../base/is-record.ts";
import { baseName, normaliseName } from "../gotemplate/sprig-names.ts";
import { formatValue, type GoMap, type GoValue, isMap, isStringMap, stringMap, typedList } from "../gotemplate/value.ts";
import { failure, setKey } from "./problem.ts";
import type { Templating } from "./templating.ts";
import type { ParamSet } from "./types.ts";

/** Nested data as flat dotted keys (`a.b`, list items `a.0`), every value as Go prints it; empty maps and lists vanish. */
export function flatten(data: unknown): Record<string, string> {
  const flat: Record<string, string> = {};
  flattenInto(flat, data, "");
  return flat;
}

function flattenInto(flat: Record<string, string>, data: unknown, prefix: string): void {
  if (!Array.isArray(data) && !isMap(data)) {
    setKey(flat, prefix, formatValue(data as GoValue));
    return;
  }
  for (const [key, value] of Object.entries(data)) flattenInto(flat, value, prefix === "" ? key : `${prefix}.${key}`);
}

/** A generator's `values`, rendered with its own parameters: they cannot refer to each other. */
export function addValues(params: ParamSet, values: unknown, templating: Templating, where: string): void {
  if (!isRecord(values)) return;
  const rendered: Record<string, string> = {};
  for (const [key, value] of Object.entries(values)) {
    const place = `${where}.values.${key}`;
    if (typeof value !== "string") throw failure("INVALID", place, { kind: "ValueNoText", given: value });
    setKey(
      rendered,
      key,
      templating.text(value, params, () => place),
    );
  }
  if (Object.keys(rendered).length === 0) return;
  if (templating.go) params["values"] = stringMap(rendered);
  else for (const [key, value] of Object.entries(rendered)) params[`values.${key}`] = value;
}

/** Parameters of a directory (`path`) or of a file (its directory's, and `filename`). */
export function pathParams(params: ParamSet, path: { directory: string; filename?: string }, prefix: string, go: boolean): void {
  const name = baseName(path.directory);
  const segments = typedList(path.directory.split("/"), "string");
  const filename = path.filename === undefined ? undefined : { filename: path.filename, filenameNormalized: normaliseName(path.filename) };
  if (go) {
    const nested = { path: path.directory, basename: name, basenameNormalized: normaliseName(name), segments, ...filename };
    if (prefix === "") params["path"] = nested;
    else setKey(params, prefix, { path: nested });
    return;
  }
  const key = prefix === "" ? "path" : `${prefix}.path`;
  params[key] = path.directory;
  params[`${key}.basename`] = name;
  params[`${key}.basenameNormalized`] = normaliseName(name);
  for (const [extra, value] of Object.entries(filename ?? {})) params[`${key}.${extra}`] = value;
  segments.forEach((segment, index) => {
    if (segment !== "") params[`${key}[${index}]`] = segment;
  });
}

/** Every value as Go prints it: what the default mode does to parameters it combines. */
export function asTexts(params: ParamSet): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(params)) setKey(texts, key, typeof value === "string" ? value : formatValue(value as GoValue));
  return texts;
}

/** Deep merge of maps where `over` wins; lists and everything else are taken whole. Neither input is changed. */
export function mergeParams(base: ParamSet, over: ParamSet, where: string): ParamSet {
  const merged = copyMap(base);
  for (const [key, theirs] of Object.entries(over)) {
    const mine = Object.hasOwn(merged, key) ? merged[key] : undefined;
    const both = isMap(mine) && isMap(theirs);
    if (both && isStringMap(mine as GoMap) !== isStringMap(theirs as GoMap)) throw failure("PARAM_ERROR", where, { kind: "TwoMaps", key });
    setKey(merged, key, both ? mergeParams(mine as ParamSet, theirs as ParamSet, where) : theirs);
  }
  return merged;
}

function copyMap(map: ParamSet): ParamSet {
  return isStringMap(map as GoMap) ? (stringMap(map as Record<string, string>) as ParamSet) : { ...map };
}
