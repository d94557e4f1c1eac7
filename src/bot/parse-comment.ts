import { fromMarkdown } from "mdast-util-from-markdown";
import type { CommandName } from "../rollout/world.ts";

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

const NAMES: readonly CommandName[] = [
  "promote",
  "requeue",
  "skip",
  "pause",
  "resume",
  "abort",
  "retry",
  "rollback",
  "halt",
  "hotfix",
  "status",
  "plan",
  "help",
];
/** Flags that take the next word as their value. */
const VALUED = new Set(["for", "to", "rollout"]);
const MOST_COMMANDS = 10;
const MOST_WORDS = 200;
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
  const lines = plainLines(body);
  const commands: ParsedCommand[] = [];
  for (const line of lines) {
    const word = /^\/([A-Za-z][\w-]*)(?=\s|$)/.exec(line)?.[1]?.toLowerCase();
    if (word === undefined) continue;
    const name = NAMES.find((known) => known === word);
    if (name === undefined) {
      const near = nearestName(word);
      if (near !== undefined)
        return { kind: "reply", message: `there is no command \`/${word}\`; did you mean \`/${near}\`? Nothing of this comment was done` };
      continue;
    }
    if (commands.length === MOST_COMMANDS) {
      return { kind: "reply", message: `a comment may hold at most ${MOST_COMMANDS} commands; nothing of this one was done` };
    }
    commands.push({ index: commands.length, name, text: line.trim().slice(0, 500), ...words(line) });
  }
  return commands.length === 0 ? { kind: "ignore" } : { kind: "commands", commands };
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

function words(line: string): Pick<ParsedCommand, "args" | "flags"> {
  const rest = line
    .trim()
    .split(/\s+/)
    .slice(1, MOST_WORDS)
    .map((word) => word.replace(/,$/, "").replace(/^`+|`+$/g, ""))
    .filter((word) => word !== "");
  const args: string[] = [];
  const flags: Record<string, string | true> = Object.create(null) as Record<string, string | true>;
  for (let i = 0; i < rest.length; i++) {
    const word = rest[i] ?? "";
    const flag = /^--([a-z][a-z-]*)(?:=(.*))?$/.exec(word);
    if (flag === null) {
      args.push(word);
      continue;
    }
    const [, name = "", value] = flag;
    const following = rest[i + 1];
    if (value !== undefined) flags[name] = value;
    else if (VALUED.has(name) && following !== undefined && !following.startsWith("--")) {
      flags[name] = following;
      i += 1;
    } else flags[name] = true;
  }
  return { args, flags: { ...flags } };
}

/** The known command a misspelt one is one or two letters away from. Words that merely look like a command are not ours. */
function nearestName(word: string): CommandName | undefined {
  if (word.length < 4) return undefined;
  return NAMES.find((name) => distance(word, name) <= (name.length > 5 ? 2 : 1));
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
