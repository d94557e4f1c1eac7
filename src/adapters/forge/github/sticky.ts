/** Comments on PRs, and what of ours stays one comment or one issue, found by a hidden marker and edited in place. Called by `index.ts`. */
import { defined } from "../../../core/base/defined.ts";
import type { Comment, Forge, Reaction } from "../port.ts";
import { serialByKey } from "./by-key.ts";
import { cutText } from "./checks.ts";
import { asking, askingOrNone } from "./errors.ts";
import { NEVER_RETRY, type RepoOctokit } from "./octokit.ts";

const COMMENT_LIMIT = 65_536;

type Identity = () => Promise<{ login: string }>;

export async function comments({ octokit, owner, repo }: RepoOctokit, pull: number, us: string, since?: string): Promise<Comment[]> {
  const asked = defined({ owner, repo, issue_number: pull, per_page: 100, since });
  const all = await asking(() => octokit.paginate(octokit.rest.issues.listComments, asked));
  return all.map((comment) => ({
    id: comment.id,
    node: comment.node_id,
    author: comment.user?.login ?? "ghost",
    authorIsBot: comment.user?.type === "Bot" || isViaOther(comment.performed_via_github_app, us),
    ours: comment.user?.login === us,
    body: comment.body ?? "",
    createdAt: new Date(comment.created_at).toISOString(),
    updatedAt: new Date(comment.updated_at).toISOString(),
  }));
}

/** Written for its author by another App than ours: it may be no word of theirs. Ours writes what they press on the page. */
function isViaOther(app: { slug?: string | undefined } | null | undefined, us: string): boolean {
  return app != null && `${app.slug}[bot]` !== us;
}

/** A comment of ours as it stands; `at`: when it was last edited, by GitHub's clock. */
interface Sticky {
  id: number;
  url: string;
  body: string;
  at: string;
}

function stickyOf(data: { id: number; html_url: string; body?: string | null | undefined; updated_at: string }): Sticky {
  return { id: data.id, url: data.html_url, body: data.body ?? "", at: new Date(data.updated_at).toISOString() };
}

/** Found by its hidden marker and by being ours: anybody can write the marker. */
export function stickyComments(place: RepoOctokit, identity: Identity) {
  const known = new Map<string, Sticky>();
  const turn = serialByKey();
  // One after the other for each comment: two at once would each find none, and make two.
  return {
    put: (pull: number, marker: string, text: string): Promise<Sticky> => turn(`${pull} ${marker}`, () => put(pull, marker, text)),
    url: (pull: number, marker: string): Promise<string | undefined> =>
      turn(`${pull} ${marker}`, async () => (known.get(`${pull} ${marker}`) ?? (await find(pull, `<!-- ${marker} -->`)))?.url),
  };

  async function put(pull: number, marker: string, text: string): Promise<Sticky> {
    const hidden = `<!-- ${marker} -->`;
    const body = `${hidden}\n${text}`;
    if (body.length > COMMENT_LIMIT) throw new RangeError(`a comment of ${body.length} characters: GitHub takes at most ${COMMENT_LIMIT}`);
    const key = `${pull} ${marker}`;
    const there = known.get(key) ?? (await find(pull, hidden));
    if (there?.body === body) return there;
    const data = await write(pull, body, there?.id).catch((error) => {
      // Somebody deleted it: the next call makes it anew.
      known.delete(key);
      throw error;
    });
    const first = there === undefined ? await find(pull, hidden) : undefined;
    const made = first === undefined || first.id === data.id ? { ...stickyOf(data), body } : first;
    known.set(key, made);
    // Another process has made it at the same moment: that one stays, and is told anew what this one was.
    return made.body === body ? made : await put(pull, marker, text);
  }

  async function write(pull: number, body: string, id: number | undefined) {
    const { octokit, owner, repo } = place;
    return asking(async () => {
      if (id === undefined)
        return (await octokit.rest.issues.createComment({ owner, repo, issue_number: pull, body, ...NEVER_RETRY })).data;
      return (await octokit.rest.issues.updateComment({ owner, repo, comment_id: id, body, ...NEVER_RETRY })).data;
    });
  }

  /** The first of that name; those that came after it, of two processes at once, are deleted. */
  async function find(pull: number, hidden: string): Promise<Sticky | undefined> {
    const { octokit, owner, repo } = place;
    const { login } = await identity();
    const all = await asking(() => octokit.paginate(octokit.rest.issues.listComments, { owner, repo, issue_number: pull, per_page: 100 }));
    const ours = all.filter((comment) => comment.user?.login === login && comment.body?.startsWith(hidden) === true);
    const [found, ...twins] = ours.sort((a, b) => a.id - b.id);
    for (const { id } of twins)
      await askingOrNone(() => octokit.rest.issues.deleteComment({ owner, repo, comment_id: id, ...NEVER_RETRY }), [404]);
    return found === undefined ? undefined : stickyOf(found);
  }
}

/** Setting the same reaction twice is one reaction. */
export async function react({ octokit, owner, repo }: RepoOctokit, comment: number, content: Reaction): Promise<void> {
  await asking(() => octokit.rest.reactions.createForIssueComment({ owner, repo, comment_id: comment, content }));
}

