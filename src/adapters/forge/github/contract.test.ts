import { Octokit } from "@octokit/rest";
import { ProbotOctokit } from "probot";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type TestGitHub, testGitHub } from "../../../sim/github/testing/setup.ts";
import type { Forge } from "../port.ts";
import { openGitHubForge } from "./index.ts";

type AnyOctokit = Parameters<typeof openGitHubForge>[0]["octokit"];

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

let github: TestGitHub;
let forge: Forge;
let next = 0;
let asked: string[] = [];

beforeAll(async () => {
  github = await testGitHub();
  forge = openForge();
});
afterAll(() => github.sim.close());
beforeEach(() => {
  asked = [];
});

/** As Probot gives it for an installation, on a real key and with its retries on. */
function appOctokit(): AnyOctokit {
  const { app, url } = github.sim;
  const auth = { appId: app.id, privateKey: app.privateKey, installationId: github.installationId };
  return new ProbotOctokit({ auth, baseUrl: url, throttle: { enabled: false }, log: quiet }) as unknown as AnyOctokit;
}

/** An adapter without memory, on a client that writes down what it sends. */
function openForge(octokit: AnyOctokit = appOctokit(), repository = github.repository): Forge {
  octokit.hook.before("request", (options) => {
    asked.push(`${options.method} ${options.url}`);
  });
  return openGitHubForge({ octokit, repository });
}

function writes(): string[] {
  return asked.filter((one) => !one.startsWith("GET") && !one.endsWith("/access_tokens"));
}

async function branch(files?: Record<string, string>): Promise<{ name: string; head: string }> {
  const name = `stagecoach-run/payments/1/1-${++next}-1`;
  return { name, head: await github.branch(name, files ?? { [`file-${next}.txt`]: "x\n" }) };
}

async function openPull(files?: Record<string, string>) {
  const { name, head } = await branch(files);
  const pull = await forge.createPull({ branch: name, base: "main", title: "A batch", body: "What it does", labels: ["rollout"] });
  asked = [];
  return { pull, name, head };
}

const mergeIt = (number: number, head: string) =>
  forge.mergePull({ number, head, base: "main", method: "squash", title: "A title", message: "Stagecoach-Run: payments/1" });

describe("who and where", () => {
  it("is the App's bot for an installation, and its owner for a person's token", async () => {
    expect((await forge.identity()).login).toBe("stagecoach[bot]");
    expect((await openForge(github.octokit("wim")).identity()).login).toBe("wim");
  });

  it("knows the repository, and has a token that Git takes", async () => {
    const { cloneUrl, defaultBranch, archived } = await forge.repo();
    expect({ defaultBranch, archived }).toEqual({ defaultBranch: "main", archived: false });
    const { username, password } = await forge.gitCredentials();
    const headers = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
    expect((await fetch(`${cloneUrl}/info/refs?service=git-receive-pack`, { headers })).status).toBe(200);
  });
});

