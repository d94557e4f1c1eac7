/**
 * Sprig's functions of lists and dicts, and those that ask any value for its kind or whether it is empty. Go gives the keys of a map in no
 * order; sorted is one of them.
 */
import { type FunctionTable, fn, withMust } from "./functions.ts";
import { toInt } from "./sprig-math.ts";
import {
  deepEqual,
  entry,
  fails,
  formatValue,
  GoInt,
  type GoMap,
  type GoValue,
  isMap,
  isNothing,
  isStringMap,
  itemType,
  setEntry,
  sortedKeys,
  truth,
  typedList,
  typeName,
} from "./value.ts";

const LONGEST = 100_000;

/**
 * Dicts a template made itself. Changing one in place is fine; changing a parameter would change what later fields of the
 * same Application see, in an order nobody promises.
 */
const OWNED = new WeakSet<GoMap>();

function own(map: GoMap): GoMap {
  OWNED.add(map);
  return map;
}

function owned(fn: string, map: GoMap | null): GoMap {
  if (map === null && fn !== "set") return own({});
  if (map === null) throw fails("GO_NIL_MAP", { fn });
  if (!OWNED.has(map)) throw fails("LACKS_CHANGE", { fn });
  return map;
}

function dict(...args: GoValue[]): GoMap {
  const map: GoMap = {};
  for (let index = 0; index < args.length; index += 2)
    setEntry(map, formatValue(args[index]), index + 1 < args.length ? args[index + 1] : "");
  return own(map);
}

function pick(map: GoMap | null, isWanted: (key: string) => boolean): GoMap {
  return own(Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => isWanted(key))));
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

function merging(name: string, override: boolean) {
  return fn("map map...", (into, ...sources) => {
    const target = owned(name, into);
    for (const source of sources) mergeInto(target, source ?? {}, override);
    return target;
  });
}

function dig(...args: GoValue[]): GoValue {
  if (args.length < 3) throw fails("GO_DIG", { wrong: "count" });
  let value: GoValue = args.at(-1);
  for (const key of args.slice(0, -2)) {
    if (!isMap(value) || isStringMap(value)) throw fails("GO_DIG", { wrong: "map", type: typeName(value) });
    if (typeof key !== "string") throw fails("GO_DIG", { wrong: "keys" });
    if (!Object.hasOwn(value, key)) return args.at(-2);
    value = entry(value, key);
  }
  return value;
}

function slice(items: GoValue[], ...bounds: GoValue[]): GoValue {
  if (items.length === 0) return null;
  const [from = 0, to = items.length] = bounds.map(toInt);
  if (from < 0 || to > items.length || from > to) throw fails("GO_BOUNDS", { fn: "slice", from, to, length: items.length });
  const type = itemType(items);
  const part = items.slice(from, to);
  return type === undefined ? part : typedList(part, type);
}

function isIn(items: readonly GoValue[], value: GoValue): boolean {
  return items.some((item) => deepEqual(item, value));
}

function has(value: GoValue, items: GoValue): boolean {
  if (isNothing(items)) return false;
  if (!Array.isArray(items)) throw fails("GO_NO_LIST", { fn: "has", given: typeName(items) });
  return isIn(items, value);
}

/** Equal for what is deeply equal, and for nothing else but versions, which are told apart by what they print. */
function sameAs(value: GoValue): string {
  if (Array.isArray(value)) return `${itemType(value)}[${value.map(sameAs).join(",")}]`;
  if (!isMap(value)) return `${isNothing(value) ? "nil" : typeName(value)}:${JSON.stringify(formatValue(value))}`;
  const pairs = sortedKeys(value).map((key) => `${JSON.stringify(key)}:${sameAs(value[key])}`);
  return `${isStringMap(value)}{${pairs.join(",")}}`;
}

function uniq(items: readonly GoValue[]): GoValue[] {
  const seen = new Set<string>();
  return items.filter((item) => seen.size < seen.add(sameAs(item)).size);
}

