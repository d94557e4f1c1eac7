import { expect, test } from "vitest";
import type { JournalSource } from "../journal/source.ts";
import { awaitAnswer, type Posted } from "./answer.ts";
import type { GitHubPlace } from "./github-place.ts";
import { comment } from "./post-command.ts";

const POSTED: Posted = { rollout: "pay", run: 1, pull: 1, comment: 70, url: "", text: "/status --rollout pay", bot: "bot[bot]" };

/** A GitHub on which the bot has reacted, and then has these comments at each look. */
function place(...looks: { login: string; body: string }[][]): GitHubPlace {
  const rest = {
    reactions: { listForIssueComment: async () => ({ data: [{ content: "rocket", user: { login: "bot[bot]" } }] }) },
    issues: { listComments: undefined },
  };
  const paginate = async () => (looks.length > 1 ? looks.shift() : looks[0])?.map(({ login, body }) => ({ user: { login }, body }));
  return { octokit: { rest, paginate }, owner: "acme", repo: "fleet" } as unknown as GitHubPlace;
}

const written = (kind: string, id: number, login = "bot[bot]", rollout = "pay") => ({
  login,
  body: `<!-- stagecoach:${kind}:${rollout} -->\n### how ${rollout} stands\n<!-- answers ${id} -->`,
});

test("the answer to a question is what the bot wrote to it, and no older one, nor anybody else's, nor of another rollout", async () => {
  const others = [written("status", 90, "mallory"), written("status", 90, "bot[bot]", "pay-eu"), written("status", 90, "bot[bot]", "web")];
  const older = [written("status", 60), written("plan", 90), ...others];
  const slept: number[] = [];
  const sleep = async (ms: number) => void slept.push(ms);
  const outcome = await awaitAnswer(place(older, [...older, written("status", 71)]), {} as JournalSource, POSTED, 60_000, sleep);
  expect(slept).toEqual([300]);
  expect(outcome).toEqual({ outcome: "done", message: "", answer: "### how pay stands" });
});

test("options may stand behind the command of a comment as well", async () => {
  await expect(comment.run(["pay", "status", "-R", "nowhere"])).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/"nowhere" is no repository/),
  });
});
