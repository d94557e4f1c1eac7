import type { Team, User } from "../model/model.ts";
import { kindOf, nodeId } from "../model/world.ts";
import { type ConnectionArgs, connection } from "./connection.ts";
import type { Context } from "./context.ts";

const TYPES = { BOT: "Bot", O: "Organization", U: "User" } as const;

/** A user, bot or organisation. Bots' logins come without `[bot]` here, unlike everywhere else. */
export function actorNode(context: Context, user: User) {
  const kind = kindOf(user);
  const login = kind === "BOT" ? user.login.replace(/\[bot\]$/, "") : user.login;
  const path = kind === "BOT" ? `/apps/${login}` : `/${login}`;
  return {
    __typename: TYPES[kind],
    id: nodeId(kind, user.id),
    databaseId: user.id,
    login,
    name: null,
    resourcePath: path,
    url: `${context.world.origin}${path}`,
    ...(kind === "O" ? teamFields(context, user) : {}),
  };
}

function teamFields(context: Context, organization: User) {
  const teams = () =>
    [...context.world.teams.values()].filter((team) => team.organization === organization && seesTeams(context, organization));
  return {
    team: ({ slug }: { slug: string }) => {
      const found = teams().find((team) => team.slug === slug);
      return found === undefined ? null : teamNode(context, found);
    },
    teams: (args: ConnectionArgs & { query?: string | null }) =>
      connection(
        "teams",
        teams().filter((team) => args.query == null || team.slug.includes(args.query)),
        args,
        (team) => teamNode(context, team),
      ),
  };
}

function seesTeams({ actor, world }: Context, organization: User): boolean {
  if (actor.kind === "installation") {
    return actor.installation?.account.id === organization.id && actor.permissions?.["members"] !== undefined;
  }
  return actor.user.id === organization.id || world.members.get(organization.id)?.has(actor.user.id) === true;
}

export function teamNode(context: Context, team: Team) {
  const path = `/orgs/${team.organization.login}/teams/${team.slug}`;
  return {
    __typename: "Team",
    id: nodeId("T", team.id),
    databaseId: team.id,
    name: team.name,
    slug: team.slug,
    combinedSlug: `${team.organization.login}/${team.slug}`,
    organization: () => actorNode(context, team.organization),
    resourcePath: path,
    url: `${context.world.origin}${path}`,
  };
}
