/** How many columns of a terminal a text takes: not its length, where a name is Japanese or has accents set apart. */

const NARROW = /^[\x20-\x7e\u00a0-\u02ff\u2500-\u25ff]*$/;
/** East Asian wide and fullwidth, and what is drawn as a picture. */
const WIDE =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
const NOTHING = /[\p{Mn}\p{Me}\p{Cf}]/u;

function characterWidth(character: string): number {
  return NOTHING.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
}

export function textWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** The text, or its beginning and `…`, in at most so many columns. No character is cut in two. */
export function cutToWidth(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  if (columns < 1) return "";
  let kept = "";
  let width = 0;
  for (const character of text) {
    width += characterWidth(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

export function padToWidth(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - textWidth(text)));
}

/** At spaces, in at most so many lines; what is too long for the last of them stays in it. A word that is wider stands alone. */
export function wrapToWidth(text: string, width: number, most = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && (lines.length >= most || textWidth(last) + 1 + textWidth(word) <= width))
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.length === 0 ? [""] : lines;
}
