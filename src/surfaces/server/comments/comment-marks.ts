interface Between {
  /** The first line with a mark that may open. */
  opens?: number;
  /** The last line with one that may close. */
  closes?: number;
}

/**
 * Tells of a line of a paragraph whether it may be struck out (`~`, `~~`) or mathematics (`$`, `$$`): it is after a mark that
 * opens and not after one like it that closes. Too many lines rather than too few: such a line is no command then.
 *
 * @param texts the paragraph's texts outside of code, links and tags: line of the first character, and offsets in the source
 */
export function linesBetweenMarks(source: string, texts: readonly { line: number; from: number; to: number }[]): (line: number) => boolean {
  const kinds = new Map<string, Between>();
  for (const { line: first, from, to } of texts) {
    let line = first;
    for (const mark of marksOf(source.slice(from, to))) {
      if (mark.text === "\n") line += 1;
      else if (mark.text.length <= 2) note(kinds, mark.text, line, source[from + mark.at - 1], source[from + mark.at + mark.text.length]);
    }
  }
  return (line) =>
    [...kinds.values()].some(({ opens, closes }) => opens !== undefined && closes !== undefined && opens < line && line <= closes);
}

function marksOf(text: string): { text: string; at: number }[] {
  return [...text.matchAll(/\n|~+|\$+/g)].map((found) => ({ text: found[0], at: found.index }));
}

function note(kinds: Map<string, Between>, mark: string, line: number, before: string | undefined, after: string | undefined): void {
  const kind = kinds.get(mark) ?? {};
  kinds.set(mark, kind);
  const alone = isSpace(after);
  // `$$` stands on a line of its own; the others touch the text they mark, but for a last one that stands alone.
  if (!alone || mark === "$$") kind.opens ??= line;
  if (alone || !isSpace(before)) kind.closes = line;
}

function isSpace(character: string | undefined): boolean {
  return character === undefined || /\s/.test(character);
}
