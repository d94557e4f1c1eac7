/**
 * Reading of objects that anybody may have written: a field of the wrong type is absent, never an error. Only own keys
 * count, so that `__proto__` and `constructor` in hostile input mean nothing.
 */
export type Fields = Record<string, unknown>;

/** Longest message kept; the rest is of no use to a decision and of some use to whoever wants to fill our memory. */
const MAX_MESSAGE = 2048;
/** Longest name, revision, URL or path kept. Longer ones are no such thing, and are absent. */
const MAX_WORD = 4096;
const MAX_LABELS = 256;
/** Sources, revisions, references: Argo CD has no use for more than a few dozen. */
export const MOST_LISTED = 100;

const NOTHING: Fields = Object.freeze(Object.create(null) as Fields);

export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : NOTHING;
}

/** An own field of an object; undefined where there is none. */
export function own(object: Fields, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

export function child(object: Fields, key: string): Fields {
  return fields(own(object, key));
}

export function list(object: Fields, key: string): unknown[] {
  const value = own(object, key);
  return Array.isArray(value) ? value : [];
}

export function word(object: Fields, key: string): string | undefined {
  const value = own(object, key);
  return isWord(value) ? value : undefined;
}

export function isWord(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_WORD;
}

export function message(object: Fields, key: string): string | undefined {
  const value = own(object, key);
  if (typeof value !== "string" || value === "") return undefined;
  return value.length <= MAX_MESSAGE ? value : `${value.slice(0, MAX_MESSAGE - 1)}…`;
}

/** A whole number from 0. */
export function count(object: Fields, key: string): number {
  const value = own(object, key);
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** An RFC 3339 time as Kubernetes writes it; absent where it is none. YAML parsers may already have made a Date of it. */
export function time(object: Fields, key: string): string | undefined {
  const value = own(object, key);
  if (!isTime(value)) return undefined;
  return value instanceof Date ? value.toISOString() : value;
}

export function isTime(value: unknown): value is string | Date {
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  return typeof value === "string" && value.length <= 40 && TIME.test(value) && !Number.isNaN(Date.parse(value));
}

/** Text values of a map of labels. */
export function labels(object: Fields, key: string): Record<string, string> {
  const found: Record<string, string> = {};
  let n = 0;
  for (const [name, value] of Object.entries(child(object, key))) {
    if (typeof value !== "string" || value.length > MAX_WORD || name === "__proto__") continue;
    if (++n > MAX_LABELS) break;
    found[name] = value;
  }
  return found;
}

/** The words of a list; an item that is none is an empty text, so that positions stay. */
export function words(object: Fields, key: string): string[] {
  const found: string[] = [];
  for (const value of list(object, key)) {
    if (found.length === MOST_LISTED) break;
    found.push(typeof value === "string" && value.length <= MAX_WORD ? value : "");
  }
  return found;
}

/** Applications that one makes, or sets: each is judged by itself. */
export const MOST_CHILDREN = 500;

/** Whether an object that an Application makes is an Application itself, or a set of them. */
export function isChild(resource: unknown, kinds: readonly string[] = ["Application", "ApplicationSet"]): boolean {
  const one = fields(resource);
  return kinds.includes(String(own(one, "kind"))) && own(one, "group") === "argoproj.io";
}