describe("pull requests", () => {
  it("are found before they are made, so that making one twice makes one", async () => {
    const { name } = await branch();
    const input = { branch: name, base: "main", title: "A batch", body: "x", labels: ["rollout", "eu"] };
    const made = await forge.createPull(input);
    const again = await openForge().createPull(input);
    expect(again.number).toBe(made.number);
    expect(await forge.pull(made.number)).toMatchObject({
      state: "open",
      branch: name,
      labels: ["rollout", "eu"],
      author: "stagecoach[bot]",
      authorIsBot: true,
    });
  });

  it("made by two replicas at once are one", async () => {
    const { name } = await branch();
    const input = { branch: name, base: "main", title: "A batch", body: "x", labels: [] };
    const [a, b] = await Promise.all([openForge().createPull(input), openForge().createPull(input)]);
    expect(a.number).toBe(b.number);
  });

  it("are not made a second time after an answer that was lost", async () => {
    const { name } = await branch();
    const input = { branch: name, base: "main", title: "A batch", body: "x", labels: [] };
    github.sim.faults.request = ({ method }) => (method === "POST" ? { status: 502, afterwards: true } : undefined);
    await expect(forge.createPull(input)).rejects.toMatchObject({ kind: "Unavailable" });
    delete github.sim.faults.request;
    const posts = () => asked.filter((one) => one === "POST /repos/{owner}/{repo}/pulls").length;
    expect(posts()).toBe(1);
    const found = await forge.createPull(input);
    expect(posts()).toBe(1);
    expect(found.branch).toBe(name);
  });

  it("tell whether they can be merged once GitHub knows", async () => {
    const { pull, name } = await openPull();
    expect(pull.mergeable).toBeNull();
    await forge.pull(pull.number);
    expect(await forge.findPull(name)).toMatchObject({ mergeable: true, mergeableState: "clean" });
    expect(await forge.pull(99_999)).toBeNull();
    expect(await forge.findPull("stagecoach-run/nothing/1/1-1-1")).toBeNull();
  });

  it("tell who closed them", async () => {
    const { pull } = await openPull();
    await github.sim.actAs("mia").closePull(github.repository, pull.number);
    expect(await forge.pull(pull.number)).toMatchObject({ state: "closed", closedBy: "mia" });
  });

  it("tell who merged them, when, and as what", async () => {
    const { pull, name } = await openPull();
    const commit = await github.sim.actAs("mia").mergePull(github.repository, pull.number, "squash");
    expect(await forge.findPull(name)).toMatchObject({
      state: "merged",
      mergeCommit: commit,
      mergedBy: "mia",
      mergedAt: "2026-11-21T10:00:00.000Z",
    });
    expect((await forge.pullsOfCommit(commit)).map((one) => one.number)).toEqual([pull.number]);
  });

  it("and commits without one are known by the accounts that GitHub links to them", async () => {
    const commit = await github.sim
      .actAs("mia")
      .push(github.repository, { branch: "by-hand", files: { "by-hand": "1\n" }, message: "By hand" });
    expect(await forge.peopleOf?.(commit, "by-hand")).toEqual({ linked: ["mia"], pusher: "mia", unlinked: [] });
    expect(await forge.peopleOf?.("f".repeat(40))).toEqual({ linked: [], unlinked: ["f".repeat(40)] });
    expect(await forge.releaseAuthor?.("v9")).toBeUndefined();
    expect(await forge.commitOf?.(github.repository, "by-hand")).toBe(commit);
    expect(await forge.commitOf?.(github.repository, "refs/heads/by-hand")).toBe(commit);
    expect(await forge.commitOf?.(github.repository, "v9")).toBeNull();
    expect(await forge.commitOf?.("acme/nowhere", "v9")).toBe("hidden");
  });

  it("are closed, and their branches deleted, twice without harm", async () => {
    const { pull, name } = await openPull();
    expect((await forge.openPulls()).map((one) => one.number)).toContain(pull.number);
    expect(await forge.changedFiles(pull.number)).toEqual([`file-${next}.txt`]);
    await forge.closePull(pull.number);
    await forge.closePull(pull.number);
    await forge.deleteBranch(name);
    await forge.deleteBranch(name);
  });
});

