/**
 * YAML as the journal has it: block style for what people read, and long lists of like things as rows, one line of JSON
 * each (which is YAML too). Rows make a diff of 200 targets readable, and are written and read some twenty times faster than
 * nested YAML, which is what makes a run over 10,000 clusters affordable.
 */
import { parseDocument, stringify } from "yaml";
import { parseJson } from "../../../core/base/yaml-read.ts";

const MARK = "@@row:";
const ROW = /^(\s*- )(\{.*\})$/;
const PLACEHOLDER = /^@@row:(\d+)@@$/;

const PRINTING = { lineWidth: 0, aliasDuplicateObjects: false, blockQuote: false, doubleQuotedMinMultiLineLength: 1e9 } as const;

/** Prints plain data with key order kept; the lists under one of `rowKeys` are printed as rows. Ends in a newline. */
export function printYaml(value: unknown, rowKeys: ReadonlySet<string>): string {
  const rows: string[] = [];
  const marked = mark(value, rowKeys, rows);
  const text = stringify(marked, PRINTING);
  if (rows.length === 0) return text;
  return text.replace(/"@@row:(\d+)@@"/g, (_, index) => rows[Number(index)] ?? "");
}

function mark(value: unknown, rowKeys: ReadonlySet<string>, rows: string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => mark(item, rowKeys, rows));
  // A text that looks like our mark is printed as a row is: literally.
  if (typeof value === "string" && value.includes(MARK)) return `${MARK}${rows.push(JSON.stringify(value)) - 1}@@`;
  if (typeof value !== "object" || value === null) return value;
  const marked: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (rowKeys.has(key) && Array.isArray(item)) {
      marked[key] = item.map((row) => `${MARK}${rows.push(JSON.stringify(row)) - 1}@@`);
    } else {
      marked[key] = mark(item, rowKeys, rows);
    }
  }
  return marked;
}

/** What a text could not be read for: one line, with line and column. */
class YamlTextError extends Error {
  override name = "YamlTextError";
}

/** Reads any YAML text into plain data; rows by the short way. Aliases and more than one document are refused. Throws YamlTextError. */
export function parseYaml(text: string): unknown {
  if (!text.includes(MARK)) {
    const short = parseRows(text);
    if (short !== undefined) return short.value;
  }
  return parsePlain(text);
}

/** undefined where a row stands somewhere that is no list item of its own (in a block scalar, say): to be read the long way. */
function parseRows(text: string): { value: unknown } | undefined {
  const rows: unknown[] = [];
  const lines = text.split("\n");
  for (const [at, line] of lines.entries()) {
    const found = ROW.exec(line);
    if (found === null) continue;
    const row = parseJson(found[2] ?? "");
    if (row !== undefined) lines[at] = `${found[1]}"${MARK}${rows.push(row) - 1}@@"`;
  }
  if (rows.length === 0) return undefined;
  let filled = 0;
  let strange = false;
  const fill = (value: unknown): unknown => {
    if (typeof value === "string" && value.includes(MARK)) {
      const index = PLACEHOLDER.exec(value)?.[1];
      if (index === undefined) strange = true;
      filled += 1;
      return rows[Number(index)];
    }
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== "object" || value === null) return value;
    for (const [key, item] of Object.entries(value)) (value as Record<string, unknown>)[key] = fill(item);
    return value;
  };
  try {
    const value = fill(parsePlain(lines.join("\n")));
    return strange || filled !== rows.length ? undefined : { value };
  } catch {
    return undefined;
  }
}

function parsePlain(text: string): unknown {
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: true });
  const problem = document.errors[0];
  if (problem !== undefined) throw new YamlTextError(problem.message.split("\n")[0]?.replace(/:$/, "") ?? "is not YAML");
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    throw new YamlTextError(error instanceof Error ? "aliases are not taken here" : String(error));
  }
}
