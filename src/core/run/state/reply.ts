import type { AnyReason } from "../../base/reason.ts";
import { epoch, type Time } from "../../base/time.ts";
import type { RunReason } from "../../reasons/run.ts";
import { type Command, commandSpec } from "../../spec/commands.ts";

/** What the commenter is told. `later`: it cannot be judged yet, and those after it wait for it. */
export type Reply = { outcome: "done" | "refused"; message: AnyReason } | "later";

export function done(message: RunReason): Reply {
  return { outcome: "done", message };
}

export function refuse(message: AnyReason): Reply {
  return { outcome: "refused", message };
}

/** What somebody said to a command, as its reason; undefined: nothing. */
export function reasonOf({ args, flags, name }: Command): string | undefined {
  const { words } = commandSpec(name);
  if (words === "reason" || words === "note") return args.length === 0 ? undefined : args.join(" ");
  return typeof flags["reason"] === "string" ? flags["reason"] : undefined;
}

/** Says whether a command was written before a moment. Comments carry whole seconds: one of the same second is not too early. */
export function tooEarly(command: Command, since: Time): boolean {
  return epoch(command.createdAt) + 999 < epoch(since);
}
