import { fromMarkdown } from "mdast-util-from-markdown";
import { COMMAND_NAMES, commandSpec } from "../rollout/commands.ts";
import type { CommandName } from "../rollout/world.ts";
import { readWords } from "./parse-words.ts";

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

/** Exactly one of: commands to act on, something to say back, nothing of ours. */
export type ParsedComment = { kind: "commands"; commands: ParsedCommand[] } | { kind: "reply"; message: string } | { kind: "ignore" };

const MOST_COMMANDS = 10;
/**
 * Anybody may comment, and some texts take a Markdown parser minutes. Whether a line is bold does not matter here, and
 * pairing up emphasis is what takes longest; quotes or lists fifty deep, or hundreds of link definitions, are nobody's honest comment.
 */
const NO_EMPHASIS = { disable: { null: ["attention"] } };
const DEFINITION = /^ {0,3}\[[^\]]+\]:/;
const MOST_DEFINITIONS = 200;
const TOO_DEEP = /^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)])){50}/;

/**
 * Reads a comment as GitHub does: a command is a line of a plain paragraph that begins with `/` in its first column. Text
 * inside quotes, code, lists, headings, links or HTML never acts. Total: whatever the text, it gives one of the three.
 */
export function parseComment(body: string): ParsedComment {
  if (!/^\/[a-z]/im.test(body)) return { kind: "ignore" };
  const commands: ParsedCommand[] = [];
  for (const line of plainLines(body)) {
    const word = /^\/([A-Za-z][\w-]*)(?=\s|$)/.exec(line)?.[1]?.toLowerCase();
    if (word === undefined) continue;
    const name = COMMAND_NAMES.find((known) => known === word);
    const near = name ?? nearestName(word);
    if (near === undefined) continue;
    if (name === undefined) return nothingDone(`there is no command \`/${word}\`; did you mean \`/${near}\`?`);
    if (commands.length === MOST_COMMANDS) return nothingDone(`a comment may hold at most ${MOST_COMMANDS} commands.`);
    const read = readWords(commandSpec(name), line);
    if (!read.ok) return nothingDone(`${read.message}.`);
    commands.push({ index: commands.length, name, text: line.trim().slice(0, 500), args: read.args, flags: read.flags });
  }
  return commands.length === 0 ? { kind: "ignore" } : { kind: "commands", commands };
}

const MOST_REMEMBERED = 20_000;

/** Reads each comment once for each text it ever had: rounds are many. */
export function parsedComments(): (comment: { id: number; body: string }) => ParsedComment {
  const known = new Map<number, { body: string; read: ParsedComment }>();
  return ({ id, body }) => {
    const before = known.get(id);
    if (before !== undefined && before.body === body) return before.read;
    if (known.size > MOST_REMEMBERED) known.clear();
    const read = parseComment(body);
    known.set(id, { body, read });
    return read;
  };
}

/** Commands that follow a mistake may lean on it: `/skip eu-1` and then `/promote`. So all of them are left alone. */
function nothingDone(message: string): ParsedComment {
  return { kind: "reply", message: `${message} Nothing of this comment was done` };
}

/** Lines of the comment whose first column is plain text of a top-level paragraph. */
function plainLines(body: string): string[] {
  const source = body.replace(/\r\n?/g, "\n").split("\n");
  const plain: string[] = [];
  if (source.some((line) => TOO_DEEP.test(line)) || source.filter((line) => DEFINITION.test(line)).length > MOST_DEFINITIONS) return plain;
  for (const block of fromMarkdown(source.join("\n"), { extensions: [NO_EMPHASIS] }).children) {
    if (block.type !== "paragraph") continue;
    for (const child of block.children) {
      const { start, end } = child.position ?? {};
      if (child.type !== "text" || start === undefined || end === undefined) continue;
      for (let line = start.line; line <= end.line; line++) {
        const text = source[line - 1];
        // A text node that begins further right has something else (code, a link) before it on its first line.
        if (text !== undefined && (line > start.line || start.column === 1)) plain.push(text);
      }
    }
  }
  return plain;
}

/** The known command a misspelt one is one or two letters away from. Words that merely look like a command are not ours. */
function nearestName(word: string): CommandName | undefined {
  if (word.length < 4) return undefined;
  return COMMAND_NAMES.find((name) => distance(word, name) <= (name.length > 5 ? 2 : 1));
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
