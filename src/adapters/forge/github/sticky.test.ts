import { expect, test } from "vitest";
import type { RepoOctokit } from "./octokit.ts";
import { comments } from "./sticky.ts";

test("what our App writes for a person is theirs; what another App writes for them, or any App for itself, is not", async () => {
  const base = { node_id: "n", body: "/pause", created_at: "2026-11-21T09:00:00Z", updated_at: "2026-11-21T09:00:00Z" };
  const person = { login: "alice", type: "User" };
  const all = [
    { ...base, id: 1, user: person, performed_via_github_app: null },
    { ...base, id: 2, user: person, performed_via_github_app: { slug: "stagecoach" } },
    { ...base, id: 3, user: person, performed_via_github_app: { slug: "stagecoach-2" } },
    { ...base, id: 4, user: person, performed_via_github_app: {} },
    { ...base, id: 5, user: { login: "other[bot]", type: "Bot" }, performed_via_github_app: { slug: "stagecoach" } },
  ];
  const octokit = { paginate: async () => all, rest: { issues: {} } };
  const read = await comments({ octokit, owner: "acme", repo: "config" } as unknown as RepoOctokit, 1, "stagecoach[bot]");
  expect(read.map(({ id, authorIsBot }) => [id, authorIsBot])).toEqual([
    [1, false],
    [2, false],
    [3, true],
    [4, true],
    [5, true],
  ]);
});
