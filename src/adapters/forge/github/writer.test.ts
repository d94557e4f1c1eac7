import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type TestGitHub, testGitHub } from "../../../sim/github/testing/setup.ts";
import { openMirror } from "../../git/mirror.ts";
import type { CommitWriter, Mirror } from "../../git/port.ts";
import { type GitHubWriterOptions, openGitHubWriter } from "./commit-writer.ts";
import type { OctokitLike } from "./octokit.ts";
import { acceptors } from "./people.ts";
import { type WatchedForge, watchedForge } from "./testing/forge.ts";

const execute = promisify(execFile);
const BOT = "stagecoach[bot]";

let github: TestGitHub;
let directory: string;
let mirror: Mirror;
let watched: WatchedForge;
let next = 0;

beforeAll(async () => {
  github = await testGitHub();
  directory = mkdtempSync(join(tmpdir(), "stagecoach-writer-"));
  watched = watchedForge(github);
  const { cloneUrl } = await watched.forge.repo();
  mirror = await openMirror({ directory: join(directory, "mirror.git"), url: cloneUrl, credentials: () => watched.forge.gitCredentials() });
});
afterAll(async () => {
  await mirror.close();
  rmSync(directory, { recursive: true, force: true });
  await github.sim.close();
});
beforeEach(async () => {
  await mirror.fetch();
  watched.asked.length = 0;
});

function writerOf(more: Partial<GitHubWriterOptions> = {}): CommitWriter & Required<Pick<CommitWriter, "propose">> {
  const fetch = (branch: string) => mirror.fetch([branch]);
  return openGitHubWriter({ octokit: watched.octokit, repository: github.repository, modes: mirror.modes, fetch, ...more });
}

async function main(): Promise<string> {
  const head = await mirror.head("main");
  if (head === undefined) throw new Error("there is no main");
  return head;
}

const change = (files: Record<string, string | null>, message = "Subject\n\nBody.\n\nStagecoach-Run: payments/1\n") => ({
  changes: new Map(Object.entries(files)),
  message,
  at: 0,
});

async function written(writing: ReturnType<CommitWriter["write"]>): Promise<string> {
  const outcome = await writing;
  if (outcome.kind !== "written") throw new Error(`it is ${outcome.kind}`);
  return outcome.commit;
}

async function verified(commit: string): Promise<boolean> {
  const { data } = await github.octokit("rob").rest.repos.getCommit({ ...github.place, ref: commit });
  return data.commit.verification?.verified === true;
}

/** In a clone of a person's own, with any name and mode. Never synchronously: the embedded GitHub answers from this process. */
async function byHand(branch: string, from: string, work: string, author = "wim <wim@example.com>"): Promise<string> {
  const clone = join(directory, `clone-${++next}`);
  const env = {
    ...process.env,
    GIT_COMMITTER_NAME: "wim",
    GIT_COMMITTER_EMAIL: "wim@example.com",
    GIT_CONFIG_NOSYSTEM: "1",
    HOME: directory,
  };
  const run = async (...args: string[]) => (await execute("git", args, { cwd: clone, env })).stdout.trim();
  const url = `${github.sim.gitUrl}/${github.repository}.git`.replace("://", `://wim:${github.sim.token("wim")}@`);
  await execute("git", ["clone", "--quiet", "--branch", from, url, clone], { env });
  await execute("sh", ["-c", work], { cwd: clone, env });
  await run("add", "--all");
  await run("commit", "--quiet", "--allow-empty", `--author=${author}`, "-m", "By hand", "-m", `Stagecoach-App: ${BOT}`);
  await run("push", "--quiet", "origin", `HEAD:refs/heads/${branch}`);
  return await run("rev-parse", "HEAD");
}

