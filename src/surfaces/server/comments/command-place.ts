import { epoch } from "../../../core/base/time.ts";
import type { Command } from "../../../core/spec/command.ts";
import { commandSpec } from "../../../core/spec/commands.ts";
import type { CommandPlace } from "../../../engine/round/observe/command-source.ts";
import type { ParsedCommand } from "./parse.ts";

export function placedOn({ batch, former }: CommandPlace, command: Command): Command {
  return { ...command, ...(batch === undefined ? {} : { batch }), ...(former === undefined ? {} : { former }) };
}

export function oldestFirst(a: Command, b: Command): number {
  return epoch(a.createdAt) - epoch(b.createdAt) || a.id.localeCompare(b.id, undefined, { numeric: true });
}

/** Of several rollouts steered from one PR the one meant must be named, unless the command is for all: docs/spec.md §9.21. */
export function whichRollout(place: CommandPlace, { name, flags }: ParsedCommand): string | undefined {
  if (!place.shared || flags["rollout"] !== undefined || commandSpec(name).onAll === true) return undefined;
  return "several rollouts are steered from this pull request: say which with `--rollout NAME`";
}

export function noRunYet({ name }: ParsedCommand): string | undefined {
  if (name === "help" || name === "plan") return undefined;
  return `there is no run yet that \`/${name}\` could be for: merging this pull request starts one. \`/plan\` makes its plan anew`;
}

/** Whether a command counts however old it is. What was said to a run that is over was for it alone, but a halt is for all. */
export function isForAnyTime({ name }: ParsedCommand, former: number | undefined): boolean {
  return commandSpec(name).anyAge === true && (former === undefined || name === "halt");
}
