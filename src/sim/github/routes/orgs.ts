import { mayAs } from "../http/auth.ts";
import { ApiFailure, notFound } from "../http/failure.ts";
import { type Answer, type Call, NO_CONTENT, ok, page, READ, type Route } from "../http/router.ts";
import type { Team, User } from "../model/model.ts";
import { seconds, teamOf } from "../model/world.ts";
import { organizationShape, teamShape } from "../shapes/organization.ts";
import { userShape } from "../shapes/user.ts";

function organizationHere(call: Call): User {
  const found = call.world.users.get((call.params["org"] ?? "").toLowerCase());
  if (found?.type !== "Organization") throw notFound();
  return found;
}

/** Teams are shown to the organisation's own members, and to an App that may read members; to all others nothing is there. */
function withMembers(handle: (call: Call, organization: User) => Promise<Answer> | Answer): (call: Call) => Promise<Answer> | Answer {
  return (call) => {
    const organization = organizationHere(call);
    const { actor, world } = call;
    const inside =
      actor.kind === "installation"
        ? actor.installation?.account.id === organization.id && mayAs(actor, READ("members"))
        : actor.kind === "user" && (actor.user.id === organization.id || world.members.get(organization.id)?.has(actor.user.id) === true);
    if (!inside) throw notFound();
    return handle(call, organization);
  };
}

function teamHere(call: Call, organization: User): Team {
  const found = teamOf(call.world, organization, call.params["team"] ?? "");
  if (found === undefined) throw notFound();
  return found;
}

function userHere(call: Call): User {
  const found = call.world.users.get((call.params["login"] ?? "").toLowerCase());
  if (found === undefined) throw notFound();
  return found;
}

function usersById(call: Call, ids: Iterable<number>): User[] {
  const wanted = new Set(ids);
  return [...call.world.users.values()].filter((user) => wanted.has(user.id));
}

function fullOrganization(call: Call, organization: User) {
  const at = seconds(call.world.app.createdAt);
  return {
    ...organizationShape(call.world, organization),
    name: organization.login,
    has_organization_projects: false,
    has_repository_projects: false,
    public_repos: [...call.world.repos.values()].filter((repo) => repo.owner.id === organization.id && !repo.private).length,
    public_gists: 0,
    followers: 0,
    following: 0,
    html_url: `${call.world.origin}/${organization.login}`,
    type: "Organization",
    created_at: at,
    updated_at: at,
    archived_at: null,
  };
}

/** What an organisation's own people are shown besides. */
const POLICIES = {
  is_verified: false,
  default_repository_permission: "read",
  two_factor_requirement_enabled: false,
  members_can_create_repositories: true,
  members_allowed_repository_creation_type: "all",
  members_can_create_public_repositories: true,
  members_can_create_private_repositories: true,
  members_can_create_internal_repositories: false,
  members_can_create_pages: true,
  members_can_create_public_pages: true,
  members_can_create_private_pages: true,
  members_can_fork_private_repositories: false,
  web_commit_signoff_required: false,
};

function getOrganization(call: Call): Answer {
  const organization = organizationHere(call);
  const { actor, world } = call;
  const inside = actor.user.id === organization.id || world.members.get(organization.id)?.has(actor.user.id) === true;
  return ok({ ...fullOrganization(call, organization), ...(inside ? POLICIES : {}) });
}

function fullTeam(call: Call, team: Team) {
  const at = seconds(call.world.app.createdAt);
  return {
    ...teamShape(call.world, team),
    members_count: team.members.size,
    repos_count: 0,
    created_at: at,
    updated_at: at,
    organization: fullOrganization(call, team.organization),
  };
}

function teamMembership(call: Call, organization: User): Answer {
  const team = teamHere(call, organization);
  const user = userHere(call);
  const role = team.members.get(user.id);
  if (role === undefined) throw notFound();
  const url = `${call.world.origin}/organizations/${organization.id}/team/${team.id}/memberships/${user.login}`;
  return ok({ url, role, state: "active" });
}

export const ORG_ROUTES: readonly Route[] = [
  { method: "GET", path: "/orgs/:org", handle: getOrganization },
  {
    method: "GET",
    path: "/orgs/:org/teams",
    handle: withMembers((call, organization) => {
      const teams = [...call.world.teams.values()].filter((team) => team.organization === organization);
      return page(call, teams, (team) => teamShape(call.world, team));
    }),
  },
  {
    method: "GET",
    path: "/orgs/:org/teams/:team",
    handle: withMembers((call, organization) => ok(fullTeam(call, teamHere(call, organization)))),
  },
  {
    method: "GET",
    path: "/orgs/:org/teams/:team/members",
    handle: withMembers((call, organization) =>
      page(call, usersById(call, teamHere(call, organization).members.keys()), (user) => userShape(call.world, user)),
    ),
  },
  { method: "GET", path: "/orgs/:org/teams/:team/memberships/:login", handle: withMembers(teamMembership) },
  {
    method: "GET",
    path: "/orgs/:org/members",
    handle: withMembers((call, organization) =>
      page(call, usersById(call, call.world.members.get(organization.id) ?? []), (user) => userShape(call.world, user)),
    ),
  },
  {
    method: "GET",
    path: "/orgs/:org/members/:login",
    handle: withMembers((call, organization) => {
      if (call.world.members.get(organization.id)?.has(userHere(call).id) !== true) throw new ApiFailure(404, "Not Found");
      return NO_CONTENT;
    }),
  },
];
