/** Lists: issues and pull requests of a repository, repositories, accounts and Apps. */
import type { App, Issue, Repo, User, World } from "../model/model.ts";
import { atLeast, fullName, isPull, roleOf } from "../model/world.ts";
import { checkRow, newestChecks } from "./checks.ts";
import {
  age,
  avatar,
  CURRENT,
  type Html,
  html,
  icon,
  issuePath,
  issueState,
  type Page,
  type RepoView,
  repoPath,
  userLink,
  type View,
} from "./frame.ts";

export function issuesPage(view: RepoView, kind: "issues" | "pulls"): Page {
  const { repo } = view;
  const all = [...repo.issues.values()].filter((issue) => isPull(issue) === (kind === "pulls")).reverse();
  const wanted = view.query.get("state") === "closed" ? "closed" : "open";
  const shown = all.filter((issue) => issue.state === wanted);
  const name = kind === "pulls" ? "Pull requests" : "Issues";
  const count = (state: "open" | "closed") => all.filter((issue) => issue.state === state).length;
  const tab = (state: "open" | "closed", label: string) =>
    html`<a href="?state=${state}"${state === wanted ? CURRENT : ""}>${label} <small class="count">${count(state)}</small></a>`;
  const none = html`<p class="empty">${wanted === "open" ? "None is open." : "None was closed yet."}</p>`;
  const body = html`<div id="list" data-live><h1>${name}</h1><nav class="tabs inner" aria-label="State">${tab("open", "Open")}${tab("closed", "Closed")}</nav>
${shown.length === 0 ? none : html`<ul class="card list">${shown.map((issue) => issueRow(view, issue))}</ul>`}</div>`;
  return { title: `${name} of ${fullName(repo)}`, body, tab: name };
}

function issueRow(view: RepoView, issue: Issue): Html {
  const { repo, world } = view;
  const labels = issue.labels.map((label) => html` <span class="label">${label}</span>`);
  const checks = isPull(issue) ? newestChecks(repo, issue.pull.headSha).slice(0, 3) : [];
  const comments = [...repo.comments.values()].filter((comment) => comment.issue === issue.number).length;
  const side = comments === 0 ? "" : html`<span class="side quiet">${comments} ${comments === 1 ? "comment" : "comments"}</span>`;
  return html`<li>${icon(issueState(issue))}<div><a class="title" href="${issuePath(repo, issue)}">${issue.title}</a>${labels}
<p class="quiet">#${issue.number} opened ${age(world, issue.createdAt)} by ${userLink(issue.user)}</p>
${checks.length === 0 ? "" : html`<ul class="rows small">${checks.map((run) => checkRow(view, run))}</ul>`}</div>${side}</li>`;
}

/** Whether the visitor sees it. */
export function mayRead(repo: Repo, visitor: World["visitor"]): boolean {
  return !repo.private || (visitor !== undefined && atLeast(roleOf(repo, visitor.user), "read"));
}

function repoList(view: View, repos: readonly Repo[]): Html {
  const rows = repos.map((repo) => {
    const open = [...repo.issues.values()].filter((issue) => isPull(issue) && issue.state === "open").length;
    return html`<li><div><a class="title" href="${repoPath(repo)}">${fullName(repo)}</a> ${repo.private ? html`<small class="mark">private</small>` : ""}
<p class="quiet">${repo.description ?? ""} pushed ${age(view.world, repo.pushedAt)}</p></div><span class="side quiet">${open} open pull requests</span></li>`;
  });
  return rows.length === 0 ? html`<p class="empty">No repositories.</p>` : html`<ul class="card list">${rows}</ul>`;
}

export function homePage(view: View): Page {
  const repos = [...view.world.repos.values()].filter((repo) => mayRead(repo, view.visitor));
  return { title: "Embedded GitHub", body: html`<h1>Repositories</h1>${repoList(view, repos)}` };
}

export function accountPage(view: View, user: User): Page {
  const own = [...view.world.repos.values()].filter((repo) => repo.owner.id === user.id && mayRead(repo, view.visitor));
  const roles = [...view.world.repos.values()]
    .filter((repo) => mayRead(repo, view.visitor) && repo.collaborators.has(user.login.toLowerCase()))
    .map(
      (repo) =>
        html`<li><div><a class="title" href="${repoPath(repo)}">${fullName(repo)}</a></div><span class="side quiet">${roleOf(repo, user)}</span></li>`,
    );
  const what = user.type === "Organization" ? "Organisation" : "Person";
  const body = html`<h1>${avatar(user)} ${user.login}</h1><p class="under">${what}</p>${user.type === "Organization" || own.length > 0 ? repoList(view, own) : ""}
${roles.length === 0 ? "" : html`<h2>May work on</h2><ul class="card list">${roles}</ul>`}`;
  return { title: user.login, body };
}

export function appPage(view: View, app: App): Page {
  const places = [...view.world.installations.values()].filter((one) => one.app === app);
  const rows = Object.entries(app.permissions).map(
    ([name, level]) => html`<li><div><code>${name}</code></div><span class="side quiet">${level}</span></li>`,
  );
  const on = places.map((one) => html`${userLink(one.account)} `);
  const body = html`<h1>${avatar(app.bot)} ${app.name}</h1><p class="under">GitHub App by ${userLink(app.owner)}${places.length === 0 ? "" : html`, installed on ${on}`}</p>
<p><a class="button" href="/apps/${encodeURIComponent(app.slug)}/installations/new">Install on an account</a></p>
<h2>Permissions</h2><ul class="card list">${rows}</ul>`;
  return { title: app.name, body };
}

/** Where a manifest's setup leads to: choose an account, and the App is on it. */
export function installForm({ world }: View, app: App): Page {
  const owners = new Set([...world.repos.values()].map((repo) => repo.owner.login));
  const buttons = [...owners].map((login) => html`<p><button name="account" value="${login}">${login}</button></p>`);
  return { title: `Install ${app.name}`, body: html`<h1>Install ${app.name}</h1><form method="post">${buttons}</form>` };
}

export function installedPage(app: App, account: string, id: number): Page {
  return { title: "Installed", body: html`<h1>${app.name} is installed on ${account}</h1><p>Installation ${id}</p>` };
}
