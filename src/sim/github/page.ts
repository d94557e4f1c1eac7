import type { IncomingMessage, ServerResponse } from "node:http";
import type { Issue, Repo, World } from "./model.ts";
import { findRepo, fullName, isPull, seconds } from "./world.ts";

/** The plainest of pages for a browser that follows a link to a repository, pull request or issue. undefined: not one of them. */
export function servePage(world: World, request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> | undefined {
  if (request.method !== "GET" || !(request.headers.accept ?? "").includes("text/html")) return undefined;
  const [, owner = "", name = "", , number] = /^\/([^/]+)\/([^/]+)(\/(?:pull|issues)\/(\d+))?$/.exec(url.pathname) ?? [];
  const repo = findRepo(world, owner, name);
  if (repo === undefined) return undefined;
  const issue = number === undefined ? undefined : repo.issues.get(Number(number));
  if (number !== undefined && issue === undefined) return undefined;
  const html = issue === undefined ? repoPage(repo) : issuePage(repo, issue);
  response.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
  });
  response.end(html);
  return Promise.resolve();
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
