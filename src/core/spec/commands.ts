/** The commands that people comment: what each takes and needs. Parser, help, reference and the shells' completion are made from the table. */
import type { ReasonsOf } from "../base/reason.ts";
import type { Time } from "../base/time.ts";
import type { CommandReasons } from "../reasons/commands.ts";

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
  /** It was found too long after it was written to act; it is told so. */
  late?: true | undefined;
  /** The batch whose PR it was written on, and that PR; absent on the release PR. */
  batch?: number | undefined;
  pull?: number | undefined;
  /** Number of the run on whose PR it was written, where that one is over and this is a later one. */
  former?: number | undefined;
  /** Of the teams that approve the run's stages: those the actor is in now. Absent: not looked, or could not be seen. */
  teams?: readonly string[];
}

/** What a command may say besides its words. */
export interface FlagSpec {
  /** Without the dashes. */
  name: string;
  /** How its value is called; absent: it has none. `rest`: all that stands behind it is its value. */
  value?: string;
  rest?: true;
  summary: string;
}

/** A command as people know it. */
export interface CommandSpec {
  name: CommandName;
  /** As it is written, without the slash's line start rule. */
  usage: string;
  /**
   * What its words are. `command`: the name of one. `note`: a reason, among which every flag has to be known, since one that is misspelt
   * would change what the command does. Where it is `nothing`, words are a mistake that is told.
   */
  words: "nothing" | "clusters" | "reason" | "note" | "command";
  /** Besides `--rollout NAME`, which every command takes. */
  flags: readonly FlagSpec[];
  /** Without `--rollout` it is for all rollouts that are steered from one release PR: docs/spec.md §9.21. */
  onAll?: true;
  /** Makes things safer: acts however late it is found, docs/spec.md §9.20. */
  anyAge?: true;
  /** The least permission on the repository. */
  who: Exclude<Permission, "none">;
  /** Where it may be written. */
  where: string;
  summary: string;
  examples: string[];
}

type WrittenSpec = Omit<CommandSpec, "flags" | "where"> & Partial<Pick<CommandSpec, "flags" | "where">>;

const REASON: FlagSpec = { name: "reason", value: "TEXT", rest: true, summary: "why; all that stands behind it" };