describe("merging", () => {
  it("gives the commit it became", async () => {
    const { pull, head } = await openPull();
    const outcome = await mergeIt(pull.number, head);
    const { data } = await github.octokit("rob").rest.git.getRef({ ...github.place, ref: "heads/main" });
    expect(outcome).toEqual({ kind: "merged", commit: data.object.sha });
  });

  it("says that the head moved", async () => {
    const { pull, name, head } = await openPull();
    await github.branch(name, { "more.txt": "y\n" });
    expect(await mergeIt(pull.number, head)).toMatchObject({ kind: "headMoved" });
  });

  it("merges nothing into a branch that somebody pointed the PR at since it was looked at, and asks for no place in a queue", async () => {
    const { pull, head } = await openPull();
    const mia = github.sim.actAs("mia");
    await mia.push(github.repository, { branch: "elsewhere", files: { note: "x" }, message: "x" });
    await mia.editPull(github.repository, pull.number, { base: "elsewhere" });
    expect(await mergeIt(pull.number, head)).toMatchObject({ kind: "retry" });
    expect(await forge.enqueuePull(pull.number, head, "main")).toMatchObject({ kind: "retry" });
    expect(writes()).toEqual([]);
    expect(await forge.pull(pull.number)).toMatchObject({ state: "open", base: "elsewhere" });
  });

  it("takes a merge that somebody else has made for merged", async () => {
    const { pull, head } = await openPull();
    const commit = await github.sim.actAs("mia").mergePull(github.repository, pull.number, "squash");
    expect(await mergeIt(pull.number, head)).toEqual({ kind: "merged", commit });
  });

  it("takes a merge whose answer was lost for merged, and asks once", async () => {
    const { pull, head } = await openPull();
    github.sim.faults.request = ({ method }) => (method === "PUT" ? { status: 502, afterwards: true } : undefined);
    expect(await mergeIt(pull.number, head)).toMatchObject({ kind: "merged" });
    delete github.sim.faults.request;
    expect(writes()).toEqual(["PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge"]);
  });

  it("says conflict of a conflict", async () => {
    const { pull, head } = await openPull({ "README.md": "ours\n" });
    await github.sim.actAs("mia").push(github.repository, { branch: "main", files: { "README.md": "theirs\n" }, message: "x" });
    expect(await mergeIt(pull.number, head)).toMatchObject({ kind: "conflict" });
  });

  it.each([
    { status: 405, message: "Base branch was modified. Review and try the merge again.", kind: "retry" },
    { status: 405, message: "Merge commits are not allowed on this repository.", kind: "human" },
    { status: 405, message: "Squash merges are not allowed on this repository.", kind: "human" },
    { status: 405, message: 'Required status check "build" is expected.', kind: "wait" },
    { status: 405, message: "At least 1 approving review is required by reviewers with write access.", kind: "wait" },
    { status: 405, message: "Waiting on code owner review from acme/sre.", kind: "wait" },
    { status: 405, message: "New changes require approval from someone other than the last pusher.", kind: "wait" },
    { status: 405, message: "Repository rule violations found\n\nCommits must have verified signatures.\n\n", kind: "human" },
    { status: 405, message: "Changes must be made through the merge queue", kind: "queueOnly" },
    { status: 405, message: "Pull Request has merge conflicts", kind: "conflict" },
    { status: 404, message: "Not Found", kind: "human" },
    { status: 422, message: "Validation Failed", kind: "human" },
    { status: 500, message: "Server Error", kind: "retry" },
    { status: 409, message: "Head branch was modified. Review and try the merge again.", kind: "headMoved" },
    { status: 403, message: "Resource not accessible by integration", kind: "human" },
    {
      status: 403,
      message: "refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission",
      kind: "human",
    },
    { status: 502, message: "Server Error", kind: "retry" },
  ])("reads $status $message as $kind, having asked once", async ({ status, message, kind }) => {
    const { pull, head } = await openPull();
    github.sim.faults.merge = () => ({ status, message });
    const outcome = await mergeIt(pull.number, head);
    delete github.sim.faults.merge;
    expect(outcome.kind).toBe(kind);
    expect(writes()).toHaveLength(1);
  });
});

