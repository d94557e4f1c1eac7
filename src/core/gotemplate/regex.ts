import { type FunctionTable, fn, text } from "./functions.ts";
import { GoInt, type GoValue, TemplateError, typedList, UnsupportedError } from "./value.ts";

const ESCAPES: Record<string, string> = {
  A: "^",
  z: "$",
  a: "\\x07",
  d: "[0-9]",
  D: "[^0-9]",
  w: "[A-Za-z0-9_]",
  W: "[^A-Za-z0-9_]",
  s: "[\\t\\n\\f\\r ]",
  S: "[^\\t\\n\\f\\r ]",
  b: "\\b",
  B: "\\B",
  f: "\\f",
  n: "\\n",
  r: "\\r",
  t: "\\t",
  v: "\\v",
};
const IN_CLASS: Record<string, string> = {
  d: "0-9",
  w: "A-Za-z0-9_",
  s: "\\t\\n\\f\\r ",
  a: "\\x07",
  f: "\\f",
  n: "\\n",
  r: "\\r",
  t: "\\t",
  v: "\\v",
};
const POSIX: Record<string, string> = {
  alpha: "A-Za-z",
  digit: "0-9",
  alnum: "A-Za-z0-9",
  upper: "A-Z",
  lower: "a-z",
  space: "\\t\\n\\v\\f\\r ",
  xdigit: "0-9A-Fa-f",
  word: "A-Za-z0-9_",
  punct: "!-\\/:-@\\[-`{-~",
};

const compiled = new Map<string, RegExp>();
const MOST_COMPILED = 200;
/** JS backtracks where RE2 does not: on longer input a pattern could run for ever. */
const LONGEST_INPUT = 20_000;

function unsupported(pattern: string, what: string): never {
  throw new UnsupportedError("regex", `the regular expression ${JSON.stringify(pattern)} uses ${what}, which is not supported`);
}

/** An RE2 pattern as a JS one, where both mean the same; anything else is refused by name. */
export function translate(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const { body, flags } = leadingFlags(pattern);
  const expression = build(pattern, body, flags);
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  compiled.set(pattern, expression);
  return expression;
}

