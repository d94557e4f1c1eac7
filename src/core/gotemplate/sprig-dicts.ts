import { type FunctionTable, fn, text } from "./functions.ts";
import { texts } from "./sprig-text.ts";
import {
  entry,
  formatValue,
  type GoMap,
  type GoValue,
  isMap,
  isStringMap,
  setEntry,
  sortedKeys,
  TemplateError,
  truth,
  typedList,
  typeName,
  UnsupportedError,
} from "./value.ts";

/**
 * Dicts a template made itself. Changing one in place is fine; changing a parameter would change what later fields of the
 * same Application see, in an order nobody promises.
 */
const OWNED = new WeakSet<GoMap>();

function own(map: GoMap): GoMap {
  OWNED.add(map);
  return map;
}

function owned(value: GoValue, name: string): GoMap {
  if (value === null && name !== "set") return own({});
  if (!isMap(value)) throw new TemplateError(`error calling ${name}: assignment to entry in nil map`);
  if (!OWNED.has(value))
    throw new UnsupportedError(
      name,
      `${name} on a parameter is not supported: it would change what other fields see; use it on a dict, or merge into one first`,
    );
  return value;
}

function dict(args: GoValue[]): GoMap {
  const map: GoMap = {};
  for (let index = 0; index < args.length; index += 2)
    setEntry(map, formatValue(args[index]), index + 1 < args.length ? args[index + 1] : "");
  return own(map);
}

function maps(args: readonly GoValue[]): GoMap[] {
  return args.filter((value) => isMap(value));
}

function pick(map: GoMap, wanted: readonly string[]): GoMap {
  const result: GoMap = {};
  for (const key of wanted) if (Object.hasOwn(map, key)) setEntry(result, key, entry(map, key));
  return own(result);
}

/** Fills (or, overriding, replaces) what `from` has, map by map; lists and scalars are taken whole. Sources stay as they are. */
function mergeInto(into: GoMap, from: GoMap, override: boolean): void {
  for (const key of Object.keys(from)) {
    const mine = entry(into, key);
    const theirs = entry(from, key);
    if (isMap(mine) && isMap(theirs)) {
      const copy: GoMap = { ...mine };
      mergeInto(copy, theirs, override);
      setEntry(into, key, copy);
    } else if (override ? theirs !== null || truth(mine) : !truth(mine)) {
      setEntry(into, key, theirs);
    }
  }
}

function merge(args: GoValue[], name: string, override: boolean): GoMap {
  const target = owned(args[0], name);
  for (const source of maps(args.slice(1))) mergeInto(target, source, override);
  return target;
}

function dig(args: GoValue[]): GoValue {
  if (args.length < 3) throw new TemplateError("error calling dig: dig needs at least three arguments");
  let value: GoValue = args.at(-1);
  for (const key of args.slice(0, -2)) {
    if (!isMap(value) || isStringMap(value))
      throw new TemplateError(`error calling dig: interface conversion: ${typeName(value)}, not map[string]interface {}`);
    if (typeof key !== "string") throw new TemplateError("error calling dig: keys must be text");
    if (!Object.hasOwn(value, key)) return args.at(-2);
    value = entry(value, key);
  }
  return value;
}

function get(map: GoValue, key: string): GoValue {
  return isMap(map) ? (Object.hasOwn(map, key) ? entry(map, key) : "") : "";
}

export const DICT_FUNCTIONS: FunctionTable = {
  dict: fn("", dict, "any"),
  get: fn("map string", (a) => get(a[0], text(a, 1))),
  hasKey: fn("map string", (a) => isMap(a[0]) && Object.hasOwn(a[0], text(a, 1))),
  set: fn("map string any", (a) => {
    const map = owned(a[0], "set");
    setEntry(map, text(a, 1), a[2]);
    return map;
  }),
  unset: fn("map string", (a) => {
    const map = owned(a[0], "unset");
    delete map[text(a, 1)];
    return map;
  }),
  // Go gives keys in no order; sorted is one of them.
  keys: fn("", (a) => typedList(maps(a).flatMap(sortedKeys), "string"), "map"),
  values: fn("map", ([map]) => (isMap(map) ? sortedKeys(map).map((key) => entry(map, key)) : [])),
  pluck: fn(
    "string",
    ([key, ...dicts]) =>
      maps(dicts)
        .filter((map) => Object.hasOwn(map, String(key)))
        .map((map) => entry(map, String(key))),
    "map",
  ),
  pick: fn("map", ([map, ...keys]) => (isMap(map) ? pick(map, texts(keys)) : own({})), "string"),
  omit: fn(
    "map",
    ([map, ...keys]) => {
      const dropped = new Set(texts(keys));
      return isMap(map)
        ? pick(
            map,
            Object.keys(map).filter((key) => !dropped.has(key)),
          )
        : own({});
    },
    "string",
  ),
  merge: fn("map", (args) => merge(args, "merge", false), "map"),
  mustMerge: fn("map", (args) => merge(args, "mustMerge", false), "map"),
  mergeOverwrite: fn("map", (args) => merge(args, "mergeOverwrite", true), "map"),
  mustMergeOverwrite: fn("map", (args) => merge(args, "mustMergeOverwrite", true), "map"),
  dig: fn("string", dig, "any"),
};
