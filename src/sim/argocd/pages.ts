/** Pages of the embedded Argo CD: its Applications, each at the address that a real one has it at. Nothing can be done there. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../core/base/time.ts";
import { ageWords, type Html, html } from "../github/pages/frame.ts";
import { PAGE_SCRIPT } from "../github/pages/script.ts";
import { PAGE_STYLE } from "../github/pages/style.ts";
import type { Store } from "../kubernetes/store.ts";
import { requestUrl } from "../listen.ts";
import { type Application, asApplication, sourcesOf } from "./types.ts";

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

/** Answers with a page; false: something that is no page is asked for. */
export function createPages(store: Store, clock: Clock & { speed?: number }) {
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const { pathname } = requestUrl(request);
    const send = (status: number, type: string, body: string) => {
      response.writeHead(status, { ...HEADERS, "content-type": `${type}; charset=utf-8` });
      response.end(request.method === "HEAD" ? undefined : body);
      return true;
    };
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    if (pathname === "/-/page.css") return send(200, "text/css", PAGE_STYLE);
    if (pathname === "/-/page.js") return send(200, "text/javascript", PAGE_SCRIPT);
    // As a real one's: whoever follows a link to an Application gets its page, whatever kinds of answer are asked for.
    const isPage = /^\/(?:applications(?:\/|$)|$)/.test(pathname) || (request.headers.accept ?? "").includes("text/html");
    if (pathname.startsWith("/api/") || !isPage) return false;
    const found = pageAt(store, clock, pathname);
    return send(found === undefined ? 404 : 200, "text/html", frame(clock, found ?? MISSING));
  };
}

interface Page {
  title: string;
  body: Html;
}

const MISSING: Page = {
  title: "Not here",
  body: html`<h1>There is no such Application</h1><p><a href="/applications">All Applications</a></p>`,
};

function pageAt(store: Store, clock: Clock, path: string): Page | undefined {
  if (path === "/" || path === "/applications") return listPage(store.list("applications").map(asApplication));
  const [, namespace = "", name = ""] = /^\/applications\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  const found = store.get("applications", decoded(namespace), decoded(name));
  return found && applicationPage(asApplication(found), clock);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

function listPage(applications: readonly Application[]): Page {
  const row = ({ metadata: { name, namespace = "" }, status }: Application) =>
    html`<li><div><a class="title" href="/applications/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}">${name}</a></div><span class="side quiet">${status?.health?.status} · ${status?.sync?.status}</span></li>`;
  return {
    title: "Applications",
    body: html`<div id="list" data-live><h1>Applications</h1><ul class="card list">${applications.map(row)}</ul></div>`,
  };
}

function applicationPage({ metadata, spec, status = {} }: Application, clock: Clock): Page {
  const { health, sync, operationState: operation, conditions = [], reconciledAt, resources = [] } = status;
  const at = (time: string | undefined) =>
    time && html`<time datetime="${time}" title="${time}">${ageWords(clock.now() - Date.parse(time))}</time>`;
  const { name: cluster, server, namespace } = spec.destination;
  const sources = sourcesOf(spec).map(
    ({ repoURL, path, chart, targetRevision }) =>
      html`<p><code>${repoURL}</code> ${path ?? chart} at <code>${targetRevision ?? "HEAD"}</code></p>`,
  );
  const facts: [string, unknown][] = [
    ["Health", html`<b>${health?.status ?? "Unknown"}</b> ${health?.message} ${at(health?.lastTransitionTime)}`],
    ["Sync", html`<b>${sync?.status ?? "Unknown"}</b> <code>${sync?.revision ?? sync?.revisions?.join(", ")}</code>`],
    [
      "Last operation",
      operation && html`<b>${operation.phase}</b> ${operation.message} ${at(operation.finishedAt ?? operation.startedAt)}`,
    ],
    ["Compared", at(reconciledAt)],
    ["Source", sources],
    ["Destination", html`${cluster ?? server} · ${namespace}`],
    ["Project", spec.project],
    ...conditions.map(({ type, message }): [string, unknown] => [type, message]),
  ];
  const shown = facts.filter(([, value]) => value !== undefined && value !== "");
  return {
    title: metadata.name,
    body: html`<div id="application" data-live><h1>${metadata.name}</h1><p class="under">Application in ${metadata.namespace}</p>
<ul class="card list">${shown.map(([label, value]) => html`<li><div>${label}</div><span class="side">${value}</span></li>`)}</ul>
<h2>Resources</h2><ul class="card list">${resources.map(resourceRow)}</ul></div>
<p><a href="/applications">All Applications</a></p>`,
  };
}

function resourceRow(resource: Record<string, unknown>): Html {
  const text = (key: string, of: unknown = resource) => {
    const value = (of as Record<string, unknown> | undefined)?.[key];
    return typeof value === "string" ? value : "";
  };
  // As Argo CD 3 writes it, the health of a resource is not in the Application.
  const health = resource["health"] ?? {};
  const place = [text("namespace"), text("name")].filter((part) => part !== "").join("/");
  const states = [text("status", health), text("status")].filter((part) => part !== "").join(" · ");
  return html`<li><div><b>${text("kind")}</b> ${place} <span class="quiet">${text("message", health)}</span></div><span class="side quiet">${states}</span></li>`;
}

function frame(clock: Clock & { speed?: number }, { title, body }: Page): string {
  return String(html`<!doctype html>
<html lang="en" data-now="${new Date(clock.now()).toISOString()}" data-speed="${clock.speed ?? 1}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Embedded Argo CD</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/-/page.css">
<script type="module" src="/-/page.js"></script>
</head>
<body>
<header class="top"><nav aria-label="Where you are"><a class="brand" href="/applications"><span>Embedded Argo CD</span></a></nav><p><span id="clock"></span></p></header>
<main>${body}</main>
<footer>A stand-in for Argo CD that runs on this machine for Stagecoach's demo and tests. Nothing can be done here.</footer>
</body>
</html>`);
}