function build(pattern: string, body: string, flags: string): RegExp {
  if (/\([^()]*[+*][^()]*\)[+*{]/.test(body)) unsupported(pattern, "a repetition within a repetition");
  try {
    return new RegExp(translateBody(pattern, body, flags.includes("s")), `gu${flags.replace("s", "")}`);
  } catch (error) {
    if (error instanceof UnsupportedError || error instanceof TemplateError) throw error;
    return unsupported(pattern, "syntax that reads differently elsewhere");
  }
}

function leadingFlags(pattern: string): { body: string; flags: string } {
  const match = /^\(\?([ims]+)\)/.exec(pattern);
  return match === null ? { body: pattern, flags: "" } : { body: pattern.slice(match[0].length), flags: match[1] ?? "" };
}

function translateBody(pattern: string, body: string, dotAll: boolean): string {
  let result = "";
  let at = 0;
  while (at < body.length) {
    const char = body[at] ?? "";
    if (char === "\\") {
      result += translateEscape(pattern, body[at + 1]);
      at += 2;
    } else if (char === "[") {
      const parsed = translateClass(pattern, body, at);
      result += parsed.text;
      at = parsed.end;
    } else if (body.startsWith("(?", at)) {
      const group = /^\(\?(:|P?<([A-Za-z_]\w*)>)/.exec(body.slice(at));
      if (group === null) throw new TemplateError(`error parsing regexp: invalid or unsupported group in ${JSON.stringify(pattern)}`);
      result += group[2] === undefined ? "(?:" : `(?<${group[2]}>`;
      at += group[0].length;
    } else {
      result += char === "." ? (dotAll ? "[\\s\\S]" : "[^\\n]") : char;
      at++;
    }
  }
  return result;
}

function translateEscape(pattern: string, char: string | undefined): string {
  if (char === undefined)
    throw new TemplateError(`error parsing regexp: trailing backslash at end of expression in ${JSON.stringify(pattern)}`);
  const known = ESCAPES[char];
  if (known !== undefined) return known;
  if (/[A-Za-z0-9]/.test(char)) return unsupported(pattern, `\\${char}`);
  return /[$()*+.?[\\\]^{|}/]/.test(char) ? `\\${char}` : char;
}

function translateClass(pattern: string, body: string, start: number): { text: string; end: number } {
  let at = start + 1;
  let result = "[";
  if (body[at] === "^") {
    result += "^";
    at++;
  }
  for (let first = true; at < body.length; first = false) {
    const char = body[at] ?? "";
    if (char === "]" && !first) return { text: `${result}]`, end: at + 1 };
    const posix = /^\[:([a-z]+):\]/.exec(body.slice(at));
    if (posix !== null) {
      result += POSIX[posix[1] ?? ""] ?? unsupported(pattern, posix[0]);
      at += posix[0].length;
    } else if (char === "\\") {
      const escaped = body[at + 1] ?? "";
      if (/[A-Za-z0-9]/.test(escaped)) result += IN_CLASS[escaped] ?? unsupported(pattern, `\\${escaped} in a class`);
      else result += /[\^$\\.*+?()[\]{}|/-]/.test(escaped) ? `\\${escaped}` : escaped;
      at += 2;
    } else {
      result += /[[\](){}|/]/.test(char) ? `\\${char}` : char;
      at++;
    }
  }
  throw new TemplateError(`error parsing regexp: missing closing ] in ${JSON.stringify(pattern)}`);
}

function checked(input: string): string {
  if (input.length > LONGEST_INPUT)
    throw new UnsupportedError("regex", `regular expressions over more than ${LONGEST_INPUT} characters are not supported`);
  return input;
}

function matches(pattern: string, input: string): RegExpExecArray[] {
  return [...checked(input).matchAll(translate(pattern))];
}

/** Go's `$1`, `${1}`, `$name`: a name takes as many letters, digits and underscores as there are. */
function expand(replacement: string, match: RegExpExecArray): string {
  return replacement.replace(/\$(?:\$|\{(\w+)\}|(\w+))/g, (whole, braced: string | undefined, bare: string | undefined) => {
    const name = braced ?? bare;
    if (name === undefined) return whole === "$$" ? "$" : whole;
    return (/^\d+$/.test(name) ? match[Number(name)] : match.groups?.[name]) ?? "";
  });
}

function replace(pattern: string, input: string, fill: (match: RegExpExecArray) => string): string {
  let result = "";
  let at = 0;
  for (const match of matches(pattern, input)) {
    result += input.slice(at, match.index) + fill(match);
    at = match.index + match[0].length;
  }
  return result + input.slice(at);
}

function split(pattern: string, input: string, count: number): string[] {
  if (count === 0) return [];
  if (pattern.length > 0 && input.length === 0) return [""];
  const parts: string[] = [];
  let start = 0;
  let end = 0;
  for (const match of matches(pattern, input)) {
    if (count > 0 && parts.length === count - 1) break;
    end = match.index;
    if (match.index + match[0].length !== 0) parts.push(input.slice(start, end));
    start = match.index + match[0].length;
  }
  if (end !== input.length) parts.push(input.slice(start));
  return parts;
}

function found(args: readonly GoValue[]): string[] {
  const count = args[2] instanceof GoInt ? args[2].value : -1;
  const all = matches(text(args, 0), text(args, 1)).map((match) => match[0]);
  return count < 0 ? all : all.slice(0, count);
}

const PLAIN: FunctionTable = {
  regexMatch: fn("string string", (a) => matches(text(a, 0), text(a, 1)).length > 0),
  regexFind: fn("string string", (a) => matches(text(a, 0), text(a, 1))[0]?.[0] ?? ""),
  regexFindAll: fn("string string int", (a) => typedList(found(a), "string")),
  regexReplaceAll: fn("string string string", (a) => replace(text(a, 0), text(a, 1), (match) => expand(text(a, 2), match))),
  regexReplaceAllLiteral: fn("string string string", (a) => replace(text(a, 0), text(a, 1), () => text(a, 2))),
  regexSplit: fn("string string int", (a) => typedList(split(text(a, 0), text(a, 1), a[2] instanceof GoInt ? a[2].value : -1), "string")),
};

export const REGEX_FUNCTIONS: FunctionTable = {
  ...PLAIN,
  ...Object.fromEntries(Object.entries(PLAIN).map(([name, target]) => [`mustR${name.slice(1)}`, target])),
  regexQuoteMeta: fn("string", (a) => text(a, 0).replace(/[\\.+*?()|[\]{}^$]/g, "\\$&")),
};
