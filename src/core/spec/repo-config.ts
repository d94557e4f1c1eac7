/** The settings of a config repo: their schema, and what the program takes of them. `parse/config.ts` reads the file. */
import { z } from "zod";
import { show } from "../base/problem.ts";
import { packReason } from "../reasons/problems/problem.ts";
import { COMMAND_NAMES, type CommandName } from "./commands.ts";
import { notificationsSchema } from "./notifications.ts";
import { overrideSchema } from "./schema.ts";
import { freezeSchema, key, type Limits, limitsSchema, team, text } from "./schema-common.ts";
import { modeSchema } from "./schema-spec.ts";
import { type Freeze, type PlacedFreeze, toFreeze } from "./windows-binding.ts";

/** Where a repo's own settings stand, always read from the base branch, never from a PR. */
export const SETTINGS_FILE = ".github/stagecoach.yaml";

const login = text.regex(/^[A-Za-z0-9][\w-]{0,99}(?:\[bot\])?$/, {
  error: ({ input }) => packReason({ code: "BAD_VALUE", kind: "Account", given: show(input) }),
});

const commandRule = z.strictObject({
  teams: key(
    z.array(team).min(1).max(20),
    "Slugs of teams of the repository's organisation: members of any one may, besides having the permission that the command needs.",
  ),
});

type Rules = Record<CommandName, z.ZodOptional<typeof commandRule>>;

const rules = Object.fromEntries(
  COMMAND_NAMES.map((name) => [name, key(commandRule.optional(), `Narrows who may comment \`/${name}\`.`)]),
) as Rules;

/** `.github/stagecoach.yaml`: a repo's own settings, read from the default branch, never from a pull request. */
export const repoConfigSchema = z.strictObject({
  mode: key(modeSchema.optional(), "Mode of rollouts that name none. Default: Propose."),
  rollouts: key(z.record(z.string(), overrideSchema).default({}), "By the rollout's name: what its resource cannot say itself."),
  commands: key(z.strictObject(rules).default({}), "By the command's name: who may give it. It narrows, and never widens."),
  bots: key(
    z.array(login).max(50).default([]),
    "Bots whose comments count as commands; those of others are ignored. One that is named counts as having write permission, and is in no team.",
  ),
  freezes: key(
    z.array(freezeSchema).max(50).default([]),
    "Windows that bind the rollouts of the repo besides their own: mostly of `kind: deny`, such as the days around the end of the year. Read anew in every round, so a freeze added now holds runs in progress.",
  ),
  limits: key(limitsSchema.optional(), "Most that all running rollouts of the repo may have in flight together."),
  plans: key(
    z
      .strictObject({
        forks: key(
          z.enum(["OnRequest", "Always"]).optional(),
          "When a pull request from a fork is planned: once somebody with write permission comments `/plan` on its head, or at once. Default: OnRequest.",
        ),
      })
      .optional(),
    "Plans on pull requests.",
  ),
  notifications: key(notificationsSchema, "Who is told of what happens. Destinations are in the server's configuration."),
  journal: key(
    z
      .strictObject({
        keep: key(
          z.int().min(1).max(10_000).optional(),
          "How many runs of a rollout stay in the journal's newest state; older ones are folded away, and stay in its history. Default: 50.",
        ),
      })
      .optional(),
    "How the journal is kept.",
  ),
});

export type RepoConfig = z.output<typeof repoConfigSchema>;

/** What a repo's settings say of commands. */
export interface CommandPolicy {
  /** Teams of which the author must be in one; a command that is not here is narrowed by nothing. */
  teams: ReadonlyMap<CommandName, readonly string[]>;
  /** In lower case, as GitHub compares them. */
  bots: ReadonlySet<string>;
}

export const OPEN_POLICY: CommandPolicy = { teams: new Map(), bots: new Set() };

/** The part of the settings that is about commands. */
export function commandPolicy({ commands, bots }: RepoConfig): CommandPolicy {
  const teams = COMMAND_NAMES.flatMap((name) => (commands[name] === undefined ? [] : [[name, commands[name].teams] as const]));
  return { teams: new Map(teams), bots: new Set(bots.map((name) => name.toLowerCase())) };
}

/** The part of the settings that binds every run of the repo, as of now. */
export interface RepoBounds {
  freezes: Freeze[];
  limits?: Limits | undefined;
  /** Runs of a rollout that stay in the journal's newest state. */
  keep?: number | undefined;
  /** Pull requests of forks are planned unasked. */
  plansForks?: boolean | undefined;
}

export function repoBounds({ freezes, limits, journal, plans }: RepoConfig): RepoBounds {
  return { freezes: freezes.map(toFreeze), limits, keep: journal?.keep, plansForks: plans?.forks === "Always" };
}

/** The freezes of the repo's settings and of the server, with where each stands. */
export function freezesOf(repo: readonly Freeze[], server: readonly Freeze[] = []): PlacedFreeze[] {
  const placed = (freezes: readonly Freeze[], where: PlacedFreeze["where"]) =>
    freezes.map((freeze, i) => ({ ...freeze, where, at: { path: `freezes[${i}]` } }));
  return [...placed(repo, { kind: "File", file: SETTINGS_FILE }), ...placed(server, { kind: "Server" })];
}
