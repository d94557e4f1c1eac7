/** A comment becomes commands, a reply, or nothing; whatever the text, it throws nothing. Called by readings, and by the CLI before it posts. */
import { setImmediate } from "node:timers/promises";
import { distance } from "fastest-levenshtein";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { nearest } from "../../../core/base/nearest.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { comment } from "../../../core/reasons/comments.ts";
import {
  COMMAND_NAMES,
  type CommandName,
  type CommandSpec,
  commandSpec,
  type FlagSpec,
  ROLLOUT_FLAG,
} from "../../../core/spec/commands.ts";
import { isTooCostly, linesToRead, plainLines } from "./plain-lines.ts";

/** One command as written in a comment. */
export interface ParsedCommand {
  /** Position among the comment's commands, from 0. */
  index: number;
  name: CommandName;
  args: string[];
  flags: Record<string, string | true>;
  /** The line, as written. */
  text: string;
}

/** Exactly one of: commands to act on, a mistake to tell of, nothing of ours. */
type ParsedComment = { kind: "commands"; commands: ParsedCommand[] } | { kind: "mistake"; because: AnyReason } | { kind: "ignore" };

const LONGEST_BODY = 2 ** 17;
const MOST_COMMANDS = 10;
/** Of words that are no command, so many are compared with those that are. */
const MOST_COMPARED = 200;
/** Longer words than any command by more than the letters forgiven. */
const LONGEST_MISSPELT = Math.max(...COMMAND_NAMES.map((name) => name.length)) + 2;

/**
 * Reads a comment as GitHub does: a command is a line of a plain paragraph that begins with `/` in its first column. Text
 * inside quotes, code, lists, headings, links or HTML never acts. Total: whatever the text, it gives one of the three.
 */
export function parseComment(body: string): ParsedComment {
  if (!/^\/[a-z]/im.test(body)) return { kind: "ignore" };
  // GitHub takes none half so long.
  if (body.length > LONGEST_BODY) return mistake(comment("COMMENT_TOO_LONG"));
  const lines = linesToRead(body);
  if (!mayHoldCommands(lines)) return { kind: "ignore" };
  if (isTooCostly(lines)) return mistake(comment("COMMENT_TOO_LONG"));
  const commands: ParsedCommand[] = [];
  for (const line of plainLines(lines)) {
    const word = wordOf(line);
    if (word === undefined) continue;
    const name = COMMAND_NAMES.find((known) => known === word);
    const near = name ?? nearestName(word);
    if (near === undefined) continue;
    if (name === undefined) return mistake(comment("COMMAND_UNKNOWN", { given: word, near }));
    if (commands.length === MOST_COMMANDS) return mistake(comment("COMMANDS_TOO_MANY", { most: MOST_COMMANDS }));
    const read = readWords(commandSpec(name), line);
    if ("code" in read) return mistake(read);
    commands.push({ index: commands.length, name, text: line.trim().slice(0, 500), ...read });
  }
  return commands.length === 0 ? { kind: "ignore" } : { kind: "commands", commands };
}

const MOST_REMEMBERED = 20_000;
/** Of so few characters hundreds are read in no time. */
const SHORT = 100;

/** `key`: of the comment or review, see `keyOf`. */
export type CommentParser = (key: string, body: string) => Promise<ParsedComment>;

/** Reads each comment once for each text it ever had: rounds are many. Lets others have their turn after each. */
export function commentParser(): CommentParser {
  const known = new BoundedMap<string, { body: string; read: ParsedComment }>(MOST_REMEMBERED);
  return async (key, body) => {
    const before = known.get(key);
    if (before !== undefined && before.body === body) return before.read;
    const read = parseComment(body);
    known.set(key, { body, read });
    if (body.length > SHORT) await setImmediate();
    return read;
  };
}

function mistake(because: AnyReason): ParsedComment {
  return { kind: "mistake", because };
}

/** The word that would be a command if its line were plain text. */
function wordOf(line: string): string | undefined {
  return /^\/([A-Za-z][\w-]*)(?=\s|$)/.exec(line)?.[1]?.toLowerCase();
}

