/** Whatever is longer is not read to its end: a whole comment has hardly more room. */
const LONGEST = 20_000;

/** One line, without what moves a cursor, rings a bell or turns the direction of the text that follows. */
function oneLine(text: string): string {
  return (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text).replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, " ").trim();
}

/** Text from outside (cluster names, messages of Argo CD, branch names) made harmless inside a Markdown table cell. */
export function cell(text: string, limit = 300): string {
  const line = oneLine(text);
  const cut = line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
  // A zero-width space keeps `@name` from notifying anybody and `/command` from being read as one; `&commat;name` is to stay letters.
  return cut
    .replace(/[\\`*_{}[\]<>|#~]|&(?=#?\w+;)/g, (character) => `\\${character}`)
    .replace(/@(?=\w)/g, "@\u200b")
    .replace(/^\//, "\u200b/");
}

/** Inline code, whatever the text holds. */
export function code(text: string): string {
  const line = oneLine(text).replace(/\|/g, "\\|");
  if (line === "") return "–";
  let ticks = 0;
  for (const [run] of line.matchAll(/`+/g)) ticks = Math.max(ticks, run.length);
  const fence = "`".repeat(ticks + 1);
  return ticks === 0 ? `\`${line}\`` : `${fence} ${line} ${fence}`;
}

/** The same inside of HTML of ours, such as `<summary>`, where a backslash of Markdown would be shown. One line, since an empty one ends the HTML. */
export function html(text: string, limit = 300): string {
  const line = oneLine(text);
  const cut = line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
  return cut
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(/@(?=\w)/g, "@\u200b")
    .replace(/^\//, "\u200b/");
}

/** A sentence of ours that marks commands as code: the marks stay, numbers of pull requests stay links, everything else is made harmless. */
export function prose(text: string): string {
  return text
    .slice(0, LONGEST)
    .split(/(`[^`]+`)/)
    .map((part, index) =>
      index % 2 === 1 ? code(part.slice(1, -1)) : part.replace(/\S[\s\S]*\S|\S/, (words) => cell(words, 1000).replace(/\\#(?=\d)/g, "#")),
    )
    .join("");
}

/** The text of Markdown that `cell`, `code` and `prose` made, for those who draw none. */
export function withoutMarkdown(text: string): string {
  const marked = /(`+)( ?)(.*?)\2\1|\\([\\`*_{}[\]<>|#~&])|\*\*|\[([^\]]*)\]\([^)]*\)|\u200b/g;
  return text
    .slice(0, LONGEST)
    .replace(marked, (_, _ticks, _space, inside: string | undefined, escaped: string | undefined, linked: string | undefined) =>
      inside === undefined ? (escaped ?? linked ?? "") : inside.replaceAll("\\|", "|"),
    );
}

/** GitHub refuses a comment or PR body over this many characters. */
export const BODY_LIMIT = 65_536;
