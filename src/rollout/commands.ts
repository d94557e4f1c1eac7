import type { Command, CommandName, Permission } from "./world.ts";

/** A command as people know it. Parser, help and the reference page are made from these. */
export interface CommandSpec {
  name: CommandName;
  /** As it is written, without the slash's line start rule. */
  usage: string;
  /** The least permission on the repository. */
  who: Exclude<Permission, "none">;
  /** Where it may be written. */
  where: "any PR of the run" | "the release PR";
  summary: string;
  examples: string[];
  /** False: refused with a clear answer in this version. */
  built: boolean;
}

const anywhere = "any PR of the run";

export const COMMANDS: readonly CommandSpec[] = [
  {
    name: "promote",
    usage: "/promote",
    who: "write",
    where: anywhere,
    summary: "ends the bake under way; with `merge: Manual`, merges the pull request once GitHub allows it. Health is never skipped",
    examples: ["/promote"],
    built: true,
  },
  {
    name: "requeue",
    usage: "/requeue CLUSTER… [--for 2h] | /requeue failed",
    who: "write",
    where: anywhere,
    summary: "puts clusters that are not merged yet to the stage's end; tries failed ones again",
    examples: ["/requeue eu-1", "/requeue eu-1 eu-2 --for 2h", "/requeue failed"],
    built: true,
  },
  {
    name: "skip",
    usage: "/skip CLUSTER…",
    who: "write",
    where: anywhere,
    summary: "leaves clusters out of this run; what is merged for them stays merged",
    examples: ["/skip eu-1"],
    built: true,
  },
  {
    name: "pause",
    usage: "/pause [reason]",
    who: "write",
    where: anywhere,
    summary: "nothing merges until `/resume`",
    examples: ["/pause", "/pause errors on the checkout page"],
    built: true,
  },
  {
    name: "resume",
    usage: "/resume",
    who: "write",
    where: anywhere,
    summary: "goes on after a pause; after a failure it accepts the failed clusters as failed, which needs maintain",
    examples: ["/resume"],
    built: true,
  },
  {
    name: "abort",
    usage: "/abort [reason]",
    who: "write",
    where: anywhere,
    summary: "ends the run and closes its open pull requests; what is updated stays",
    examples: ["/abort", "/abort wrong version"],
    built: true,
  },
  {
    name: "retry",
    usage: "/retry",
    who: "write",
    where: anywhere,
    summary: "a run that stopped on failures goes on where it failed: failed clusters are looked at anew",
    examples: ["/retry"],
    built: true,
  },
  {
    name: "rollback",
    usage: "/rollback [--to VERSION]",
    who: "maintain",
    where: anywhere,
    summary: "puts the old values back, in reverse order, only for clusters already moved",
    examples: ["/rollback"],
    built: false,
  },
  {
    name: "halt",
    usage: "/halt [cluster=…] [--for 2h] reason",
    who: "maintain",
    where: "the release PR",
    summary: "no rollout touches these clusters until then",
    examples: ["/halt cluster=eu-1 --for 2h maintenance"],
    built: false,
  },
  {
    name: "hotfix",
    usage: "/hotfix CLUSTER… reason",
    who: "maintain",
    where: anywhere,
    summary: "one batch now, skipping order, bake and windows but never health or limits",
    examples: ["/hotfix eu-1 customer down"],
    built: false,
  },
  { name: "status", usage: "/status", who: "read", where: anywhere, summary: "a fresh status", examples: ["/status"], built: true },
  { name: "plan", usage: "/plan", who: "read", where: anywhere, summary: "a fresh plan", examples: ["/plan"], built: true },
  { name: "help", usage: "/help", who: "read", where: anywhere, summary: "the list of commands", examples: ["/help"], built: true },
];

const RANK: Record<Permission, number> = { none: 0, read: 1, triage: 2, write: 3, maintain: 4, admin: 5 };

export function hasPermission(permission: Permission, least: Permission): boolean {
  return RANK[permission] >= RANK[least];
}

export function commandSpec(name: CommandName): CommandSpec {
  const spec = COMMANDS.find((one) => one.name === name);
  if (spec === undefined) throw new Error(`no command "${name}" is declared`);
  return spec;
}

/** Why this account may not give this command; undefined: it may. */
export function notAllowed(command: Command): string | undefined {
  const { who } = commandSpec(command.name);
  if (hasPermission(command.permission, who)) return undefined;
  return `/${command.name} needs ${who} permission on this repository; @${command.actor} has ${command.permission}`;
}