describe("a merge that GitHub refuses without saying why", () => {
  const unclear = async (number: number, head: string) => {
    github.sim.faults.merge = () => ({ status: 405, message: "Pull Request is not mergeable" });
    try {
      return await mergeIt(number, head);
    } finally {
      delete github.sim.faults.merge;
    }
  };

  it("is a conflict where the PR has one", async () => {
    const { pull, head } = await openPull({ "README.md": "mine\n" });
    await github.sim.actAs("mia").push(github.repository, { branch: "main", files: { "README.md": "others\n" }, message: "x" });
    await forge.pull(pull.number);
    expect(await unclear(pull.number, head)).toEqual({ kind: "conflict", message: "Pull Request is not mergeable" });
  });

  it("waits where it is a draft, and says what to do", async () => {
    const { name, head } = await branch();
    const number = await github.sim.actAs("wim").openPull(github.repository, { head: name, title: "Draft", draft: true });
    expect(await unclear(number, head)).toMatchObject({
      kind: "wait",
      message: expect.stringMatching(/ \[draft\]$/),
    });
  });

  it("waits where somebody closed it, and says so", async () => {
    const { pull, head } = await openPull();
    await github.sim.actAs("mia").closePull(github.repository, pull.number);
    expect(await unclear(pull.number, head)).toMatchObject({ kind: "wait", message: expect.stringMatching(/ \[closed\]$/) });
  });

  it("is tried again where GitHub does not know yet, and waits where it does", async () => {
    const { pull, head } = await openPull();
    github.sim.faults.nullReads = 100;
    await github.sim.actAs("mia").push(github.repository, { branch: "main", files: { "other.txt": String(next) }, message: "x" });
    expect(await unclear(pull.number, head)).toMatchObject({ kind: "retry" });
    github.sim.faults.nullReads = 0;
    await github.sim.actAs("mia").push(github.repository, { branch: "main", files: { "other.txt": `${next}b` }, message: "x" });
    expect(await unclear(pull.number, head)).toMatchObject({ kind: "wait", message: expect.stringMatching(/ \[clean\]$/) });
    github.sim.faults.nullReads = 1;
  });

  it("says that the head moved where it did", async () => {
    const { pull, name, head } = await openPull();
    await github.branch(name, { "more.txt": "y\n" });
    expect(await unclear(pull.number, head)).toMatchObject({ kind: "headMoved" });
  });

  it.each([405, 409])("not being authorised (%i) is a hiccup once, and for a person when it stays", async (status) => {
    const { pull, head } = await openPull();
    const message = "You're not authorized to push to this branch. Visit https://docs.github.com for more.";
    github.sim.faults.merge = () => ({ status, message });
    const outcomes = [await mergeIt(pull.number, head), await mergeIt(pull.number, head)];
    delete github.sim.faults.merge;
    expect(outcomes).toEqual([
      { kind: "retry", message },
      { kind: "human", message },
    ]);
  });
});

