/**
 * Whether texts of manifests show what pins were set to. Called with what Argo CD's API tells of an Application's live objects and of what a
 * revision renders to.
 */
import { isRecord } from "../base/is-record.ts";

/**
 * What was found of a change in the objects themselves. shown: they hold what the pins were set to. differs: the revision renders to
 * something else than the one before the change. unknown: neither can be told. notLive: it renders to what the pins were set to, and
 * the cluster holds something else. same: it renders to what was there before.
 */
export type ContentProof = "shown" | "differs" | "unknown" | "notLive" | "same";

/** A value that tells a version from anything else that stands in manifests: `2` and `v1` stand everywhere. */
export function isTelling(value: string): boolean {
  return value.length >= 4 && /\d/.test(value);
}

const MOST_OBJECTS = 5000;
const MOST_DEEP = 60;
/** The version of an API is none of a release, and what was applied last is not what is there. */
const TELL_NOTHING = new Set(["apiVersion", "kubectl.kubernetes.io/last-applied-configuration"]);

/** Whether every value stands in some of these objects (JSON texts), whole: as a text, or as the end of an image reference or of a name. */
export function showsValues(objects: readonly string[], values: readonly string[]): boolean {
  const left = new Set(values);
  for (const text of objects.slice(0, MOST_OBJECTS)) {
    const candidates = [...left].filter((value) => text.includes(value));
    if (candidates.length === 0) continue;
    const found = textsOf(parsed(text), 0);
    for (const value of candidates) if (found.some((one) => holds(one, value))) left.delete(value);
  }
  return left.size === 0;
}

function holds(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const [before, after] = [text[at - 1] ?? " ", text.slice(at + value.length, at + value.length + 2)];
    // A stop after it may end a sentence.
    if (!/[A-Za-z0-9.]/.test(before) && !/^([A-Za-z0-9+-]|\.[A-Za-z0-9])/.test(after)) return true;
  }
  return false;
}

function textsOf(value: unknown, depth: number): string[] {
  if (typeof value === "string" || typeof value === "number") return [String(value)];
  if (depth > MOST_DEEP) return [];
  if (Array.isArray(value)) return value.flatMap((item) => textsOf(item, depth + 1));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => (TELL_NOTHING.has(key) ? [] : textsOf(inner, depth + 1)));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
