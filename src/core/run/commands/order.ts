/** What stops comes first of all that is asked, and nothing that was written before it takes it back. */
import { type Command, notAllowed } from "../../spec/commands.ts";

/** `/pause`, `/rollback`, and `/halt` that is not lifted. */
export function isStop({ name, flags }: Pick<Command, "name" | "flags">): boolean {
  return name === "pause" || name === "rollback" || (name === "halt" && flags["off"] === undefined);
}

/** Commands, oldest first, with what stops before all others; but what one comment takes back and says anew stays in its order. */
export function stopsFirst(commands: readonly Command[]): readonly Command[] {
  const isFirst = (command: Command, at: number) =>
    isStop(command) && !commands.slice(0, at).some((one) => takesBack(one, command) && commentOf(one) === commentOf(command));
  const first = new Set(commands.filter(isFirst));
  return first.size === 0 ? commands : [...first, ...commands.filter((command) => !first.has(command))];
}

/** What was written after a command, by somebody who may, and is what it would take back. */
export function overtakenBy(command: Command, commands: readonly Command[]): Command | undefined {
  const after = commands.slice(commands.indexOf(command) + 1);
  return after.find((one) => takesBack(command, one) && commentOf(one) !== commentOf(command) && notAllowed(one) === undefined);
}

/** Whether a command ends what a stop began. */
function takesBack({ name, flags }: Command, stop: Command): boolean {
  return name === "resume" ? stop.name === "pause" : name === "halt" && flags["off"] !== undefined && stop.name === "halt" && isStop(stop);
}

export function commentOf({ id }: Pick<Command, "id">): string {
  return id.slice(0, id.lastIndexOf("#"));
}
