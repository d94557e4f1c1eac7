/** An issue or a pull request: what was said and done in order of time, its checks, and the box to comment. */
import type { CheckRun, Issue, IssueComment, Repo, Review, User } from "../model/model.ts";
import { isPull, type PullIssue, roleOf } from "../model/world.ts";
import { pullCommits, pullStats } from "../pulls/pull-changes.ts";
import { changesTab, commitsTab } from "./changes.ts";
import { checkRow, checksTab, newestChecks } from "./checks.ts";
import { commentBox } from "./comment-box.ts";
import {
  age,
  avatar,
  CURRENT,
  type Html,
  html,
  icon,
  issuePath,
  type Page,
  pathIn,
  type RepoView,
  repoPath,
  statePill,
  userLink,
} from "./frame.ts";
import { markdown, placeOf } from "./markdown.ts";

export async function issuePage(view: RepoView, issue: Issue, part = ""): Promise<Page> {
  if (issuePath(view.repo, issue) + part !== view.path) return { redirect: issuePath(view.repo, issue) + part };
  const body = html`<div id="head" data-live>${heading(view, issue)}${isPull(issue) ? await pullTabs(view, issue, part) : ""}</div>
${await partOf(view, issue, part)}`;
  return { title: `${issue.title} · #${issue.number}`, body, tab: isPull(issue) ? "Pull requests" : "Issues" };
}

async function partOf(view: RepoView, issue: Issue, part: string): Promise<Html> {
  if (isPull(issue) && part === "/commits") return commitsTab(view, issue);
  if (isPull(issue) && part === "/files") return changesTab(view, issue);
  if (isPull(issue) && part === "/checks") return checksTab(view, issue);
  return html`<div class="columns"><div>
<div id="talk" data-live>${talk(view, issue)}${isPull(issue) ? ending(view, issue) : ""}</div>
${commentBox(view, issue)}
</div><aside id="aside" data-live>${aside(view, issue)}</aside></div>`;
}

function heading({ repo, world }: RepoView, issue: Issue): Html {
  const what = isPull(issue) ? pullSentence(repo, issue) : html`opened ${age(world, issue.createdAt)}`;
  const who = issue.pull?.merged?.by ?? issue.user;
  return html`<h1>${issue.title} <span class="quiet">#${issue.number}</span></h1>
<p class="under">${statePill(issue)} ${userLink(who)} ${what}</p>`;
}

function pullSentence(repo: Repo, { pull }: PullIssue): Html {
  const branch = (name: string) => html`<a class="branch" href="${repoPath(repo)}/tree/${pathIn(name)}">${name}</a>`;
  const way = html`into ${branch(pull.baseRef)} from ${branch(pull.headRef)}`;
  return pull.merged === undefined ? html`wants to merge ${way}` : html`merged ${way}`;
}

async function pullTabs({ repo }: RepoView, issue: PullIssue, part: string): Promise<Html> {
  const [stats, commits] = await Promise.all([pullStats(repo, issue), pullCommits(repo, issue)]);
  const checks = newestChecks(repo, issue.pull.headSha).length;
  const comments = [...repo.comments.values()].filter((comment) => comment.issue === issue.number).length;
  const rows: [string, string, number][] = [
    ["", "Conversation", comments],
    ["/commits", "Commits", commits.length],
    ["/checks", "Checks", checks],
    ["/files", "Files changed", stats.files],
  ];
  const path = issuePath(repo, issue);
  const tab = ([to, name, count]: (typeof rows)[number]) =>
    html`<a href="${path}${to}"${to === part ? CURRENT : ""}>${name} <small class="count">${count}</small></a>`;
  return html`<nav class="tabs inner" aria-label="Pull request">${rows.map(tab)}<span class="sums"><b class="plus">+${stats.additions}</b> <b class="minus">−${stats.deletions}</b></span></nav>`;
}

/** Everything that happened, the oldest first. */
function talk(view: RepoView, issue: Issue): Html[] {
  const { repo } = view;
  const comments = [...repo.comments.values()].filter((comment) => comment.issue === issue.number);
  const first = said(view, { user: issue.user, at: issue.createdAt, body: issue.body ?? "", anchor: `issue-${issue.number}` });
  const later = [
    ...comments.map((comment) => ({ at: comment.createdAt, drawn: commented(view, comment) })),
    ...(issue.pull?.reviews ?? []).map((review) => ({ at: review.at ?? 0, drawn: reviewed(view, review) })),
    ...closings(view, issue),
  ];
  return [first, ...later.sort((a, b) => a.at - b.at).map(({ drawn }) => drawn)];
}

function closings({ world, repo }: RepoView, issue: Issue): { at: number; drawn: Html }[] {
  const merged = issue.pull?.merged;
  if (merged !== undefined) {
    const commit = html`<a href="${repoPath(repo)}/commit/${merged.sha}"><code>${merged.sha.slice(0, 7)}</code></a>`;
    return [
      {
        at: merged.at,
        drawn: html`<p class="event">${icon("merged")} ${userLink(merged.by)} merged it as ${commit} ${age(world, merged.at)}</p>`,
      },
    ];
  }
  if (issue.closedAt === undefined) return [];
  const by = issue.closedBy === undefined ? "" : userLink(issue.closedBy);
  return [{ at: issue.closedAt, drawn: html`<p class="event">${icon("closed")} ${by} closed this ${age(world, issue.closedAt)}</p>` }];
}

