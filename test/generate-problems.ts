import { readFileSync } from "node:fs";

/**
 * The registry of every code people can meet is docs/troubleshooting.md itself: the rows of its tables, code → the row's other
 * cells. docs.test.ts holds it against the sources, both ways.
 */
export function codesOnPage(text: string): Map<string, string[]> {
  const codes = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [, code, rest] = /^\| `([A-Za-z_]+)` \|(.*)\|$/.exec(line) ?? [];
    if (code !== undefined && rest !== undefined)
      codes.set(
        code,
        rest.split(/(?<!\\)\|/).map((cell) => cell.trim()),
      );
  }
  return codes;
}

const page = readFileSync(new URL("../docs/troubleshooting.md", import.meta.url), "utf8");

/** Every code of the page → what it means. */
export const PROBLEMS: Record<string, string> = Object.fromEntries([...codesOnPage(page)].map(([code, cells]) => [code, cells[0] ?? ""]));
