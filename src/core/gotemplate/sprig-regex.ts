/**
 * Sprig's functions that search by regular expressions. RE2JS is RE2 as Go has it: the same syntax, the same first match, time linear in the
 * input. What Go does around a match stands here: which empty matches count, what `$1` means in a replacement, how a text is split.
 */
import { type Matcher, RE2JS, RE2JSException } from "re2js";
import { type Budget, spend, spendOnText } from "./budget.ts";
import { type FunctionTable, fn, fnSpending, withMust } from "./functions.ts";
import { fails, TemplateError, typedList } from "./value.ts";

const compiled = new Map<string, RE2JS>();
const MOST_COMPILED = 200;
const LONGEST_INPUT = 20_000;
/** Linear time is still time times the pattern's size: so many of its instructions cost as much as one. */
const INSTRUCTIONS = 8;
/** Such as `(a{900}){9}`, of which few characters make many instructions. Larger ones are not kept. */
const LONGEST_PATTERN = 4000;
const LARGEST_KEPT = 10_000;

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
  const expression = parsePattern(pattern);
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  if (expression.programSize() <= LARGEST_KEPT) compiled.set(pattern, expression);
  return expression;
}

function parsePattern(pattern: string): RE2JS {
  if (pattern.length > LONGEST_PATTERN) throw fails("LACKS_LONG_PATTERN", { most: LONGEST_PATTERN });
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    // Go takes these, and means the first group of the name.
    if (error.message.includes("duplicate capture group name")) throw fails("LACKS_GROUPS", { pattern });
    throw fails("GO_PATTERN", { said: error.message });
  }
}

/** All matches from left to right. An empty one right behind another match is none. */
function* matches(budget: Budget, pattern: string, input: string): Generator<Match> {
  if (input.length > LONGEST_INPUT) throw fails("LACKS_LONG_INPUT", { most: LONGEST_INPUT });
  const expression = compile(pattern);
  // Whether it was compiled before is not asked, so that a template costs the same each time.
  spend(budget, expression.programSize());
  const size = Math.ceil(expression.programSize() / INSTRUCTIONS);
  const matcher = expression.matcher(input);
  let last = -1;
  // Each search may go to the end of the input before it knows of a match.
  for (spendOnText(budget, input.length * size); matcher.find(); spendOnText(budget, (input.length - matcher.end()) * size)) {
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

function replace(budget: Budget, pattern: string, input: string, fill: (match: Match) => string): string {
  let result = "";
  let at = 0;
  for (const match of matches(budget, pattern, input)) {
    result += input.slice(at, match.start) + fill(match);
    at = match.end;
  }
  return result + input.slice(at);
}

function splitBy(budget: Budget, pattern: string, input: string, count: number): string[] {
  if (count === 0) return [];
  if (pattern.length > 0 && input.length === 0) return [""];
  const parts: string[] = [];
  let start = 0;
  let end = 0;
  for (const match of matches(budget, pattern, input)) {
    if (count > 0 && parts.length === count - 1) break;
    end = match.start;
    if (match.end !== 0) parts.push(input.slice(start, end));
    start = match.end;
  }
  if (end !== input.length) parts.push(input.slice(start));
  return parts;
}

function find(budget: Budget, pattern: string, input: string, count: number): string[] {
  const found = matches(budget, pattern, input).map((match) => match.text);
  return (count < 0 ? found : found.take(count)).toArray();
}

/** Sprig drops the error of a pattern that is none. */
function isMatch(budget: Budget, pattern: string, input: string): boolean {
  try {
    compile(pattern);
  } catch (error) {
    if (error instanceof TemplateError && !error.lacks) return false;
    throw error;
  }
  return find(budget, pattern, input, 1).length > 0;
}

export const REGEX_FUNCTIONS: FunctionTable = {
  ...withMust({
    regexMatch: fnSpending("string string", (budget, pattern, input) => find(budget, pattern, input, 1).length > 0),
    regexFind: fnSpending("string string", (budget, pattern, input) => find(budget, pattern, input, 1)[0] ?? ""),
    regexFindAll: fnSpending("string string int", (budget, pattern, input, count) =>
      typedList(find(budget, pattern, input, count), "string"),
    ),
    regexReplaceAll: fnSpending("string string string", (budget, pattern, input, by) =>
      replace(budget, pattern, input, (match) => expand(by, match)),
    ),
    regexReplaceAllLiteral: fnSpending("string string string", (budget, pattern, input, by) => replace(budget, pattern, input, () => by)),
    regexSplit: fnSpending("string string int", (budget, pattern, input, count) =>
      typedList(splitBy(budget, pattern, input, count), "string"),
    ),
  }),
  regexMatch: fnSpending("string string", isMatch),
  regexQuoteMeta: fn("string", (text) => text.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&")),
};
