/** The page on which a person allows an App to act in their name. Who said yes before is led on at once, as on GitHub. */
import type { IncomingMessage } from "node:http";
import { clientId } from "../http/auth.ts";
import { ApiFailure } from "../http/failure.ts";
import type { App, Visitor } from "../model/model.ts";
import { grantKey, newCode } from "../oauth/grants.ts";
import { formOf } from "./comment-box.ts";
import { html, type Page, type View } from "./frame.ts";

interface Asked {
  app: App;
  visitor: Visitor;
  callback: string;
  challenge: string | undefined;
}

export function authorizePage(view: View): Page {
  const asked = askedOf(view);
  const { app, visitor } = asked;
  if (view.world.oauth.grants.has(grantKey(app, visitor.user))) return back(view, asked);
  const body = html`<h1>${app.name} wants to act for you</h1>
<p>It may then do what you and its installation both may, and know that you are <b>${visitor.user.login}</b>. You are led to <code>${new URL(asked.callback).origin}</code>.</p>
<form method="post"><input type="hidden" name="token" value="${visitor.token}"><button class="main" id="authorize">Authorize ${app.name}</button>
<button name="denied" value="true">Cancel</button></form>`;
  return { title: `Authorize ${app.name}`, body, formsTo: new URL(asked.callback).origin };
}

export async function authorize(view: View, request: IncomingMessage): Promise<Page> {
  const asked = askedOf(view);
  const form = await formOf(request);
  if (form.get("token") !== asked.visitor.token) throw new ApiFailure(403, "The page is of another run of the embedded GitHub.");
  return back(view, asked, form.has("denied"));
}

/** Throws ApiFailure where nobody may be led back. */
function askedOf({ world, query, visitor }: View): Asked {
  const app = [...world.apps.values()].find((one) => clientId(one) === query.get("client_id"));
  if (app === undefined) throw new ApiFailure(404, "There is no App with this client id.");
  if (visitor === undefined) throw new ApiFailure(403, "Nobody is signed in at this browser.");
  const callback = query.get("redirect_uri") ?? app.callbackUrls[0];
  if (callback === undefined || !app.callbackUrls.includes(callback))
    throw new ApiFailure(422, "The redirect_uri is not associated with this application.");
  const challenge = query.get("code_challenge") ?? undefined;
  if (challenge !== undefined && (query.get("code_challenge_method") !== "S256" || !/^[\w-]{43}$/.test(challenge)))
    throw new ApiFailure(422, "The code challenge is to be one by S256.");
  return { app, visitor, callback, challenge };
}

function back({ world, query }: View, { app, visitor, callback, challenge }: Asked, isDenied = false): Page {
  const to = new URL(callback);
  if (isDenied) to.searchParams.set("error", "access_denied");
  else to.searchParams.set("code", newCode(world, { app, user: visitor.user, callback, challenge }));
  const state = query.get("state");
  if (state !== null) to.searchParams.set("state", state);
  return { redirect: to.href };
}
