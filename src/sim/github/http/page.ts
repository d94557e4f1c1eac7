import type { IncomingMessage, ServerResponse } from "node:http";
import { install } from "../administration.ts";
import type { App, Issue, Repo, World } from "../model/model.ts";
import { findRepo, fullName, isPull, seconds } from "../model/world.ts";

/** The plainest of pages for a browser that follows a link to a repository, pull request or issue. undefined: not one of them. */
export function servePage(world: World, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> | undefined {
  const slug = /^\/apps\/([^/]+)\/installations\/new$/.exec(url.pathname)?.[1];
  const app = [...world.apps.values()].find((one) => one.slug === slug);
  if (app !== undefined) return serveInstall(world, app, request, response);
  if (request.method !== "GET" || !(request.headers.accept ?? "").includes("text/html")) return undefined;
  const [, owner = "", name = "", , number] = /^\/([^/]+)\/([^/]+)(\/(?:pull|issues)\/(\d+))?$/.exec(url.pathname) ?? [];
  const repo = findRepo(world, owner, name);
  if (repo === undefined) return undefined;
  const issue = number === undefined ? undefined : repo.issues.get(Number(number));
  if (number !== undefined && issue === undefined) return undefined;
  sendHtml(response, issue === undefined ? repoPage(repo) : issuePage(repo, issue));
  return Promise.resolve();
}

function sendHtml(response: ServerResponse, html: string): void {
  response.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
  });
  response.end(html);
}

/** Where a manifest's setup leads to: choose an account, and the App is on it. */
async function serveInstall(world: World, app: App, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "POST") {
    const owners = new Set([...world.repos.values()].map((repo) => repo.owner.login));
    const buttons = [...owners].map((login) => `<p><button name="account" value="${escapeHtml(login)}">${escapeHtml(login)}</button></p>`);
    const title = `Install ${app.name}`;
    sendHtml(response, frame(title, `<h1>${escapeHtml(title)}</h1><form method="post">${buttons.join("")}</form>`));
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const account = new URLSearchParams(Buffer.concat(chunks).toString()).get("account") ?? "";
  const known = [...world.repos.values()].some((repo) => repo.owner.login === account);
  if (!known) {
    response.writeHead(404, { "content-type": "text/plain" }).end("There is no such account.\n");
    return;
  }
  const id = install(world, account, undefined, app.id);
  sendHtml(
    response,
    frame("Installed", `<h1>${escapeHtml(app.name)} is installed on ${escapeHtml(account)}</h1><p>Installation ${id}</p>`),
  );
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

function frame(title: string, body: string): string {
  const style =
    "body{font:15px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{white-space:pre-wrap;background:#f3f4f6;padding:1rem}";
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${style}</style>${body}</html>`;
}

function repoPage(repo: Repo): string {
  const rows = [...repo.issues.values()].reverse().map((issue) => {
    const kind = isPull(issue) ? "pull" : "issues";
    return `<li><a href="/${escapeHtml(fullName(repo))}/${kind}/${issue.number}">#${issue.number} ${escapeHtml(issue.title)}</a> ${stateOf(issue)}</li>`;
  });
  return frame(fullName(repo), `<h1>${escapeHtml(fullName(repo))}</h1><ul>${rows.join("")}</ul>`);
}

function stateOf(issue: Issue): string {
  return issue.pull?.merged === undefined ? issue.state : "merged";
}

function issuePage(repo: Repo, issue: Issue): string {
  const comments = [...repo.comments.values()].filter((comment) => comment.issue === issue.number);
  const printed = comments.map((comment) => {
    const reactions = comment.reactions.map((one) => one.content).join(" ");
    return `<h3>${escapeHtml(comment.user.login)}, ${seconds(comment.createdAt)} ${reactions}</h3><pre>${escapeHtml(comment.body)}</pre>`;
  });
  const title = `#${issue.number} ${issue.title}`;
  const branches = issue.pull === undefined ? "" : `<p>${escapeHtml(issue.pull.headRef)} → ${escapeHtml(issue.pull.baseRef)}</p>`;
  const head = `<h1>${escapeHtml(title)}</h1><p>${stateOf(issue)}, opened by ${escapeHtml(issue.user.login)}</p>${branches}`;
  return frame(title, `${head}<pre>${escapeHtml(issue.body ?? "")}</pre>${printed.join("")}`);
}
