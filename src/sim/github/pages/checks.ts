/** Check runs: in lists, and each on a page of its own, as the bot wrote it. */
import type { CheckRun, Repo } from "../model/model.ts";
import { isPull, type PullIssue } from "../model/world.ts";
import { age, avatar, type Html, html, icon, issuePath, type Page, pathIn, type RepoView, repoPath, userLink } from "./frame.ts";
import { markdown, placeOf } from "./markdown.ts";

/** Of each App's checks at a commit the newest of a name. */
export function newestChecks(repo: Repo, sha: string): CheckRun[] {
  const found = new Map<string, CheckRun>();
  for (const run of repo.checks.values()) if (run.headSha === sha) found.set(`${run.app.id} ${run.name}`, run);
  return [...found.values()];
}

type Tone = "success" | "failure" | "pending" | "neutral";

function toneOf({ status, conclusion }: CheckRun): Tone {
  if (status !== "completed") return "pending";
  if (conclusion === "success") return "success";
  return conclusion === "neutral" || conclusion === "skipped" ? "neutral" : "failure";
}

function stateWords({ status, conclusion }: CheckRun): string {
  return (status === "completed" ? (conclusion ?? "completed") : status).replaceAll("_", " ");
}

function runPath(repo: Repo, run: CheckRun): string {
  return `${repoPath(repo)}/runs/${run.id}`;
}

/** One row of a list; GitHub's lists show the title beside the name. */
export function checkRow({ repo }: RepoView, run: CheckRun): Html {
  const title = run.output.title ?? stateWords(run);
  return html`<li>${icon(toneOf(run))} <a href="${runPath(repo, run)}">${run.name}</a> <span class="quiet">${title}</span></li>`;
}

/** All checks of a pull request's head, each with what it says first. */
export function checksTab(view: RepoView, issue: PullIssue): Html {
  const checks = newestChecks(view.repo, issue.pull.headSha);
  if (checks.length === 0) return html`<p class="empty">No checks have been reported of this pull request's head.</p>`;
  const place = placeOf(view);
  const one = (run: CheckRun) => html`<section class="card"><h2>${icon(toneOf(run))} <a href="${runPath(view.repo, run)}">${run.name}</a>
<span class="quiet">${run.output.title ?? stateWords(run)}</span><span class="side quiet">${userLink(run.app.bot)}</span></h2>
<div class="text">${markdown(run.output.summary ?? "", place)}</div></section>`;
  return html`<div id="checks" data-live>${checks.map(one)}</div>`;
}

export function runPage(view: RepoView, run: CheckRun): Page {
  const { repo, world } = view;
  const pulls = [...repo.issues.values()].filter(isPull).filter((issue) => issue.pull.headSha === run.headSha);
  const links = pulls.map((issue) => html`<a href="${issuePath(repo, issue)}">#${issue.number} ${issue.title}</a> · `);
  const when =
    run.completedAt === undefined ? html`started ${age(world, run.startedAt)}` : html`${stateWords(run)} ${age(world, run.completedAt)}`;
  const commit = html`<a href="${repoPath(repo)}/commit/${run.headSha}"><code>${run.headSha.slice(0, 7)}</code></a>`;
  const place = placeOf(view);
  const parts = [run.output.summary, run.output.text].filter((text) => text !== null && text !== "");
  const body = html`<div id="run" data-live>
<h1>${icon(toneOf(run))} ${run.name}</h1>
<p class="under">${links}${commit} · ${when} · ${avatar(run.app.bot)} ${userLink(run.app.bot)}${elsewhere(run)}</p>
<section class="card"><h2>${run.output.title ?? stateWords(run)}</h2>
${parts.length === 0 ? html`<p class="quiet">Nothing more was said.</p>` : parts.map((text) => html`<div class="text">${markdown(text ?? "", place)}</div>`)}
${annotations(repo, run)}</section></div>`;
  return { title: `${run.name} · ${repoPath(repo).slice(1)}`, body, tab: "Pull requests" };
}

/** Where its App keeps more. */
function elsewhere({ detailsUrl }: CheckRun): Html | string {
  if (detailsUrl === null || !/^https?:\/\//i.test(detailsUrl)) return "";
  return html` · <a href="${detailsUrl}" rel="noreferrer nofollow">details</a>`;
}

function annotations(repo: Repo, run: CheckRun): Html | string {
  if (run.annotations.length === 0) return "";
  const rows = run.annotations.map((one) => {
    const to = `${repoPath(repo)}/blob/${run.headSha}/${pathIn(one.path)}#L${one.start_line}`;
    const tone = one.annotation_level === "failure" ? "failure" : one.annotation_level === "warning" ? "pending" : "neutral";
    return html`<li>${icon(tone)} <a href="${to}">${one.path}:${one.start_line}</a> ${one.title === null ? "" : html`<b>${one.title}</b> `}${one.message}</li>`;
  });
  return html`<h2>Annotations</h2><ul class="rows">${rows}</ul>`;
}