describe("comments", () => {
  it("are read oldest first, and say which are ours and which a bot's", async () => {
    const { pull } = await openPull();
    github.sim.actAs("wim").comment(github.repository, pull.number, "/pause");
    await forge.stickyComment(pull.number, "stagecoach:x", "status");
    const comments = await forge.comments(pull.number);
    expect(comments.map(({ author, ours, authorIsBot }) => ({ author, ours, authorIsBot }))).toEqual([
      { author: "wim", ours: false, authorIsBot: false },
      { author: "stagecoach[bot]", ours: true, authorIsBot: true },
    ]);
    expect(comments[0]?.createdAt).toBe(comments[0]?.updatedAt);
  });

  it("the sticky one is made once, edited in place, and nothing is sent where it says the same", async () => {
    const { pull } = await openPull();
    const first = await forge.stickyComment(pull.number, "stagecoach:rollout:payments", "one");
    const same = await forge.stickyComment(pull.number, "stagecoach:rollout:payments", "one");
    const other = await forge.stickyComment(pull.number, "stagecoach:rollout:payments", "two");
    expect([same.id, other.id]).toEqual([first.id, first.id]);
    expect(writes().map((one) => one.split(" ")[0])).toEqual(["POST", "PATCH"]);
    asked = [];
    const afterRestart = await openForge().stickyComment(pull.number, "stagecoach:rollout:payments", "two");
    expect(afterRestart.id).toBe(first.id);
    expect(await openForge().stickyUrl(pull.number, "stagecoach:rollout:payments")).toBe(first.url);
    expect(await openForge().stickyUrl(pull.number, "stagecoach:rollout:other")).toBeUndefined();
    expect(writes()).toEqual([]);
  });

  it("the sticky one is one, with the words of one of them, though two processes make it at once; a twin that was left goes", async () => {
    const { pull } = await openPull();
    const both = await Promise.all([openForge(), openForge()].map((one) => one.stickyComment(pull.number, "stagecoach:x", "twin")));
    const kept = [{ id: both[0]?.id, body: "<!-- stagecoach:x -->\ntwin" }];
    expect([both[1]?.id, await forge.comments(pull.number)]).toMatchObject([both[0]?.id, kept]);
    const [owner = "", repo = ""] = github.repository.split("/");
    // As a process that died between making it and looking whether it was the only one.
    await appOctokit().rest.issues.createComment({ owner, repo, issue_number: pull.number, body: "<!-- stagecoach:x -->\nleft" });
    await openForge().stickyComment(pull.number, "stagecoach:x", "twin");
    expect(await forge.comments(pull.number)).toMatchObject(kept);
  });

  it("the sticky one is not somebody else's who wrote our marker", async () => {
    const { pull } = await openPull();
    const foreign = github.sim.actAs("wim").comment(github.repository, pull.number, "<!-- stagecoach:x -->\nfooled you");
    const ours = await forge.stickyComment(pull.number, "stagecoach:x", "status");
    expect(ours.id).not.toBe(foreign);
  });

  it("the sticky one is made anew after somebody deleted it", async () => {
    const { pull } = await openPull();
    const first = await forge.stickyComment(pull.number, "stagecoach:x", "one");
    github.sim.actAs("mia").deleteComment(github.repository, first.id);
    await forge.stickyComment(pull.number, "stagecoach:x", "two").catch(() => undefined);
    const again = await forge.stickyComment(pull.number, "stagecoach:x", "two");
    expect(again.id).not.toBe(first.id);
    expect((await forge.comments(pull.number)).map((one) => one.id)).toEqual([again.id]);
  });

  it("two that are written at once are one", async () => {
    const { pull } = await openPull();
    await Promise.all(["one", "two"].map((text) => forge.stickyComment(pull.number, "stagecoach:x", text)));
    expect(await forge.comments(pull.number)).toHaveLength(1);
  });

  it("are all read, though what was the last page is full and has not changed", async () => {
    const { pull } = await openPull();
    const rob = github.sim.actAs("rob");
    for (let n = 0; n < 100; n++) rob.comment(github.repository, pull.number, `noise ${n}`);
    expect(await forge.comments(pull.number)).toHaveLength(100);
    github.sim.actAs("wim").comment(github.repository, pull.number, "/halt");
    expect((await forge.comments(pull.number)).at(-1)?.body).toBe("/halt");
  });

  it("get a reaction, as often as they like", async () => {
    const { pull } = await openPull();
    const comment = github.sim.actAs("wim").comment(github.repository, pull.number, "/pause");
    await forge.react(comment, "eyes");
    await forge.react(comment, "eyes");
    const { data } = await github.octokit("rob").rest.reactions.listForIssueComment({ ...github.place, comment_id: comment });
    expect(data.map((one) => one.content)).toEqual(["eyes"]);
  });
});

describe("permissions", () => {
  it.each([
    { login: "acme", permission: "admin" },
    { login: "mia", permission: "maintain" },
    { login: "wim", permission: "write" },
    { login: "rob", permission: "read" },
    { login: "never-seen", permission: "none" },
  ])("$login has $permission", async ({ login, permission }) => {
    expect(await forge.permission(login)).toBe(permission);
  });

  it("are those of now: taken away, they are gone at the next look", async () => {
    github.sim.collaborator(github.repository, "temp", "write");
    expect(await forge.permission("temp")).toBe("write");
    github.sim.collaborator(github.repository, "temp", "none");
    expect(await forge.permission("temp")).toBe("none");
  });
});

