import { GoInt, type GoValue, GoVersion, isMap, isStringMap, itemType } from "./value.ts";

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
