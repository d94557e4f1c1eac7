import { expect, test } from "vitest";
import { openGitHubAnchor } from "./anchor.ts";
import type { OctokitLike } from "./octokit.ts";

const OURS = 7;
const head = "a".repeat(40);
const run = (id: number, app: number, sequence: number, at = head) => ({
  ...{ id, app: { id: app, slug: "stagecoach" }, name: "stagecoach/journal", external_id: `stagecoach-journal:${sequence}:${at}` },
});

const ROOT = "c".repeat(40);

/** GitHub's list of the check runs of a commit, a page of them; `latest` shows the newest alone. */
function anchorAmong(runs: ReturnType<typeof run>[], roots = [ROOT], asks: string[] = []) {
  const listForRef = async (asked: { ref: string; app_id?: number; filter?: string; per_page: number }) => {
    asks.push(asked.ref);
    const there = asked.ref === ROOT ? runs : [];
    const shown = there.filter(({ app }) => asked.app_id === undefined || app.id === asked.app_id);
    return { data: { check_runs: (asked.filter === "all" ? shown : shown.slice(0, 100)).slice(0, asked.per_page) } };
  };
  const octokit = { rest: { checks: { listForRef } } } as unknown as OctokitLike;
  return openGitHubAnchor({ octokit, repository: "acme/config", appId: async () => OURS, commits: async () => roots });
}

test("checks of the anchor's name by other Apps, however many and whatever they are called, neither hide it nor are one", async () => {
  const theirs = Array.from({ length: 150 }, (_, n) => run(n + 1, 8 + n, 900 + n, "b".repeat(40)));
  expect(await anchorAmong([...theirs, run(500, OURS, 3)]).read()).toEqual({ sequence: 3, head });
  expect(await anchorAmong(theirs).read()).toBeUndefined();
});

test("of several of our own the newest counts", async () => {
  expect(await anchorAmong([run(1, OURS, 3, "b".repeat(40)), run(2, OURS, 9)]).read()).toEqual({ sequence: 9, head });
});

test("another history that is put before the base does not hide it, and once it is found that one commit is asked for", async () => {
  const asks: string[] = [];
  const foreign = "f".repeat(40);
  const anchor = anchorAmong([run(1, OURS, 3)], [foreign, ROOT], asks);
  expect(await anchor.read()).toEqual({ sequence: 3, head });
  expect(await anchor.read({ afresh: true })).toEqual({ sequence: 3, head });
  expect(asks).toEqual([foreign, ROOT, ROOT]);
});
