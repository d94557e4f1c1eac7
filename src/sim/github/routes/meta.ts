import { ApiFailure, notFound } from "../http/failure.ts";
import { rateOf } from "../http/rate-limit.ts";
import { type Call, ok, type Route } from "../http/router.ts";
import type { User } from "../model/model.ts";
import { seconds } from "../model/world.ts";
import { userShape } from "../shapes/user.ts";

function fullUser(call: Call, user: User) {
  const { world } = call;
  return {
    ...userShape(world, user),
    name: null,
    company: null,
    blog: "",
    location: null,
    email: null,
    hireable: null,
    bio: null,
    public_repos: 0,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: seconds(world.app.createdAt),
    updated_at: seconds(world.app.createdAt),
  };
}

export const META_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/rate_limit",
    handle(call) {
      const core = rateOf(call.world, call.actor);
      const graphql = rateOf(call.world, call.actor, "graphql");
      const search = { limit: 30, used: 0, remaining: 30, reset: core.reset, resource: "search" };
      const resources = { core, search, graphql };
      // The newer version of the API has it no more.
      return ok(call.version === "2026-03-10" ? { resources } : { resources, rate: core });
    },
  },
  {
    method: "GET",
    path: "/user",
    handle(call) {
      if (call.actor.kind === "anonymous") throw new ApiFailure(401, "Requires authentication");
      if (call.actor.kind !== "user") throw new ApiFailure(403, "Resource not accessible by integration");
      return ok(fullUser(call, call.actor.user));
    },
  },
  {
    method: "GET",
    path: "/users/:login",
    handle(call) {
      const user = call.world.users.get((call.params["login"] ?? "").toLowerCase());
      if (user === undefined) throw notFound();
      return ok(fullUser(call, user));
    },
  },
];