function chunk(size: number, items: readonly GoValue[]): GoValue[] {
  if (size < 1) throw fails("LACKS_CHUNK");
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
}

function steps(start: number, stop: number, step: number): GoValue[] {
  const count = step === 0 || stop < start === step > 0 ? 0 : Math.ceil((stop - start) / step);
  if (count > LONGEST) throw fails("LACKS_LONG_LIST", { count });
  return typedList(
    Array.from({ length: count }, (_, index) => new GoInt(start + index * step)),
    "int",
  );
}

function kindOf(value: GoValue): string {
  if (isNothing(value)) return "invalid";
  if (Array.isArray(value)) return "slice";
  if (isMap(value)) return "map";
  return typeof value === "object" && !(value instanceof GoInt) ? "ptr" : typeName(value);
}

const append = fn("list any", (items, value) => [...items, value]);
const list = fn("any...", (...values) => values);

export const COLLECTION_FUNCTIONS: FunctionTable = {
  ...withMust({
    append,
    push: append,
    prepend: fn("list any", (items, value) => [value, ...items]),
    first: fn("list", (items) => items[0] ?? null),
    last: fn("list", (items) => items.at(-1) ?? null),
    rest: fn("list", (items) => items.slice(1)),
    initial: fn("list", (items) => items.slice(0, -1)),
    reverse: fn("list", (items) => items.toReversed()),
    uniq: fn("list", uniq),
    compact: fn("list", (items) => items.filter(truth)),
    without: fn("list any...", (items, ...omitted) => items.filter((item) => !isIn(omitted, item))),
    has: fn("any any", has),
    slice: fn("list any...", slice),
    chunk: fn("int list", chunk),
  }),
  list,
  tuple: list,
  concat: fn("list...", (...lists) => lists.flat()),
  until: fn("int", (count) => steps(0, count, count < 0 ? -1 : 1)),
  untilStep: fn("int int int", steps),
  all: fn("any...", (...values) => values.every(truth)),
  any: fn("any...", (...values) => values.some(truth)),
  coalesce: fn("any...", (...values) => values.find(truth) ?? null),
  default: fn("any any...", (fallback, given) => (truth(given) ? given : fallback)),
  empty: fn("any", (value) => !truth(value)),
  ternary: fn("any any bool", (yes, no, test) => (test ? yes : no)),
  fail: fn("string", (said) => {
    throw fails("GO_CALL", { fn: "fail", said });
  }),
  deepEqual: fn("any any", deepEqual),
  kindOf: fn("any", kindOf),
  kindIs: fn("string any", (kind, value) => kindOf(value) === kind),
  dict: fn("any...", dict),
  get: fn("map string", (map, key) => (map !== null && Object.hasOwn(map, key) ? map[key] : "")),
  hasKey: fn("map string", (map, key) => map !== null && Object.hasOwn(map, key)),
  set: fn("map string any", (map, key, value) => {
    setEntry(owned("set", map), key, value);
    return map;
  }),
  unset: fn("map string", (map, key) => {
    const changed = owned("unset", map);
    delete changed[key];
    return changed;
  }),
  keys: fn("map...", (...maps) =>
    typedList(
      maps.flatMap((map) => sortedKeys(map ?? {})),
      "string",
    ),
  ),
  values: fn("map", (map) => sortedKeys(map ?? {}).map((key) => map?.[key])),
  pluck: fn("string map...", (key, ...maps) => maps.flatMap((map) => (map !== null && Object.hasOwn(map, key) ? [map[key]] : []))),
  pick: fn("map string...", (map, ...keys) => pick(map, (key) => keys.includes(key))),
  omit: fn("map string...", (map, ...keys) => pick(map, (key) => !keys.includes(key))),
  merge: merging("merge", false),
  mustMerge: merging("mustMerge", false),
  mergeOverwrite: merging("mergeOverwrite", true),
  mustMergeOverwrite: merging("mustMergeOverwrite", true),
  dig: fn("string any...", dig),
};
