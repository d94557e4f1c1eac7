/**
 * One copy of what the Applications of a fleet repeat: repositories, revisions, images. Read from one JSON text each, equal values
 * would lie in memory once an Application. Called by decoding alone; what it returns is equal to what it was given, and is never changed.
 */
import { BoundedMap } from "../../base/bounded.ts";
import type { ApplicationView, SourceView } from "../views.ts";

/** A fleet repeats few; what a hostile one makes up must not make this grow. */
const MOST_SHARED = 4096;
const LONGEST_SHARED = 256;
/** A whole list of images. */
const LONGEST_LIST = 4096;
const MOST_LISTS = 2048;

const texts = new BoundedMap<string, string>(MOST_SHARED);
const lists = new BoundedMap<string, string[]>(MOST_LISTS);
const owners = new BoundedMap<string, NonNullable<ApplicationView["owner"]>>(MOST_LISTS);
const sourceLists = new BoundedMap<string, SourceView[]>(MOST_LISTS);

export function sharedText(text: string): string {
  if (text.length > LONGEST_SHARED) return text;
  const known = texts.get(text);
  if (known === undefined) texts.set(text, text);
  return known ?? text;
}

/** The set that made thousands of Applications as one object. */
export function sharedOwner(kind: "ApplicationSet", name: string, uid: string): NonNullable<ApplicationView["owner"]> {
  const key = `${name}/${uid}`;
  const known = owners.get(key) ?? { kind, name, uid };
  if (key.length <= LONGEST_SHARED) owners.set(key, known);
  return known;
}

/** A list of words as one object wherever it is the same; not to be written to. */
export function sharedWords(words: string[]): string[] {
  return shared(lists, words, () => words.map(sharedText));
}

/** Sources as one object wherever they are the same to the letter; those with more than words in them are kept as they are. */
export function sharedSources(sources: SourceView[]): SourceView[] {
  return sources.some(({ rest }) => rest !== undefined) ? sources : shared(sourceLists, sources, () => sources.map(sharedSource));
}

function sharedSource(source: SourceView): SourceView {
  const copy = { ...source };
  for (const key of ["repoURL", "path", "chart", "targetRevision"] as const) {
    const text = copy[key];
    if (text !== undefined) copy[key] = sharedText(text);
  }
  return copy;
}

function shared<T>(known: BoundedMap<string, T[]>, values: T[], copy: () => T[]): T[] {
  const key = JSON.stringify(values);
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = copy();
  if (key.length <= LONGEST_LIST) known.set(key, made);
  return made;
}
