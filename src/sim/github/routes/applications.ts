import { clientId } from "../http/auth.ts";
import { ApiFailure, invalid, notFound } from "../http/failure.ts";
import { type Answer, type Call, NO_CONTENT, type Route } from "../http/router.ts";
import type { App } from "../model/model.ts";
import { revokeGrant, revokeUserToken } from "../oauth/grants.ts";

/** Only for an App by its client id and secret, of itself; gives what was got of a person for the token it names. */
function asClient(handle: (call: Call, app: App, token: string) => void): Route["handle"] {
  return (call): Answer => {
    const { actor, body, params } = call;
    if (actor.kind !== "client" || actor.app === undefined) throw new ApiFailure(401, "Requires authentication");
    if (params["client_id"] !== clientId(actor.app)) throw notFound();
    const token = body["access_token"];
    if (typeof token !== "string" || token === "")
      throw invalid({ resource: "OauthApplication", field: "access_token", code: "missing_field" });
    handle(call, actor.app, token);
    return NO_CONTENT;
  };
}

/** Of what people allowed an App: one token, or all. */
export const APPLICATION_ROUTES: readonly Route[] = [
  {
    method: "DELETE",
    path: "/applications/:client_id/token",
    handle: asClient(({ world }, app, token) => {
      if (!revokeUserToken(world, app, token)) throw notFound();
    }),
  },
  {
    method: "DELETE",
    path: "/applications/:client_id/grant",
    handle: asClient(({ world }, app, token) => {
      const actor = world.tokens.get(token)?.actor;
      if (actor?.kind !== "user" || actor.app !== app) throw notFound();
      revokeGrant(world, app, actor.user);
    }),
  },
];
