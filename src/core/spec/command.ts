import type { Time } from "../base/time.ts";

export type Permission = "none" | "read" | "triage" | "write" | "maintain" | "admin";

export type CommandName =
  | "promote"
  | "requeue"
  | "skip"
  | "pause"
  | "resume"
  | "abort"
  | "retry"
  | "rollback"
  | "halt"
  | "hotfix"
  | "status"
  | "plan"
  | "help";

/** One command of a comment, parsed, with the commenter's permission as of now. The core judges it. */
export interface Command {
  /** Comment id and index in it: `123456#0`. Each acts once. */
  id: string;
  name: CommandName;
  args: string[];
  flags: Record<string, string | true>;
  /** As written, one line. */
  text: string;
  actor: string;
  permission: Permission;
  createdAt: Time;
  /** The batch whose PR it was written on; absent on the release PR. */
  batch?: number;
  /** Number of the run on whose PR it was written, where that one is over and this is a later one. */
  former?: number;
  /** Of the teams that approve the run's stages: those the actor is in now. Absent: not looked, or could not be seen. */
  teams?: readonly string[];
}
