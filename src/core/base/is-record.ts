/** Says whether a value is an object with keys: neither `null` nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value where it is an object with keys, else an empty one: for what people wrote, key by key. */
export function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** A value on the way down keys, `undefined` where one is missing. */
export function dig(value: unknown, ...keys: (string | number)[]): unknown {
  let here = value;
  for (const key of keys) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string | number, unknown>)[key];
  }
  return here;
}

export function textAt(value: unknown, ...keys: (string | number)[]): string | undefined {
  const found = dig(value, ...keys);
  return typeof found === "string" && found !== "" ? found : undefined;
}

export function listAt(value: unknown, ...keys: (string | number)[]): unknown[] {
  const found = dig(value, ...keys);
  return Array.isArray(found) ? found : [];
}
