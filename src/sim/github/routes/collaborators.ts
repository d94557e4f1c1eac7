import { ApiFailure, notFound } from "../http/failure.ts";
import { ADMIN, type Answer, NO_CONTENT, ok, optionalText, page, READ, type RepoCall, type Route, repoRoute } from "../http/router.ts";
import type { Role } from "../model/model.ts";
import { atLeast, roleOf, userOf } from "../model/world.ts";
import { oldPermission, userShape } from "../shapes/user.ts";

function permissionsOf(role: Role) {
  return {
    admin: role === "admin",
    maintain: atLeast(role, "maintain"),
    push: atLeast(role, "write"),
    triage: atLeast(role, "triage"),
    pull: atLeast(role, "read"),
  };
}

function permission(call: RepoCall): Answer {
  const user = call.world.users.get((call.params["login"] ?? "").toLowerCase());
  if (user === undefined) throw new ApiFailure(404, `${call.params["login"]} is not a user`);
  const role = roleOf(call.repo, user);
  const permissions = permissionsOf(role);
  return ok({ permission: oldPermission(role), role_name: role, user: { ...userShape(call.world, user), permissions, role_name: role } });
}

function collaborators(call: RepoCall): Promise<Answer> {
  const all = [{ user: call.repo.owner, role: "admin" as const }, ...call.repo.collaborators.values()];
  const people = all.filter(({ user, role }) => user.type === "User" && role !== "none");
  return page(call, people, ({ user, role }) => ({ ...userShape(call.world, user), permissions: permissionsOf(role), role_name: role }));
}

function addCollaborator(call: RepoCall): Answer {
  const login = call.params["login"] ?? "";
  const roles = { pull: "read", push: "write", triage: "triage", maintain: "maintain", admin: "admin" } as const;
  const asked = optionalText(call, "permission", "Repository") ?? "push";
  const role = Object.entries(roles).find(([name]) => name === asked)?.[1];
  if (role === undefined) throw new ApiFailure(422, "Validation Failed");
  call.repo.collaborators.set(login.toLowerCase(), { user: userOf(call.world, login), role });
  return NO_CONTENT;
}

function removeCollaborator(call: RepoCall): Answer {
  call.repo.collaborators.delete((call.params["login"] ?? "").toLowerCase());
  return NO_CONTENT;
}

function collaborator(call: RepoCall): Answer {
  const user = call.world.users.get((call.params["login"] ?? "").toLowerCase());
  const known = user !== undefined && (user.id === call.repo.owner.id || call.repo.collaborators.has(user.login.toLowerCase()));
  if (!known) throw notFound();
  return NO_CONTENT;
}

export const COLLABORATOR_ROUTES: readonly Route[] = [
  repoRoute("GET", "/collaborators", READ("metadata"), collaborators),
  repoRoute("GET", "/collaborators/:login/permission", READ("metadata"), permission),
  repoRoute("GET", "/collaborators/:login", READ("metadata"), collaborator),
  repoRoute("PUT", "/collaborators/:login", ADMIN, addCollaborator),
  repoRoute("DELETE", "/collaborators/:login", ADMIN, removeCollaborator),
];
