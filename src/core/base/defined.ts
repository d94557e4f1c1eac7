/** An object type whose keys that may be `undefined` became optional ones, never present without a value. */
type Defined<T> = T extends object ? DefinedKeys<T> : T;

type DefinedKeys<T> = Flat<
  { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
    [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
  }
>;

type Flat<T> = { [K in keyof T]: T[K] };

/**
 * A copy of an object leaves out each key whose value is `undefined`: `defined({ name, why })` in place of a spread for each
 * optional key. Only own keys are looked at, and only of the object itself, not of what stands in it.
 */
export function defined<T extends object>(values: T): Defined<T> {
  const copy: Partial<T> = {};
  for (const key of Object.keys(values) as (keyof T & string)[]) {
    if (values[key] === undefined) continue;
    if (key === "__proto__") Object.defineProperty(copy, key, { value: values[key], enumerable: true, configurable: true, writable: true });
    else copy[key] = values[key];
  }
  return copy as Defined<T>;
}
