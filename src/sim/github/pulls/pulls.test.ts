import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusal, type TestGitHub, testGitHub } from "../testing/setup.ts";

let github: TestGitHub;
beforeAll(async () => {
  github = await testGitHub();
});
afterAll(() => github.sim.close());

async function open(head: string, files: Record<string, string>): Promise<number> {
  await github.branch(head, files);
  const { place } = github;
  return (await github.octokit("wim").rest.pulls.create({ ...place, head, base: "main", title: head })).data.number;
}

describe("opening a pull request", () => {
  it("answers 201 with mergeable not known yet, in whole seconds", async () => {
    await github.branch("first", { "apps/b.yaml": "version: v2\n" });
    const { place } = github;
    const { status, data } = await github.octokit("wim").rest.pulls.create({ ...place, head: "first", base: "main", title: "First" });
    expect(status).toBe(201);
    expect(data).toMatchObject({
      mergeable: null,
      mergeable_state: "unknown",
      merge_commit_sha: null,
      merged: false,
      commits: 1,
      changed_files: 1,
    });
    expect(data).toMatchObject({ additions: 1, deletions: 1, created_at: "2026-11-21T10:00:00Z", head: { label: "acme:first" } });
  });

  it("tells after as many null reads as it was told, and anew after the base has moved", async () => {
    const number = await open("lazy", { "lazy.txt": "x\n" });
    const octokit = github.octokit("rob");
    const read = async () => (await octokit.rest.pulls.get({ ...github.place, pull_number: number })).data.mergeable;
    expect([await read(), await read(), await read()]).toEqual([null, true, true]);
    await github.sim.actAs("mia").push(github.repository, { branch: "main", files: { "other.txt": "y\n" }, message: "Other" });
    expect([await read(), await read()]).toEqual([null, true]);
  });

  it("says dirty of a conflict and draft of a draft", async () => {
    const number = await open("conflict", { "README.md": "ours\n" });
    await github.sim.actAs("mia").push(github.repository, { branch: "main", files: { "README.md": "theirs\n" }, message: "Theirs" });
    const octokit = github.octokit("rob");
    const { place } = github;
    await octokit.rest.pulls.get({ ...place, pull_number: number });
    expect((await octokit.rest.pulls.get({ ...place, pull_number: number })).data).toMatchObject({
      mergeable: false,
      mergeable_state: "dirty",
    });
    await github.branch("draft", { "draft.txt": "x\n" });
    const draft = await github.octokit("wim").rest.pulls.create({ ...place, head: "draft", base: "main", title: "Draft", draft: true });
    expect(draft.data).toMatchObject({ draft: true, mergeable_state: "draft" });
  });

  it.each([
    {
      why: "a second one for the same head",
      head: "first",
      base: "main",
      errors: [{ message: "A pull request already exists for acme:first." }],
    },
    { why: "nothing to merge", head: "main", base: "main", errors: [{ message: "No commits between main and main" }] },
    { why: "a head that is not there", head: "nowhere", base: "main", errors: [{ field: "head", code: "invalid" }] },
    { why: "a base that is not there", head: "first", base: "nowhere", errors: [{ field: "base", code: "invalid" }] },
    { why: "a head of a fork", head: "someone:first", base: "main", errors: [{ field: "head", code: "invalid" }] },
  ])("refuses $why with 422", async ({ head, base, errors }) => {
    const refused = await refusal(github.octokit("wim").rest.pulls.create({ ...github.place, head, base, title: "x" }));
    expect(refused).toMatchObject({ status: 422, message: "Validation Failed", errors });
  });
});

describe("listing pull requests", () => {
  it("filters by head only where the owner is named, as GitHub does", async () => {
    const octokit = github.octokit("rob");
    const all = (await octokit.rest.pulls.list({ ...github.place, state: "all" })).data;
    const ignored = (await octokit.rest.pulls.list({ ...github.place, state: "all", head: "first" })).data;
    const filtered = (await octokit.rest.pulls.list({ ...github.place, state: "all", head: "acme:first" })).data;
    expect(ignored.length).toBe(all.length);
    expect(filtered.map((pull) => pull.head.ref)).toEqual(["first"]);
    expect(filtered[0]).not.toHaveProperty("mergeable");
  });

  it("pages with links by the repository's number, which lead on", async () => {
    const octokit = github.octokit("rob");
    const first = await octokit.rest.pulls.list({ ...github.place, state: "all", per_page: 2 });
    expect(first.headers.link).toMatch(/\/repositories\/\d+\/pulls\?.*page=2>; rel="next"/);
    const every = await octokit.paginate(octokit.rest.pulls.list, { ...github.place, state: "all", per_page: 2 });
    expect(every.length).toBe((await octokit.rest.pulls.list({ ...github.place, state: "all", per_page: 100 })).data.length);
  });

  it("lists the files with their patch and the commits, oldest first", async () => {
    const number = await open("two-commits", { "apps/a.yaml": "version: v9\n" });
    const second = await github.branch("two-commits", { "new/file.txt": "hello\n" });
    const octokit = github.octokit("rob");
    const files = (await octokit.rest.pulls.listFiles({ ...github.place, pull_number: number })).data;
    expect(files.map(({ filename, status }) => `${status} ${filename}`)).toEqual(["modified apps/a.yaml", "added new/file.txt"]);
    expect(files[1]?.patch).toBe("@@ -0,0 +1 @@\n+hello");
    const commits = (await octokit.rest.pulls.listCommits({ ...github.place, pull_number: number })).data;
    expect(commits.map((one) => one.sha)).toHaveLength(2);
    expect(commits.at(-1)?.sha).toBe(second);
  });
});

describe("changing a pull request", () => {
  it("can be closed and opened again, but not once its branch is gone", async () => {
    const number = await open("reopened", { "reopened.txt": "x\n" });
    const wim = github.sim.actAs("wim");
    await wim.closePull(github.repository, number);
    await wim.reopenPull(github.repository, number);
    await wim.deleteBranch(github.repository, "reopened");
    const { data } = await github.octokit("rob").rest.pulls.get({ ...github.place, pull_number: number });
    expect(data.state).toBe("closed");
    await expect(wim.reopenPull(github.repository, number)).rejects.toMatchObject({ status: 422 });
  });

  it("names the missing branch where the base is changed to one that is not there", async () => {
    const number = await open("rebased", { "rebased.txt": "x\n" });
    const refused = await refusal(github.octokit("wim").rest.pulls.update({ ...github.place, pull_number: number, base: "nowhere" }));
    expect(refused).toMatchObject({ status: 422, errors: [{ message: "Proposed base branch 'nowhere' was not found" }] });
  });

  it("nobody approves their own, and an App's approval is kept but does not count", async () => {
    const number = await open("reviewed", { "reviewed.txt": "x\n" });
    const own = await refusal(github.octokit("wim").rest.pulls.createReview({ ...github.place, pull_number: number, event: "APPROVE" }));
    expect(own).toMatchObject({ status: 422, errors: ["Can not approve your own pull request"] });
    github.sim.protect(github.repository, "main", { approvals: 1 });
    const review = await github.appOctokit().rest.pulls.createReview({ ...github.place, pull_number: number, event: "APPROVE" });
    expect(review).toMatchObject({ status: 200, data: { state: "APPROVED" } });
    await expect(github.sim.actAs("mia").mergePull(github.repository, number)).rejects.toMatchObject({
      status: 405,
      message: /approving review/,
    });
    await github.sim.actAs("mia").review(github.repository, number, "APPROVE");
    await github.sim.actAs("mia").mergePull(github.repository, number);
    github.sim.protect(github.repository, "main", {});
  });
});
