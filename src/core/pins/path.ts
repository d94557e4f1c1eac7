import type { KindsOf } from "../base/reason.ts";
import type { PathFaults } from "../reasons/pins.ts";
import { type Refused, refuse } from "./types.ts";

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

/** What is wrong with a path, and where; it never leaves this file. */
class PathMistake extends Error {
  readonly at: number;
  readonly fault: KindsOf<PathFaults>;
  constructor(at: number, fault: KindsOf<PathFaults>) {
    super(fault.kind);
    this.at = at;
    this.fault = fault;
  }
}

/** Reads `a.b[0].c`, `[key=value]`, `["odd.key"]`, the prefix `#2/` and `!`. Errors: PIN_PATH_SYNTAX, with the column in the path. */
export function parsePinPath(path: string): { ok: true; value: PinPath } | Refused {
  try {
    return { ok: true, value: parse(path) };
  } catch (error) {
    if (!(error instanceof PathMistake)) throw error;
    return refuse("PIN_PATH_SYNTAX", { pinPath: path, at: error.at + 1, ...error.fault });
  }
}

function parse(path: string): PinPath {
  const open = path.indexOf("{{");
  if (open !== -1) throw new PathMistake(open, { kind: "Template" });
  const prefix = /^#([1-9][0-9]*)\//.exec(path);
  const steps: PinStep[] = [];
  let at = prefix?.[0].length ?? 0;
  if (path[at] === "#") throw new PathMistake(at, { kind: "Prefix" });
  let fresh = true;
  while (at < path.length) {
    const { step, end } = stepAt(path, at, fresh);
    steps.push(step);
    at = end;
    fresh = step.kind === "into";
  }
  if (steps.length === 0) throw new PathMistake(at, { kind: "Empty" });
  if (fresh) throw new PathMistake(at - 1, { kind: "NothingInside" });
  return { document: prefix === null ? undefined : Number(prefix[1]), steps };
}

interface Step {
  step: PinStep;
  end: number;
}

/** `fresh`: at the start or after `!`, where a key needs no dot before it. */
function stepAt(path: string, at: number, fresh: boolean): Step {
  const sign = path[at] ?? "";
  if (sign === "[") return bracketAt(path, at);
  if (sign === "!" && fresh) throw new PathMistake(at, { kind: "InsideNothing" });
  if (sign === "!") return { step: { kind: "into" }, end: at + 1 };
  if (sign === "." && fresh) throw new PathMistake(at, { kind: "DotFirst" });
  if (sign !== "." && !fresh) throw new PathMistake(at, { kind: "Stray", sign });
  const start = sign === "." ? at + 1 : at;
  const pattern = /[^.[\]!"'=\s]+/y;
  pattern.lastIndex = start;
  const key = pattern.exec(path)?.[0];
  if (key === undefined) throw new PathMistake(start, { kind: "NoKey" });
  return { step: { kind: "key", key }, end: start + key.length };
}

function bracketAt(path: string, at: number): Step {
  const first = tokenAt(path, at, at + 1, /[^\]=]*/y);
  if (path[first.end] === "=") {
    // A quote that is wrong behind the sign is told as a bracket that is.
    const second = tokenAt(path, at, first.end + 1, /[^\]]*/y, true);
    if (path[second.end] !== "]") throw new PathMistake(at, { kind: "BracketOpen" });
    if (first.value === "") throw new PathMistake(at + 1, { kind: "SelectorNoKey" });
    return { step: { kind: "match", key: first.value, value: second.value }, end: second.end + 1 };
  }
  if (path[first.end] !== "]") throw new PathMistake(at, { kind: "BracketOpen" });
  const end = first.end + 1;
  if (first.quoted) return { step: { kind: "key", key: first.value }, end };
  if (/^(?:0|[1-9][0-9]{0,8})$/.test(first.value)) return { step: { kind: "index", index: Number(first.value) }, end };
  throw new PathMistake(at + 1, { kind: "Bracket", given: first.value });
}

/** A quoted string (JSON's rules in double quotes, '' in single ones), or what `bare` takes. `bracket`: where its bracket opens. */
function tokenAt(path: string, bracket: number, at: number, bare: RegExp, second = false): { value: string; end: number; quoted: boolean } {
  const quote = path[at];
  const pattern = quote === '"' ? /"(?:[^"\\]|\\.)*"/y : quote === "'" ? /'(?:[^']|'')*'/y : bare;
  pattern.lastIndex = at;
  const source = pattern.exec(path)?.[0];
  if (source === undefined) throw new PathMistake(bracket, { kind: second ? "BracketOpen" : "QuoteOpen" });
  const end = at + source.length;
  if (pattern === bare) return { value: source, end, quoted: false };
  if (quote === "'") return { value: source.slice(1, -1).replaceAll("''", "'"), end, quoted: true };
  try {
    return { value: String(JSON.parse(source)), end, quoted: true };
  } catch {
    throw new PathMistake(bracket, { kind: second ? "BracketOpen" : "BadEscape" });
  }
}

/** The inverse of `parsePinPath`. */
export function printPinPath(path: { document?: number | undefined; steps: readonly PinStep[] }): string {
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
