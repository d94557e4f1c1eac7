import type { Team, User, World } from "../model/model.ts";
import { nodeId } from "../model/world.ts";

/** As events carry it. */
export function organizationShape(world: World, organization: User) {
  const url = `${world.origin}/orgs/${organization.login}`;
  return {
    login: organization.login,
    id: organization.id,
    node_id: nodeId("O", organization.id),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `${world.origin}/avatars/u/${organization.id}?v=4`,
    description: null,
  };
}

export function teamShape(world: World, team: Team) {
  const url = `${world.origin}/organizations/${team.organization.id}/team/${team.id}`;
  return {
    id: team.id,
    node_id: nodeId("T", team.id),
    name: team.name,
    slug: team.slug,
    description: "",
    privacy: "closed" as const,
    notification_setting: "notifications_enabled" as const,
    permission: "pull",
    url,
    html_url: `${world.origin}/orgs/${team.organization.login}/teams/${team.slug}`,
    members_url: `${url}/members{/member}`,
    repositories_url: `${url}/repos`,
    type: "organization" as const,
    organization_id: team.organization.id,
    parent: null,
  };
}
