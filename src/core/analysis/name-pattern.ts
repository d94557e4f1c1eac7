/**
 * Names of metrics by a regular expression, as `dryRun` and `measurementRetention` have them: letters, `.`, classes, `* + ?`
 * behind one of these, `^`, `$` and `|`. No groups. Followed as a set of places at once, so that no pattern takes long.
 */

/** A pattern that cannot be read. */
export class PatternError extends Error {
  override name = "PatternError";
}

interface Piece {
  fits: (character: string) => boolean;
  /** May be left out; may be repeated. */
  optional: boolean;
  repeats: boolean;
}

interface Branch {
  pieces: Piece[];
  fromStart: boolean;
  toEnd: boolean;
}

const LONGEST = 200;

/** Whether any part of the name is as the pattern says, as Go's `regexp.MatchString` does. Throws PatternError. */
export function matchesName(pattern: string, name: string): boolean {
  return branches(pattern).some((branch) => matches(branch, name));
}

function branches(pattern: string): Branch[] {
  if (pattern.length > LONGEST) throw new PatternError(`a pattern has at most ${LONGEST} characters`);
  const all: Branch[] = [];
  let rest = pattern;
  for (;;) {
    const { branch, left } = readBranch(rest, pattern);
    all.push(branch);
    if (left === undefined) return all;
    rest = left;
  }
}

const ATOM = /^(?:\\[dws.*+?^$|()[\]{}\\/-]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^*+?|()[\]{}\\^$])/;

function readBranch(text: string, whole: string): { branch: Branch; left?: string } {
  const branch: Branch = { pieces: [], fromStart: text.startsWith("^"), toEnd: false };
  let rest = branch.fromStart ? text.slice(1) : text;
  while (rest !== "" && !rest.startsWith("|")) {
    if (rest === "$" || rest.startsWith("$|")) {
      branch.toEnd = true;
      rest = rest.slice(1);
      continue;
    }
    const [atom] = ATOM.exec(rest) ?? [];
    if (atom === undefined) throw new PatternError(`${whole}: ${rest.slice(0, 20)} cannot be read; letters, . [a-z] * + ? ^ $ | can`);
    const sign = /^[*+?]/.exec(rest.slice(atom.length))?.[0] ?? "";
    branch.pieces.push({ fits: fitting(atom, whole), optional: sign === "*" || sign === "?", repeats: sign === "*" || sign === "+" });
    rest = rest.slice(atom.length + sign.length);
  }
  return rest === "" ? { branch } : { branch, left: rest.slice(1) };
}

function fitting(atom: string, whole: string): Piece["fits"] {
  if (atom === ".") return () => true;
  if (atom.length === 1) return (character) => character === atom;
  try {
    // One character is asked, so nothing can be tried again and again.
    const one = new RegExp(`^${atom}$`, "u");
    return (character) => one.test(character);
  } catch {
    throw new PatternError(`${whole}: ${atom} cannot be read`);
  }
}

function matches({ pieces, fromStart, toEnd }: Branch, name: string): boolean {
  let places = skipped(new Set([0]), pieces);
  for (const character of name) {
    if (places.has(pieces.length) && !toEnd) return true;
    const next = new Set<number>();
    for (const place of places) {
      const piece = pieces[place];
      if (piece?.fits(character) !== true) continue;
      next.add(place + 1);
      if (piece.repeats) next.add(place);
    }
    if (!fromStart) next.add(0);
    places = skipped(next, pieces);
  }
  return places.has(pieces.length);
}

/** With every place that is reached by leaving optional pieces out. */
function skipped(places: Set<number>, pieces: readonly Piece[]): Set<number> {
  for (const [at, piece] of pieces.entries()) if (piece.optional && places.has(at)) places.add(at + 1);
  return places;
}
