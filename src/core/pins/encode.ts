import { parseDocument } from "yaml";
import { BoundedMap } from "../base/bounded.ts";
import type { ScalarNode } from "../base/yaml-scan/model.ts";

export type Quote = '"' | "'";

/** The quotes that the file's values mostly have; double ones if none. */
export function quoteOf(text: string): Quote {
  const head = text.slice(0, 50_000);
  const single = head.match(/(?:: |- )'/g)?.length ?? 0;
  return single > (head.match(/(?:: |- )"/g)?.length ?? 0) ? "'" : '"';
}

/** What a plain scalar is to readers of YAML 1.1 or 1.2, whichever sees more in it than text. */
type PlainType = "string" | "null" | "bool" | "yes-no" | "int" | "float" | "other";

/**
 * Judged by every rule that some reader follows: YAML 1.2's core schema, YAML 1.1's (`on`, `1_000`, `0b1`, sexagesimal `1:30`,
 * dates) and go-yaml's, which Argo CD, Helm and kustomize use. Wider than each of them: a needless quote does no harm.
 */
export function plainType(value: string): PlainType {
  const known = TYPES.get(value);
  if (known !== undefined) return known;
  const type = judgedType(value);
  TYPES.set(value, type);
  return type;
}

/** A release writes one value to thousands of places, mostly over another. */
const TYPES = new BoundedMap<string, PlainType>(100);

function judgedType(value: string): PlainType {
  if (/^(?:|~|null|Null|NULL)$/.test(value)) return "null";
  if (/^(?:true|True|TRUE|false|False|FALSE)$/.test(value)) return "bool";
  if (/^(?:y|n|yes|no|on|off)$/i.test(value)) return "yes-no";
  if (/^[-+]?(?:[0-9][0-9_,]*|0[xX][0-9a-fA-F_]*|0[oO][0-7_]*|0[bB][01_]*)$/.test(value)) return "int";
  if (/^[-+]?(?:(?:[0-9][0-9_,]*\.?[0-9_]*|\.[0-9_]*)(?:[eE][-+]?[0-9_]*)?|[eE][-+]?[0-9]+)$/.test(value)) return "float";
  if (/^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/.test(value)) return "float";
  if (/^[-+]?[0-9][0-9_]*(?::[0-9]+)+(?:\.[0-9_]*)?$/.test(value)) return "other";
  if (/^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:$|[Tt \t])/.test(value)) return "other";
  return value === "=" || value === "<<" ? "other" : "string";
}

/** Whether a number printed by any reader comes out as it stands: `3.10`, `0044289`, `1e3` and 2^60 do not. */
function isCanonical(value: string, type: PlainType): boolean {
  if (type === "int") return /^-?(?:0|[1-9][0-9]*)$/.test(value) && Number.isSafeInteger(Number(value)) && value !== "-0";
  if (type === "float") return /^-?(?:0|[1-9][0-9]*)\.[0-9]+$/.test(value) && String(Number(value)) === value;
  return type === "bool" || type === "yes-no";
}

/** Whether text can stand unquoted as far as YAML's grammar goes; its type is another matter. */
function isPlainText(value: string, flow: boolean): boolean {
  if (value === "" || !/^[\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u.test(value)) return false;
  if (/^[\s,[\]{}#&*!|>'"%@`]|^[-?:](?:\s|$)|^(?:---|\.\.\.)|:\s|:$|\s#|\s$/.test(value)) return false;
  return !flow || !/[,[\]{}]|^[-?:]|:["']/.test(value);
}

export interface EncodeContext {
  json: boolean;
  flow: boolean;
  /** The quotes that the file prefers. */
  quote: Quote;
}

/**
 * A value as a new scalar. `old` is the plain scalar it replaces: a number stays a number and a boolean a boolean where readers
 * would print the new one back as it stands; anything else that would not be read as text gets quotes.
 */
export function encodePlain(value: string, context: EncodeContext, old: string | undefined): string {
  if (context.json) return encodeJson(value, old);
  const type = plainType(value);
  const kept = old !== undefined && type !== "null" && type !== "string" && type === plainType(old) && isCanonical(value, type);
  if ((type === "string" || kept) && isPlainText(value, context.flow)) return value;
  return encodeQuoted(value, context.quote === "'" || (value.includes('"') && !value.includes("'")) ? "'" : '"');
}

function encodeJson(value: string, old: string | undefined): string {
  const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/;
  if (old !== undefined && number.test(old) && number.test(value) && String(Number(value)) === value) return value;
  if (old !== undefined && /^(?:true|false)$/.test(old) && /^(?:true|false)$/.test(value)) return value;
  return JSON.stringify(value);
}

/** In single quotes where it can be, when these are asked for. */
export function encodeQuoted(value: string, quote: Quote): string {
  if (quote === "'" && isPrintable(value)) return `'${value.replaceAll("'", "''")}'`;
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function isPrintable(value: string): boolean {
  return /^[\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u.test(value);
}

/** The new source of an existing scalar in its own style; undefined where that style cannot say it. */
export function encodeLike(text: string, node: ScalarNode, old: string, value: string, context: EncodeContext): string | undefined {
  switch (node.style) {
    case "single":
      return encodeQuoted(value, "'");
    case "double":
      return context.json ? JSON.stringify(value) : encodeQuoted(value, '"');
    case "literal":
    case "folded":
      return encodeBlock(text, node, value);
    default:
      return encodePlain(value, context, node.style === "plain" ? old : undefined);
  }
}

/** Header and indentation stay. The last line break is the header's matter (`|-` has none, `|` one). */
function encodeBlock(text: string, node: ScalarNode, value: string): string | undefined {
  const source = text.slice(node.start, node.end);
  const newline = source.indexOf("\n");
  if (newline === -1 || !/^[\t\n\x20-\x7e\x85\xa0-\ufefe\uff00-\ufffd]*$/.test(value)) return undefined;
  const eol = source[newline - 1] === "\r" ? "\r\n" : "\n";
  const lines = (value.endsWith("\n") ? value.slice(0, -1) : value).split("\n");
  const indent = " ".repeat(node.bodyIndent);
  const gap = node.style === "folded" ? `${eol}${eol}` : eol;
  const body = value === "" ? "" : lines.map((line) => (line === "" ? "" : indent + line)).join(gap);
  return source.slice(0, newline + 1) + body + (source.endsWith("\n") && body !== "" ? eol : "");
}

/** A release writes one value to thousands of places. */
const READ_BACK = new BoundedMap<string, boolean>(100);

/** Reads one encoded scalar with the `yaml` package, as YAML 1.2 and 1.1: both must see this very text. */
export function readsBack(source: string, value: string, flow: boolean): boolean {
  const key = JSON.stringify([source, value, flow]);
  const known = READ_BACK.get(key) ?? isReadBack(source, value, flow);
  READ_BACK.set(key, known);
  return known;
}

function isReadBack(source: string, value: string, flow: boolean): boolean {
  for (const version of ["1.2", "1.1"] as const) {
    const document = parseDocument(flow ? `[${source}]` : source, { version, logLevel: "silent", prettyErrors: false });
    if (document.errors.length > 0) return false;
    const read: unknown = document.toJS();
    const got: unknown = flow && Array.isArray(read) ? read[0] : read;
    // A type other than text is right only where it was kept on purpose.
    const kept = (typeof got === "number" || typeof got === "boolean") && plainType(value) !== "string";
    if ((kept ? source : got) !== value) return false;
  }
  return true;
}
