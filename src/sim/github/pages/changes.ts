/** What commits and pull requests change: lists of commits, and files with their lines. */
import { diffFiles, type FileDiff } from "../git/diff.ts";
import type { CommitObject } from "../git/objects.ts";
import { verificationOf } from "../http/signatures.ts";
import type { PullIssue } from "../model/world.ts";
import { pullCommits, pullFiles } from "../pulls/pull-changes.ts";
import { accountOf } from "../shapes/commit.ts";
import { checkRow, newestChecks } from "./checks.ts";
import { age, avatar, type Html, html, icon, type Page, pathIn, type RepoView, repoPath, userLink } from "./frame.ts";

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const MOST_FILES = 100;
const MOST_LINES = 1500;

export async function commitsTab(view: RepoView, issue: PullIssue): Promise<Html> {
  return commitList(view, await commitsOf(view, (await pullCommits(view.repo, issue)).toReversed()));
}

export async function commitsOf({ repo }: RepoView, ids: readonly string[]): Promise<CommitObject[]> {
  return (await Promise.all(ids.map((id) => repo.git.commit(id)))).filter((one) => one !== undefined);
}

export function commitList(view: RepoView, commits: readonly CommitObject[]): Html {
  if (commits.length === 0) return html`<p class="empty">No commits.</p>`;
  return html`<ul class="card list">${commits.map((commit) => commitRow(view, commit))}</ul>`;
}

function commitRow(view: RepoView, commit: CommitObject): Html {
  const to = `${repoPath(view.repo)}/commit/${commit.sha}`;
  const [subject = ""] = commit.message.split("\n");
  return html`<li><div><a class="title" href="${to}">${subject === "" ? "(no message)" : subject}</a>
<p class="quiet">${authorOf(view, commit)} committed ${age(view.world, commit.committer.at * 1000)}</p></div>
<span class="side">${signed(view, commit)}<a href="${to}"><code>${commit.sha.slice(0, 7)}</code></a></span></li>`;
}

function authorOf({ world }: RepoView, { author }: CommitObject): Html {
  const user = accountOf(world, author);
  return user === undefined ? html`<b>${author.name}</b>` : html`${avatar(user)} ${userLink(user)}`;
}

function signed({ world }: RepoView, commit: CommitObject): Html | string {
  return verificationOf(world, commit).verified ? html`<span class="mark good">Verified</span> ` : "";
}

export async function commitPage(view: RepoView, commit: CommitObject): Promise<Page> {
  const { repo, world } = view;
  const files = await diffFiles(repo.git, commit.parents[0] ?? EMPTY_TREE, commit.sha, true);
  const [subject = "", ...more] = commit.message.split("\n");
  const text = more.join("\n").trim();
  const path = repoPath(repo);
  const parents = commit.parents.map((sha) => html` · parent <a href="${path}/commit/${sha}"><code>${sha.slice(0, 7)}</code></a>`);
  const checks = newestChecks(repo, commit.sha);
  const body = html`<h1>${subject}</h1>
<p class="under">${authorOf(view, commit)} committed ${age(world, commit.committer.at * 1000)} · <code>${commit.sha.slice(0, 12)}</code>${parents} ${signed(view, commit)}
· <a href="${path}/tree/${commit.sha}">files at this commit</a></p>
${text === "" ? "" : html`<pre class="message">${text}</pre>`}
${checks.length === 0 ? "" : html`<section class="card checks"><h2>Checks</h2><ul>${checks.map((run) => checkRow(view, run))}</ul></section>`}
${filesChanged(view, files, commit.sha)}`;
  return { title: `${subject} · ${commit.sha.slice(0, 7)}`, body, tab: "Commits" };
}

export async function changesTab(view: RepoView, issue: PullIssue): Promise<Html> {
  return filesChanged(view, await pullFiles(view.repo, issue, true), issue.pull.headSha);
}

/** `A...B`: what B has that A has not. undefined: one of them is no commit here. */
export async function comparePage(view: RepoView, left: CommitObject, right: CommitObject): Promise<Page> {
  const { repo } = view;
  const base = (await repo.git.mergeBase(left.sha, right.sha)) ?? left.sha;
  const ids = (await repo.git.revList(left.sha, right.sha, 250)).toReversed();
  const title = `${left.sha.slice(0, 7)} … ${right.sha.slice(0, 7)}`;
  const files = await diffFiles(repo.git, base, right.sha, true);
  const body = html`<h1>Comparing ${title}</h1>${commitList(view, await commitsOf(view, ids))}${filesChanged(view, files, right.sha)}`;
  return { title, body, tab: "Commits" };
}

function filesChanged(view: RepoView, files: readonly FileDiff[], sha: string): Html {
  if (files.length === 0) return html`<p class="empty">No file is changed.</p>`;
  const more = files.length > MOST_FILES ? html`<p class="quiet">and ${files.length - MOST_FILES} more files</p>` : "";
  const sum = (of: "additions" | "deletions") => files.reduce((all, file) => all + file[of], 0);
  return html`<p class="under">${files.length} ${files.length === 1 ? "file" : "files"} changed, <b class="plus">+${sum("additions")}</b> <b class="minus">−${sum("deletions")}</b></p>
${files.slice(0, MOST_FILES).map((file) => fileChanged(view, file, sha))}${more}`;
}

function fileChanged({ repo }: RepoView, file: FileDiff, sha: string): Html {
  const name = file.previous === undefined ? file.path : `${file.previous} → ${file.path}`;
  const to = `${repoPath(repo)}/blob/${sha}/${pathIn(file.path)}`;
  const title = file.status === "removed" ? html`<b>${name}</b>` : html`<a href="${to}"><b>${name}</b></a>`;
  const rows = linesOf(file.patch ?? "");
  const none = html`<tr><td class="quiet">${file.status === "renamed" ? "Renamed, nothing else." : "Not shown: no text, or nothing in it."}</td></tr>`;
  return html`<section class="card diff"><h2>${icon(file.status === "removed" ? "closed" : "neutral")} ${title}
<span class="side"><span class="mark">${file.status}</span> <b class="plus">+${file.additions}</b> <b class="minus">−${file.deletions}</b></span></h2>
<div class="wide"><table class="lines"><tbody>${rows.length === 0 ? none : rows}</tbody></table></div></section>`;
}

/** The patch's lines with their numbers on both sides. */
function linesOf(patch: string): Html[] {
  if (patch === "") return [];
  const lines = patch.split("\n");
  const rows: Html[] = [];
  let [before, after] = [0, 0];
  for (const line of lines.slice(0, MOST_LINES)) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (hunk !== null) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      rows.push(row("hunk", "", "", line));
    } else if (line.startsWith("+")) rows.push(row("add", "", after++, line));
    else if (line.startsWith("-")) rows.push(row("del", before++, "", line));
    else if (line.startsWith("\\")) rows.push(row("hunk", "", "", line));
    else rows.push(row("", before++, after++, line));
  }
  if (lines.length > MOST_LINES) rows.push(row("hunk", "", "", `${lines.length - MOST_LINES} more lines`));
  return rows;
}

function row(kind: string, before: number | "", after: number | "", line: string): Html {
  return html`<tr class="${kind}"><td class="no">${before}</td><td class="no">${after}</td><td><code>${line}</code></td></tr>`;
}
