/** Which page stands at which address: the very addresses that GitHub's API gives as `html_url`. Loaded when a browser first asks. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { install } from "../administration.ts";
import { ApiFailure } from "../http/failure.ts";
import { createRouter } from "../http/router.ts";
import type { App, Issue } from "../model/model.ts";
import { findRepo, fullName, movedRepo } from "../model/world.ts";
import { authorize, authorizePage } from "./authorize.ts";
import { commitPage, comparePage } from "./changes.ts";
import { runPage } from "./checks.ts";
import { formOf, isLoopbackHost, takeComment } from "./comment-box.ts";
import { issuePage } from "./conversation.ts";
import { blobPage, branchesPage, commitsPage, rawFile, revisionIn, treePage } from "./files.ts";
import { frame, html, type Page, type RepoView, repoPath, type View } from "./frame.ts";
import { accountPage, appPage, homePage, installedPage, installForm, issuesPage, mayRead } from "./lists.ts";
import { PAGE_SCRIPT } from "./script.ts";
import { PAGE_STYLE } from "./style.ts";

type Found = Page | undefined | Promise<Page | undefined>;
interface PageRoute {
  method: string;
  path: string;
  show(view: View, request: IncomingMessage): Found;
}

function page(path: string, show: PageRoute["show"], method = "GET"): PageRoute {
  return { method, path, show };
}

/** Of a repository that the visitor may see. */
function inRepo(path: string, show: (view: RepoView, request: IncomingMessage) => Found, method?: string): PageRoute {
  return page(
    `/:owner/:repo${path}`,
    (view, request) => {
      const { owner = "", repo: name = "" } = view.params;
      const repo = findRepo(view.world, owner, name) ?? movedRepo(view.world, owner, name);
      if (repo === undefined || !mayRead(repo, view.visitor)) return undefined;
      const asked = `/${owner}/${name}`;
      if (asked !== repoPath(repo)) return { redirect: repoPath(repo) + view.path.slice(asked.length) };
      return show({ ...view, repo }, request);
    },
    method,
  );
}

const rest = (view: View) => view.params["rest"] ?? "";

function ofIssue(show: (view: RepoView, issue: Issue, request: IncomingMessage) => Found) {
  return (view: RepoView, request: IncomingMessage) => {
    const issue = view.repo.issues.get(Number(view.params["number"]));
    return issue === undefined ? undefined : show(view, issue, request);
  };
}

const ISSUE_ROUTES = ["issues", "pull"].flatMap((kind) => [
  inRepo(
    `/${kind}/:number`,
    ofIssue((view, issue) => issuePage(view, issue)),
  ),
  inRepo(
    `/${kind}/:number/comment`,
    ofIssue(async (view, issue, request) => ({ redirect: await takeComment(view, issue, request) })),
    "POST",
  ),
]);

const ROUTES: readonly PageRoute[] = [
  page("/", homePage),
  page("/login/oauth/authorize", (view) => authorizePage(view)),
  page("/login/oauth/authorize", (view, request) => authorize(view, request), "POST"),
  page("/apps/:slug", (view) => ofApp(view, (app) => appPage(view, app))),
  page("/apps/:slug/installations/new", (view) => ofApp(view, (app) => installForm(view, app))),
  page("/apps/:slug/installations/new", (view, request) => ofApp(view, (app) => installOn(view, app, request)), "POST"),
  page("/settings/installations/:id", (view) => {
    const app = view.world.installations.get(Number(view.params["id"]))?.app;
    return app && appPage(view, app);
  }),
  page("/:login", (view) => {
    const user = view.world.users.get((view.params["login"] ?? "").toLowerCase());
    return user && accountPage(view, user);
  }),
  ...ISSUE_ROUTES,
  inRepo("", (view) => treePage(view, view.repo.defaultBranch)),
  inRepo("/issues", (view) => issuesPage(view, "issues")),
  inRepo("/pulls", (view) => issuesPage(view, "pulls")),
  ...["commits", "checks", "files"].map((part) =>
    inRepo(
      `/pull/:number/${part}`,
      ofIssue((view, issue) => issuePage(view, issue, `/${part}`)),
    ),
  ),
  inRepo("/runs/:id", (view) => {
    const run = view.repo.checks.get(Number(view.params["id"]));
    return run && runPage(view, run);
  }),
  inRepo("/commit/:sha", async (view) => {
    const found = await revisionIn(view, view.params["sha"] ?? "");
    return found && commitPage(view, found.commit);
  }),
  inRepo("/compare/*rest", async (view) => {
    const [left, right] = await Promise.all(
      rest(view)
        .split("...")
        .map((name) => revisionIn(view, name)),
    );
    return left && right && comparePage(view, left.commit, right.commit);
  }),
  inRepo("/branches", branchesPage),
  inRepo("/commits", (view) => commitsPage(view, "")),
  inRepo("/commits/*rest", (view) => commitsPage(view, rest(view))),
  inRepo("/tree/*rest", (view) => treePage(view, rest(view))),
  inRepo("/blob/*rest", (view) => blobPage(view, rest(view))),
  inRepo("/raw/*rest", (view) => rawFile(view, rest(view))),
];

