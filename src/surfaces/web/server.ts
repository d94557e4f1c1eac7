import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { defined } from "../../core/base/defined.ts";
import { applicationLinks } from "../../core/report/links.ts";
import { modelOf } from "../../core/report/model/run-model.ts";
import type { RunModel } from "../../core/report/model/types.ts";
import { parsePagePath } from "../../core/report/page-places.ts";
import { API_PATH, apiApp } from "./api/routes.ts";
import { PAGE_HTML, PAGE_SCRIPT, PAGE_STYLE } from "./page.ts";
import type { Standing, WebClock, WebSource } from "./source.ts";

export interface WebState {
  /** The bot's time: in a fast world not the wall's. */
  now: string;
  /** Seconds of the bot's clock in one of the wall's. */
  speed: number;
  runs: (RunModel & { repository: string })[];
  standing: readonly Standing[];
}

/** More pages than this open at once are answered 503: each holds a connection. */
const MOST_LISTENERS = 200;
/** Changes closer together than this are sent as one. */
const COALESCE_MS = 100;

const HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
};

/** The page and its data, as one request handler: it answers what is its own and says so, and leaves the rest to others. */
export function webRoutes(source: WebSource, clock: WebClock): (request: IncomingMessage, response: ServerResponse) => boolean {
  const listener = getRequestListener(webApp(source, clock).fetch);
  const api = getRequestListener(apiApp(source, clock).fetch);
  const own = new Set(["/page.css", "/page.js", "/api/runs", "/api/events"]);
  const base = basePath(source);
  return (request, response) => {
    // What is in front may have taken the path away, or not.
    const address = request.url ?? "";
    if (base !== "" && (address === base || address.startsWith(`${base}/`))) request.url = address.slice(base.length) || "/";
    const path = (request.url ?? "").split("?")[0] ?? "";
    if (path.startsWith(`${API_PATH}/`)) {
      void api(request, response);
      return true;
    }
    if ((!own.has(path) && parsePagePath(request.url ?? "") === undefined) || (request.method !== "GET" && request.method !== "HEAD"))
      return false;
    void listener(request, response);
    return true;
  };
}

/** The path of the public address, without a slash at its end; whoever wrote it may break no page. */
function basePath({ publicUrl }: WebSource): string {
  return publicUrl === undefined ? "" : new URL(publicUrl).pathname.replace(/(?<!\/)\/+$/, "").replace(/["<>&]/g, "");
}

function addressOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

function stateOf(source: WebSource, clock: WebClock): WebState {
  const now = clock.now();
  const linkTo = applicationLinks((name) => source.planes?.find((plane) => plane.name === name)?.uiUrl);
  return {
    now: new Date(now).toISOString(),
    speed: clock.speed ?? 1,
    runs: source.runs().map(({ repository, run, history }) => ({ repository, ...modelOf(run, now, defined({ linkTo, history })) })),
    standing: source.standing?.() ?? [],
  };
}

export function webApp(source: WebSource, clock: WebClock): Hono {
  const app = new Hono();
  let listeners = 0;
  const state = () => stateOf(source, clock);
  app.use(async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(HEADERS)) context.res.headers.set(name, value);
  });
  const base = basePath(source);
  const html = PAGE_HTML.replaceAll('="/', `="${base}/`).replace("<title>", `<meta name="stagecoach-base" content="${base}">\n<title>`);
  for (const path of ["/", "/r/*"])
    app.get(path, (context) => (parsePagePath(addressOf(context.req.url)) === undefined ? context.notFound() : context.html(html)));
  app.get("/page.css", (context) => context.body(PAGE_STYLE, 200, { "Content-Type": "text/css; charset=utf-8" }));
  app.get("/page.js", (context) => context.body(PAGE_SCRIPT, 200, { "Content-Type": "text/javascript; charset=utf-8" }));
  app.get("/api/runs", (context) => context.json(state()));
  app.get("/api/events", (context) => {
    if (listeners >= MOST_LISTENERS) return context.text("too many pages are open", 503);
    return streamSSE(context, async (stream) => {
      listeners += 1;
      let wake = (): void => undefined;
      const off = source.onChange(() => wake());
      stream.onAbort(() => wake());
      try {
        while (!stream.aborted) {
          const changed = new Promise<void>((resolve) => {
            wake = resolve;
            // A word now and then keeps proxies from closing a quiet line.
            setTimeout(resolve, 15_000).unref();
          });
          await stream.writeSSE({ data: JSON.stringify(state()) });
          await changed;
          await stream.sleep(COALESCE_MS);
        }
      } finally {
        listeners -= 1;
        off();
      }
    });
  });
  return app;
}
