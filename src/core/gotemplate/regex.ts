/**
 * Sprig's functions of regular expressions. RE2JS is RE2 as Go has it: the same syntax, the same first match, time linear in the
 * input. What Go does around a match stands here: which empty matches count, what `$1` means in a replacement, how a text is split.
 */
import { type Matcher, RE2JS, RE2JSException } from "re2js";
import { type FunctionTable, fn, withMust } from "./functions.ts";
import { fails, lacks, TemplateError, typedList } from "./value.ts";

const compiled = new Map<string, RE2JS>();
const MOST_COMPILED = 200;
/** Linear time is still time times the pattern's size. */
const LONGEST_INPUT = 20_000;

interface Match {
  start: number;
  end: number;
  text: string;
  /** By number or name; nothing where there is no such group, or it took no part. */
  group(name: string): string;
}

function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const expression = parse(pattern);
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  compiled.set(pattern, expression);
  return expression;
}

function parse(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    // Go takes these, and means the first group of the name.
    if (error.message.includes("duplicate capture group name")) throw lacks("LACKS_GROUPS", { pattern });
    throw fails("GO_PATTERN", { said: error.message });
  }
}

/** All matches from left to right. An empty one right behind another match is none. */
function* matches(pattern: string, input: string): Generator<Match> {
  if (input.length > LONGEST_INPUT) throw lacks("LACKS_LONG_INPUT", { most: LONGEST_INPUT });
  const matcher = compile(pattern).matcher(input);
  let last = -1;
  while (matcher.find()) {
    const [start, end] = [matcher.start(), matcher.end()];
    if (start === end && end === last) continue;
    last = end;
    yield { start, end, text: input.slice(start, end), group: (name) => groupOf(matcher, name) };
  }
}

function groupOf(matcher: Matcher, name: string): string {
  if (!/^\d+$/.test(name)) return Object.hasOwn(matcher.namedGroups, name) ? (matcher.group(name) ?? "") : "";
  return Number(name) <= matcher.groupCount() ? (matcher.group(Number(name)) ?? "") : "";
}

/** Go's `$1`, `${1}`, `$name`: a name takes as many letters, digits and underscores as there are. */
function expand(replacement: string, match: Match): string {
  return replacement.replace(/\$(?:\$|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu, (_, braced?: string, bare?: string) => {
    const name = braced ?? bare;
    return name === undefined ? "$" : match.group(name);
  });
}

function replace(pattern: string, input: string, fill: (match: Match) => string): string {
  let result = "";
  let at = 0;
  for (const match of matches(pattern, input)) {
    result += input.slice(at, match.start) + fill(match);
    at = match.end;
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
    end = match.start;
    if (match.end !== 0) parts.push(input.slice(start, end));
    start = match.end;
  }
  if (end !== input.length) parts.push(input.slice(start));
  return parts;
}

function find(pattern: string, input: string, count: number): string[] {
  const found = matches(pattern, input).map((match) => match.text);
  return (count < 0 ? found : found.take(count)).toArray();
}

/** Sprig drops the error of a pattern that is none. */
function isMatch(pattern: string, input: string): boolean {
  try {
    return find(pattern, input, 1).length > 0;
  } catch (error) {
    if (error instanceof TemplateError && !error.lacks) return false;
    throw error;
  }
}

export const REGEX_FUNCTIONS: FunctionTable = {
  ...withMust({
    regexMatch: fn("string string", (pattern, input) => find(pattern, input, 1).length > 0),
    regexFind: fn("string string", (pattern, input) => find(pattern, input, 1)[0] ?? ""),
    regexFindAll: fn("string string int", (pattern, input, count) => typedList(find(pattern, input, count), "string")),
    regexReplaceAll: fn("string string string", (pattern, input, by) => replace(pattern, input, (match) => expand(by, match))),
    regexReplaceAllLiteral: fn("string string string", (pattern, input, by) => replace(pattern, input, () => by)),
    regexSplit: fn("string string int", (pattern, input, count) => typedList(split(pattern, input, count), "string")),
  }),
  regexMatch: fn("string string", isMatch),
  regexQuoteMeta: fn("string", (text) => text.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&")),
};
