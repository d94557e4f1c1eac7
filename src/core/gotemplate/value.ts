import { compareText } from "../base/compare-text.ts";
import { reasonsOf } from "../base/reason.ts";
import type { TemplateReason, TemplateReasons } from "../reasons/templates.ts";

/**
 * Go values as templates see them. Data comes from JSON, so its numbers are float64 (JS `number`); literals, lengths and
 * results of integer functions are Go integers (`GoInt`), which print and compare differently. A key that is not there is
 * `undefined` (Go's invalid value), a key holding null is `null` (a nil interface): they print alike and behave differently.
 */
export type GoValue = undefined | null | boolean | string | number | GoInt | GoVersion | GoValue[] | GoMap;
export type GoMap = { [key: string]: GoValue };

type IntKind = "int" | "int64" | "int32" | "uint8";

export class GoInt {
  readonly value: number;
  readonly kind: IntKind;
  constructor(value: number, kind: IntKind = "int") {
    this.value = value;
    this.kind = kind;
  }
}

/** What `semver` returns: a struct with these fields. */
export class GoVersion {
  readonly fields: GoMap;
  constructor(fields: GoMap) {
    this.fields = fields;
  }
}

/** Why a template cannot be parsed or executed. */
export class TemplateError extends Error {
  override name = "TemplateError";
  readonly reason: TemplateReason;
  constructor(reason: TemplateReason) {
    super(JSON.stringify(reason));
    this.reason = reason;
  }

  /** Argo CD could execute it, and this program cannot. */
  get lacks(): boolean {
    return this.reason.code.startsWith("LACKS_");
  }
}

const reasonOf = reasonsOf<TemplateReasons>();

/** Returns what to throw. */
export function fails<Code extends keyof TemplateReasons>(...reason: Parameters<typeof reasonOf<Code>>): TemplateError {
  return new TemplateError(reasonOf(...reason) as TemplateReason);
}

const STRING_MAP = Symbol("map[string]string");

/** Marks a map as Go's map[string]string (labels, annotations, `values`): it indexes and passes to functions differently. */
export function stringMap(entries: Readonly<Record<string, string>>): GoMap {
  const map: GoMap = { ...entries };
  Object.defineProperty(map, STRING_MAP, { value: true });
  return map;
}

export function isStringMap(value: GoMap): boolean {
  return STRING_MAP in value;
}

const ITEM_TYPE = Symbol("itemType");

/** Marks a list as Go's []string or []int: it prints alike, but is of another type than a list of data. */
export function typedList(items: GoValue[], type: "string" | "int"): GoValue[] {
  return Object.defineProperty(items, ITEM_TYPE, { value: type });
}

/** undefined: a list of anything. */
export function itemType(items: readonly GoValue[]): "string" | "int" | undefined {
  return (items as { [ITEM_TYPE]?: "string" | "int" })[ITEM_TYPE];
}

export function isMap(value: unknown): value is GoMap {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof GoInt) && !(value instanceof GoVersion);
}

/** True for a missing key and for null. */
export function isNothing(value: GoValue): value is undefined | null {
  return value === undefined || value === null;
}

/** Reads an own key: `toString` and the like of the prototype are not keys. */
export function entry(map: GoMap, key: string): GoValue {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Sets a key as data, `__proto__` too. */
export function setEntry(map: GoMap, key: string, value: GoValue): void {
  Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
}

export function sortedKeys(map: GoMap): string[] {
  return Object.keys(map).sort(compareText);
}

/** Go's %T. */
export function typeName(value: GoValue): string {
  if (isNothing(value)) return "<nil>";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return "float64";
  if (value instanceof GoInt) return value.kind;
  if (value instanceof GoVersion) return "*semver.Version";
  if (Array.isArray(value)) return `[]${itemType(value) ?? "interface {}"}`;
  return isStringMap(value) ? "map[string]string" : "map[string]interface {}";
}

/** What `if` asks. */
export function truth(value: GoValue): boolean {
  if (isNothing(value)) return false;
  if (value instanceof GoInt) return value.value !== 0;
  if (value instanceof GoVersion) return true;
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return value !== 0;
  if (typeof value === "string" || Array.isArray(value)) return value.length > 0;
  return Object.keys(value).length > 0;
}

/** Go's %v of a float64: an exponent below -4 or above 5 is written out, so a million prints as 1e+06. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const [digits = "", power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  // Between those bounds JS writes plain digits too.
  if (exponent >= -4 && exponent <= 5) return String(value);
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** Go's %v. */
export function formatValue(value: GoValue): string {
  if (isNothing(value)) return "<nil>";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") return formatFloat(value);
  if (value instanceof GoInt) return String(value.value);
  if (value instanceof GoVersion) return formatValue(entry(value.fields, "Text"));
  if (Array.isArray(value)) return `[${value.map(formatValue).join(" ")}]`;
  return `map[${sortedKeys(value)
    .map((key) => `${key}:${formatValue(entry(value, key))}`)
    .join(" ")}]`;
}

/** Returns what an action prints of a value. */
export function printValue(value: GoValue): string {
  return isNothing(value) ? "<no value>" : formatValue(value);
}

/** Go's reflect.DeepEqual: types count, so the integer 1 is not the float 1. */
export function deepEqual(a: GoValue, b: GoValue): boolean {
  if (a instanceof GoInt || b instanceof GoInt) return a instanceof GoInt && b instanceof GoInt && a.value === b.value && a.kind === b.kind;
  if (a instanceof GoVersion || b instanceof GoVersion) return a === b;
  if (Array.isArray(a))
    return Array.isArray(b) && itemType(a) === itemType(b) && a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
  if (!isMap(a)) return (a ?? null) === (b ?? null);
  if (!isMap(b) || isStringMap(a) !== isStringMap(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key], b[key]));
}
