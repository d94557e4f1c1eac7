import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusal, type TestGitHub, testGitHub } from "./testing/setup.ts";

let github: TestGitHub;
let next = 0;
beforeAll(async () => {
  github = await testGitHub();
});
afterAll(() => github.sim.close());

/** An open pull request with one commit; gives its number and head. */
async function open(files?: Record<string, string>): Promise<{ number: number; head: string; branch: string }> {
  const branch = `topic-${++next}`;
  const head = await github.branch(branch, files ?? { [`${branch}.txt`]: "x\n" });
  const number = await github.sim.actAs("wim").openPull(github.repository, { head: branch, title: `Title ${next}` });
  return { number, head, branch };
}

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: github.sim.repoDirectory(github.repository), encoding: "utf8" }).trim();
}

const merge = (number: number, more: object = {}, login = "mia") =>
  github.octokit(login).rest.pulls.merge({ ...github.place, pull_number: number, ...more });

describe("merging", () => {
  it("makes a merge commit of base and head, by the merger and GitHub", async () => {
    const before = git("rev-parse", "main");
    const pull = await open();
    const { data } = await merge(pull.number);
    expect(data).toMatchObject({ merged: true, message: "Pull Request successfully merged" });
    expect(git("rev-parse", "main")).toBe(data.sha);
    expect(git("log", "-1", "--format=%P|%an|%cn|%s", "main")).toBe(
      `${before} ${pull.head}|mia|GitHub|Merge pull request #${pull.number} from acme/${pull.branch}`,
    );
  });

  it("makes one commit of a squash, with the words it was given", async () => {
    const before = git("rev-parse", "main");
    const pull = await open();
    const { data } = await merge(pull.number, { merge_method: "squash", commit_title: "A title", commit_message: "Why: x" });
    expect(git("log", "-1", "--format=%P|%B", data.sha)).toBe(`${before}|A title\n\nWhy: x`);
  });

  it("takes a squash's words from the commits where it was given none", async () => {
    const pull = await open();
    const { data } = await merge(pull.number, { merge_method: "squash" });
    expect(git("log", "-1", "--format=%B", data.sha)).toBe(`Change ${pull.branch} (#${pull.number})`);
  });

  it("replays every commit of a rebase onto a base that has moved on", async () => {
    const pull = await open();
    await github.branch(pull.branch, { [`${pull.branch}.txt`]: "x\ny\n" });
    await github.sim.actAs("mia").push(github.repository, { branch: "main", files: { "moved.txt": "1\n" }, message: "Moved" });
    const before = git("rev-parse", "main");
    const { data } = await merge(pull.number, { merge_method: "rebase" });
    expect(git("log", "--format=%s|%an|%cn", `${before}..${data.sha}`).split("\n")).toEqual(Array(2).fill(`Change ${pull.branch}|wim|mia`));
    expect(git("show", `${data.sha}:${pull.branch}.txt`)).toBe("x\ny");
    expect(git("show", `${data.sha}:moved.txt`)).toBe("1");
  });

  it("merges changes of the same file in different places", async () => {
    const text = "one: 1\ntwo: 2\nthree: 3\nfour: 4\nfive: 5\nversion: v1\n";
    const pull = await open({ "apps/a.yaml": text.replace("one: 1", "one: 11") });
    const other = { branch: "main", files: { "apps/a.yaml": text.replace("v1", "v2") }, message: "v2" };
    await github.sim.actAs("mia").push(github.repository, other);
    const { data } = await merge(pull.number);
    expect(git("show", `${data.sha}:apps/a.yaml`)).toBe(text.replace("one: 1", "one: 11").replace("v1", "v2").trim());
  });

  it("shows who merged what and when, and the merge is known by its commit", async () => {
    const pull = await open();
    const { data } = await merge(pull.number, { merge_method: "squash" });
    const read = (await github.octokit("rob").rest.pulls.get({ ...github.place, pull_number: pull.number })).data;
    expect(read).toMatchObject({ state: "closed", merged: true, merge_commit_sha: data.sha, merged_by: { login: "mia" } });
    const found = await github.octokit("rob").rest.repos.listPullRequestsAssociatedWithCommit({ ...github.place, commit_sha: data.sha });
    expect(found.data.map((one) => one.number)).toEqual([pull.number]);
  });

  it("deletes the branch where the repository is set so", async () => {
    github.sim.settings(github.repository, { deleteBranchOnMerge: true });
    const pull = await open();
    await merge(pull.number);
    expect(git("for-each-ref", `refs/heads/${pull.branch}`)).toBe("");
    github.sim.settings(github.repository, { deleteBranchOnMerge: false });
  });
});

