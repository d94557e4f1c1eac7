import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestGitHub, testGitHub } from "./testing/setup.ts";

let github: TestGitHub;
let next = 0;
beforeAll(async () => {
  github = await testGitHub();
  github.sim.team("acme", "sre", ["wim", "mia"]);
});
afterAll(() => github.sim.close());

interface Answer<T> {
  data?: T;
  errors?: { type?: string; message: string; path?: string[] }[];
}

interface Id {
  id: string;
}

interface Made {
  createRef: { ref: { name: string } };
  createCommitOnBranch: { commit: { oid: string } };
  createPullRequest: { pullRequest: object };
}

/** The data, where nothing was refused. */
function given<T>(answer: Answer<T>): T {
  expect(answer.errors).toBeUndefined();
  if (answer.data === undefined) throw new Error("no data");
  return answer.data;
}

async function ask<T = object>(
  query: string,
  variables: object = {},
  token = github.sim.installationToken(github.installationId),
): Promise<Answer<T>> {
  const answer = await fetch(`${github.sim.url}/graphql`, {
    method: "POST",
    headers: { authorization: `bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Answer<T>;
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

async function repositoryId(): Promise<string> {
  return given(await ask<{ repository: Id }>('{ repository(owner: "acme", name: "config") { id } }')).repository.id;
}

const COMMIT = `mutation($branch: String!, $head: GitObjectID!, $changes: FileChanges!) {
  createCommitOnBranch(input: { branch: { repositoryNameWithOwner: "acme/config", branchName: $branch }, expectedHeadOid: $head,
    message: { headline: "Move a", body: "Why: x" }, fileChanges: $changes }) { commit { oid } }
}`;

async function pull(): Promise<{ number: number; id: string; head: string }> {
  const branch = `graph-${++next}`;
  const head = await github.branch(branch, { [`${branch}.txt`]: "x\n" });
  const number = await github.sim.actAs("wim").openPull(github.repository, { head: branch, title: branch });
  const query = 'query($n: Int!) { repository(owner: "acme", name: "config") { pullRequest(number: $n) { id } } }';
  const found = given(await ask<{ repository: { pullRequest: Id } }>(query, { n: number }));
  return { number, id: found.repository.pullRequest.id, head };
}

describe("one document", () => {
  it("makes a branch, a commit and a pull request, in this order", async () => {
    const variables = { repo: await repositoryId(), head: github.head, contents: base64("version: v2\n") };
    const answer = await ask<Made>(
      `mutation($repo: ID!, $head: GitObjectID!, $contents: Base64String!) {
        createRef(input: { repositoryId: $repo, name: "refs/heads/batch", oid: $head }) { ref { id name } }
        createCommitOnBranch(input: { branch: { repositoryNameWithOwner: "acme/config", branchName: "batch" }, expectedHeadOid: $head,
          message: { headline: "Move a" }, fileChanges: { additions: [{ path: "apps/b.yaml", contents: $contents }] } }) { commit { oid } }
        createPullRequest(input: { repositoryId: $repo, baseRefName: "main", headRefName: "batch", title: "Batch" }) {
          pullRequest { number headRefOid author { login } state files: changedFiles } }
      }`,
      variables,
    );
    const data = given(answer);
    expect(data.createRef.ref.name).toBe("batch");
    const { oid } = data.createCommitOnBranch.commit;
    expect(data.createPullRequest.pullRequest).toMatchObject({ headRefOid: oid, author: { login: "stagecoach" }, state: "OPEN", files: 1 });
    const rest = github.octokit("rob").rest;
    const commit = (await rest.repos.getCommit({ ...github.place, ref: oid })).data;
    expect(commit.commit.verification).toMatchObject({ verified: true, reason: "valid" });
    expect([commit.author?.login, commit.committer?.login]).toEqual(["stagecoach[bot]", "web-flow"]);
    const content = (await rest.repos.getContent({ ...github.place, path: "apps/b.yaml", ref: "batch" })).data;
    expect(content).toMatchObject({ content: base64("version: v2\n") });
  });

  it("goes on with the next field where one has failed, and says which", async () => {
    const { data, errors } = await ask(
      `mutation($repo: ID!, $head: GitObjectID!) {
        createRef(input: { repositoryId: $repo, name: "refs/heads/main", oid: $head }) { ref { id } }
        createPullRequest(input: { repositoryId: $repo, baseRefName: "main", headRefName: "nowhere", title: "x" }) { pullRequest { id } }
      }`,
      { repo: await repositoryId(), head: github.head },
    );
    expect(data).toEqual({ createRef: null, createPullRequest: null });
    expect(errors).toMatchObject([
      { type: "UNPROCESSABLE", path: ["createRef"], message: 'A ref named "refs/heads/main" already exists in the repository.' },
      { type: "UNPROCESSABLE", path: ["createPullRequest"] },
    ]);
  });
});

describe("a commit on a branch", () => {
  it("is refused in GitHub's words where the branch has moved on", async () => {
    await github.branch("moves", { "a.txt": "1\n" });
    const changes = { additions: [{ path: "a.txt", contents: base64("2\n") }] };
    const { data, errors } = await ask(COMMIT, { branch: "moves", head: github.head, changes });
    expect(data).toEqual({ createCommitOnBranch: null });
    expect(errors).toMatchObject([
      {
        type: "STALE_DATA",
        path: ["createCommitOnBranch"],
        message: `Expected branch to point to "${github.head}" but it did not.  Pull and try again.`,
      },
    ]);
  });

  it("writes and deletes files at once, and cannot delete what is not there", async () => {
    const head = await github.branch("files", { "a.txt": "1\n", "b.txt": "1\n" });
    const changes = { additions: [{ path: "deep/c.txt", contents: base64("3\n") }], deletions: [{ path: "a.txt" }] };
    const made = given(await ask<Made>(COMMIT, { branch: "files", head, changes })).createCommitOnBranch.commit.oid;
    const tree = (await github.octokit("rob").rest.git.getTree({ ...github.place, tree_sha: made, recursive: "1" })).data.tree;
    expect(tree.map((one) => one.path)).toEqual(expect.arrayContaining(["b.txt", "deep/c.txt"]));
    expect(tree.map((one) => one.path)).not.toContain("a.txt");
    const again = await ask(COMMIT, { branch: "files", head: made, changes: { deletions: [{ path: "a.txt" }] } });
    expect(again.errors).toMatchObject([{ type: "UNPROCESSABLE", message: /requested for deletion which does not exist/ }]);
  });
});

describe("labels and reviews", () => {
  it("are asked for in one document, and are events", async () => {
    const { id, number } = await pull();
    const rest = github.octokit("wim").rest;
    await rest.issues.createLabel({ ...github.place, name: "rollout" });
    const ids = given(
      await ask<{ repository: { label: Id }; user: Id }>(
        '{ repository(owner: "acme", name: "config") { label(name: "rollout") { id } } user(login: "mia") { id } }',
      ),
    );
    const { errors } = await ask(
      `mutation($pull: ID!, $labels: [ID!]!, $users: [ID!]!) {
        addLabelsToLabelable(input: { labelableId: $pull, labelIds: $labels }) { labelable { labels(first: 5) { nodes { name } } } }
        requestReviews(input: { pullRequestId: $pull, userIds: $users, union: true }) { pullRequest { id } }
      }`,
      { pull: id, labels: [ids.repository.label.id], users: [ids.user.id] },
    );
    expect(errors).toBeUndefined();
    const read = (await rest.pulls.get({ ...github.place, pull_number: number })).data;
    expect([read.labels.map((one) => one.name), read.requested_reviewers?.map((one) => one.login)]).toEqual([["rollout"], ["mia"]]);
    const actions = github.sim.deliveries.filter((one) => one.event === "pull_request").map((one) => one.action);
    expect(actions).toEqual(expect.arrayContaining(["labeled", "review_requested"]));
  });
});

describe("what is refused", () => {
  it.each([
    {
      what: "a field that GitHub's type has not",
      query: "{ viewer { shoeSize } }",
      message: "Field 'shoeSize' doesn't exist on type 'User'",
    },
    {
      what: "a repository that is not there",
      query: '{ repository(owner: "a", name: "b") { id } }',
      message: "Could not resolve to a Repository with the name 'a/b'.",
    },
    { what: "an id of nothing", query: '{ node(id: "PR_x") { id } }', message: "Could not resolve to a node with the global id of 'PR_x'" },
    {
      what: "a list without a length",
      query: '{ repository(owner: "acme", name: "config") { labels { nodes { id } } } }',
      message: "You must provide a `first` or `last` value to properly paginate the `labels` connection.",
    },
  ])("$what", async ({ query, message }) => {
    expect((await ask(query)).errors?.[0]?.message).toBe(message);
  });

  it("a mutation whose permission the token lacks", async () => {
    const token = github.sim.installationToken(github.installationId, { permissions: { metadata: "read", contents: "read" } });
    const answer = await ask(COMMIT, { branch: "main", head: github.head, changes: {} }, token);
    expect(answer.errors).toMatchObject([{ type: "FORBIDDEN", message: "Resource not accessible by integration" }]);
  });

  it("anybody without a token", async () => {
    const answer = await fetch(`${github.sim.url}/api/graphql`, { method: "POST", body: "{}" });
    expect(answer.status).toBe(401);
  });
});
