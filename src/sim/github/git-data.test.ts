import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defined } from "../../core/base/defined.ts";
import { refusal, type TestGitHub, testGitHub } from "./testing/setup.ts";

const run = promisify(execFile);
let github: TestGitHub;
let folder: string;
beforeAll(async () => {
  github = await testGitHub();
  folder = await mkdtemp(join(tmpdir(), "stagecoach-clone-"));
});
afterAll(async () => {
  await github.sim.close();
  await rm(folder, { recursive: true, force: true });
});

function cloneUrl(login?: string): string {
  const user = login === undefined ? "" : `x-access-token:${github.sim.token(login)}@`;
  return `${github.sim.gitUrl.replace("://", `://${user}`)}/acme/config.git`;
}

async function git(cwd: string, ...args: string[]): Promise<string> {
  const identity = ["-c", "user.name=Wim", "-c", "user.email=wim@example.com"];
  const env = { ...process.env, GIT_TERMINAL_PROMPT: "0", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  return (await run("git", [...identity, ...args], { cwd, env })).stdout.trim();
}

describe("git over HTTP", () => {
  it("clones without a token and pushes with one; the pull request follows its branch", async () => {
    const clone = join(folder, "push");
    await git(folder, "clone", "--quiet", cloneUrl(), clone);
    expect(await readFile(join(clone, "apps/b.yaml"), "utf8")).toBe("version: v1\n");
    await git(clone, "checkout", "--quiet", "-b", "pushed");
    await writeFile(join(clone, "apps/b.yaml"), "version: v2\n");
    await git(clone, "commit", "--quiet", "-am", "v2");
    await git(clone, "push", "--quiet", cloneUrl("wim"), "pushed");
    const number = await github.sim.actAs("wim").openPull(github.repository, { head: "pushed", title: "Pushed" });
    await git(clone, "commit", "--quiet", "--allow-empty", "-m", "again");
    await git(clone, "push", "--quiet", cloneUrl("wim"), "pushed");
    const { data } = await github.octokit("rob").rest.pulls.get({ ...github.place, pull_number: number });
    expect(data.head.sha).toBe(await git(clone, "rev-parse", "HEAD"));
    expect(data.commits).toBe(2);
    await git(clone, "fetch", "--quiet", "origin", `refs/pull/${number}/head`);
    expect(await git(clone, "rev-parse", "FETCH_HEAD")).toBe(data.head.sha);
  });

  it("counts a pull request as merged whose head is pushed into its base", async () => {
    const head = await github.branch("by-hand", { "by-hand.txt": "x\n" });
    const number = await github.sim.actAs("wim").openPull(github.repository, { head: "by-hand", title: "By hand" });
    const clone = join(folder, "by-hand");
    await git(folder, "clone", "--quiet", cloneUrl(), clone);
    await git(clone, "merge", "--quiet", "--no-ff", "-m", "By hand", head);
    await git(clone, "push", "--quiet", cloneUrl("mia"), "main");
    const { data } = await github.octokit("rob").rest.pulls.get({ ...github.place, pull_number: number });
    expect(data).toMatchObject({ state: "closed", merged: true, merged_by: { login: "mia" } });
  });

  it("pushes several branches all or none, and tells of none that was refused", async () => {
    const clone = join(folder, "atomic");
    await git(folder, "clone", "--quiet", cloneUrl(), clone);
    const before = github.sim.deliveries.length;
    // A branch cannot lie below another one: the server refuses it, and with it the other.
    const pushing = git(clone, "push", "--quiet", "--atomic", cloneUrl("wim"), "HEAD:refs/heads/left", "HEAD:refs/heads/main/x");
    await expect(pushing).rejects.toThrow();
    expect(github.sim.deliveries.length).toBe(before);
    await git(clone, "push", "--quiet", "--atomic", cloneUrl("wim"), "HEAD:refs/heads/left", "HEAD:refs/heads/right");
    const refs = github.sim.deliveries.slice(before).map((one) => (JSON.parse(one.body) as { ref: string }).ref);
    expect(refs).toEqual(["refs/heads/left", "refs/heads/right"]);
  });

  it.each([
    { who: "nobody", login: undefined },
    { who: "a reader", login: "rob" },
  ])("takes no push from $who", async ({ login }) => {
    const clone = join(folder, `refused-${login}`);
    await git(folder, "clone", "--quiet", cloneUrl(), clone);
    await expect(git(clone, "push", "--quiet", cloneUrl(login), "HEAD:refs/heads/no")).rejects.toThrow();
  });

  it("shows a private repository to nobody without a token", async () => {
    await github.sim.createRepo({ owner: "acme", name: "hidden", files: new Map([["a", "b"]]), private: true });
    await expect(git(folder, "ls-remote", `${github.sim.gitUrl}/acme/hidden.git`)).rejects.toThrow();
    expect((await refusal(github.octokit("rob").rest.repos.get({ owner: "acme", repo: "hidden" }))).status).toBe(404);
  });
});

describe("Git data over REST", () => {
  it("builds a commit from trees that add, change and delete, on a commit taken for its tree", async () => {
    const octokit = github.octokit("wim");
    const { place } = github;
    const base = (await octokit.rest.git.getRef({ ...place, ref: "heads/main" })).data.object.sha;
    const tree = await octokit.rest.git.createTree({
      ...place,
      base_tree: base,
      tree: [
        { path: "deep/er/new.txt", mode: "100644", type: "blob", content: "new\n" },
        { path: "apps/a.yaml", mode: "100644", type: "blob", sha: null },
      ],
    });
    const commit = await octokit.rest.git.createCommit({ ...place, tree: tree.data.sha, parents: [base], message: "Built" });
    const made = await octokit.rest.git.createRef({ ...place, ref: "refs/heads/built/here", sha: commit.data.sha });
    expect(made.status).toBe(201);
    const whole = await octokit.rest.git.getTree({ ...place, tree_sha: commit.data.sha, recursive: "1" });
    const paths = whole.data.tree.map((entry) => entry.path);
    expect(paths).toContain("deep/er/new.txt");
    expect(paths).not.toContain("apps/a.yaml");
    const file = await octokit.rest.repos.getContent({ ...place, path: "deep/er/new.txt", ref: "built/here" });
    expect(file.data).toMatchObject({ type: "file", encoding: "base64", content: Buffer.from("new\n").toString("base64") });
  });

  it.each([
    { why: "a ref that is there", ref: "refs/heads/main", sha: undefined, message: "Reference already exists" },
    { why: "a commit that is not there", ref: "refs/heads/x", sha: "1".repeat(40), message: "Object does not exist" },
    { why: "a name that is none", ref: "refs/heads/a b", sha: undefined, message: "refs/heads/a b is not a valid ref name." },
  ])("refuses $why with 422", async ({ ref, sha, message }) => {
    const refused = await refusal(github.octokit("wim").rest.git.createRef({ ...github.place, ref, sha: sha ?? github.head }));
    expect(refused).toMatchObject({ status: 422, message });
  });

  it("moves a branch forward only, unless forced, and deletes once", async () => {
    const octokit = github.octokit("wim");
    const head = await github.branch("moved", { "moved.txt": "x\n" });
    const move = (sha: string, force = false) => octokit.rest.git.updateRef({ ...github.place, ref: "heads/moved", sha, force });
    expect(await refusal(move(github.head))).toMatchObject({ status: 422, message: "Update is not a fast forward" });
    expect((await move(github.head, true)).data.object.sha).toBe(github.head);
    expect((await move(head)).status).toBe(200);
    await octokit.rest.git.deleteRef({ ...github.place, ref: "heads/moved" });
    expect(await refusal(octokit.rest.git.deleteRef({ ...github.place, ref: "heads/moved" }))).toMatchObject({
      status: 422,
      message: "Reference does not exist",
    });
    expect((await refusal(octokit.rest.git.getRef({ ...github.place, ref: "heads/moved" }))).status).toBe(404);
  });

  it("compares two branches", async () => {
    await github.branch("ahead", { "ahead.txt": "x\n" });
    const { data } = await github.octokit("rob").rest.repos.compareCommitsWithBasehead({ ...github.place, basehead: "main...ahead" });
    expect(data).toMatchObject({ status: "ahead", ahead_by: 1, behind_by: 0, files: [{ filename: "ahead.txt" }] });
  });

  it("updates a file only against the blob it replaces", async () => {
    const octokit = github.octokit("wim");
    const content = Buffer.from("hi\n").toString("base64");
    const put = (sha?: string) =>
      octokit.rest.repos.createOrUpdateFileContents(
        defined({
          ...github.place,
          path: "note.txt",
          message: "Note",
          content,
          sha,
        }),
      );
    const made = await put();
    expect(made.status).toBe(201);
    expect((await refusal(put())).status).toBe(422);
    expect((await refusal(put("1".repeat(40)))).status).toBe(409);
    expect((await put(made.data.content?.sha)).status).toBe(200);
  });
});
