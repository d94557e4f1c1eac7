/** Draws the gates of a batch for its pull request. */
import { cell, prose } from "../escape.ts";
import { foldText, table } from "../markdown.ts";
import type { Gate } from "../model/types.ts";

/** Why the batch waits at each gate, what opens it, and when. Said once, as the PR is opened; what is waited for now is the check's to say. */
export function gateTable(gates: readonly Gate[]): string {
  const rows = gates.map(({ name, why, opens, when }) => [cell(name, 80), cell(why, 300), prose(withCode(opens)), cell(when, 120)]);
  const always =
    "As every batch, it also waits while a halt, a freeze or a limit of the repository holds it, and for the checks and reviews that GitHub requires.";
  const all = rows.length === 0 ? "" : `${table(["gate", "why it waits", "what opens it", "when"], rows)}\n\n`;
  return foldText("What it waits for", `${all}${always} The check \`stagecoach/gate\` says what it waits for now.`);
}

/** Marks the commands in a text of the model. */
export function withCode(text: string): string {
  return text.replace(/(?<=^|\s)\/[a-z]+/g, "`$&`");
}