function ofApp({ world, params }: View, show: (app: App) => Found): Found {
  const app = [...world.apps.values()].find((one) => one.slug === params["slug"]);
  return app && show(app);
}

async function installOn({ world }: View, app: App, request: IncomingMessage): Promise<Page> {
  const account = (await formOf(request)).get("account") ?? "";
  const known = [...world.repos.values()].some((repo) => repo.owner.login === account);
  if (!known) throw new ApiFailure(404, "There is no such account.");
  return installedPage(app, account, install(world, account, undefined, app.id));
}

const router = createRouter(ROUTES);

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  // A form says where it comes from to ourselves alone.
  "referrer-policy": "same-origin",
  "cache-control": "no-store",
};

/** A browser asks the same of where a form's answer leads. */
function headersWith(formsTo: string): typeof HEADERS {
  return {
    ...HEADERS,
    "content-security-policy": HEADERS["content-security-policy"].replace("form-action 'self'", `form-action 'self' ${formsTo}`),
  };
}

/** Answers a browser; what is at no address of ours is said on a page, too. */
export async function answerPage(world: View["world"], request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
  const send = (status: number, type: string, body: string | Buffer, formsTo = "") =>
    void response
      .writeHead(status, { ...headersWith(formsTo), "content-type": `${type}; charset=utf-8` })
      .end(request.method === "HEAD" ? undefined : body);
  if (url.pathname === "/-/page.css") return send(200, "text/css", PAGE_STYLE);
  if (url.pathname === "/-/page.js") return send(200, "text/javascript", PAGE_SCRIPT);
  const visitor = isLoopbackHost(request.headers.host) ? world.visitor : undefined;
  const view: View = { world, params: {}, query: url.searchParams, path: url.pathname, visitor };
  const found = await pageAt(view, request);
  if ("redirect" in found) {
    response.writeHead(request.method === "POST" ? 303 : 302, { ...HEADERS, location: found.redirect }).end();
    return;
  }
  if ("file" in found) return send(200, "text/plain", found.file);
  const repo = findRepo(world, ...namesIn(url.pathname));
  const framed = frame(repo !== undefined && mayRead(repo, visitor) ? { ...view, repo } : view, found);
  send(found.status ?? 200, "text/html", String(await framed), found.formsTo);
}

function namesIn(path: string): [string, string] {
  const [, owner = "", name = ""] = path.split("/");
  return [owner, name];
}

async function pageAt(view: View, request: IncomingMessage): Promise<Page> {
  try {
    const route = router(request.method === "HEAD" ? "GET" : (request.method ?? "GET"), view.path.replace(/(?<=.)\/+$/, ""));
    const found = await route?.route.show({ ...view, params: route.params }, request);
    return found ?? missing(view);
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    const why = error.errors?.map((one) =>
      typeof one === "string" ? one : (one.message ?? `${one.field} is ${one.code.replaceAll("_", " ")}`),
    );
    const body = html`<h1>${error.status === 404 ? "Not here" : "Not done"}</h1><p>${error.message}</p><p>${why?.join("; ")}</p>`;
    return { title: "Not done", status: error.status, body };
  }
}

function missing({ world, visitor }: View): Page {
  const repos = [...world.repos.values()].filter((repo) => mayRead(repo, visitor)).slice(0, 20);
  const links = repos.map((repo) => html`<li><a href="${repoPath(repo)}">${fullName(repo)}</a></li>`);
  return {
    title: "Not here",
    status: 404,
    body: html`<h1>There is nothing here</h1><p>The repositories that there are:</p><ul>${links}</ul>`,
  };
}
