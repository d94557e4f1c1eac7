import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PLAIN_QUEUE } from "../rules/rules.ts";
import { refusal, type TestGitHub, testGitHub } from "../testing/setup.ts";

let github: TestGitHub;
let next = 0;
const EVENTS = ["pull_request", "merge_group", "check_run", "push"];

beforeEach(async () => {
  github = await testGitHub({ app: { events: EVENTS } });
  const required_status_checks = [{ context: "build" }];
  github.sim.ruleset(github.repository, {
    rules: [
      { type: "merge_queue", parameters: { ...PLAIN_QUEUE, merge_method: "SQUASH", check_response_timeout_minutes: 10 } },
      { type: "required_status_checks", parameters: { strict_required_status_checks_policy: false, required_status_checks } },
    ],
  });
});
afterEach(() => github.sim.close());

interface Entry {
  id: string;
  state: string;
  position: number;
  headCommit: { oid: string } | null;
}

async function ask<T>(query: string, variables: object): Promise<{ data: T; errors?: { type: string; message: string }[] }> {
  const token = github.sim.installationToken(github.installationId);
  const headers = { authorization: `bearer ${token}` };
  const answer = await fetch(`${github.sim.url}/graphql`, { method: "POST", headers, body: JSON.stringify({ query, variables }) });
  return (await answer.json()) as { data: T; errors?: { type: string; message: string }[] };
}

async function open(files?: Record<string, string>): Promise<{ number: number; id: string; head: string; branch: string }> {
  const branch = `topic-${++next}`;
  const head = await github.branch(branch, files ?? { [`${branch}.txt`]: "x\n" });
  const number = await github.sim.actAs("wim").openPull(github.repository, { head: branch, title: branch });
  const { data } = await github.appOctokit().rest.pulls.get({ ...github.place, pull_number: number });
  return { number, id: data.node_id, head, branch };
}

const check = (sha: string, conclusion: "success" | "failure" = "success") =>
  github.appOctokit().rest.checks.create({ ...github.place, name: "build", head_sha: sha, conclusion });

const FIELDS = "mergeQueueEntry { id state position }";

async function enqueue(pull: { id: string; head: string }, jump = false) {
  const query = `mutation($id: ID!, $head: GitObjectID!, $jump: Boolean!) {
    enqueuePullRequest(input: { pullRequestId: $id, expectedHeadOid: $head, jump: $jump }) { ${FIELDS} } }`;
  const answer = await ask<{ enqueuePullRequest: { mergeQueueEntry: Entry } | null }>(query, { id: pull.id, head: pull.head, jump });
  return { entry: answer.data.enqueuePullRequest?.mergeQueueEntry, errors: answer.errors };
}

/** Waits for the queue, and gives its entries. */
async function entries(): Promise<(Entry & { pullRequest: { number: number } })[]> {
  await github.sim.idle();
  const query = `query { repository(owner: "acme", name: "config") { mergeQueue(branch: "main") {
    entries(first: 10) { nodes { id state position headCommit { oid } pullRequest { number } } } } } }`;
  type Found = { repository: { mergeQueue: { entries: { nodes: (Entry & { pullRequest: { number: number } })[] } } } };
  return (await ask<Found>(query, {})).data.repository.mergeQueue.entries.nodes;
}

async function green(pull: { head: string }): Promise<void> {
  await check(pull.head);
}

const isMerged = async (number: number) =>
  (await github.octokit("rob").rest.pulls.get({ ...github.place, pull_number: number })).data.merged;
const told = (event: string) => github.sim.deliveries.filter((one) => one.event === event).map((one) => one.action);

