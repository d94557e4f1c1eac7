import { expect, test } from "vitest";
import type { Forge, Pull } from "../../../adapters/forge/port.ts";
import type { CommitInfo } from "../../../adapters/git/port.ts";
import type { Release } from "../../../core/plan/plan-types.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { partsOf } from "../../testing/parts.ts";
import { type RepoContext, silentLog } from "../context.ts";
import { pullByWords } from "./tracking-issue.ts";

const COMMIT: CommitInfo = { sha: "c".repeat(40), parents: [], author: "ana", authorEmail: "a", at: 0, subject: "my-app v2", body: "" };

function world(forge: Partial<Forge>) {
  const context = { forge, log: silentLog } as unknown as RepoContext;
  const memory = partsOf(context);
  const ask = (values: Record<string, string>, attempt = 1) => memory.issues.of("my-app", { values, attempt } as Release, COMMIT);
  return { context, memory, ask };
}

test("each release without a PR has one issue, asked for once, and found again by its marker", async () => {
  const markers: string[] = [];
  const { ask } = world({
    async stickyIssue(marker, { title, body }) {
      markers.push(`${marker} ${title}`);
      expect(body).toContain("commit `cccccccccc` by ana");
      return { number: markers.length, url: "" };
    },
  });
  expect([
    await ask({ version: "v2" }),
    await ask({ version: "v2" }),
    await ask({ version: "v3" }),
    await ask({ version: "v2" }, 2),
  ]).toEqual([1, 1, 2, 3]);
  expect(new Set(markers.map((marker) => marker.split(" ")[0])).size).toBe(3);
  expect(markers[2]).toMatch(/^stagecoach:release:my-app:[0-9a-f]{16} my-app: v2 \(attempt 2\)$/);
});

test("a hostile version makes no title of two lines and no marker of its own", async () => {
  let seen = "";
  const { ask } = world({
    async stickyIssue(marker, { title, body }) {
      seen = `${marker}\n${title}\n${body}`;
      return { number: 1, url: "" };
    },
  });
  await ask({ version: "v1 --> <script>\n@acme/all" });
  expect(seen.split("\n")[1]).toBe("my-app: v1 --> <script> @acme/all");
  expect(seen.split("\n")[0]).not.toContain("-->");
});

test("where issues are switched off the release goes its way without", async () => {
  const { ask } = world({
    async stickyIssue() {
      throw new Error("410 Issues are disabled for this repo");
    },
  });
  expect(await ask({ version: "v2" })).toBeUndefined();
});

test.each([
  ["Release (#12)", "merged", COMMIT.sha, 12],
  ["Merge pull request #12 from acme/release", "merged", COMMIT.sha, 12],
  ["Release (#12)", "merged", "d".repeat(40), undefined],
  ["Release (#12)", "closed", COMMIT.sha, undefined],
  ["Revert #12", "merged", COMMIT.sha, undefined],
])("the PR of %s, %s as %s, is %s", async (subject, state, mergeCommit, number) => {
  const { context } = world({ pull: async (asked) => ({ number: asked, state, mergeCommit, base: "main" }) as Pull });
  expect((await pullByWords(context.forge, { ...COMMIT, subject }, "main"))?.number).toBe(number);
});

test.each([
  ["Succeeded", ["comment", "close 7"]],
  ["Aborted", ["comment", "close 7"]],
  ["Failed", ["comment"]],
] as const)("the issue of a run that ended %s: %j, after its last word, once", async (phase, story) => {
  const told: string[] = [];
  const { memory } = world({ closeStickyIssue: async (number) => void told.push(`close ${number}`) });
  memory.comments.follow(7, async () => void told.push("comment"));
  const run = { rollout: "my-app", number: 1, phase, trigger: { commit: "c", pull: 7, author: "ana", at: "" } } as unknown as Run;
  memory.issues.close(run);
  memory.issues.close(run);
  await memory.comments.settled();
  expect(told).toEqual(story);
});
