import type { ReasonsOf, Words } from "../../base/reason.ts";
import { epoch, type Time } from "../../base/time.ts";
import type { CommandReasons } from "../../reasons/commands.ts";
import type { Command } from "../../spec/commands.ts";

/** A reason that a command is answered with, or that it leaves behind. */
export type CommandReason = ReasonsOf<CommandReasons>;

/** What the commenter is told. `later`: it cannot be judged yet, and those after it wait for it. */
export type Reply = { outcome: "done" | "refused"; message: Words } | "later";

export function done(message: CommandReason): Reply {
  return { outcome: "done", message };
}

export function refused(message: CommandReason): Reply {
  return { outcome: "refused", message };
}

/** Refuses for a reason of another room's. */
export function refusedBy(message: Words): Reply {
  return { outcome: "refused", message };
}

/** Says whether a command was written before a moment. Comments carry whole seconds: one of the same second is not too early. */
export function tooEarly(command: Command, since: Time): boolean {
  return epoch(command.createdAt) + 999 < epoch(since);
}