describe("a merge queue", () => {
  it("is the only way in, and merges once its own commit is green", async () => {
    const pull = await open();
    await green(pull);
    const direct = github.appOctokit().rest.pulls.merge({ ...github.place, pull_number: pull.number });
    expect(await refusal(direct)).toMatchObject({ status: 405, message: /Changes must be made through the merge queue/ });
    expect((await enqueue(pull)).entry).toMatchObject({ position: 1 });
    const [entry] = await entries();
    expect(entry).toMatchObject({ state: "AWAITING_CHECKS", pullRequest: { number: pull.number } });
    const group = entry?.headCommit?.oid ?? "";
    const { data } = await github.octokit("rob").rest.git.listMatchingRefs({ ...github.place, ref: "heads/gh-readonly-queue/main" });
    expect(data).toMatchObject([{ ref: `refs/heads/gh-readonly-queue/main/pr-${pull.number}-${github.head}`, object: { sha: group } }]);
    await check(group);
    expect(await entries()).toEqual([]);
    expect(await isMerged(pull.number)).toBe(true);
    const main = (await github.octokit("rob").rest.repos.getCommit({ ...github.place, ref: "main" })).data;
    expect([main.sha, main.parents.length]).toEqual([group, 1]);
    expect(told("merge_group")).toEqual(["checks_requested", "destroyed"]);
    expect(told("pull_request")).toEqual(expect.arrayContaining(["enqueued", "closed", "dequeued"]));
  });

  it("builds one on the other, and anew without the one that fails", async () => {
    const [first, second] = [await open(), await open()];
    for (const pull of [first, second]) {
      await green(pull);
      await enqueue(pull);
    }
    const [a, b] = await entries();
    const parents = async (sha = "") => (await github.octokit("rob").rest.git.getCommit({ ...github.place, commit_sha: sha })).data.parents;
    expect((await parents(b?.headCommit?.oid)).map((one) => one.sha)).toEqual([a?.headCommit?.oid]);
    await check(a?.headCommit?.oid ?? "", "failure");
    const [left, ...more] = await entries();
    expect([left?.pullRequest.number, left?.position, more]).toEqual([second.number, 1, []]);
    expect((await parents(left?.headCommit?.oid)).map((one) => one.sha)).toEqual([github.head]);
    await check(left?.headCommit?.oid ?? "");
    await entries();
    expect([await isMerged(first.number), await isMerged(second.number)]).toEqual([false, true]);
  });

  it("lets nobody in whose own checks are missing, who is in already, or whose head is another", async () => {
    const pull = await open();
    expect((await enqueue(pull)).errors).toMatchObject([{ type: "UNPROCESSABLE", message: /^Pull request Required status check "build"/ }]);
    await green(pull);
    expect((await enqueue({ ...pull, head: github.head })).errors).toMatchObject([{ type: "UNPROCESSABLE", message: /expected head/ }]);
    await enqueue(pull);
    expect((await enqueue(pull)).errors).toMatchObject([{ message: "Pull request is already in the queue" }]);
  });

  it("is left by asking, by a push, by closing, and when checks take too long", async () => {
    const ways: ((pull: { id: string; branch: string; number: number }) => Promise<unknown>)[] = [
      ({ id }) => ask(`mutation($id: ID!) { dequeuePullRequest(input: { id: $id }) { ${FIELDS} } }`, { id }),
      ({ branch }) => github.branch(branch, { [`${branch}.txt`]: "later\n" }),
      ({ number }) => github.sim.actAs("wim").closePull(github.repository, number),
      async () => github.clock.step(10 * 60_000),
    ];
    for (const leave of ways) {
      const pull = await open();
      await green(pull);
      await enqueue(pull);
      expect((await entries()).map((one) => one.pullRequest.number)).toEqual([pull.number]);
      await leave(pull);
      expect(await entries()).toEqual([]);
      expect(await isMerged(pull.number)).toBe(false);
    }
    expect(told("pull_request").filter((action) => action === "dequeued")).toHaveLength(4);
    const left = await github.octokit("rob").rest.git.listMatchingRefs({ ...github.place, ref: "heads/gh-readonly-queue" });
    expect(left.data).toEqual([]);
  });

  it("can be jumped, and starts over when somebody merged past it", async () => {
    const [first, second] = [await open(), await open()];
    for (const pull of [first, second]) await green(pull);
    await enqueue(first);
    await entries();
    await enqueue(second, true);
    expect((await entries()).map((one) => one.pullRequest.number)).toEqual([second.number, first.number]);
    const before = (await entries())[0]?.headCommit?.oid ?? "";
    await github.sim.actAs("acme").push(github.repository, { branch: "main", files: { "past.txt": "1\n" }, message: "Past" });
    await check(before);
    const [again] = await entries();
    expect(again?.headCommit?.oid).not.toBe(before);
    expect(await isMerged(second.number)).toBe(false);
  });
});
