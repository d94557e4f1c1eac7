/**
 * Which line is indented wrongly: the parser gives up at the first one that does not fit the lines above, which often is the next right one.
 * Called by `yaml-slips.ts`; what it tells is a line and the columns that would do.
 */
import { parseDocument, type YAMLError } from "yaml";
import type { KindsOf } from "../../base/reason.ts";
import { LINEAR, yamlMarks } from "../../base/yaml-bounds.ts";
import type { SyntaxKinds } from "../../reasons/problems/file.ts";

/** A mistake, and where in the text it is. */
export interface Slip {
  what: KindsOf<SyntaxKinds>;
  offset: number;
}

export type Mistake = Pick<YAMLError, "code" | "message" | "pos">;

/** A line of the text without its end, and where it begins. */
export interface Line {
  text: string;
  begins: number;
}

export function lineAt(text: string, offset: number): Line {
  const begins = text.lastIndexOf("\n", offset - 1) + 1;
  const ends = text.indexOf("\n", offset);
  return { text: text.slice(begins, ends === -1 ? undefined : Math.max(begins, ends)).replace(/\r$/, ""), begins };
}

/** A line that begins at a column where nothing above it does; undefined: the mistake is another. */
export function indentSlip(text: string, line: Line, { code, message }: Mistake, from: number): Slip | undefined {
  const isNested = /^Nested mappings/.test(message);
  const isMeant =
    code === "BAD_INDENT" || /^(?:A block sequence may not|Unexpected scalar at node end|Sequence item without -)/.test(message);
  if (!isNested && !isMeant) return undefined;
  // A comment may stand anywhere.
  const meant = isNested || !isWritten(line.text) ? lineAfter(text, line) : line;
  return meant && misplaced(text, meant, from);
}

function lineAfter(text: string, { text: own, begins }: Line): Line | undefined {
  for (let at = text.indexOf("\n", begins + own.length) + 1; at > 0 && at < text.length; at = text.indexOf("\n", at) + 1) {
    const line = lineAt(text, at);
    if (isWritten(line.text)) return line;
  }
  return undefined;
}

function isWritten(line: string): boolean {
  return /^\s*[^\s#]/.test(line);
}

/** How many lines above are looked at. */
const MOST_ABOVE = 2000;

/** A line, and the columns where it would belong to what is above it, or to what is below. */
interface Guess {
  line: Line;
  is: number;
  near: readonly number[];
}

function misplaced(text: string, line: Line, from: number): Slip | undefined {
  const own = indentation(line.text);
  const offset = line.begins + own;
  const isItem = /^\s*-\s/.test(line.text);
  const columns = new Set<number>();
  const above = linesAbove(text, line);
  let least = Number.POSITIVE_INFINITY;
  for (const { text: written } of above) {
    if (indentation(written) >= least) continue;
    least = indentation(written);
    // A dash without its space is none to the parser.
    if (least === own && /^\s*-\s/.test(written) && /^\s*-[^\s-]/.test(line.text)) return { what: { kind: "DashSpace" }, offset };
    for (const column of columnsOf(written, isItem)) columns.add(column);
  }
  const [less] = [...columns].filter((column) => column < own).toSorted((a, b) => b - a);
  const [more] = [...columns].filter((column) => column > own).toSorted((a, b) => a - b);
  const near = [less, more].filter((column) => column !== undefined);
  if (near.length === 0) return undefined;
  const { line: meant, ...what } = likeliest(text, from, [{ line, is: own, near }, ...othersAt(above, near, own, isItem)]);
  return { what: { kind: "Indent", ...what }, offset: meant.begins + what.is };
}

/** From the next one above, until one that begins at the margin. */
function linesAbove(text: string, { begins }: Line): Line[] {
  const found: Line[] = [];
  let at = begins;
  for (let looked = 0; looked < MOST_ABOVE && at > 0; looked++) {
    const above = lineAt(text, at - 1);
    at = above.begins;
    if (!isWritten(above.text)) continue;
    found.push(above);
    if (indentation(above.text) === 0) break;
  }
  return found;
}

/** Lines above that would fit if they began like the one that does not: the nearest at each column, and the first of its block. */
function othersAt(above: readonly Line[], near: readonly number[], own: number, isItem: boolean): Guess[] {
  return near.toReversed().flatMap((column) => {
    const end = above.findIndex(({ text }) => keyColumn(text) < Math.min(column, own));
    const block = above.slice(0, end === -1 ? undefined : end).filter(({ text }) => columnsOf(text, isItem).includes(column));
    const ends = block.length > 1 ? [block[0], block.at(-1)] : block;
    return ends.flatMap((line) => {
      if (line === undefined) return [];
      const is = indentation(line.text);
      const meant = is + own - column;
      return meant < 0 ? [] : [{ line, is, near: [meant] }];
    });
  });
}

/** What is tried may cost no more than reading a file of this size a few times; no rollout is as large. */
const LARGEST = 32 * 1024;
const MOST_MARKS = 8_000;

/** The guess that, mended, lets the parser come furthest, and of these what is indented like the rest of the text; the first of equals. */
function likeliest(text: string, from: number, guesses: readonly [Guess, ...Guess[]]): Guess {
  const [first] = guesses;
  if (text.length > LARGEST || yamlMarks(text) > MOST_MARKS) return first;
  // The parser may take its own mistake for a document's end.
  const next = text.slice(first.line.begins).search(/^(?:---|\.\.\.)(?=\s|$)/m);
  const document = text.slice(from, next === -1 ? undefined : first.line.begins + next);
  const usual = usualStep(document);
  const tried = guesses.flatMap(({ line, is, near }) =>
    near.map((column) => {
      const at = line.begins - from;
      const mended = document.slice(0, at) + " ".repeat(column) + document.slice(at + is);
      return { line, is, column, reach: reachOf(mended), odd: stepsOf(mended).filter((step) => step !== usual).length };
    }),
  );
  const reach = Math.max(...tried.map((one) => one.reach));
  const furthest = tried.filter((one) => one.reach === reach);
  const odd = Math.min(...furthest.map((one) => one.odd));
  const best = furthest.filter((one) => one.odd === odd);
  const { line, is } = best[0] ?? first;
  return { line, is, near: best.filter((one) => one.line === line).map((one) => one.column) };
}

/** How far from the end the first mistake is; endless where there is none. */
function reachOf(document: string): number {
  const [mistake] = parseDocument(document, LINEAR).errors;
  return mistake === undefined ? Number.POSITIVE_INFINITY : mistake.pos[0] - document.length;
}

/** By how much lines are indented further than the one before. */
function stepsOf(document: string): number[] {
  const columns = document.split("\n").filter(isWritten).map(indentation);
  return columns.map((column, index) => column - (columns[index - 1] ?? 0)).filter((step) => step > 0);
}

function usualStep(document: string): number {
  const counts = new Map<number, number>();
  for (const step of stepsOf(document)) counts.set(step, (counts.get(step) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
}

function indentation(line: string): number {
  return line.length - line.trimStart().length;
}

/** Where items of lists, or keys, begin in a line. */
function columnsOf(line: string, items: boolean): number[] {
  if (!items) return [keyColumn(line)];
  const dashes = line.slice(0, keyColumn(line));
  return [...dashes].flatMap((sign, at) => (sign === "-" ? [at] : []));
}

function keyColumn(line: string): number {
  return /^\s*(?:-\s+)*/.exec(line)?.[0].length ?? 0;
}
