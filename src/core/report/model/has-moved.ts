import type { CommandName } from "../../spec/commands.ts";

/**
 * Whether what a person saw as they acted is no longer so; `seen` and `now` as `seen.ts` makes them. What only stops is as right after a merge or
 * a failure as before: `/pause` goes by the run alone. `/promote` ends a wait, so it goes by the waits, too; all others by the run and its batches.
 */
export function hasMoved(verb: CommandName, seen: string, now: string): boolean {
  const parts = { pause: 1, promote: 3 }[verb as string] ?? 2;
  return seen.split(".").slice(0, parts).join(".") !== now.split(".").slice(0, parts).join(".");
}
