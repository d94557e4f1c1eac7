/**
 * Sprig's and Argo CD's functions that write data as JSON, YAML and base64, and read it again. `toYaml` writes as Go's library does.
 */
import { errorText } from "../base/error-text.ts";
import { sha256 } from "../base/hash.ts";
import { parseYaml } from "../base/yaml-read.ts";
import { type Budget, spend } from "./budget.ts";
import { type FunctionTable, fn, fnSpending, withMust } from "./functions.ts";
import { fails, formatFloat, GoInt, type GoMap, type GoValue, GoVersion, isMap, isNothing, sortedKeys } from "./value.ts";

/** JSON as Go writes it: keys sorted; `<`, `>` and `&` escaped unless raw. */
function json(value: GoValue, { indent, raw = false }: { indent?: string; raw?: boolean }): string {
  const result = JSON.stringify(plain(value), null, indent) ?? "null";
  return result.replace(raw ? /[\u2028\u2029]/g : /[\u2028\u2029<>&]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Data without Go's types, its keys in order. */
function plain(value: GoValue): unknown {
  if (isNothing(value)) return null;
  if (value instanceof GoInt) return value.value;
  if (value instanceof GoVersion) throw fails("LACKS_VERSION_JSON");
  if (Array.isArray(value)) return value.map(plain);
  return isMap(value) ? Object.fromEntries(sortedKeys(value).map((key) => [key, plain(value[key])])) : value;
}

/** Parses a text, as the function that the template calls. */
function read(fn: string, parse: (text: string) => unknown, text: string): GoValue {
  try {
    return parse(text) as GoValue;
  } catch (error) {
    throw fails("GO_CALL", { fn, said: errorText(error) });
  }
}

/** Reading YAML takes as long for each character as a whole node of a template. */
function fromYaml(budget: Budget, text: string): GoMap {
  spend(budget, text.length);
  const parsed = read("fromYaml", parseYaml, text) ?? {};
  if (!isMap(parsed)) throw fails("GO_YAML_TYPE", { fn: "fromYaml", wanted: "map" });
  return parsed;
}

function fromYamlArray(budget: Budget, text: string): GoValue[] {
  spend(budget, text.length);
  const parsed = read("fromYamlArray", parseYaml, text) ?? [];
  if (!Array.isArray(parsed)) throw fails("GO_YAML_TYPE", { fn: "fromYamlArray", wanted: "list" });
  return parsed;
}

function fromJson(text: string): GoValue {
  try {
    return JSON.parse(text) as GoValue;
  } catch {
    return null;
  }
}

function encode64(value: string): string {
  return btoa(Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join(""));
}

/** sprig gives the decoder's complaint as the result. */
function decode64(value: string): string {
  const clean = value.replace(/[\r\n]/g, "");
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(clean)) throw fails("LACKS_BASE64", { bytes: false });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(atob(clean), (char) => char.charCodeAt(0)));
  } catch {
    throw fails("LACKS_BASE64", { bytes: true });
  }
}

export const ENCODING_FUNCTIONS: FunctionTable = {
  ...withMust({
    toJson: fn("any", (value) => json(value, {})),
    toPrettyJson: fn("any", (value) => json(value, { indent: "  " })),
    toRawJson: fn("any", (value) => json(value, { raw: true })),
  }),
  fromJson: fn("string", fromJson),
  mustFromJson: fn("string", (text) => read("mustFromJson", JSON.parse, text)),
  toYaml: fn("any", (value) => dumpYaml(plain(value))),
  fromYaml: fnSpending("string", fromYaml),
  fromYamlArray: fnSpending("string", fromYamlArray),
  b64enc: fn("string", encode64),
  b64dec: fn("string", decode64),
  sha256sum: fn("string", sha256),
};

/** Where a value is written: the column its parent's keys or dashes stand at, and the column it begins at. */
interface Place {
  parent: number;
  column: number;
}

/** Go's YAML writer breaks plain and quoted text at the first space past this column. */
const WIDTH = 80;
/** Keys longer than this, or of several lines, get an explicit `?`. */
const LONGEST_KEY = 128;

/**
 * Writes data as Argo CD's `toYaml` does: keys in its natural order, lists at their key's column, text plain where it
 * stays text, a literal block where it has several lines, long lines broken. No newline at the end.
 * @throws TemplateError for the few texts that would come out differently
 */
function dumpYaml(value: unknown): string {
  return write(value, { parent: -2, column: 0 }).replace(/^\n/, "");
}

/** A list or map begins with a newline, anything else does not. */
function write(value: unknown, place: Place): string {
  const depth = place.parent + 2;
  const pad = " ".repeat(depth);
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `\n${value.map((item) => `${pad}- ${write(item, { parent: depth, column: depth + 2 }).replace(/^\n */, "")}`).join("\n")}`;
  }
  if (typeof value !== "object" || value === null) return scalar(value, { ...place, parent: Math.max(place.parent, 0) });
  const entries = Object.entries(value).sort(([a], [b]) => keyOrder(a, b));
  return entries.length === 0 ? "{}" : `\n${entries.map(([key, item]) => pad + field(key, item, depth)).join("\n")}`;
}

