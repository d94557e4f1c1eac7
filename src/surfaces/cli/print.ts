/** How subcommands print: nothing that was read may steer a terminal, tables are as wide as they need to be, JSON ends in a line break. */
import { stringify } from "yaml";
import { cutToWidth, padToWidth, textWidth } from "../../core/base/text-width.ts";

/**
 * Text of a file as a terminal may show it: control characters become signs of the same width (␛ for escape), so that nothing
 * moves the cursor or changes a colour, and a mark below still stands under its place. Line breaks stay.
 */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    const point = character.charCodeAt(0);
    if (character === "\n") return character;
    if (point < 0x20) return String.fromCharCode(0x2400 + point);
    return point === 0x7f ? "␡" : "�";
  });
}

/** The same on one line, without those characters: what the journal or GitHub says. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
}

/** Pads the rows of a table: each column is as wide as it needs to be. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, textWidth(cell));
  return rows.map((row) =>
    row
      .map((cell, at) => padToWidth(cell, widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Such a table as a text. */
export function columns(rows: readonly (readonly string[])[]): string {
  return alignColumns(rows)
    .map((line) => `${line}\n`)
    .join("");
}

/** The same, no line wider than the terminal: cut, or where there is hardly room for a table, each row as a paragraph. */
export function fittedColumns(rows: readonly (readonly string[])[], width: number | undefined): string {
  if (width === undefined) return columns(rows);
  const lines = alignColumns(rows);
  if (width >= NARROW || lines.every((line) => textWidth(line) <= width))
    return lines.map((line) => `${cutToWidth(line, width)}\n`).join("");
  return rows
    .slice(1)
    .flatMap((row) => foldLine(row.filter((cell) => cell !== "-").join(" "), width))
    .map((line) => `${line}\n`)
    .join("");
}

const NARROW = 60;

/** The columns of a terminal; undefined: what is written goes to a file, which is as wide everywhere. */
export function terminalWidth(stream: { isTTY?: boolean; columns?: number | undefined } = process.stdout): number | undefined {
  const width = stream.isTTY === true ? columnsOf(stream) : undefined;
  return width === undefined ? undefined : Math.max(LEAST_WIDTH, width);
}

/** What a stream says of its columns. Terminals that nobody has told their size say 0, which is no width. */
export function columnsOf({ columns: said }: { columns?: number | undefined } = process.stdout): number | undefined {
  return said === 0 ? undefined : said;
}

const LEAST_WIDTH = 10;
/** Colours, which take no column. */
const COLOUR = /\p{Cc}\[[0-9;]*m/gu;

/** Lines as wide as the terminal: broken between words, and a word only where it is wider than a line. What follows is indented. */
export function foldLine(line: string, width: number | undefined): string[] {
  if (width === undefined || shownWidth(line) <= width) return [line];
  const [indent = ""] = /^ */.exec(line) ?? [];
  const before = " ".repeat(Math.min(indent.length + 2, Math.floor(width / 3)));
  const lines = [indent.length < width / 2 ? indent : before];
  let room = width - (lines[0] ?? "").length;
  const begin = () => {
    lines.push(before);
    room = width - before.length;
  };
  for (const [, spaces = "", word = ""] of line.slice(indent.length).matchAll(/( *)([^ ]+)/g)) {
    const wide = shownWidth(word);
    const gap = (lines.at(-1) ?? "").trim() === "" ? "" : spaces;
    if (gap.length + wide <= room) room -= gap.length + wide;
    else if (gap !== "" && wide <= width - before.length) {
      begin();
      room -= wide;
    } else {
      if (gap !== "" && room < MOST_ALONE) begin();
      else if (gap !== "") lines[lines.length - 1] += gap;
      room = width - shownWidth(lines.at(-1) ?? "");
      for (const piece of word.match(/\p{Cc}\[[0-9;]*m|./gsu) ?? []) {
        const one = shownWidth(piece);
        if (one > room) begin();
        lines[lines.length - 1] += piece;
        room -= one;
      }
      continue;
    }
    lines[lines.length - 1] += (lines.at(-1) ?? "").trim() === "" ? word : gap + word;
  }
  return lines;
}

/** A long word begins on a line of its own, unless there is so much room. */
const MOST_ALONE = 12;

function shownWidth(text: string): number {
  return textWidth(text.replace(COLOUR, ""));
}

/** A time as tables show it: to the minute, or to the second. */
export function utc(time: string, to: "minute" | "second" = "second"): string {
  return `${time.slice(0, to === "minute" ? 16 : 19).replace("T", " ")} UTC`;
}

/** Formats for programs. */
export type DataFormat = "json" | "yaml";

export function isData(output: string): output is DataFormat {
  return output === "json" || output === "yaml";
}

/** Formats a value for a program: `-o json` or `-o yaml`. */
export function formatData(value: unknown, format: DataFormat): string {
  return format === "json" ? json(value) : stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
}

export function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Colour only on a terminal, and never where NO_COLOR is set. */
export function wantsColour(): boolean {
  return process.stdout.isTTY === true && (process.env["NO_COLOR"] ?? "") === "";
}
