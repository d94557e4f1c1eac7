import type { RestEndpointMethodTypes } from "@octokit/rest";
import { clientId } from "../http/auth.ts";
import type { App, Repo, Role, User, World } from "../model/model.ts";
import { atLeast, kindOf, nodeId, roleOf, seconds } from "../model/world.ts";

type UserShape = RestEndpointMethodTypes["issues"]["listAssignees"]["response"]["data"][number];
type AppShape = NonNullable<RestEndpointMethodTypes["apps"]["getAuthenticated"]["response"]["data"]>;
type Association = RestEndpointMethodTypes["pulls"]["get"]["response"]["data"]["author_association"];

export function userShape(world: World, user: User): UserShape {
  const url = `${world.origin}/users/${encodeURIComponent(user.login)}`;
  const page = user.type === "Bot" ? `${world.origin}/apps/${user.login.replace(/\[bot\]$/, "")}` : `${world.origin}/${user.login}`;
  return {
    login: user.login,
    id: user.id,
    node_id: nodeId(kindOf(user), user.id),
    avatar_url: `${world.origin}/avatars/u/${user.id}?v=4`,
    gravatar_id: "",
    url,
    html_url: page,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: user.type,
    site_admin: false,
    user_view_type: "public",
  };
}

export function appShape(world: World, app: App): AppShape {
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId("A", app.id),
    client_id: clientId(app),
    owner: userShape(world, app.owner),
    name: app.name,
    description: "",
    external_url: "https://stagecoach.dev",
    html_url: `${world.origin}/apps/${app.slug}`,
    created_at: seconds(app.createdAt),
    updated_at: seconds(app.createdAt),
    permissions: app.permissions,
    events: app.events,
    installations_count: [...world.installations.values()].filter((one) => one.app === app).length,
  };
}

/** As GitHub shows it: private members come out as CONTRIBUTOR or NONE, which is why nothing may be decided by it. */
export function association(repo: Repo, user: User): Association {
  if (user.id === repo.owner.id) return "OWNER";
  return atLeast(roleOf(repo, user), "triage") ? "COLLABORATOR" : "NONE";
}

/** The old four words of `permission`; `role_name` has the real one. */
export function oldPermission(role: Role): "none" | "read" | "write" | "admin" {
  if (role === "maintain") return "write";
  return role === "triage" ? "read" : role;
}
