import { runGraphQL } from "../graphql/endpoint.ts";
import { ApiFailure } from "../http/failure.ts";
import type { Route } from "../http/router.ts";

/** github.com has it at /graphql, an Enterprise Server at /api/graphql. Errors of fields answer 200. */
export const GRAPHQL_ROUTES: readonly Route[] = ["/graphql", "/api/graphql"].map((path) => ({
  method: "POST",
  path,
  async handle(call) {
    if (call.actor.kind === "anonymous") throw new ApiFailure(401, "This endpoint requires you to be authenticated.");
    if (call.actor.kind === "app") throw new ApiFailure(403, "Resource not accessible by integration");
    return { status: 200, body: await runGraphQL(call.world, call.actor, call.body) };
  },
}));
