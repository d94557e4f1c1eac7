/** Which lines of a comment GitHub shows as plain text, in bounded time: only they may be commands. Called by `parse.ts`. */
import { fromMarkdown } from "mdast-util-from-markdown";

type Block = ReturnType<typeof fromMarkdown>["children"][number];
type Paragraph = Extract<Block, { type: "paragraph" }>;
type Node = Block | Paragraph["children"][number];

/** Anybody may comment, and a Markdown parser takes time with the square of some texts: of so many characters, a thirtieth of a second at the worst. */
const LONGEST = 2_000;
/**
 * Quotes or lists so deep, too, cost more than they say. A mark begins a list's item only with a space after it, and where
 * the rest of the line is but dashes or stars, that is a rule, however they are spaced.
 */
const TOO_DEEP = /^(?:(?![ \t]*([-*])(?:[ \t]*\1){2,}[ \t]*$)[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$))){12}/;
/** Whether a line is bold does not matter here, and pairing up emphasis takes longest. */
const NO_EMPHASIS = { disable: { null: ["attention"] } };

/** The comment's lines, of one that would cost too much without those in code fences: what is pasted there may be anything. */
export function linesToRead(body: string): string[] {
  const lines = body.replace(/\r\n?/g, "\n").split("\n");
  return isTooCostly(lines) ? withoutFenced(lines) : lines;
}

/** Reading these lines would hold everybody else up. */
export function isTooCostly(lines: readonly string[]): boolean {
  const length = lines.reduce((sum, line) => sum + line.length + 1, 0);
  return length > LONGEST + 1 || lines.some((line) => TOO_DEEP.test(line));
}

/**
 * Lines whose first column is plain text of a top-level paragraph, as GitHub shows them: tables, footnotes, and what is
 * struck out or between the tags of an element are not, nor is what follows a tag that leads nobody knows where.
 */
export function plainLines(lines: readonly string[]): string[] {
  const source = lines.join("\n");
  const open = noOpenElements();
  const notes = footnoteLines(lines);
  const plain: string[] = [];
  for (const block of fromMarkdown(source, { extensions: [NO_EMPHASIS] }).children) {
    if (block.type !== "paragraph") {
      for (const html of htmlIn(block)) followHtml(open, html);
      continue;
    }
    if (isTable(block, lines)) {
      // A tag inside a cell closes nothing outside of it, and one that is left open there leads anywhere.
      const inside = noOpenElements();
      for (const html of htmlIn(block)) followHtml(inside, html);
      if (quotes(inside)) open.lost = true;
      continue;
    }
    for (const line of plainOf(block, source, open)) if (!notes.has(line)) plain.push(lines[line - 1] ?? "");
  }
  return plain;
}

/** Numbers of the paragraph's lines that begin with plain text. */
function plainOf(paragraph: Paragraph, source: string, open: OpenElements): number[] {
  const hidden = linesBetweenMarks(source, textsOf(paragraph));
  const plain: number[] = [];
  for (const child of paragraph.children) {
    for (const html of htmlIn(child)) followHtml(open, html);
    const { start, end } = child.position ?? {};
    if (child.type !== "text" || start === undefined || end === undefined || quotes(open)) continue;
    // A text node that begins further right has something else (code, a link) before it on its first line.
    for (let line = start.line + (start.column === 1 ? 0 : 1); line <= end.line; line++) if (!hidden(line)) plain.push(line);
  }
  return plain;
}

function textsOf({ children }: Paragraph): { line: number; from: number; to: number }[] {
  return children.flatMap(({ type, position }) => {
    if (type !== "text" || position?.start.offset === undefined || position.end.offset === undefined) return [];
    return [{ line: position.start.line, from: position.start.offset, to: position.end.offset }];
  });
}

function htmlIn(node: Node): string[] {
  if (node.type === "html") return [node.value];
  return "children" in node ? (node.children as Node[]).flatMap(htmlIn) : [];
}

/** A row of dashes and bars below another line makes a table of what stands around it. */
function isTable({ position }: Paragraph, lines: readonly string[]): boolean {
  const own = position === undefined ? [] : lines.slice(position.start.line, position.end.line);
  return own.some((line) => /^[|:\- \t]+$/.test(line) && line.includes("-"));
}