function field(key: string, value: unknown, depth: number): string {
  if (key.length > LONGEST_KEY || key.includes("\n")) throw fails("LACKS_YAML", { of: "key" });
  const name = textScalar(key, undefined);
  // A list stands at its key's own column.
  const written = write(value, { parent: Array.isArray(value) ? depth - 2 : depth, column: depth + name.length + 2 });
  return `${name}:${written.startsWith("\n") ? "" : " "}${written}`;
}

function scalar(value: unknown, place: Place): string {
  if (typeof value === "number") return numberScalar(value);
  if (typeof value !== "string") return value === null || value === undefined ? "null" : String(value);
  return value.includes("\n") ? literal(value, place) : textScalar(value, place);
}

/** A number that JSON writes as an integer stays one while it fits 64 bits; others are floats. */
function numberScalar(value: number): string {
  const text = JSON.stringify(value);
  return /^-?\d+$/.test(text) && Math.abs(value) < 2 ** 63 ? text : formatFloat(value);
}

function literal(value: string, place: Place): string {
  if (/ \n| $|(?![\n\t])\p{Cc}/u.test(value)) return quotedOrRefused(value, place);
  const chomp = value.endsWith("\n\n") ? "+" : value.endsWith("\n") ? "" : "-";
  const pad = " ".repeat(place.parent + 2);
  const lines = value.replace(/\n$/, "").split("\n");
  // A first line that begins with a space or is empty would hide the indentation.
  const hint = /^[ \n]/.test(value) ? "2" : "";
  return `|${hint}${chomp}\n${lines.map((line) => (line === "" ? "" : pad + line)).join("\n")}`;
}

const NEEDS_QUOTES = /^[ \t,[\]{}#&*!|>'"%@`]|^[-?:]([ \t]|$)|^(---|\.\.\.)|:([ \t]|$)|[ \t]#|[ \t]$/;

function textScalar(value: string, place: Place | undefined): string {
  if (/[\u0085\u2028\u2029\ufeff\ud800-\udfff]/.test(value) || /[^\P{C}\p{Cc}]/u.test(value))
    throw fails("LACKS_YAML", { of: "characters" });
  if (/\p{Cc}/u.test(value) || value === "" || !staysText(value)) return quotedOrRefused(value, place);
  return folded(NEEDS_QUOTES.test(value) ? `'${value.replaceAll("'", "''")}'` : value, place);
}

/** Double quotes escape what JSON escapes, as long as no line must be broken. */
function quotedOrRefused(value: string, place: Place | undefined): string {
  const quoted = JSON.stringify(value).replace(/\\u00([0-9a-f]{2})/g, (_, code: string) => `\\x${code.toUpperCase()}`);
  if (place !== undefined && place.column + quoted.length > WIDTH && quoted.includes(" ")) throw fails("LACKS_YAML", { of: "quotes" });
  return quoted;
}

/** Breaks a plain or single-quoted text at single spaces past the width; a key is never broken. */
function folded(text: string, place: Place | undefined): string {
  if (place === undefined || place.column + text.length <= WIDTH) return text;
  let result = "";
  let column = place.column;
  for (let at = 0; at < text.length; at++) {
    const single = text[at] === " " && text[at - 1] !== " " && text[at + 1] !== " ";
    if (single && column > WIDTH && at > 0 && at < text.length - 1) {
      column = place.parent + 2;
      result += `\n${" ".repeat(column)}`;
    } else {
      result += text[at];
      column++;
    }
  }
  return result;
}

/** Whether the text, written plain, would be read as text again: by Go's parser old base-60 numbers would not. */
function staysText(value: string): boolean {
  if (/^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/.test(value)) return false;
  if (/^(<<|=|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/.test(value)) return value === "=" || value === "<<";
  if (!/^[-+.\dynYNtTfFoO~]/.test(value) || value.length > 64 || NEEDS_QUOTES.test(value)) return true;
  if (/^\d{4}-\d\d?-\d\d?/.test(value)) return false;
  try {
    return typeof parseYaml(value) === "string";
  } catch {
    return true;
  }
}

/** Letters stand behind other characters, and runs of digits compare as numbers. */
function keyOrder(a: string, b: string): number {
  const left = [...a];
  const right = [...b];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const one = left[at] ?? "";
    const other = right[at] ?? "";
    if (one === other) continue;
    const letters = [/\p{L}/u.test(one), /\p{L}/u.test(other)];
    if (letters[0] !== letters[1]) return letters[0] ? 1 : -1;
    if (letters[0]) return one < other ? -1 : 1;
    return compareDigits(left, right, at);
  }
  return left.length - right.length;
}

function compareDigits(left: readonly string[], right: readonly string[], at: number): number {
  // Within a number that has begun, a 0 counts as a digit.
  const within = (left[at] === "0" || right[at] === "0") && /[1-9]\d*$/.test(left.slice(0, at).join(""));
  const [one, other] = [left, right].map((chars) => /^\d*/.exec(chars.slice(at).join(""))?.[0] ?? "");
  const numbers = [one, other].map((digits) => Number(`${within ? "1" : ""}${digits || (within ? "" : "0")}`));
  if (numbers[0] !== numbers[1]) return (numbers[0] ?? 0) - (numbers[1] ?? 0);
  if (one?.length !== other?.length) return (one?.length ?? 0) - (other?.length ?? 0);
  return (left[at] ?? "") < (right[at] ?? "") ? -1 : 1;
}