describe("errors", () => {
  it.each([
    { answer: { status: 401, body: { message: "Bad credentials" } }, kind: "Unauthorized" },
    { answer: { status: 403, body: { message: "Resource not accessible by integration" } }, kind: "Forbidden" },
    {
      answer: { status: 403, body: { message: "You have exceeded a secondary rate limit." }, headers: { "retry-after": "7" } },
      kind: "RateLimited",
    },
    { answer: { status: 429, body: { message: "Too many" } }, kind: "RateLimited" },
    { answer: { status: 404, body: { message: "Not Found" } }, kind: "NotFound" },
    { answer: { status: 503, body: { message: "Unavailable" } }, kind: "Unavailable" },
  ])("class $answer.status as $kind", async ({ answer, kind }) => {
    const person = openForge(new Octokit({ baseUrl: github.sim.url, auth: github.sim.token("wim"), log: quiet }));
    github.sim.faults.request = () => answer;
    const failure = await person.openPulls().catch((error: unknown) => error);
    delete github.sim.faults.request;
    expect(failure).toMatchObject({ name: "ForgeError", kind, status: answer.status });
  });

  it("say when a limit ends", async () => {
    const person = openForge(github.octokit("wim"));
    const reset = Math.floor(Date.now() / 1000) + 900;
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(reset) };
    github.sim.faults.request = () => ({ status: 403, body: { message: "API rate limit exceeded" }, headers });
    const failure = await person.openPulls().catch((error: unknown) => error);
    delete github.sim.faults.request;
    expect(failure).toMatchObject({ kind: "RateLimited", retryAt: reset * 1000 });
  });

  it("never hold a token, not even one that GitHub sends back", async () => {
    const token = github.sim.token("wim");
    const person = openForge(new Octokit({ baseUrl: github.sim.url, auth: token, log: quiet }));
    github.sim.faults.request = () => ({ status: 403, body: { message: `${token} and ghs_123_eyJ0.eyJ1.x_y-z are not enough` } });
    const failure = (await person.openPulls().catch((error: unknown) => error)) as Error;
    delete github.sim.faults.request;
    const everything = `${failure.message} ${failure.stack} ${JSON.stringify(failure)} ${JSON.stringify(failure.cause ?? null)}`;
    expect(everything).not.toContain(token);
    expect(everything).not.toContain("eyJ1");
  });

  it("are Unavailable where nobody answers", async () => {
    const nobody = openForge(new Octokit({ baseUrl: "http://127.0.0.1:9", log: quiet }));
    await expect(nobody.openPulls()).rejects.toMatchObject({ kind: "Unavailable" });
  });
});

describe("reading again", () => {
  it("costs no rate limit where nothing has changed", async () => {
    const { pull } = await openPull();
    const octokit = github.octokit("wim");
    const person = openForge(octokit);
    await forge.pull(pull.number);
    const used = async () => Number((await octokit.request("GET /rate_limit")).data.resources.core.used);
    await person.pull(pull.number);
    const before = await used();
    for (let i = 0; i < 5; i++) expect(await person.pull(pull.number)).toMatchObject({ number: pull.number });
    expect(await used()).toBe(before);
  });

  it("gives the same pages of a wrapped list again", async () => {
    const octokit = appOctokit();
    openForge(octokit);
    const names = async () => {
      const all = await octokit.paginate(octokit.rest.apps.listReposAccessibleToInstallation, { per_page: 100 });
      return all.map((one) => one.full_name);
    };
    expect([await names(), await names(), await names()]).toEqual([["acme/config"], ["acme/config"], ["acme/config"]]);
  });

  it("works against an Enterprise Server's address", async () => {
    const server = openForge(new Octokit({ baseUrl: `${github.sim.url}/api/v3`, auth: github.sim.token("wim") }));
    expect((await server.repo()).defaultBranch).toBe("main");
  });
});
