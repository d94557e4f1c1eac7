import { deepEqual } from "./equal.ts";
import { type FunctionTable, fn, type GoFunction, list } from "./functions.ts";
import { toInt } from "./sprig-math.ts";
import { GoInt, type GoValue, isMap, itemType, TemplateError, truth, typedList, UnsupportedError } from "./value.ts";

const LONGEST = 1_000_000;

function slice(args: GoValue[]): GoValue {
  const items = list(args[0], "slice");
  if (items.length === 0) return null;
  const type = itemType(items);
  const start = args.length > 1 ? toInt(args[1]) : 0;
  const end = args.length > 2 ? toInt(args[2]) : items.length;
  if (start < 0 || end > items.length || start > end)
    throw new TemplateError(`error calling slice: slice index out of bounds [${start}:${end}] of ${items.length}`);
  const part = items.slice(start, end);
  return type === undefined ? part : typedList(part, type);
}

function uniq(items: readonly GoValue[]): GoValue[] {
  const kept: GoValue[] = [];
  for (const item of items) if (!kept.some((other) => deepEqual(other, item))) kept.push(item);
  return kept;
}

function has(needle: GoValue, haystack: GoValue): boolean {
  if (haystack === null || haystack === undefined) return false;
  return list(haystack, "has").some((item) => deepEqual(item, needle));
}

function chunk(size: number, items: readonly GoValue[]): GoValue[] {
  if (size < 1) throw new UnsupportedError("chunk", "chunk with a size below 1 is not supported");
  const chunks: GoValue[] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}

function steps(start: number, stop: number, step: number): GoValue[] {
  if (step === 0 || (stop < start ? step > 0 : step < 0)) return typedList([], "int");
  const count = Math.ceil((stop - start) / step);
  if (count > LONGEST) throw new UnsupportedError("until", `a list of ${count} numbers is too long`);
  return typedList(
    Array.from({ length: Math.max(0, count) }, (_, index) => new GoInt(start + index * step)),
    "int",
  );
}

function ints(args: readonly GoValue[]): number[] {
  return args.map((value) => (value instanceof GoInt ? value.value : 0));
}

/** Go's `must` twins differ in how they report an error, which ends the template either way. */
function withMust(table: Record<string, GoFunction>): FunctionTable {
  const twins = Object.entries(table).map(([name, target]) => [`must${name.charAt(0).toUpperCase()}${name.slice(1)}`, target] as const);
  return { ...table, ...Object.fromEntries(twins) };
}

const WITH_MUST = withMust({
  append: fn("any any", ([items, value]) => [...list(items, "append"), value]),
  push: fn("any any", ([items, value]) => [...list(items, "push"), value]),
  prepend: fn("any any", ([items, value]) => [value, ...list(items, "prepend")]),
  first: fn("any", ([items]) => list(items, "first")[0] ?? null),
  last: fn("any", ([items]) => list(items, "last").at(-1) ?? null),
  rest: fn("any", ([items]) => list(items, "rest").slice(1)),
  initial: fn("any", ([items]) => list(items, "initial").slice(0, -1)),
  reverse: fn("any", ([items]) => list(items, "reverse").toReversed()),
  uniq: fn("any", ([items]) => uniq(list(items, "uniq"))),
  compact: fn("any", ([items]) => list(items, "compact").filter((item) => truth(item))),
  without: fn(
    "any",
    ([items, ...omitted]) => list(items, "without").filter((item) => !omitted.some((other) => deepEqual(item, other))),
    "any",
  ),
  has: fn("any any", ([needle, haystack]) => has(needle, haystack)),
  slice: fn("any", slice, "any"),
  chunk: fn("int any", (args) => chunk(ints(args)[0] ?? 0, list(args[1], "chunk"))),
});

export const LIST_FUNCTIONS: FunctionTable = {
  ...WITH_MUST,
  list: fn("", (args) => args, "any"),
  tuple: fn("", (args) => args, "any"),
  concat: fn("", (args) => args.flatMap((items) => list(items, "concat")), "any"),
  until: fn("int", (args) => untilCount(ints(args)[0] ?? 0)),
  untilStep: fn("int int int", (args) => {
    const [start = 0, stop = 0, step = 0] = ints(args);
    return steps(start, stop, step);
  }),
  all: fn("", (args) => args.every((value) => truth(value)), "any"),
  any: fn("", (args) => args.some((value) => truth(value)), "any"),
  coalesce: fn("", (args) => args.find((value) => truth(value)) ?? null, "any"),
  default: fn("any", ([fallback, ...given]) => (truth(given[0]) ? given[0] : fallback), "any"),
  empty: fn("any", ([value]) => !truth(value)),
  ternary: fn("any any bool", ([yes, no, test]) => (test === true ? yes : no)),
  fail: fn("string", ([message]) => {
    throw new TemplateError(`error calling fail: ${String(message)}`);
  }),
  deepEqual: fn("any any", ([a, b]) => deepEqual(a, b)),
  kindOf: fn("any", ([value]) => kindOf(value)),
  kindIs: fn("string any", ([kind, value]) => kindOf(value) === kind),
};

function untilCount(count: number): GoValue[] {
  return steps(0, count, count < 0 ? -1 : 1);
}

function kindOf(value: GoValue): string {
  if (value === null || value === undefined) return "invalid";
  if (Array.isArray(value)) return "slice";
  if (value instanceof GoInt) return value.kind;
  if (isMap(value)) return "map";
  if (typeof value === "number") return "float64";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "ptr";
}
