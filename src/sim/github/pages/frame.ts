/** What all pages of the embedded GitHub have in common: the frame, and how accounts, ages and states are drawn. */
import { html as fill } from "hono/html";
import type { Issue, Repo, User, World } from "../model/model.ts";
import { fullName } from "../model/world.ts";

export const html = fill;
export type Html = ReturnType<typeof fill>;

/** One look at a page, and who looks. */
export interface View {
  world: World;
  params: Record<string, string>;
  query: URLSearchParams;
  path: string;
  /** Who sits at the browser; undefined: somebody who only reads. */
  visitor: World["visitor"];
}

export interface RepoView extends View {
  repo: Repo;
}

export type Page =
  | {
      title: string;
      body: Html;
      status?: number /** Which of the repository's tabs it belongs to. */;
      tab?: Tab /** Where else its forms lead to. */;
      formsTo?: string;
    }
  | { redirect: string }
  | { file: Buffer };

type Tab = "Code" | "Issues" | "Pull requests" | "Commits";

export function repoPath(repo: Repo): string {
  return `/${fullName(repo)}`;
}

export function issuePath(repo: Repo, issue: Issue): string {
  return `${repoPath(repo)}/${issue.pull === undefined ? "issues" : "pull"}/${issue.number}`;
}

export function pathIn(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** Where an account's page is. */
function userPath(user: User): string {
  return user.type === "Bot" ? `/apps/${encodeURIComponent(user.login.replace(/\[bot\]$/, ""))}` : `/${encodeURIComponent(user.login)}`;
}

export function userLink(user: User): Html {
  const mark = user.type === "Bot" ? html` <small class="mark">bot</small>` : "";
  return html`<a class="who" href="${userPath(user)}">${user.login.replace(/\[bot\]$/, "")}</a>${mark}`;
}

export function avatar(user: User): Html {
  const letter = [...user.login][0] ?? "?";
  return html`<span class="avatar a${user.id % 6}${user.type === "Bot" ? " bot" : ""}" aria-hidden="true">${letter.toUpperCase()}</span>`;
}

/** A moment, as its age by the world's clock; the script keeps it going. */
export function age(world: World, at: number): Html {
  const time = new Date(at).toISOString();
  return html`<time datetime="${time}" title="${time.slice(0, 19).replace("T", " ")} UTC">${ageWords(world.clock.now() - at)}</time>`;
}

export function ageWords(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const units: [number, string][] = [
    [86_400, "day"],
    [3600, "hour"],
    [60, "minute"],
    [1, "second"],
  ];
  const [size, name] = units.find(([most]) => s >= most) ?? [1, "second"];
  const n = Math.floor(s / size);
  return `${n} ${name}${n === 1 ? "" : "s"} ago`;
}

export function issueState(issue: Issue): "open" | "closed" | "merged" | "draft" {
  if (issue.pull?.merged !== undefined) return "merged";
  return issue.state === "open" && issue.pull?.draft === true ? "draft" : issue.state;
}

export function statePill(issue: Issue): Html {
  const state = issueState(issue);
  return html`<span class="state ${state}">${icon(state)}${state[0]?.toUpperCase()}${state.slice(1)}</span>`;
}

const SHAPES = {
  open: html`<circle cx="6" cy="6" r="4.4" fill="none" stroke="currentColor" stroke-width="1.6"/><circle cx="6" cy="6" r="1.4" fill="currentColor"/>`,
  draft: html`<circle cx="6" cy="6" r="4.4" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="2 1.6"/>`,
  closed: html`<path d="M2.5 2.5 9.5 9.5M9.5 2.5 2.5 9.5" stroke="currentColor" stroke-width="1.8"/>`,
  merged: html`<path d="M3 1.5v9M3 3c0 3 2.5 3.5 6 3.5" fill="none" stroke="currentColor" stroke-width="1.6"/><circle cx="9.4" cy="6.5" r="1.8" fill="currentColor"/>`,
  success: html`<path d="M1.5 6.5 4.7 9.6 10.5 2.6" fill="none" stroke="currentColor" stroke-width="2"/>`,
  failure: html`<path d="M2.5 2.5 9.5 9.5M9.5 2.5 2.5 9.5" stroke="currentColor" stroke-width="2"/>`,
  pending: html`<circle cx="6" cy="6" r="3.6" fill="currentColor"/>`,
  neutral: html`<path d="M2 6h8" stroke="currentColor" stroke-width="2"/>`,
} as const;

export function icon(name: keyof typeof SHAPES): Html {
  return html`<svg class="icon i-${name}" viewBox="0 0 12 12" aria-hidden="true">${SHAPES[name]}</svg>`;
}

/** The frame around a page's body. */
export function frame(view: View & { repo?: Repo }, { title, body, tab }: Extract<Page, { title: string }>): Html {
  const { world, repo, visitor } = view;
  const { speed = 1 } = world.clock;
  return html`<!doctype html>
<html lang="en" data-now="${new Date(world.clock.now()).toISOString()}" data-speed="${speed}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/-/page.css">
<script type="module" src="/-/page.js"></script>
</head>
<body>
<header class="top"><nav aria-label="Where you are"><a class="brand" href="/">${BRAND}<span>Embedded GitHub</span></a>${crumbs(repo)}</nav>
<p>${homeLink(visitor)}<span id="clock"></span>${visitor === undefined ? "" : html`<span class="you">${avatar(visitor.user)} you are <b>${visitor.user.login}</b></span>`}</p></header>
${repo === undefined ? "" : tabs(repo, tab)}
<main>${body}</main>
<footer>A stand-in for github.com that runs on this machine for Stagecoach's demo and tests. Nothing here leaves it.</footer>
</body>
</html>`;
}

const BRAND = html`<svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="4" cy="12" r="2.6"/><circle cx="12" cy="12" r="2.6"/><path d="M2 3h12l-1.5 6h-9z"/></svg>`;

function crumbs(repo: Repo | undefined): Html | string {
  if (repo === undefined) return "";
  return html`<a href="${userPath(repo.owner)}">${repo.owner.login}</a><i>/</i><a href="${repoPath(repo)}"><b>${repo.name}</b></a>`;
}

function homeLink(visitor: World["visitor"]): Html | string {
  const home = visitor?.home?.();
  return home === undefined ? "" : html`<a class="home" href="${home.url}">${home.label}</a>`;
}

function tabs(repo: Repo, tab: Tab | undefined): Html {
  const open = [...repo.issues.values()].filter((issue) => issue.state === "open");
  const pulls = open.filter((issue) => issue.pull !== undefined).length;
  const all: [Tab, string, number | undefined][] = [
    ["Code", "", undefined],
    ["Commits", `/commits/${pathIn(repo.defaultBranch)}`, undefined],
    ["Issues", "/issues", open.length - pulls],
    ["Pull requests", "/pulls", pulls],
  ];
  const one = ([name, to, count]: (typeof all)[number]) =>
    html`<a href="${repoPath(repo)}${to}"${name === tab ? CURRENT : ""}>${name}${count === undefined ? "" : html` <small class="count">${count}</small>`}</a>`;
  return html`<nav class="tabs" id="tabs" data-live aria-label="Repository">${all.map(one)}</nav>`;
}

export const CURRENT = html` aria-current="page"`;