function commented(view: RepoView, comment: IssueComment): Html {
  const { user, createdAt: at, body, edited, reactions, id } = comment;
  const marks =
    reactions.length === 0
      ? ""
      : html`<p class="reactions">${reactions.map((one) => html`<span title="${one.user.login}">${REACTIONS[one.content]}</span>`)}</p>`;
  return said(view, { user, at, body, anchor: `issuecomment-${id}`, edited: edited?.at, after: marks });
}

const REACTIONS = { "+1": "👍", "-1": "👎", laugh: "😄", confused: "😕", heart: "❤️", hooray: "🎉", rocket: "🚀", eyes: "👀" } as const;

const VERBS: Record<Review["state"], string> = {
  APPROVED: "approved these changes",
  CHANGES_REQUESTED: "asked for changes",
  COMMENTED: "reviewed",
  DISMISSED: "reviewed; the review was dismissed",
  PENDING: "is reviewing",
};

function reviewed(view: RepoView, { id, user, state, body, at = 0 }: Review): Html {
  const mark = icon(state === "APPROVED" ? "success" : state === "CHANGES_REQUESTED" ? "failure" : "neutral");
  const head = html`<p class="event" id="pullrequestreview-${id}">${mark} ${userLink(user)} ${VERBS[state]} ${age(view.world, at)}</p>`;
  return body === "" ? head : html`${head}${said(view, { user, at, body, anchor: `review-${id}` })}`;
}

interface Saying {
  user: User;
  at: number;
  body: string;
  anchor: string;
  edited?: number | undefined;
  after?: Html | string;
}

function said(view: RepoView, { user, at, body, anchor, edited, after = "" }: Saying): Html {
  const { world, repo } = view;
  const changed = edited === undefined ? "" : html` · edited ${age(world, edited)}`;
  const text = body.trim() === "" ? html`<p class="quiet">No description.</p>` : markdown(body, placeOf(view));
  return html`<article class="said${user.id === view.visitor?.user.id ? " own" : ""}" id="${anchor}">${avatar(user)}
<div class="bubble"><p class="by">${userLink(user)} <span class="quiet">${roleMark(repo, user)}<a href="#${anchor}">${age(world, at)}</a>${changed}</span></p>
<div class="text">${text}</div>${after}</div></article>`;
}

function roleMark(repo: Repo, user: User): Html | string {
  if (user.type === "Bot") return "";
  const role = roleOf(repo, user);
  return role === "read" || role === "none" ? "" : html`<small class="mark">${role}</small> `;
}

/** The box at a pull request's end: what its checks say. */
function ending(view: RepoView, issue: PullIssue): Html {
  const checks = newestChecks(view.repo, issue.pull.headSha);
  if (checks.length === 0) return html`<p class="quiet end">No checks have been reported of this pull request's head.</p>`;
  return html`<section class="card checks" aria-label="Checks"><h2>${sumOf(checks)}</h2><ul>${checks.map((run) => checkRow(view, run))}</ul></section>`;
}

function sumOf(checks: readonly CheckRun[]): string {
  const bad = checks.filter((run) => run.status === "completed" && !GOOD.has(run.conclusion ?? "")).length;
  const open = checks.filter((run) => run.status !== "completed").length;
  if (bad > 0) return `${bad} of ${checks.length} checks did not pass`;
  return open > 0
    ? `${open} of ${checks.length} checks under way`
    : checks.length === 1
      ? "The check has passed"
      : "All checks have passed";
}

const GOOD = new Set(["success", "neutral", "skipped"]);

function aside({ repo, world }: RepoView, issue: Issue): Html {
  const labels = issue.labels.map((name) => html`<span class="label">${name}</span>`);
  const people = [...new Map([issue.user, ...commenters(repo, issue)].map((user) => [user.id, user])).values()];
  const asked = [
    ...(issue.pull?.reviewers ?? []).map((user) => userLink(user)),
    ...(issue.pull?.teams ?? []).map((team) => html`${team.slug}`),
  ];
  const row = (name: string, content: readonly unknown[], none: string) =>
    html`<section><h2>${name}</h2><p>${content.length === 0 ? html`<span class="quiet">${none}</span>` : content.map((one) => html`${one} `)}</p></section>`;
  const opened = html`<section><h2>Opened</h2><p>${age(world, issue.createdAt)}</p></section>`;
  return html`${opened}${row("Labels", labels, "none")}${isPull(issue) ? row("Reviewers", asked, "nobody was asked") : ""}${row(
    "Taking part",
    people.map((user) => userLink(user)),
    "",
  )}`;
}

function commenters(repo: Repo, issue: Issue): User[] {
  return [...repo.comments.values()].flatMap((comment) => (comment.issue === issue.number ? [comment.user] : []));
}
