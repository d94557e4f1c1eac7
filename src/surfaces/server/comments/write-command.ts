/** The comment of a command: what a person gave as a reason stays one, whatever it holds. Read back by the very parser that reads comments. */
import { cell } from "../../../core/report/escape.ts";
import { commandSpec } from "../../../core/spec/commands.ts";
import type { CommandGiven } from "../../web/source.ts";
import { parseComment } from "./parse.ts";

const LONGEST_REASON = 300;

/** undefined: it cannot be written as one command. */
export function commandText({ verb, args, rollout, reason = "" }: CommandGiven): string | undefined {
  const takesReason = ["reason", "note"].includes(commandSpec(verb).words);
  const said = quoted(reason);
  const why = said === "" ? [] : takesReason ? [said] : ["--reason", said];
  const text = [`/${verb}`, "--rollout", rollout, ...args, ...why].join(" ");
  return isThat(text, { verb, args, rollout }, takesReason) ? text : undefined;
}

/** Plain text of one line: no markup, no mention, no flag. What is read of it has its words as they were given. */
function quoted(reason: string): string {
  return cell(reason, LONGEST_REASON)
    .split(" ")
    .map((word) => word.replace(/^-(?=-)/, "\\-").replace(/^([—–])(?=[A-Za-z])/, "$1\u200b"))
    .join(" ");
}

function isThat(text: string, { verb, args, rollout }: CommandGiven, takesReason: boolean): boolean {
  const read = parseComment(text);
  if (read.kind !== "commands" || read.commands.length !== 1) return false;
  const [one] = read.commands;
  const hasWords = takesReason || (one?.args.length === args.length && one.args.every((word, index) => word === args[index]));
  const { rollout: named, reason: _, ...flags } = one?.flags ?? {};
  return one?.name === verb && hasWords && Object.keys(flags).length === 0 && named === rollout;
}
