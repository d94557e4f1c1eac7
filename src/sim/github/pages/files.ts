/** A repository's files: folders with their README, files with numbered lines, branches, and the commits of one. */
import type { CommitObject } from "../git/objects.ts";
import { readTree, type TreeEntry } from "../git/trees.ts";
import { commitList, commitsOf } from "./changes.ts";
import { age, type Html, html, type Page, pathIn, type RepoView, repoPath, userLink } from "./frame.ts";
import { markdown, placeOf } from "./markdown.ts";

const MOST_SHOWN = 512 * 1024;
const PER_PAGE = 50;

/** A branch, tag or id at the beginning of a path, as addresses have it: the longest name that is one. */
export async function revisionIn(
  { repo }: RepoView,
  rest: string,
): Promise<{ name: string; commit: CommitObject; path: string } | undefined> {
  const parts = rest.split("/").filter((part) => part !== "");
  for (let taken = parts.length; taken > 0; taken--) {
    const name = parts.slice(0, taken).join("/");
    const commit = await commitNamed(repo.git, name);
    if (commit !== undefined) return { name, commit, path: parts.slice(taken).join("/") };
  }
  return undefined;
}

async function commitNamed(git: RepoView["repo"]["git"], name: string): Promise<CommitObject | undefined> {
  const ref = (await git.ref(`refs/heads/${name}`)) ?? (await git.ref(`refs/tags/${name}`));
  const revision = ref ?? (/^[0-9a-f]{7,40}$/.test(name) ? name : undefined);
  return revision === undefined ? undefined : git.commit(revision);
}

export async function treePage(view: RepoView, rest: string): Promise<Page | undefined> {
  const { repo, world } = view;
  const found = await revisionIn(view, rest);
  if (found === undefined) return undefined;
  const { name, commit, path } = found;
  const entries = await readTree(repo.git.cat, path === "" ? `${commit.sha}^{tree}` : `${commit.sha}:${path}`);
  if (entries === undefined) return undefined;
  const isFolder = (entry: TreeEntry) => entry.mode === "40000";
  const sorted = entries.sort((a, b) => Number(isFolder(b)) - Number(isFolder(a)) || a.name.localeCompare(b.name));
  const rows = sorted.map((entry) => {
    const to = `${repoPath(repo)}/${isFolder(entry) ? "tree" : "blob"}/${pathIn([name, path, entry.name].filter(Boolean).join("/"))}`;
    return html`<li><a href="${to}">${isFolder(entry) ? FOLDER : FILE} ${entry.name}</a></li>`;
  });
  const readme = entries.find((entry) => /^readme\.md$/i.test(entry.name));
  const [subject = ""] = commit.message.split("\n");
  const body = html`${whereIn(view, name, path)}
<section class="card files"><h2><a href="${repoPath(repo)}/commit/${commit.sha}">${subject}</a><span class="side quiet">${age(world, commit.committer.at * 1000)}</span></h2><ul class="rows">${rows}</ul></section>
${readme === undefined ? "" : await readmeOf(view, readme, [name, path].filter(Boolean).join("/"))}`;
  return { title: path === "" ? repoPath(repo).slice(1) : `${path} · ${repoPath(repo).slice(1)}`, body, tab: "Code" };
}

async function readmeOf(view: RepoView, readme: TreeEntry, folder: string): Promise<Html> {
  const found = await view.repo.git.cat.contents(readme.sha);
  const text = found?.content.subarray(0, MOST_SHOWN).toString() ?? "";
  return html`<section class="card"><h2>${readme.name}</h2><div class="text">${markdown(text, placeOf(view, folder))}</div></section>`;
}

/** Branch, and each folder on the way. */
function whereIn({ repo }: RepoView, name: string, path: string): Html {
  const parts = path.split("/").filter((part) => part !== "");
  const steps = parts.map((part, index) => {
    const to = `${repoPath(repo)}/tree/${pathIn([name, ...parts.slice(0, index + 1)].join("/"))}`;
    return html` / ${index === parts.length - 1 ? html`<b>${part}</b>` : html`<a href="${to}">${part}</a>`}`;
  });
  return html`<p class="where"><a class="branch" href="${repoPath(repo)}/branches">${name}</a> <a href="${repoPath(repo)}/tree/${pathIn(name)}">${repo.name}</a>${steps}
<span class="side"><a href="${repoPath(repo)}/commits/${pathIn(name)}">History</a></span></p>`;
}

