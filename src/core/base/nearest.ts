import { distance } from "fastest-levenshtein";

/** Longer words are compared by their beginnings, so that a hostile key costs nothing. */
const LONGEST = 64;

/** The known word nearest to what was written, whatever its case; undefined where none is near enough to have been meant. */
export function nearest(word: string, words: Iterable<string>): string | undefined {
  const written = clip(word);
  let best: string | undefined;
  let least = mostEdits(word) + 1;
  for (const candidate of words) {
    const known = clip(candidate);
    const edits = isSwapped(written, known) ? 1 : distance(written, known);
    if (edits >= least) continue;
    best = candidate;
    least = edits;
  }
  return best;
}

/** `wiat` for `wait`: one slip of the fingers. */
function isSwapped(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  const at = [...one].findIndex((letter, index) => letter !== other[index]);
  return at >= 0 && one === `${other.slice(0, at)}${other[at + 1] ?? ""}${other[at]}${other.slice(at + 2)}`;
}

/** Of a long word a third may be wrong. */
function mostEdits(word: string): number {
  return Math.max(word.length > 4 ? 2 : 1, Math.floor(word.length / 3));
}

function clip(word: string): string {
  return word.slice(0, LONGEST).toLowerCase();
}