/** What follows the beginning of a footnote without an empty line belongs to it. */
function footnoteLines(lines: readonly string[]): Set<number> {
  const found = new Set<number>();
  let inside = false;
  lines.forEach((line, index) => {
    inside = !isBlank(line) && (inside || /^ {0,3}\[\^[^\]\s]+\]:/.test(line));
    if (inside) found.add(index + 1);
  });
  return found;
}

/** HTML of these kinds goes on past empty lines: whether a fence after them is one, only a parser can tell. */
const PAST_EMPTY_LINES = /<(?:[!?]|pre|script|style|textarea)/i;

/** Leaves out what is between a fence in the first column and its end, for as long as it is sure that it is a fence. */
function withoutFenced(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let html = false;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const [, mark] = /^(`{3,})[^`]*$/.exec(line) ?? /^(~{3,})/.exec(line) ?? [];
    // In a list, an indented fence ends with its item; elsewhere it goes on.
    if (PAST_EMPTY_LINES.test(line) || /^ {1,3}(?:```|~~~)/.test(line) || (mark !== undefined && html)) return kept.concat(lines.slice(at));
    kept.push(line);
    html = !isBlank(line) && (html || /^ {0,3}</.test(line));
    if (mark === undefined) continue;
    do at += 1;
    while (at < lines.length && !isEndOf(mark, lines[at] ?? ""));
    if (at < lines.length) kept.push(lines[at] ?? "");
  }
  return kept;
}

function isEndOf(mark: string, line: string): boolean {
  const [, end = ""] = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line) ?? [];
  return end.startsWith(mark);
}

function isBlank(line: string): boolean {
  return /^[ \t]*$/.test(line);
}

/** Elements whose tags were opened and not closed so far. */
interface OpenElements {
  names: string[];
  /** A tag that leads nobody knows where: from here on nothing is plain. */
  lost: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
/** Whatever else looks like a tag, such as `<version>`, GitHub leaves out, and the text after it is as it was. A `<p>` ends with its paragraph. */
const ENCLOSING = words(
  "a abbr address article aside b bdi bdo big blockquote body button caption center cite code colgroup dd del details dfn dialog dir div dl dt em " +
    "fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 h7 h8 head header html i iframe ins kbd label legend li main map mark math menu nav " +
    "noframes noscript object ol optgroup option output picture pre q rp rt ruby s samp script search section select small span strike strong style sub " +
    "summary sup svg table tbody td template textarea tfoot th thead time title tr tt u ul var video audio xmp",
);
/** Their end may be left out: it is where what they stand in ends. */
const ENDS_WITH_ITS_PARENT = words("caption colgroup dd dt li optgroup option rp rt tbody td tfoot th thead tr");
const COMMENT_OR_TAG = /<!--(?:-?>|[\s\S]*?-->)|<(\/?)([A-Za-z][A-Za-z0-9-]*)((?:"[^"]*"|'[^']*'|[^"'<>])*)>/g;

function noOpenElements(): OpenElements {
  return { names: [], lost: false };
}

function quotes({ names, lost }: OpenElements): boolean {
  return lost || names.length > 0;
}

/** Goes through the tags of a piece of HTML. Tags that cross are taken for ones that never end: browsers mend them in ways of their own. */
function followHtml(open: OpenElements, html: string): void {
  const rest = html.replaceAll(COMMENT_OR_TAG, (_, slash?: string, tag?: string) => {
    const name = tag?.toLowerCase();
    if (name !== undefined && ENCLOSING.has(name)) slash === "/" ? close(open, name) : open.names.push(name);
    return "";
  });
  if (/<[A-Za-z/!?]/.test(rest)) open.lost = true;
}

function close(open: OpenElements, name: string): void {
  const at = open.names.lastIndexOf(name);
  if (at === -1) return;
  if (open.names.slice(at + 1).some((inner) => !ENDS_WITH_ITS_PARENT.has(inner))) open.lost = true;
  open.names.length = at;
}

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
function linesBetweenMarks(source: string, texts: readonly { line: number; from: number; to: number }[]): (line: number) => boolean {
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
