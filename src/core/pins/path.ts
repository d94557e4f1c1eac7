import type { PinError } from "./types.ts";

/** One step of a pin path. `into`: `!`, go on inside the YAML that a block scalar holds. */
export type PinStep =
  | { kind: "key"; key: string }
  | { kind: "index"; index: number }
  | { kind: "match"; key: string; value: string }
  | { kind: "into" };

/** docs/spec.md §6 *Pin paths*. `document` counts from 1; undefined: whichever document has the path. */
export interface PinPath {
  document: number | undefined;
  steps: PinStep[];
}

export type Parsed<T> = { ok: true; value: T } | { ok: false; error: PinError };

/** Reads `a.b[0].c`, `[key=value]`, `["odd.key"]`, the prefix `#2/` and `!`. Errors: PIN_PATH_SYNTAX, with the column in the path. */
export function parsePinPath(path: string): Parsed<PinPath> {
  const open = path.indexOf("{{");
  if (open !== -1)
    return mistake(path, open, "the template in it was not filled in", "Give the path of one cluster, with every {{ … }} replaced.");
  const prefix = /^#([1-9][0-9]*)\//.exec(path);
  const steps: PinStep[] = [];
  let at = prefix?.[0].length ?? 0;
  if (path[at] === "#") return mistake(path, at, "a document's prefix looks like `#2/`", 'A key that begins with # is written ["#key"].');
  let fresh = true;
  while (at < path.length) {
    const step = stepAt(path, at, fresh);
    if ("error" in step) return { ok: false, error: step.error };
    steps.push(step.step);
    at = step.end;
    fresh = step.step.kind === "into";
  }
  if (steps.length === 0) return mistake(path, at, "it is empty", "Write the keys down to the value, such as spec.source.targetRevision.");
  if (fresh)
    return mistake(path, at - 1, "nothing follows the !", "Write the path inside the block scalar after it, such as values!image.tag.");
  return { ok: true, value: { document: prefix === null ? undefined : Number(prefix[1]), steps } };
}

type Step = { step: PinStep; end: number } | { error: PinError };

/** `fresh`: at the start or after `!`, where a key needs no dot before it. */
function stepAt(path: string, at: number, fresh: boolean): Step {
  const char = path[at];
  if (char === "[") return bracketAt(path, at);
  if (char === "!") {
    if (fresh)
      return {
        error: errorAt(path, at, "a ! must follow the path of a block scalar", "Name the block scalar first, such as values!image.tag."),
      };
    return { step: { kind: "into" }, end: at + 1 };
  }
  if (char === "." && fresh) return { error: errorAt(path, at, "a key is missing before the dot", "Remove the dot.") };
  if (char !== "." && !fresh) return { error: errorAt(path, at, `"${char}" is not expected here`, "Separate keys by dots.") };
  const start = char === "." ? at + 1 : at;
  const key = /[^.[\]!"'=\s]+/y;
  key.lastIndex = start;
  const found = key.exec(path)?.[0];
  if (found !== undefined) return { step: { kind: "key", key: found }, end: start + found.length };
  return { error: errorAt(path, start, "a key is missing", 'A key with dots, spaces or brackets is written ["odd.key"].') };
}

function bracketAt(path: string, at: number): Step {
  const first = tokenAt(path, at + 1, /[^\]=]*/y);
  if (typeof first === "string") return { error: errorAt(path, at, first, 'Write [0], [key=value] or ["odd.key"].') };
  const unclosed = { error: errorAt(path, at, "the bracket is not closed", 'Write [0], [key=value] or ["odd.key"].') };
  if (path[first.end] === "=") {
    const second = tokenAt(path, first.end + 1, /[^\]]*/y);
    if (typeof second === "string" || path[second.end] !== "]") return unclosed;
    if (first.value === "") return { error: errorAt(path, at + 1, "the selector has no key", "Write [key=value].") };
    return { step: { kind: "match", key: first.value, value: second.value }, end: second.end + 1 };
  }
  if (path[first.end] !== "]") return unclosed;
  if (first.quoted) return { step: { kind: "key", key: first.value }, end: first.end + 1 };
  if (/^(?:0|[1-9][0-9]{0,8})$/.test(first.value)) return { step: { kind: "index", index: Number(first.value) }, end: first.end + 1 };
  const text = first.value === "" ? "nothing stands in the brackets" : `"${first.value}" is neither an index nor key=value`;
  return { error: errorAt(path, at + 1, text, `Write [0], [key=value] or ["${first.value === "" ? "odd.key" : first.value}"].`) };
}

/** A quoted string (JSON's rules in double quotes, '' in single ones), or what `bare` takes. A string: what is wrong. */
function tokenAt(path: string, at: number, bare: RegExp): { value: string; end: number; quoted: boolean } | string {
  const quote = path[at];
  if (quote !== '"' && quote !== "'") {
    bare.lastIndex = at;
    const value = bare.exec(path)?.[0] ?? "";
    return { value, end: at + value.length, quoted: false };
  }
  const pattern = quote === '"' ? /"(?:[^"\\]|\\.)*"/y : /'(?:[^']|'')*'/y;
  pattern.lastIndex = at;
  const source = pattern.exec(path)?.[0];
  if (source === undefined) return "the quote is not closed";
  const end = at + source.length;
  if (quote === "'") return { value: source.slice(1, -1).replaceAll("''", "'"), end, quoted: true };
  try {
    return { value: String(JSON.parse(source)), end, quoted: true };
  } catch {
    return "the quoted text has an escape that JSON does not know";
  }
}

function mistake(path: string, at: number, why: string, hint: string): { ok: false; error: PinError } {
  return { ok: false, error: errorAt(path, at, why, hint) };
}

function errorAt(path: string, at: number, why: string, hint: string): PinError {
  return { code: "PIN_PATH_SYNTAX", message: `pin path "${path}", column ${at + 1}: ${why}`, hint };
}

/** The inverse of `parsePinPath`. */
export function printPinPath(path: PinPath): string {
  const prefix = path.document === undefined ? "" : `#${path.document}/`;
  let text = "";
  let fresh = true;
  for (const step of path.steps) {
    if (step.kind === "into") text += "!";
    else if (step.kind === "index") text += `[${step.index}]`;
    else if (step.kind === "match") text += `[${bareOr(step.key, /^[^\]="'{}][^\]={}]*$/)}=${bareOr(step.value, /^[^\]"'{}][^\]{}]*$/)}]`;
    else if (/^[^.[\]!"'=\s{}#][^.[\]!"'=\s{}]*$/.test(step.key)) text += fresh ? step.key : `.${step.key}`;
    else text += `[${quoted(step.key)}]`;
    fresh = step.kind === "into";
  }
  return prefix + text;
}

function bareOr(value: string, bare: RegExp): string {
  return bare.test(value) ? value : quoted(value);
}

/** `{{` is spelt with an escape, since in a path it means a template that nobody filled in. */
function quoted(value: string): string {
  return JSON.stringify(value).replaceAll("{{", "{\\u007b");
}
