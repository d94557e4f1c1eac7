import { fromMarkdown } from "mdast-util-from-markdown";
import { followHtml, noOpenElements, type OpenElements, quotes } from "./comment-html.ts";
import { linesBetweenMarks } from "./comment-marks.ts";

type Block = ReturnType<typeof fromMarkdown>["children"][number];
type Paragraph = Extract<Block, { type: "paragraph" }>;
type Node = Block | Paragraph["children"][number];

/** Anybody may comment, and a Markdown parser takes time with the square of some texts: of so many characters, a tenth of a second at the worst. */
const LONGEST = 3_000;
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