type StickyIssue = Parameters<Forge["stickyIssue"]>[1];

/** What our issues carry beside what was asked for, so that they are found among those of years. */
const ISSUE_LABEL = "stagecoach";
/** Of a hundred each, the newest first: older ones belong to releases that are over. */
const MOST_PAGES = 5;

interface ThereIssue {
  number: number;
  url: string;
  title: string;
  body: string;
  isOpen: boolean;
}

/** Found by its hidden marker and by being ours, open or closed; a closed one is edited and stays closed, unless it is to be opened again. */
export function stickyIssues(place: RepoOctokit, identity: Identity) {
  const known = new Map<string, ThereIssue>();
  const turn = serialByKey();

  async function find(marker: string): Promise<ThereIssue | undefined> {
    return known.get(marker) ?? (await findIssue(place, (await identity()).login, hiddenIn(marker)));
  }

  async function put(marker: string, issue: StickyIssue): Promise<{ number: number; url: string }> {
    const body = cutText(`${hiddenIn(marker)}\n${issue.body}`, COMMENT_LIMIT);
    const title = cutText(issue.title, 250);
    const there = await find(marker);
    const reopens = issue.reopen === true && there?.isOpen === false;
    if (there?.body === body && there.title === title && !reopens) {
      known.set(marker, there);
      return { number: there.number, url: there.url };
    }
    known.delete(marker);
    const labels = [...new Set([ISSUE_LABEL, ...issue.labels])];
    const words = defined({ title, body, state: reopens ? ("open" as const) : undefined });
    const data = await writeIssue(place, { ...words, labels }, there?.number);
    const first = there === undefined ? await find(marker) : undefined;
    if (first !== undefined && first.number < data.number) {
      // Another process has made it at the same moment: that one stays.
      await editIssue(place, data.number, { title, body, state: "closed", state_reason: "completed" });
      known.set(marker, first);
      return { number: first.number, url: first.url };
    }
    known.set(marker, { number: data.number, url: data.html_url, title, body, isOpen: data.state === "open" });
    return { number: data.number, url: data.html_url };
  }

  async function settle(marker: string, words: { title: string; body: string }): Promise<void> {
    const there = await find(marker);
    if (there?.isOpen !== true) return;
    known.delete(marker);
    const body = cutText(`${hiddenIn(marker)}\n${words.body}`, COMMENT_LIMIT);
    await editIssue(place, there.number, { title: words.title, body, state: "closed", state_reason: "completed" });
    known.set(marker, { ...there, title: words.title, body, isOpen: false });
  }

  return {
    put: (marker: string, issue: StickyIssue) => turn(marker, () => put(marker, issue)),
    settle: (marker: string, words: { title: string; body: string }) => turn(marker, () => settle(marker, words)),
    close: async (number: number) => close(place, (await identity()).login, number),
  };
}

function hiddenIn(marker: string): string {
  return `<!-- ${marker} -->`;
}

type Written = { title: string; body: string; state?: "open" | "closed"; state_reason?: "completed" };

async function writeIssue(place: RepoOctokit, { labels, ...words }: Written & { labels: string[] }, number: number | undefined) {
  const { octokit, owner, repo } = place;
  // Deleted or moved away by somebody: it begins anew.
  const edited = number === undefined ? undefined : await editIssue(place, number, words);
  const { title, body } = words;
  return (edited ?? (await asking(() => octokit.rest.issues.create({ owner, repo, title, body, labels, ...NEVER_RETRY })))).data;
}

function editIssue({ octokit, owner, repo }: RepoOctokit, number: number, words: Written) {
  return askingOrNone(() => octokit.rest.issues.update({ owner, repo, issue_number: number, ...words, ...NEVER_RETRY }), [404, 410]);
}

/** By its label: without it every pull request we ever opened would be listed, too. */
async function findIssue({ octokit, owner, repo }: RepoOctokit, login: string, hidden: string) {
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { data } = await asking(() =>
      octokit.rest.issues.listForRepo({ owner, repo, creator: login, labels: ISSUE_LABEL, state: "all", per_page: 100, page }),
    );
    // The newest come first; of twins, which two processes made at once, the first stays.
    const found = data.findLast((one) => isOurs(one, login) && one.body?.startsWith(hidden) === true);
    if (found !== undefined) {
      const { number, html_url: url, title, body, state } = found;
      return { number, url, title, body: body ?? "", isOpen: state === "open" };
    }
    if (data.length < 100) return undefined;
  }
  return undefined;
}

async function close({ octokit, owner, repo }: RepoOctokit, login: string, number: number): Promise<void> {
  const { data } = await asking(() => octokit.rest.issues.get({ owner, repo, issue_number: number }));
  if (!isOurs(data, login) || data.state === "closed" || !data.body?.startsWith("<!-- stagecoach:")) return;
  await asking(() =>
    octokit.rest.issues.update({ owner, repo, issue_number: number, state: "closed", state_reason: "completed", ...NEVER_RETRY }),
  );
}

function isOurs(issue: { pull_request?: unknown; user: { login: string } | null }, login: string): boolean {
  return issue.pull_request === undefined && issue.user?.login === login;
}
