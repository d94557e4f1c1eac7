import { serialByKey } from "./by-key.ts";
import { bounded } from "./checks.ts";
import { COMMENT_LIMIT } from "./comments.ts";
import { answerOf, asking, forgeError } from "./errors.ts";
import { NEVER_RETRY, type RepoOctokit } from "./octokit.ts";

interface Known {
  number: number;
  url: string;
  title: string;
  body: string;
}

interface Asked {
  title: string;
  body: string;
  labels: string[];
}

type StickyIssue = (marker: string, issue: Asked) => Promise<{ number: number; url: string }>;

/** What our issues carry beside what was asked for, so that they are found among those of years. */
const ISSUE_LABEL = "stagecoach";
/** Of a hundred each, the newest first: older ones belong to releases that are over. */
const MOST_PAGES = 5;

interface StickyIssues {
  put: StickyIssue;
  close(number: number): Promise<void>;
}

/** Found by its hidden marker and by being ours, open or closed; a closed one is edited and stays closed. */
export function stickyIssues(place: RepoOctokit, identity: () => Promise<{ login: string }>): StickyIssues {
  const known = new Map<string, Known>();
  const turn = serialByKey();

  async function put(marker: string, issue: Asked) {
    const hidden = `<!-- ${marker} -->`;
    const body = bounded(`${hidden}\n${issue.body}`, COMMENT_LIMIT);
    const title = bounded(issue.title, 250);
    const there = known.get(marker) ?? (await find(place, (await identity()).login, hidden));
    if (there?.body === body && there.title === title) {
      known.set(marker, there);
      return { number: there.number, url: there.url };
    }
    known.delete(marker);
    const data = await write(place, { title, body, labels: [...new Set([ISSUE_LABEL, ...issue.labels])] }, there?.number);
    known.set(marker, { number: data.number, url: data.html_url, title, body });
    return { number: data.number, url: data.html_url };
  }

  return {
    put: (marker, issue) => turn(marker, () => put(marker, issue)),
    close: async (number) => close(place, (await identity()).login, number),
  };
}

async function write(
  { octokit, owner, repo }: RepoOctokit,
  { title, body, labels }: Asked,
  number: number | undefined,
): Promise<{ number: number; html_url: string }> {
  if (number !== undefined) {
    try {
      return (await octokit.rest.issues.update({ owner, repo, issue_number: number, title, body, ...NEVER_RETRY })).data;
    } catch (error) {
      // Deleted or moved away by somebody: it begins anew.
      const status = answerOf(error)?.status;
      if (status !== 404 && status !== 410) throw forgeError(`edit issue ${number}`, error);
    }
  }
  return asking("open an issue", async () => (await octokit.rest.issues.create({ owner, repo, title, body, labels, ...NEVER_RETRY })).data);
}

/** By its label: without it every pull request we ever opened would be listed, too. */
async function find({ octokit, owner, repo }: RepoOctokit, login: string, hidden: string): Promise<Known | undefined> {
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { data } = await asking("look for our issue", () =>
      octokit.rest.issues.listForRepo({ owner, repo, creator: login, labels: ISSUE_LABEL, state: "all", per_page: 100, page }),
    );
    const found = data.find((one) => isOurs(one, login) && one.body?.startsWith(hidden) === true);
    if (found !== undefined) return { number: found.number, url: found.html_url, title: found.title, body: found.body ?? "" };
    if (data.length < 100) return undefined;
  }
  return undefined;
}

async function close({ octokit, owner, repo }: RepoOctokit, login: string, number: number): Promise<void> {
  const { data } = await asking(`read issue ${number}`, () => octokit.rest.issues.get({ owner, repo, issue_number: number }));
  if (!isOurs(data, login) || data.state === "closed" || !data.body?.startsWith("<!-- stagecoach:")) return;
  await asking(`close issue ${number}`, () =>
    octokit.rest.issues.update({ owner, repo, issue_number: number, state: "closed", state_reason: "completed", ...NEVER_RETRY }),
  );
}

function isOurs(issue: { pull_request?: unknown; user: { login: string } | null }, login: string): boolean {
  return issue.pull_request === undefined && issue.user?.login === login;
}
