import { distance } from "fastest-levenshtein";

/** Longer words are compared by their beginnings, so that a hostile key costs nothing. */
const LONGEST = 64;

/** The known word nearest to what was written, whatever its case; undefined where none is near enough to have been meant. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const written = clip(word);
  let best: string | undefined;
  let least = mostEdits(word) + 1;
  for (const candidate of known) {
    const edits = distance(written, clip(candidate));
    if (edits >= least) continue;
    best = candidate;
    least = edits;
  }
  return best;
}

/** Two letters the wrong way round are two edits. */
function mostEdits(word: string): number {
  return Math.max(word.length > 4 ? 2 : 1, Math.floor(word.length / 3));
}

function clip(word: string): string {
  return word.slice(0, LONGEST).toLowerCase();
}
