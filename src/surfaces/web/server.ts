import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { parsePagePath } from "../../core/report/page-places.ts";
import { problemText } from "./api/answers.ts";
import { anonymousOf } from "./api/askers.ts";
import { API_PATH, apiApp } from "./api/routes.ts";
import { clientOf, openCounter } from "./api/turns.ts";
import { isLocal } from "./api/viewers.ts";
import { LOGIN_PATHS, type Login } from "./login/login.ts";
import { pageHtml, pageScript, pageStyle } from "./page.ts";
import type { WebClock, WebSource } from "./source.ts";

const HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
};

/** The page and its data, as one request handler: it answers what is its own and says so, and leaves the rest to others. */
export function webRoutes(source: WebSource, clock: WebClock): (request: IncomingMessage, response: ServerResponse) => boolean {
  const base = basePath(source);
  const page = getRequestListener(pageApp(base, source.login).fetch);
  const isOpen = anonymousOf(source) === "Everywhere" || source.login !== undefined || source.proxy !== undefined;
  const api = getRequestListener(apiApp(source, clock).fetch);
  const asks = openCounter(MOST_REQUESTS, () => performance.now());
  return (request, response) => {
    const address = addressBelow(base, request.url ?? "");
    if (address === undefined || !mayAsk(request, address)) return false;
    request.url = address;
    if (!isLocal(request) && !asks.count(clientOf(request))) tooMany(response, isOfApi(address));
    else if (isOfApi(address)) void api(request, response);
    // It holds nothing of anybody's: who may not see more is asked to sign in.
    else if (isOpen || isLocal(request)) void page(request, response);
    else response.writeHead(403, { ...HEADERS, "Content-Type": "text/plain; charset=utf-8" }).end(NOT_FROM_HERE);
    return true;
  };
}

/** In a minute, of one client: a page and what it reads are ten. Tokens and people have bounds of their own below that. */
const MOST_REQUESTS = 1_200;

function tooMany(response: ServerResponse, asProblem: boolean): void {
  const type = asProblem ? "application/problem+json" : "text/plain; charset=utf-8";
  response
    .writeHead(429, { ...HEADERS, "Content-Type": type, "Retry-After": "5" })
    .end(asProblem ? TOO_MANY : "Too many requests; slow down.\n");
}

/** An address of ours; undefined: it is another's, and left as it is. What is in front may have taken `base` away, or not. */
function addressBelow(base: string, address: string): string | undefined {
  const isBelow = base !== "" && (address === base || address.startsWith(`${base}/`));
  return [...(isBelow ? [address.slice(base.length) || "/"] : []), address].find((one) => isOfApi(one) || isOfPage(one));
}

function mayAsk({ method }: IncomingMessage, address: string): boolean {
  return isOfApi(address) || address === "/logout" || method === "GET" || method === "HEAD";
}

function isOfApi(address: string): boolean {
  return address.startsWith(`${API_PATH}/`);
}

const TOO_MANY = problemText("TOO_MANY_REQUESTS");
const NOT_FROM_HERE = "The page is shown on its own machine only, as by kubectl port-forward; inside.anonymous opens it.\n";

/** The path of the public address, without a slash at its end; whoever wrote it may break no page. */
export function basePath({ publicUrl }: Pick<WebSource, "publicUrl">): string {
  return publicUrl === undefined ? "" : new URL(publicUrl).pathname.replace(/(?<!\/)\/+$/, "").replace(/["<>&]/g, "");
}

const FILES: ReadonlySet<string> = new Set(["/page.css", "/page.js"]);

function isOfPage(address: string): boolean {
  return FILES.has(address) || LOGIN_PATHS.has(address.split("?")[0] ?? "") || parsePagePath(address) !== undefined;
}

/** `base`: what stands before each path, without a slash at its end. */
export function pageApp(base = "", login?: Login): ReturnType<Login["app"]> {
  const app: ReturnType<Login["app"]> = new Hono();
  app.use(compress());
  app.use(async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(HEADERS)) context.res.headers.set(name, value);
  });
  app.get("/page.css", async (context) => context.body(await pageStyle(), 200, { "Content-Type": "text/css; charset=utf-8" }));
  app.get("/page.js", async (context) => context.body(await pageScript(), 200, { "Content-Type": "text/javascript; charset=utf-8" }));
  if (login !== undefined) app.route("/", login.app(base));
  app.get("*", (context) => (parsePagePath(addressOf(context.req.url)) !== undefined ? context.html(pageHtml(base)) : context.notFound()));
  return app;
}

function addressOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}