describe("refusing a merge", () => {
  it("409 where the head is not the one named", async () => {
    const pull = await open();
    expect(await refusal(merge(pull.number, { sha: github.head }))).toMatchObject({
      status: 409,
      message: "Head branch was modified. Review and try the merge again.",
    });
  });

  it("405 with the recorded words for a conflict", async () => {
    const pull = await open({ "README.md": `mine ${next}\n` });
    await github.sim.actAs("mia").push(github.repository, { branch: "main", files: { "README.md": `theirs ${next}\n` }, message: "x" });
    expect(await refusal(merge(pull.number))).toMatchObject({ status: 405, message: "Pull Request has merge conflicts" });
    expect(await refusal(merge(pull.number, { merge_method: "rebase" }))).toMatchObject({ status: 405 });
  });

  it("405 for one that is merged already, so that of two at once one loses", async () => {
    const pull = await open();
    const answers = await Promise.allSettled([merge(pull.number), merge(pull.number, {}, "wim")]);
    expect(answers.map((one) => one.status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await refusal(merge(pull.number))).toMatchObject({ status: 405, message: "Pull Request is not mergeable" });
  });

  it("two pull requests at once both merge, one after the other", async () => {
    const [a, b] = [await open(), await open()];
    const answers = await Promise.all([merge(a.number), merge(b.number)]);
    const heads = answers.map((one) => one.data.sha);
    expect(heads).toContain(git("rev-parse", "main"));
    for (const head of [a.head, b.head]) expect(git("merge-base", "main", head)).toBe(head);
  });

  it.each([
    { method: "merge", setting: "allowMerge", message: "Merge commits are not allowed on this repository." },
    { method: "squash", setting: "allowSquash", message: "Squash merges are not allowed on this repository." },
    { method: "rebase", setting: "allowRebase", message: "Rebase merges are not allowed on this repository." },
  ])("405 for a $method the repository does not allow", async ({ method, setting, message }) => {
    const pull = await open();
    github.sim.settings(github.repository, { [setting]: false });
    expect(await refusal(merge(pull.number, { merge_method: method }))).toMatchObject({ status: 405, message });
    github.sim.settings(github.repository, { [setting]: true });
  });

  it.each([
    { rules: { requiredChecks: ["build"] }, message: 'Required status check "build" is expected.' },
    { rules: { approvals: 1 }, message: "At least 1 approving review is required by reviewers with write access." },
    { rules: { mergeQueue: true }, message: "Changes must be made through the merge queue" },
    {
      rules: { rules: ["Commits must have verified signatures."] },
      message: "Repository rule violations found\n\nCommits must have verified signatures.\n\n",
    },
  ])("405 with $message", async ({ rules, message }) => {
    const pull = await open();
    github.sim.protect(github.repository, "main", rules);
    expect(await refusal(merge(pull.number))).toMatchObject({ status: 405, message });
    const octokit = github.octokit("rob");
    const read = { ...github.place, pull_number: pull.number };
    await octokit.rest.pulls.get(read);
    expect((await octokit.rest.pulls.get(read)).data).toMatchObject({ mergeable: true, mergeable_state: "blocked" });
    github.sim.protect(github.repository, "main", {});
  });

  it("lets a required check through once it is green on the head", async () => {
    const pull = await open();
    github.sim.protect(github.repository, "main", { requiredChecks: ["build"] });
    const app = github.appOctokit();
    const run = await app.rest.checks.create({ ...github.place, name: "build", head_sha: pull.head, status: "in_progress" });
    expect(await refusal(merge(pull.number))).toMatchObject({ message: 'Required status check "build" is pending.' });
    await app.rest.checks.update({ ...github.place, check_run_id: run.data.id, conclusion: "success" });
    await merge(pull.number);
    github.sim.protect(github.repository, "main", {});
  });

  it.each([
    { body: { merge_method: "octopus" }, status: 422 },
    { body: { sha: "abc" }, status: 422 },
  ])("$status for $body", async ({ body, status }) => {
    const pull = await open();
    expect(await refusal(merge(pull.number, body))).toMatchObject({ status });
  });

  it("as scripted, once", async () => {
    const pull = await open();
    const message = "Base branch was modified. Review and try the merge again.";
    github.sim.faults.merge = () => {
      delete github.sim.faults.merge;
      return { status: 405, message };
    };
    expect(await refusal(merge(pull.number))).toMatchObject({ status: 405, message });
    await merge(pull.number);
  });

  it("answers 502 to a merge it has made, where it is scripted to", async () => {
    const pull = await open();
    github.sim.faults.request = ({ method }) => (method === "PUT" ? { status: 502, afterwards: true } : undefined);
    expect(await refusal(merge(pull.number))).toMatchObject({ status: 502 });
    delete github.sim.faults.request;
    expect((await github.octokit("rob").rest.pulls.get({ ...github.place, pull_number: pull.number })).data.merged).toBe(true);
  });
});