const FOLDER = html`<svg class="icon folder" viewBox="0 0 12 12" aria-hidden="true"><path d="M.5 2h4l1.2 1.5h5.8v7H.5z" fill="currentColor"/></svg>`;
const FILE = html`<svg class="icon" viewBox="0 0 12 12" aria-hidden="true"><path d="M2.5.8h4.6l2.4 2.4v8h-7z" fill="none" stroke="currentColor"/></svg>`;

export async function blobPage(view: RepoView, rest: string): Promise<Page | undefined> {
  const { repo } = view;
  const found = await revisionIn(view, rest);
  if (found === undefined || found.path === "") return undefined;
  const { name, commit, path } = found;
  const blob = await repo.git.cat.contents(`${commit.sha}:${path}`);
  if (blob?.type !== "blob") return blob?.type === "tree" ? { redirect: `${repoPath(repo)}/tree/${pathIn(`${name}/${path}`)}` } : undefined;
  const raw = `${repoPath(repo)}/raw/${pathIn(`${name}/${path}`)}`;
  const folder = [name, ...path.split("/").slice(0, -1)].join("/");
  const isText = !blob.content.subarray(0, 8000).includes(0) && blob.size <= MOST_SHOWN;
  const drawn = /\.md$/i.test(path) && view.query.get("plain") !== "1";
  const text = isText ? blob.content.toString() : "";
  const shown = !isText
    ? html`<p class="quiet">No text, or too long to be shown: <a href="${raw}">as it is</a>.</p>`
    : drawn
      ? html`<div class="text">${markdown(text, placeOf(view, folder))}</div>`
      : numbered(text);
  const plain = isText && drawn ? html`<a href="?plain=1">Source</a> ` : "";
  const body = html`${whereIn(view, name, path)}
<section class="card diff"><h2>${path.split("/").at(-1)}<span class="side">${plain}<a href="${raw}">Raw</a></span></h2>${shown}</section>`;
  return { title: `${path} · ${repoPath(repo).slice(1)}`, body, tab: "Code" };
}

function numbered(text: string): Html {
  const rows = text
    .replace(/\n$/, "")
    .split("\n")
    .map(
      (line, index) =>
        html`<tr id="L${index + 1}"><td class="no"><a href="#L${index + 1}">${index + 1}</a></td><td><code>${line}</code></td></tr>`,
    );
  return html`<div class="wide"><table class="lines"><tbody>${rows}</tbody></table></div>`;
}

export async function rawFile(view: RepoView, rest: string): Promise<Page | undefined> {
  const found = await revisionIn(view, rest);
  const blob = found === undefined || found.path === "" ? undefined : await view.repo.git.cat.contents(`${found.commit.sha}:${found.path}`);
  return blob?.type === "blob" ? { file: blob.content } : undefined;
}

export async function commitsPage(view: RepoView, rest: string): Promise<Page | undefined> {
  const { repo } = view;
  const found = await revisionIn(view, rest === "" ? repo.defaultBranch : rest);
  if (found === undefined) return undefined;
  const page = Math.max(1, Math.min(1000, Number(view.query.get("page")) || 1));
  const ids = await repo.git.revList(undefined, found.commit.sha, page * PER_PAGE + 1);
  const shown = await commitsOf(view, ids.slice((page - 1) * PER_PAGE, page * PER_PAGE));
  const older = ids.length > page * PER_PAGE ? html`<p class="more"><a href="?page=${page + 1}">Older commits</a></p>` : "";
  const body = html`${whereIn(view, found.name, "")}<div id="commits" data-live>${commitList(view, shown)}${older}</div>`;
  return { title: `Commits of ${found.name}`, body, tab: "Commits" };
}

export async function branchesPage(view: RepoView): Promise<Page> {
  const { repo, world } = view;
  const refs = (await repo.git.refs("refs/heads/")).slice(0, 500);
  const rows = await Promise.all(
    refs.map(async ({ name: ref, sha }) => {
      const name = ref.slice("refs/heads/".length);
      const commit = await repo.git.commit(sha);
      const pull = [...repo.issues.values()].find((issue) => issue.pull?.headRef === name);
      const of =
        pull === undefined ? "" : html`<a href="${repoPath(repo)}/pull/${pull.number}">#${pull.number}</a> by ${userLink(pull.user)}`;
      const when = commit === undefined ? "" : age(world, commit.committer.at * 1000);
      return html`<li><div><a class="branch" href="${repoPath(repo)}/tree/${pathIn(name)}">${name}</a> ${of}</div><span class="side quiet">${when} · <a href="${repoPath(repo)}/commits/${pathIn(name)}">commits</a></span></li>`;
    }),
  );
  return { title: `Branches of ${repoPath(repo).slice(1)}`, body: html`<h1>Branches</h1><ul class="card list">${rows}</ul>`, tab: "Code" };
}