const TABLE: readonly WrittenSpec[] = [
  {
    name: "promote",
    usage: "/promote",
    words: "nothing",
    flags: [
      {
        name: "full",
        summary: "ends all later bakes, step pauses and analyses of the run, too; needs maintain. Approvals, windows and halts stay",
      },
      {
        name: "rollouts",
        summary:
          "instead: moves the paused Argo Rollouts of the batch on by one step, all its clusters together; with `--full`, to their end",
      },
      REASON,
    ],
    who: "write",
    summary:
      "approves a stage that waits for it; ends the bake under way; with `merge: Manual`, merges the pull request once GitHub allows it. Health is never skipped",
    examples: ["/promote", "/promote --rollouts"],
  },
  {
    name: "requeue",
    usage: "/requeue CLUSTER… [--for 2h] | /requeue failed",
    words: "clusters",
    flags: [{ name: "for", value: "DURATION", summary: "not before then, such as 2h" }, REASON],
    who: "write",
    summary:
      "puts clusters to the stage's end, and back to what they had where they are merged; `failed`: tries the failed ones again, with the same release",
    examples: ["/requeue eu-1", "/requeue eu-1 eu-2 --for 2h", "/requeue failed"],
  },
  {
    name: "skip",
    usage: "/skip CLUSTER…",
    words: "clusters",
    flags: [REASON],
    who: "write",
    summary: "leaves clusters out of this run; what is merged for them stays merged",
    examples: ["/skip eu-1", "/skip eu-1 --reason its disk is broken"],
  },
  {
    name: "pause",
    usage: "/pause [reason]",
    words: "reason",
    onAll: true,
    anyAge: true,
    who: "write",
    summary:
      "nothing merges until `/resume`; of a run that had paused by itself, too: `/retry` and `/skip` do their part then, and it stays paused",
    examples: ["/pause", "/pause errors on the checkout page"],
  },
  {
    name: "resume",
    usage: "/resume [reason]",
    words: "note",
    flags: [{ name: "rollouts", summary: "also resumes the paused Argo Rollouts of the batch, as `/promote --rollouts` does" }],
    who: "write",
    summary: "goes on after a pause; after a failure it accepts the failed clusters as failed, which needs maintain",
    examples: ["/resume", "/resume eu-1 is back"],
  },
  {
    name: "abort",
    usage: "/abort [reason]",
    words: "reason",
    flags: [{ name: "rollouts", summary: "instead: aborts the Argo Rollouts of the batch that are under way; the run goes on watching" }],
    onAll: true,
    anyAge: true,
    who: "write",
    summary: "ends the run and closes its open pull requests; nothing is put back",
    examples: ["/abort", "/abort wrong version"],
  },
  {
    name: "retry",
    usage: "/retry [reason]",
    words: "note",
    flags: [{ name: "rollouts", summary: "instead: tries the aborted Argo Rollouts of the batch again" }],
    who: "write",
    summary: "a run that stopped on failures goes on where it failed: failed clusters are looked at anew",
    examples: ["/retry", "/retry the registry is up again"],
  },
  {
    name: "rollback",
    usage: "/rollback [--to VERSION] [reason]",
    words: "note",
    flags: [{ name: "to", value: "VERSION", summary: "the version to go back to; of several values `NAME=VERSION,…`" }],
    who: "maintain",
    summary: "ends the run and puts the old values back, in reverse order, only for clusters already moved; works on a run long over, too",
    examples: ["/rollback", "/rollback checkout is slow", "/rollback --to v1.4.0 orders fail"],
  },
  {
    name: "halt",
    usage: "/halt [cluster=A,B] [--for 2h] reason | /halt --off [cluster=A,B]",
    words: "reason",
    flags: [
      { name: "for", value: "DURATION", summary: "for so long; without it, until it is lifted" },
      { name: "off", summary: "lifts halts that were made on this rollout" },
    ],
    anyAge: true,
    who: "maintain",
    summary: "no run of the repo merges a change for these clusters, or for any, until then",
    examples: ["/halt cluster=eu-1 --for 2h maintenance"],
  },
  {
    name: "hotfix",
    usage: "/hotfix CLUSTER… reason",
    words: "clusters",
    who: "maintain",
    summary: "one batch now, out of its turn, without bake and windows; health, approvals, halts and limits hold as ever",
    examples: ["/hotfix eu-1 customer down"],
  },
  {
    name: "status",
    usage: "/status",
    words: "nothing",
    onAll: true,
    who: "read",
    summary: "answers how the run stands, and brings its page on the release pull request up to date",
    examples: ["/status"],
  },
  {
    name: "plan",
    usage: "/plan",
    words: "nothing",
    onAll: true,
    who: "read",
    where: "the release PR, merged or not, and any PR of the run",
    summary: "before the release is merged, makes the plan anew; of a run, answers what is done and what is to come",
    examples: ["/plan"],
  },
  {
    name: "help",
    usage: "/help [COMMAND]",
    words: "command",
    onAll: true,
    who: "read",
    where: "the release PR, merged or not, and any PR of the run",
    summary: "the list of commands, or what one of them does",
    examples: ["/help", "/help requeue"],
  },
];

export const COMMANDS: readonly CommandSpec[] = TABLE.map((spec) => ({ flags: [], where: "any PR of the run", ...spec }));

/** Every command may name the rollout it is for. */
export const ROLLOUT_FLAG: FlagSpec = { name: "rollout", value: "NAME", summary: "the rollout meant, where a release has several" };

export const COMMAND_NAMES: readonly CommandName[] = COMMANDS.map(({ name }) => name);

const RANK: Record<Permission, number> = { none: 0, read: 1, triage: 2, write: 3, maintain: 4, admin: 5 };

export function hasPermission(permission: Permission, least: Permission): boolean {
  return RANK[permission] >= RANK[least];
}

export function commandSpec(name: CommandName): CommandSpec {
  const spec = COMMANDS.find((one) => one.name === name);
  if (spec === undefined) throw new Error(`no command "${name}" is declared`);
  return spec;
}

/** Why this account may not give this command, by the permission that the command needs; undefined: it may. */
export function notAllowed({ name, actor, permission }: Command): ReasonsOf<Pick<CommandReasons, "PERMISSION_MISSING">> | undefined {
  const needs = commandSpec(name).who;
  if (hasPermission(permission, needs)) return undefined;
  return { code: "PERMISSION_MISSING", command: name, needs, by: actor, has: permission };
}