describe("commits that GitHub makes for us", () => {
  it("are Verified, by our App, with our words and whole files, in one request, and in the mirror", async () => {
    const head = await written(writerOf().write({ branch: "w1", head: undefined, from: await main(), ...change({ "x.txt": "1\n" }) }));
    watched.asked.length = 0;
    const commit = await written(writerOf().write({ branch: "w1", head, ...change({ "x.txt": "2\n", "apps/b.yaml": null, "ü/y": "z" }) }));
    expect(watched.writes()).toEqual(["POST /graphql"]);
    expect(await verified(commit)).toBe(true);
    expect(await mirror.commitInfo(commit)).toMatchObject({
      parents: [head],
      author: BOT,
      subject: "Subject",
      body: "Body.\n\nStagecoach-Run: payments/1",
    });
    expect([...(await mirror.readFiles(commit, ["x.txt", "apps/b.yaml", "ü/y"])).values()]).toEqual(["2\n", null, "z"]);
  });

  it("are refused as stale where the branch is elsewhere, and change nothing", async () => {
    const from = await main();
    const first = await written(writerOf().write({ branch: "w2", head: undefined, from, ...change({ "x.txt": "1\n" }) }));
    expect(await writerOf().write({ branch: "w2", head: from, ...change({ "x.txt": "2\n" }) })).toEqual({ kind: "stale" });
    expect(await writerOf().write({ branch: "w2", head: undefined, from, ...change({ "x.txt": "2\n" }) })).toEqual({ kind: "stale" });
    expect(await mirror.remoteHead("w2")).toBe(first);
  });

  it("of two that are written at once, one wins", async () => {
    const head = await written(writerOf().write({ branch: "w3", head: undefined, from: await main(), ...change({ "x.txt": "1\n" }) }));
    const both = await Promise.all(["a", "b"].map((text) => writerOf().write({ branch: "w3", head, ...change({ "x.txt": text }) })));
    expect(both.map(({ kind }) => kind).sort()).toEqual(["stale", "written"]);
  });

  it("begin an orphan branch Verified, too, and only once", async () => {
    const orphan = { branch: "w4", head: undefined, ...change({ "index.yaml": "format: 1\n" }) };
    const commit = await written(writerOf().write(orphan));
    expect([await verified(commit), (await mirror.commitInfo(commit))?.parents, await mirror.listFiles(commit)]).toEqual([
      true,
      [],
      ["index.yaml"],
    ]);
    expect(await writerOf().write(orphan)).toEqual({ kind: "stale" });
  });

  it("keep an executable file executable, and stay Verified", async () => {
    const head = await byHand("w5", "main", "printf '#!/bin/sh\\n' > run.sh && chmod +x run.sh");
    await mirror.fetch(["w5"]);
    const commit = await written(writerOf().write({ branch: "w5", head, ...change({ "run.sh": "#!/bin/sh\necho\n", plain: "x" }) }));
    expect([...(await mirror.modes(commit, ["run.sh", "plain"])).values()]).toEqual(["100755", "100644"]);
    expect(await verified(commit)).toBe(true);
    expect(watched.asked).not.toContain("POST /graphql");
    expect(await writerOf().write({ branch: "w5", head, ...change({ "run.sh": "2" }) })).toEqual({ kind: "stale" });
  });

  it("never write through a symbolic link", async () => {
    const head = await byHand("w6", "main", "ln -s README.md link");
    await mirror.fetch(["w6"]);
    await expect(writerOf().write({ branch: "w6", head, ...change({ link: "x" }) })).rejects.toThrow("link is a symbolic link");
    expect(await mirror.remoteHead("w6")).toBe(head);
  });

  it("go file by file where they are too large for one request, none over GitHub's own limit", async () => {
    const text = "x".repeat(300_000);
    const writer = writerOf({ mostBytes: 1000 });
    const commit = await written(writer.write({ branch: "w7", head: undefined, from: await main(), ...change({ big: text, small: "y" }) }));
    expect((await mirror.readFiles(commit, ["big"])).get("big")).toBe(text);
    expect(watched.asked).toContain("POST /repos/{owner}/{repo}/git/blobs");
    const huge = "x".repeat(101 * 1024 * 1024);
    await expect(writerOf().write({ branch: "w8", head: undefined, ...change({ huge }) })).rejects.toThrow("GitHub takes at most");
  });
});

