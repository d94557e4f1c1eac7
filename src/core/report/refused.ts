/** Draws why a release starts no run, from the model: as Markdown for comments and checks, as lines for terminals. */
import { wrapToWidth } from "../base/text-width.ts";
import { cell, code } from "./escape.ts";
import { table } from "./markdown.ts";
import type { RefusedModel, RefusedProblem } from "./model/refused.ts";
import { short } from "./plan/plan-chart.ts";
import { stamp } from "./reasons/attention.ts";

const MARKS = { error: "❌", warning: "⚠️" } as const;

/** A row for each, of at most so many; what is left out `stagecoach lint` has. */
export function refusedTable(problems: readonly RefusedProblem[], most: number): string {
  const rows = problems.map((one) => [
    `${MARKS[one.severity]} ${code(short(one.where, 200))}`,
    cell(one.says, 250),
    cell(one.todo, 200),
    one.code,
  ]);
  const more = (left: number) => `${left} more are not shown: \`stagecoach lint\` lists them all.`;
  return table(["where", "what", "what to do", "code"], rows, most, more);
}

/** Names in it come from outside: whoever prints it takes out what moves a cursor. Ends in a newline. */
export function refusedText({ rollout, says, since, waitsFor, problems }: RefusedModel, width = 120): string {
  const head = `${rollout === undefined ? "" : `${rollout}: `}${says}${since === undefined ? "" : ` (found at ${stamp(since)})`}:`;
  const lines = problems.flatMap((one) => [...indented("  ", `${one.where}: ${one.says}`, width), ...indented("    ", one.todo, width)]);
  return `${[...wrapToWidth(head, width), ...lines, waitsFor].join("\n")}\n`;
}

/** Of a list, where each has one line: what it is, and the first thing that is wrong. */
export function refusedLine({ rollout, says, problems: [first, ...more] }: RefusedModel): string {
  const why = first === undefined ? "" : `: ${first.where}: ${first.says}${more.length === 0 ? "" : `, and ${more.length} more`}`;
  return `${rollout === undefined ? "" : `${rollout}: `}${says}${why}`;
}

function indented(by: string, text: string, width: number): string[] {
  return text === "" ? [] : wrapToWidth(text, Math.max(8, width - by.length)).map((line) => `${by}${line}`);
}
