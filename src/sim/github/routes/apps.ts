import { mintToken } from "../auth.ts";
import { installationShape } from "../events.ts";
import { ApiFailure, invalid, notFound } from "../failure.ts";
import type { Installation, Permissions, User } from "../model.ts";
import { type Answer, type Call, created, numberParam, ok, page, type Route } from "../router.ts";
import { repoShape } from "../shapes/repo.ts";
import { appShape } from "../shapes/user.ts";
import type { Delivery } from "../webhooks.ts";
import { findRepo, seconds } from "../world.ts";

/** Only for the App itself, by its JSON web token. */
function asApp(handle: (call: Call) => Promise<Answer> | Answer): (call: Call) => Promise<Answer> | Answer {
  return (call) => {
    if (call.actor.kind !== "app") throw new ApiFailure(401, "A JSON web token could not be decoded");
    return handle(call);
  };
}

function installationOf(call: Call): Installation {
  const found = call.world.installations.get(numberParam(call, "id"));
  if (found === undefined) throw notFound();
  return found;
}

function installationFor(call: Call, owner: User | undefined): Answer {
  for (const one of call.world.installations.values()) {
    if (one.account.id === owner?.id) return ok(installationShape(call.world, one));
  }
  throw notFound();
}

function narrowed(call: Call, installation: Installation): Permissions {
  const asked = call.body["permissions"];
  if (typeof asked !== "object" || asked === null) return installation.permissions;
  const out: Permissions = {};
  for (const [name, level] of Object.entries(asked)) {
    const held = installation.permissions[name];
    if ((level !== "read" && level !== "write") || held === undefined || (level === "write" && held === "read")) {
      throw invalid({ resource: "Installation", field: "permissions", code: "invalid" });
    }
    out[name] = level;
  }
  return out;
}

function accessToken(call: Call): Answer {
  const installation = installationOf(call);
  if (installation.suspended) throw new ApiFailure(403, "This installation has been suspended");
  const permissions = narrowed(call, installation);
  const { token, expiresAt } = mintToken(call.world, installation, permissions);
  return created({ token, expires_at: seconds(expiresAt), permissions, repository_selection: "all" });
}

function deliveryShape(delivery: Delivery) {
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: seconds(delivery.at),
    redelivery: delivery.redelivery,
    duration: (delivery.durationMs ?? 0) / 1000,
    status: delivery.status === undefined ? "pending" : delivery.status >= 200 && delivery.status < 300 ? "OK" : "failed",
    status_code: delivery.status ?? 0,
    event: delivery.event,
    action: delivery.action ?? null,
    installation_id: delivery.installation ?? null,
    repository_id: delivery.repository ?? null,
    throttled_at: null,
  };
}

/** Newest first; the cursor is the id of the last one shown. */
function listDeliveries(call: Call): Answer {
  const size = Math.min(Number(call.query.get("per_page") ?? 30) || 30, 100);
  const cursor = Number(call.query.get("cursor") ?? Number.POSITIVE_INFINITY);
  const older = call.world.hooks.deliveries.filter((one) => one.id < cursor).reverse();
  const shown = older.slice(0, size);
  const next = older.length > size ? shown.at(-1)?.id : undefined;
  const url = `${call.world.origin}/app/hook/deliveries?per_page=${size}&cursor=${next}`;
  return { status: 200, body: shown.map(deliveryShape), ...(next === undefined ? {} : { headers: { link: `<${url}>; rel="next"` } }) };
}

export const APP_ROUTES: readonly Route[] = [
  { method: "GET", path: "/app", handle: asApp((call) => ok(appShape(call.world, call.world.app))) },
  {
    method: "GET",
    path: "/app/installations",
    handle: asApp((call) => page(call, [...call.world.installations.values()], (one) => installationShape(call.world, one))),
  },
  { method: "GET", path: "/app/installations/:id", handle: asApp((call) => ok(installationShape(call.world, installationOf(call)))) },
  { method: "POST", path: "/app/installations/:id/access_tokens", handle: asApp(accessToken) },
  { method: "GET", path: "/app/hook/deliveries", handle: asApp(listDeliveries) },
  {
    method: "POST",
    path: "/app/hook/deliveries/:id/attempts",
    handle: asApp((call) => {
      if (!call.world.hooks.redeliver(numberParam(call, "id"))) throw notFound();
      return { status: 202, body: {} };
    }),
  },
  {
    method: "GET",
    path: "/repos/:owner/:repo/installation",
    handle: asApp((call) => installationFor(call, findRepo(call.world, call.params["owner"] ?? "", call.params["repo"] ?? "")?.owner)),
  },
  ...["/orgs/:login/installation", "/users/:login/installation"].map((path) => ({
    method: "GET",
    path,
    handle: asApp((call) => installationFor(call, call.world.users.get((call.params["login"] ?? "").toLowerCase()))),
  })),
  {
    method: "GET",
    path: "/installation/repositories",
    handle(call) {
      const account = call.actor.installation?.account;
      if (account === undefined) throw new ApiFailure(403, "Resource not accessible by integration");
      const repos = [...call.world.repos.values()].filter((repo) => repo.owner.id === account.id);
      return page(call, repos, (repo) => repoShape(call.world, repo), "repositories");
    },
  },
];
