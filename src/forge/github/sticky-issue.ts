import { serialByKey } from "./by-key.ts";
import { bounded } from "./check-runs.ts";
import { COMMENT_LIMIT } from "./comments.ts";
import { answerOf, asking, forgeError } from "./errors.ts";
import { NEVER_RETRY, type RepoOctokit } from "./octokit.ts";

interface Known {
  number: number;
  url: string;
  title: string;
  body: string;
}

type StickyIssue = (marker: string, issue: { title: string; body: string; labels: string[] }) => Promise<{ number: number; url: string }>;

/** Found by its hidden marker and by being ours, open or closed; a closed one is edited and stays closed. */
export function stickyIssues(place: RepoOctokit, identity: () => Promise<{ login: string }>): StickyIssue {
  const { octokit, owner, repo } = place;
  const known = new Map<string, Known>();
  const turn = serialByKey();
  return (marker, issue) => turn(marker, () => put(marker, issue));

  async function put(marker: string, issue: { title: string; body: string; labels: string[] }) {
    const hidden = `<!-- ${marker} -->`;
    const body = bounded(`${hidden}\n${issue.body}`, COMMENT_LIMIT);
    const title = bounded(issue.title, 250);
    const there = known.get(marker) ?? (await find(hidden));
    if (there?.body === body && there.title === title) {
      known.set(marker, there);
      return { number: there.number, url: there.url };
    }
    known.delete(marker);
    const data = await write(title, body, issue.labels, there?.number);
    known.set(marker, { number: data.number, url: data.html_url, title, body });
    return { number: data.number, url: data.html_url };
  }

  async function write(title: string, body: string, labels: string[], number: number | undefined) {
    if (number !== undefined) {
      try {
        return (await octokit.rest.issues.update({ owner, repo, issue_number: number, title, body, ...NEVER_RETRY })).data;
      } catch (error) {
        // Deleted or moved away by somebody: it begins anew.
        const status = answerOf(error)?.status;
        if (status !== 404 && status !== 410) throw forgeError(`edit issue ${number}`, error);
      }
    }
    return asking(
      "open an issue",
      async () => (await octokit.rest.issues.create({ owner, repo, title, body, labels, ...NEVER_RETRY })).data,
    );
  }

  async function find(hidden: string): Promise<Known | undefined> {
    const { login } = await identity();
    const all = await asking("look for our issue", () =>
      octokit.paginate(octokit.rest.issues.listForRepo, { owner, repo, creator: login, state: "all", per_page: 100 }),
    );
    const found = all.find((one) => one.pull_request === undefined && one.user?.login === login && one.body?.startsWith(hidden) === true);
    return found === undefined ? undefined : { number: found.number, url: found.html_url, title: found.title, body: found.body ?? "" };
  }
}