function mayHoldCommands(lines: readonly string[]): boolean {
  const words = [...new Set(lines.map(wordOf).filter((word) => word !== undefined))];
  return (
    COMMAND_NAMES.some((name) => words.includes(name)) || words.slice(0, MOST_COMPARED).some((word) => nearestName(word) !== undefined)
  );
}

/** The known command a misspelt one is one or two letters away from. Words that merely look like a command are not ours. */
function nearestName(word: string): CommandName | undefined {
  if (word.length < 4 || word.length > LONGEST_MISSPELT) return undefined;
  return COMMAND_NAMES.find((name) => distance(word, name) <= (name.length > 5 ? 2 : 1));
}

/** More are cut off: no honest line has them. */
const MOST_WORDS = 200;

/**
 * The words and flags of one command, as its entry in the table says they are. A telephone's keyboard makes one long dash of
 * two short ones: that is a flag, too. A reason may hold anything, so there only known flags are flags.
 */
function readWords(spec: CommandSpec, line: string): Pick<ParsedCommand, "args" | "flags"> | AnyReason {
  const words = line.trim().split(/\s+/).slice(1, MOST_WORDS);
  const known = [...spec.flags, ROLLOUT_FLAG];
  const args: string[] = [];
  const flags = new Map<string, string | true>();
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    const [, name, value] = /^(?:--|—|–)([A-Za-z][\w-]*)(?:=(.*))?$/.exec(word) ?? [];
    const flag = name === undefined ? undefined : known.find((one) => one.name === name.toLowerCase());
    if (name === undefined || (flag === undefined && spec.words === "reason")) {
      const arg = isFree(spec) ? unescaped(word) : bare(word);
      if (arg !== "") args.push(arg);
      continue;
    }
    if (flag === undefined) return unknownFlag(spec, name, known);
    const rest = flag.rest === true ? [...(value === undefined ? [] : [value]), ...words.slice(i + 1)].map(unescaped).join(" ") : undefined;
    if (rest !== undefined && rest !== "") {
      flags.set(flag.name, rest);
      break;
    }
    const given = value ?? (flag.value === undefined ? undefined : words[i + 1]);
    const wrong = whyWrongValue(spec, flag, given);
    if (wrong !== undefined) return wrong;
    flags.set(flag.name, given === undefined ? true : bare(given));
    if (value === undefined && flag.value !== undefined) i += 1;
  }
  const [first] = args;
  if (first !== undefined && spec.words === "nothing") return comment("COMMAND_TAKES_NO_WORDS", { command: spec.name, word: first });
  return { args, flags: Object.fromEntries(flags) };
}

/** Its words are a person's own, and kept as they are. */
function isFree({ words }: CommandSpec): boolean {
  return words === "reason" || words === "note";
}

/** As GitHub shows it: a backslash keeps a mark from being markup, and is not seen itself. */
function unescaped(word: string): string {
  return word.replace(/\\([!-/:-@[-`{-~])/g, "$1");
}

/** Without the comma of a list and the marks of code. */
function bare(word: string): string {
  return word.replace(/,$/, "").replace(/^`+|(?<!`)`+$/g, "");
}

function unknownFlag({ name: command }: CommandSpec, flag: string, flags: readonly FlagSpec[]): AnyReason {
  const known = flags.map(({ name }) => name);
  return comment("FLAG_UNKNOWN", { command, flag, known, near: nearest(flag, known) });
}

function whyWrongValue({ name: command }: CommandSpec, { name: flag, value }: FlagSpec, given: string | undefined): AnyReason | undefined {
  if (value === undefined) return given === undefined ? undefined : comment("FLAG_TAKES_NO_VALUE", { command, flag });
  const isMissing = given === undefined || given === "" || /^(?:--|—|–)[A-Za-z]/.test(given);
  return isMissing ? comment("FLAG_WANTS_VALUE", { command, flag, value }) : undefined;
}
