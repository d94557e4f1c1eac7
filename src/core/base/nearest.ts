import { distance } from "fastest-levenshtein";

/** Longer words are compared by their beginnings, so that a hostile key costs nothing. */
const LONGEST = 64;

/** Nobody has as many names, and each takes its time to compare. */
const MOST_WORDS = 10_000;

/**
 * The known word nearest to what was written, whatever its case; undefined where none is near enough to have been meant. `isMeant`
 * is asked of those alone that are near enough.
 */
export function nearest(word: string, words: Iterable<string>, isMeant: (known: string) => boolean = () => true): string | undefined {
  const written = clip(word);
  let best: string | undefined;
  let least = mostEdits(word) + 1;
  let left = MOST_WORDS;
  for (const candidate of words) {
    if (left-- === 0) break;
    const known = clip(candidate);
    // As many edits as it is longer or shorter are the least it takes.
    if (Math.abs(known.length - written.length) >= least) continue;
    const edits = isSwapped(written, known) ? 1 : distance(written, known);
    if (edits >= least || !isMeant(candidate)) continue;
    best = candidate;
    least = edits;
  }
  return best;
}

/** `wiat` for `wait`: one slip of the fingers. */
function isSwapped(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at < one.length && one === `${other.slice(0, at)}${other[at + 1] ?? ""}${other[at]}${other.slice(at + 2)}`;
}

/** Of a long word a third may be wrong. */
function mostEdits(word: string): number {
  return Math.max(word.length > 4 ? 2 : 1, Math.floor(word.length / 3));
}

function clip(word: string): string {
  return word.slice(0, LONGEST).toLowerCase();
}
