import { defined } from "../../../core/base/defined.ts";
import { mintToken } from "../http/auth.ts";
import { ApiFailure, invalid, notFound } from "../http/failure.ts";
import { type Answer, type Call, created, NO_CONTENT, numberParam, ok, page, type Route, texts } from "../http/router.ts";
import { convertManifest } from "../manifest.ts";
import type { Installation, Permissions, Repo, User } from "../model/model.ts";
import { findRepo, installationsOn, seconds } from "../model/world.ts";
import { installationShape } from "../shapes/installation.ts";
import { repoShape } from "../shapes/repo.ts";
import { appShape } from "../shapes/user.ts";
import { APP_HOOK_ROUTES, asApp } from "./app-hook.ts";

function installationHere(call: Call): Installation {
  const found = call.world.installations.get(numberParam(call, "id"));
  if (found === undefined || found.app !== call.actor.app) throw notFound();
  return found;
}

function own(call: Call): Installation[] {
  return [...call.world.installations.values()].filter((one) => one.app === call.actor.app);
}

function installationFor(call: Call, owner: User | undefined): Answer {
  const found = own(call).find((one) => one.account.id === owner?.id);
  if (found === undefined) throw notFound();
  return ok(installationShape(call.world, found));
}

function repoInstallation(call: Call): Answer {
  const repo = findRepo(call.world, call.params["owner"] ?? "", call.params["repo"] ?? "");
  const found = repo === undefined ? undefined : installationsOn(call.world, repo, true).find((one) => one.app === call.actor.app);
  if (found === undefined) throw notFound();
  return ok(installationShape(call.world, found));
}

function narrowed(call: Call, installation: Installation): Permissions | undefined {
  const asked = call.body["permissions"];
  if (typeof asked !== "object" || asked === null) return undefined;
  const out: Permissions = {};
  for (const [name, level] of Object.entries(asked)) {
    const held = installation.permissions[name];
    if ((level !== "read" && level !== "write") || held === undefined || (level === "write" && held === "read")) {
      throw new ApiFailure(422, "The permissions requested are not granted to this installation.");
    }
    out[name] = level;
  }
  return out;
}

/** The repositories a token is narrowed to, by name or id; at most 500. */
function chosen(call: Call, installation: Installation): Repo[] | undefined {
  const names = texts(call.body["repositories"]);
  const ids = Array.isArray(call.body["repository_ids"]) ? call.body["repository_ids"] : [];
  if (names.length + ids.length === 0) return undefined;
  if (names.length + ids.length > 500) throw invalid({ resource: "Installation", field: "repositories", code: "invalid" });
  const all = [...call.world.repos.values()].filter((repo) => installationsOn(call.world, repo, true).includes(installation));
  const found = all.filter((repo) => names.includes(repo.name) || ids.includes(repo.id));
  if (found.length < names.length + ids.length) {
    throw new ApiFailure(422, "There is at least one repository that does not exist or is not accessible to the parent installation.");
  }
  return found;
}

function accessToken(call: Call): Answer {
  const installation = installationHere(call);
  if (installation.suspended !== undefined) throw new ApiFailure(403, "This installation has been suspended");
  const permissions = narrowed(call, installation);
  const repositories = chosen(call, installation);
  const { token, expiresAt } = mintToken(
    call.world,
    installation,
    defined({
      permissions,
      repositories: repositories === undefined ? undefined : new Set(repositories.map((repo) => repo.id)),
    }),
  );
  const all = installation.repositories === "all" && repositories === undefined;
  return created(
    defined({
      token,
      expires_at: seconds(expiresAt),
      permissions: permissions ?? installation.permissions,
      repository_selection: all ? "all" : "selected",
      repositories: repositories === undefined ? undefined : repositories.map((repo) => repoShape(call.world, repo)),
    }),
  );
}

function revoke(call: Call): Answer {
  if (call.actor.kind !== "installation") throw new ApiFailure(401, "Bad credentials");
  for (const [token, held] of call.world.tokens) if (held.actor === call.actor) call.world.tokens.delete(token);
  return NO_CONTENT;
}

function repositories(call: Call): Promise<Answer> {
  const { installation, repositories: only } = call.actor;
  if (installation === undefined)
    throw new ApiFailure(403, "You must authenticate with an installation access token in order to list repositories for an installation.");
  const seen = [...call.world.repos.values()].filter((repo) => installationsOn(call.world, repo).includes(installation));
  const shown = seen.filter((repo) => only === undefined || only.has(repo.id));
  return page(call, shown, (repo) => repoShape(call.world, repo), "repositories", {
    repository_selection: installation.repositories === "all" ? "all" : "selected",
  });
}

export const APP_ROUTES: readonly Route[] = [
  { method: "GET", path: "/app", handle: asApp((call) => ok(appShape(call.world, call.actor.app ?? call.world.app))) },
  {
    method: "GET",
    path: "/app/installations",
    handle: asApp((call) => page(call, own(call), (one) => installationShape(call.world, one))),
  },
  { method: "GET", path: "/app/installations/:id", handle: asApp((call) => ok(installationShape(call.world, installationHere(call)))) },
  { method: "POST", path: "/app/installations/:id/access_tokens", handle: asApp(accessToken) },
  ...APP_HOOK_ROUTES,
  {
    method: "POST",
    path: "/app-manifests/:code/conversions",
    handle: (call) => created(convertManifest(call.world, call.params["code"] ?? "")),
  },
  { method: "GET", path: "/repos/:owner/:repo/installation", handle: asApp(repoInstallation) },
  ...["/orgs/:login/installation", "/users/:login/installation"].map((path) => ({
    method: "GET",
    path,
    handle: asApp((call) => installationFor(call, call.world.users.get((call.params["login"] ?? "").toLowerCase()))),
  })),
  {
    method: "GET",
    path: "/apps/:slug",
    handle(call) {
      const found = [...call.world.apps.values()].find((one) => one.slug === call.params["slug"]);
      if (found === undefined) throw notFound();
      return ok(appShape(call.world, found));
    },
  },
  { method: "GET", path: "/installation/repositories", handle: repositories },
  { method: "DELETE", path: "/installation/token", handle: revoke },
];
