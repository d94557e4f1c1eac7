/** Tells browsers from programs at the embedded GitHub's one port, and loads the pages for the first browser only. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { World } from "../model/model.ts";

/** Addresses of the API, which a browser gets as they are. */
const OF_API =
  /^\/(?:api|repos|repositories|users?|orgs|app|installation|meta|rate_limit|graphql|zen|octocat|search|app-manifests|applications)(?:\/|$)/;

/** Answers browsers that follow a link, and forms of the pages. undefined: a program asks. */
export function servePage(world: World, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> | undefined {
  const { method = "GET" } = request;
  const own =
    url.pathname.startsWith("/-/") || url.pathname === "/login/oauth/authorize" || /^\/apps\/[^/]+\/installations\/new$/.test(url.pathname);
  const isForm = method === "POST" && /^\/[^/]+\/[^/]+\/(?:issues|pull)\/\d+\/comment$/.test(url.pathname);
  const isBrowser = (method === "GET" || method === "HEAD") && (request.headers.accept ?? "").includes("text/html");
  if (!own && !isForm && !(isBrowser && !OF_API.test(url.pathname))) return undefined;
  return import("./routes.ts").then(({ answerPage }) => answerPage(world, request, response, url));
}
