import type { EmbeddedWorld } from "../../src/sim/world.ts";

/** What a person sees on the embedded GitHub, read over its API with their own token. */
export interface GitHubPage {
  get(path: string): Promise<unknown>;
  /** A commit status of that name, as CI reports one. */
  status(sha: string, context: string, state: "success" | "pending" | "failure"): Promise<void>;
  pull(number: number): Promise<{
    state: string;
    merged: boolean;
    title: string;
    body: string;
    head: { sha: string; ref: string };
    labels: { name: string }[];
    requested_reviewers: { login: string }[];
    requested_teams: { slug: string }[];
    merged_by: { login: string } | null;
  }>;
  comments(number: number): Promise<{ body: string; user: { login: string } }[]>;
  /** `status conclusion: title` of the newest check run of that name; undefined: none. */
  check(sha: string, name: string): Promise<string | undefined>;
  /** What its summary says. */
  summary(sha: string, name: string): Promise<string | undefined>;
}

export function githubPage(world: EmbeddedWorld, login = "carol"): GitHubPage {
  const root = `${world.github.url}/repos/${world.repository}`;
  const headers = { authorization: `token ${world.github.token(login)}`, "content-type": "application/json" };
  const get = async (path: string) => {
    const response = await fetch(`${root}${path}`, { headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return await response.json();
  };
  const lastRun = async (sha: string, name: string) => {
    const found = (await get(`/commits/${sha}/check-runs?check_name=${encodeURIComponent(name)}`)) as {
      check_runs: { id: number; status: string; conclusion: string | null; output: { title: string; summary: string } }[];
    };
    return found.check_runs.sort((a, b) => b.id - a.id)[0];
  };
  return {
    get,
    async status(sha, context, state) {
      const body = JSON.stringify({ context, state });
      const response = await fetch(`${root}/statuses/${sha}`, { method: "POST", headers, body });
      if (response.status !== 201) throw new Error(`status: ${response.status} ${await response.text()}`);
    },
    pull: (number) => get(`/pulls/${number}`) as ReturnType<GitHubPage["pull"]>,
    comments: (number) => get(`/issues/${number}/comments?per_page=100`) as ReturnType<GitHubPage["comments"]>,
    async check(sha, name) {
      const last = await lastRun(sha, name);
      return last === undefined ? undefined : `${last.conclusion ?? last.status}: ${last.output.title}`;
    },
    summary: async (sha, name) => (await lastRun(sha, name))?.output.summary,
  };
}

/** A comment without what differs from one time to the next: clock times, durations, commits, addresses, hashes. */
export function normalised(text: string): string {
  return text
    .replace(/<!--.*?-->\n/g, "")
    .replace(/\b\d{4}-\d\d-\d\d(?:T| )\d\d:\d\d:\d\d(?:\.\d+Z)?/g, "TIME")
    .replace(/\b\d\d:\d\d:\d\d\b/g, "TIME")
    .replace(/\b(?:\d+h)?(?:\d+m)?\d+(?:h|m|s)\b/g, "DURATION")
    .replace(/\b[0-9a-f]{40}\b/g, "COMMIT")
    .replace(/\bat [0-9a-f]{7,12}\b/g, "at COMMIT")
    .replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{7,12}\b/g, "COMMIT");
}
