import { parseYaml } from "./yaml-read.ts";

/**
 * Writes data as Argo CD's `toYaml` does: keys sorted (by the caller), lists at their key's column, text plain where it
 * stays text, a literal block where it has several lines. No newline at the end.
 */
export function dumpYaml(value: unknown): string {
  return block(value, 0).replace(/^\n/, "");
}

function block(value: unknown, depth: number): string {
  const pad = " ".repeat(depth);
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `\n${value.map((item) => `${pad}- ${nested(item, depth + 2)}`).join("\n")}`;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return "{}";
    return `\n${entries.map(([key, item]) => `${pad}${scalarKey(key)}:${field(item, depth)}`).join("\n")}`;
  }
  return scalar(value, depth);
}

/** Items of a list begin on the dash's line. */
function nested(value: unknown, depth: number): string {
  return block(value, depth).replace(/^\n\s*/, "");
}

function field(value: unknown, depth: number): string {
  const isList = Array.isArray(value);
  const written = block(value, isList ? depth : depth + 2);
  return written.startsWith("\n") ? written : ` ${written}`;
}

function scalarKey(key: string): string {
  return key.includes("\n") ? JSON.stringify(key) : textScalar(key);
}

function scalar(value: unknown, depth: number): string {
  if (typeof value !== "string") return value === null || value === undefined ? "null" : String(value);
  return value.includes("\n") ? literal(value, depth) : textScalar(value);
}

function literal(value: string, depth: number): string {
  if (/[ \t]\n|[ \t]$|^\s|(?![\n\t])\p{Cc}/u.test(value)) return JSON.stringify(value);
  const trailing = /\n*$/.exec(value)?.[0].length ?? 0;
  const chomp = trailing === 0 ? "-" : trailing === 1 ? "" : "+";
  const pad = " ".repeat(Math.max(depth, 2));
  const lines = value.replace(/\n$/, "").split("\n");
  return `|${chomp}\n${lines.map((line) => (line === "" ? "" : pad + line)).join("\n")}`;
}

const NEEDS_QUOTES = /^[\s,[\]{}#&*!|>'"%@`]|^[-?:](\s|$)|^(---|\.\.\.)|:(\s|$)|\s#|\s$/;

function textScalar(value: string): string {
  if (/[\p{Cc}\u2028\u2029\ufeff]/u.test(value)) return JSON.stringify(value);
  if (value === "" || !staysText(value)) return JSON.stringify(value);
  return NEEDS_QUOTES.test(value) ? `'${value.replaceAll("'", "''")}'` : value;
}

/** Whether the text, written plain, would be read as text again: by Go's parser old base-60 numbers would not. */
function staysText(value: string): boolean {
  if (/^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/.test(value)) return false;
  if (/^(<<|=)$/.test(value)) return false;
  if (!/^[-+.\dynYNtTfFoO~nN]/.test(value) || value.length > 64 || NEEDS_QUOTES.test(value)) return true;
  if (/^\d{4}-\d\d?-\d\d?/.test(value)) return false;
  try {
    return typeof parseYaml(value) === "string";
  } catch {
    return true;
  }
}
