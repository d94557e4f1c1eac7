import { expect, test } from "vitest";
import type { RepoOctokit } from "./octokit.ts";
import { peopleOf } from "./people.ts";

interface Push {
  after: string;
  actor: { login: string };
}
const push = (after: string, login: string): Push => ({ after, actor: { login } });

/** The commit's author is whom its maker typed; the pushes are the last one first. */
function place(pushes: Push[]): RepoOctokit {
  const rest = {
    repos: {
      getCommit: async () => ({ data: { author: { login: "bob" }, committer: { login: "web-flow" } } }),
      listActivities: async () => ({ data: pushes }),
    },
  };
  return { octokit: { rest }, owner: "acme", repo: "fleet" } as unknown as RepoOctokit;
}
/** Commits of one line, oldest first. */
const LINE = ["c1", "c2", "c3", "c4"];
const holds = (part: string) => async (head: string) => (LINE.includes(head) ? LINE.indexOf(head) >= LINE.indexOf(part) : undefined);
const ask = (pushes: Push[], commit: string) => peopleOf(place(pushes), commit, "main", holds(commit));

test("who pushed a commit is found also where more was pushed on top of it at once", async () => {
  const pushes = [push("c4", "dave"), push("c3", "alice"), push("c1", "carol")];
  expect(await ask(pushes, "c2")).toMatchObject({ linked: ["bob"], unlinked: [], pusher: "alice" });
  expect(await ask(pushes, "c3")).toMatchObject({ linked: ["bob"], unlinked: [], pusher: "alice" });
  expect(await ask([push("gone", "eve"), ...pushes], "c2")).toMatchObject({ linked: ["bob"], unlinked: [], pusher: "alice" });
});

test("nobody is taken for it whose push did not bring it, nor the oldest of a list that has no end", async () => {
  expect(await ask([push("c1", "carol")], "c2")).toEqual({ linked: ["bob"], unlinked: ["c2"] });
  const many = Array.from({ length: 100 }, () => push("c4", "dave"));
  expect(await ask(many, "c2")).toEqual({ linked: ["bob"], unlinked: ["c2"] });
});