describe("proposing a batch", () => {
  const proposal = async (branch: string, files: Record<string, string> = { "apps/a.yaml": `version: ${branch}\n` }) => ({
    branch,
    from: await main(),
    base: "main",
    title: "A batch",
    body: "What it does",
    ...change(files),
  });

  it("makes branch, commit and PR in one request", async () => {
    const made = await writerOf().propose(await proposal("p1"));
    if (made.kind !== "proposed") throw new Error(made.message);
    expect(watched.writes()).toEqual(["POST /graphql"]);
    expect(await verified(made.commit)).toBe(true);
    expect(await watched.forge.pull(made.pull)).toMatchObject({
      head: made.commit,
      branch: "p1",
      base: "main",
      author: BOT,
      title: "A batch",
      state: "open",
    });
    expect(await mirror.head("p1")).toBe(made.commit);
  });

  it("tells of the PR that it opened on a branch of somebody else's, and leaves that branch as it is", async () => {
    const foreign = await byHand("p2", "main", "echo evil > evil.sh");
    const made = await writerOf().propose(await proposal("p2"));
    expect(made).toMatchObject({ kind: "taken", message: expect.stringContaining("Expected branch to point to"), pull: { head: foreign } });
    expect(await mirror.remoteHead("p2")).toBe(foreign);
  });

  it("tells that somebody opened a PR on it at the same moment", async () => {
    const first = await writerOf().propose(await proposal("p2b"));
    expect([first.kind, await writerOf().propose(await proposal("p2b"))]).toMatchObject(["proposed", { kind: "taken" }]);
    expect((await watched.forge.openPulls()).filter((pull) => pull.branch === "p2b")).toHaveLength(1);
  });

  it("goes on with a branch that an earlier try made and left at the base", async () => {
    await github.octokit("wim").rest.git.createRef({ ...github.place, ref: "refs/heads/p3", sha: await main() });
    expect(await writerOf().propose(await proposal("p3"))).toMatchObject({ kind: "proposed" });
  });

  it("is not sent again where the answer was lost: what was made is found", async () => {
    await watched.forge.identity();
    watched.asked.length = 0;
    github.sim.faults.request = ({ path }) => (path === "/graphql" ? { status: 502, afterwards: true } : undefined);
    await expect(writerOf().propose(await proposal("p4"))).rejects.toMatchObject({ kind: "Unavailable" });
    delete github.sim.faults.request;
    expect(watched.writes()).toEqual(["POST /graphql"]);
    const found = await watched.forge.findPull("p4");
    expect(found?.state).toBe("open");
    expect(found?.head).toBe(await mirror.remoteHead("p4"));
  });

  it("keeps an executable file's mode, in steps", async () => {
    await mirror.fetch(["w5"]);
    const from = (await mirror.head("w5")) ?? "";
    const made = await writerOf().propose({ ...(await proposal("p5", { "run.sh": "#!/bin/sh\nexit 0\n" })), from, base: "w5" });
    if (made.kind !== "proposed") throw new Error(made.message);
    expect((await mirror.modes(made.commit, ["run.sh"])).get("run.sh")).toBe("100755");
    expect(await watched.forge.pull(made.pull)).toMatchObject({ head: made.commit, base: "w5" });
    const again = await writerOf().propose({ ...(await proposal("p5", { "run.sh": "x" })), from, base: "w5" });
    expect(again).toMatchObject({ kind: "taken" });
  });

  it("says that a permission is missing", async () => {
    const { sim, installationId } = github;
    const all = { metadata: "read", contents: "write", pull_requests: "write", issues: "write", checks: "write" } as const;
    sim.setPermissions(installationId, { ...all, contents: "read" });
    await watched.forge.gitCredentials({ renew: true });
    const failed = await writerOf()
      .propose(await proposal("p6"))
      .catch((error: unknown) => error);
    sim.setPermissions(installationId, all);
    await watched.forge.gitCredentials({ renew: true });
    expect(failed).toMatchObject({ name: "ForgeError", kind: "Forbidden", message: expect.stringContaining("ProposeBatch") });
  });
});

describe("who may accept the journal", () => {
  const moves = [
    { after: "3".repeat(40), actor: { login: "wim" } },
    { after: "2".repeat(40), actor: { login: "mia" } },
    { after: "1".repeat(40), actor: null },
  ];
  const octokit = { rest: { repos: { listActivities: async () => ({ data: moves }) } } } as unknown as OctokitLike;
  const may = (sha: string) =>
    acceptors({ octokit, repository: github.repository, branch: "j", permission: watched.forge.permission })({ sha });

  it.each([
    ["somebody with maintain who moved the branch there", "2", true],
    ["somebody with write", "3", false],
    ["nobody that GitHub names", "1", false],
    ["nobody that is in the list, whoever the commit says it is by", "4", false],
  ])("%s", async (_, digit, expected) => {
    expect(await may(digit.repeat(40))).toBe(expected);
  });
});
