import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { StageDeployment } from "../../../core/report/run/stage-deployment.ts";
import { type TestGitHub, testGitHub } from "../../../sim/github/testing/setup.ts";
import type { CheckReport } from "../port.ts";
import { cutText } from "./checks.ts";
import { type WatchedForge, watchedForge } from "./testing/forge.ts";

const PERMISSIONS = {
  metadata: "read",
  contents: "write",
  pull_requests: "write",
  issues: "write",
  checks: "write",
  statuses: "read",
  deployments: "write",
  members: "read",
  merge_queues: "write",
} as const;

let github: TestGitHub;
let watched: WatchedForge;
let next = 0;

beforeAll(async () => {
  github = await testGitHub({ app: { permissions: PERMISSIONS } });
  github.sim.team("acme", "sre", ["wim", "mia"]);
});
afterAll(() => github.sim.close());
beforeEach(async () => {
  watched = watchedForge(github);
  await watched.forge.identity();
  watched.asked.length = 0;
});

/** As a process that was started again: it remembers nothing. */
async function restarted(): Promise<WatchedForge> {
  const fresh = watchedForge(github);
  await fresh.forge.identity();
  fresh.asked.length = 0;
  return fresh;
}

async function openPull() {
  const branch = `stagecoach-run/payments/1/1-${++next}-1`;
  const head = await github.branch(branch, { [`file-${next}.txt`]: "x\n" });
  const pull = await watched.forge.createPull({ branch, base: "main", title: "A batch", body: "x", labels: [] });
  watched.asked.length = 0;
  return { number: pull.number, head, branch };
}

async function runsAt(head: string) {
  const { data } = await github.octokit("rob").rest.checks.listForRef({ ...github.place, ref: head, filter: "all" });
  return data.check_runs.toSorted((a, b) => a.id - b.id);
}

describe("check runs", () => {
  const waiting = (head: string): CheckReport => ({
    name: "stagecoach/gate",
    head,
    status: "in_progress",
    title: "Waits",
    summary: "For a bake.",
  });
  const done = (head: string): CheckReport => ({
    ...waiting(head),
    status: "completed",
    conclusion: "success",
    title: "Passed",
    detailsUrl: "https://x.example/1",
  });

  it("are posted once and completed once, and nothing is sent where they say the same, after a restart neither", async () => {
    const { head } = await openPull();
    for (const forge of [watched.forge, watched.forge, (await restarted()).forge]) await forge.putCheck(waiting(head));
    const other = await restarted();
    await other.forge.putCheck(done(head));
    await other.forge.putCheck(done(head));
    const third = await restarted();
    await third.forge.putCheck(done(head));
    expect([watched.writes(), other.writes(), third.writes()].map((one) => one.map((text) => text.split(" ")[0]))).toEqual([
      ["POST"],
      ["PATCH"],
      [],
    ]);
    const [run, ...more] = await runsAt(head);
    expect(more).toEqual([]);
    expect(run).toMatchObject({
      status: "completed",
      conclusion: "success",
      details_url: "https://x.example/1",
      output: { title: "Passed" },
    });
  });

  it("two at once are one, and one that another App made is not ours", async () => {
    const { head } = await openPull();
    const { id } = github.sim.createApp({ slug: "other", permissions: { checks: "write", metadata: "read" } });
    const token = github.sim.installationToken(github.sim.install("acme", undefined, id));
    await fetch(`${github.sim.url}/repos/acme/config/check-runs`, {
      method: "POST",
      headers: { authorization: `token ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "stagecoach/gate", head_sha: head, status: "in_progress" }),
    });
    await Promise.all([watched.forge.putCheck(waiting(head)), watched.forge.putCheck(done(head))]);
    expect((await runsAt(head)).map((run) => [run.app?.slug, run.status])).toEqual([
      ["other", "in_progress"],
      ["stagecoach", "completed"],
    ]);
    expect((await watched.forge.checksOf(head)).map(({ name, app, state }) => ({ name, ours: app === github.sim.app.id, state }))).toEqual([
      { name: "stagecoach/gate", ours: false, state: "pending" },
      { name: "stagecoach/gate", ours: true, state: "success" },
    ]);
  });

  it("carry any number of annotations, 50 a request, once", async () => {
    const { head } = await openPull();
    const annotations = Array.from({ length: 120 }, (_, at) => ({
      path: "rollouts/x.yaml",
      line: at + 1,
      level: "failure" as const,
      message: `problem ${at}`,
    }));
    const check: CheckReport = { ...done(head), conclusion: "failure", annotations };
    await watched.forge.putCheck(check);
    expect(watched.writes().map((one) => one.split(" ")[0])).toEqual(["POST", "PATCH", "PATCH"]);
    const fresh = await restarted();
    await fresh.forge.putCheck(check);
    expect(fresh.writes()).toEqual([]);
    const [run] = await runsAt(head);
    const { data } = await github
      .octokit("rob")
      .rest.checks.listAnnotations({ ...github.place, check_run_id: run?.id ?? 0, per_page: 100, page: 2 });
    expect(data.map((one) => one.message)).toEqual(annotations.slice(100).map(({ message }) => message));
  });

  it("that broke off half way, or were completed, are followed by a new run of the name", async () => {
    const { head } = await openPull();
    const annotations = Array.from({ length: 60 }, (_, at) => ({ path: "a", line: at + 1, level: "notice" as const, message: "m" }));
    github.sim.faults.request = ({ method }) => (method === "PATCH" ? { status: 502 } : undefined);
    await expect(watched.forge.putCheck({ ...done(head), annotations })).rejects.toMatchObject({ kind: "Unavailable" });
    delete github.sim.faults.request;
    await watched.forge.putCheck({ ...done(head), annotations });
    await watched.forge.putCheck(waiting(head));
    expect((await runsAt(head)).map((run) => [run.status, run.output.annotations_count])).toEqual([
      ["in_progress", 50],
      ["completed", 60],
      ["in_progress", 0],
    ]);
  });

  it("keep within GitHub's limits whatever they are given", async () => {
    const { head } = await openPull();
    const long = "🚀".repeat(40_000);
    await watched.forge.putCheck({ ...done(head), summary: long, text: `x${long}` });
    const [run] = await runsAt(head);
    expect(Buffer.byteLength(run?.output.summary ?? "")).toBeLessThanOrEqual(65_535);
    expect([run?.output.summary, run?.output.text].map((text) => text?.isWellFormed() === true && text.endsWith("🚀…"))).toEqual([
      true,
      true,
    ]);
    expect(cutText("abc", 3)).toBe("abc");
  });
});

describe("labels and reviewers", () => {
  it("are all set in one request, never twice, not by a restarted process either", async () => {
    const { number } = await openPull();
    const dress = { labels: ["rollout", "eu", "never seen before"], teams: ["sre"], users: ["mia"] };
    await watched.forge.labelPull(number, dress);
    const sent = watched.writes().filter((one) => !one.endsWith("/labels"));
    expect(sent).toEqual(["POST /graphql"]);
    await watched.forge.labelPull(number, dress);
    const fresh = await restarted();
    await fresh.forge.labelPull(number, { ...dress, teams: ["acme/sre"], labels: ["Rollout"] });
    expect([watched.writes().filter((one) => one === "POST /graphql").length, fresh.writes()]).toEqual([1, []]);
    const { data } = await github.octokit("rob").rest.pulls.get({ ...github.place, pull_number: number });
    expect(data.labels.map((label) => label.name)).toEqual(dress.labels);
    expect([data.requested_teams?.map((team) => team.slug), data.requested_reviewers?.map((user) => user.login)]).toEqual([
      ["sre"],
      ["mia"],
    ]);
  });

  it("leave alone what people have set", async () => {
    const { number } = await openPull();
    await github.sim.actAs("mia").label(github.repository, number, ["theirs"]);
    await watched.forge.labelPull(number, { labels: ["rollout"], teams: [], users: [] });
    expect((await watched.forge.pull(number))?.labels.toSorted()).toEqual(["rollout", "theirs"]);
  });

  it("of a team whose members the App may not see: it is asked by its slug, and only once", async () => {
    const { number } = await openPull();
    github.sim.team("acme", "hidden", ["wim"]);
    const { members: _, ...without } = PERMISSIONS;
    github.sim.setPermissions(github.installationId, without);
    const blind = await restarted();
    const dress = { labels: ["rollout"], teams: ["hidden"], users: [] };
    await blind.forge.labelPull(number, dress);
    await blind.forge.labelPull(number, dress);
    github.sim.setPermissions(github.installationId, PERMISSIONS);
    expect(blind.writes().filter((one) => !one.endsWith("/labels"))).toEqual([
      "POST /graphql",
      expect.stringMatching(/requested_reviewers$/),
    ]);
    const { data } = await github.octokit("rob").rest.pulls.get({ ...github.place, pull_number: number });
    expect(data.requested_teams?.map((team) => team.slug)).toEqual(["hidden"]);
  });

  it("of somebody GitHub does not know are named; the others are set", async () => {
    const { number } = await openPull();
    const dressing = watched.forge.labelPull(number, { labels: ["rollout"], teams: ["no-such"], users: ["no-such-user"] });
    await expect(dressing).rejects.toMatchObject({
      kind: "Invalid",
      message: expect.stringMatching(/knows no user no-such-user, no team no-such/),
    });
    expect((await watched.forge.pull(number))?.labels).toEqual(["rollout"]);
  });
});

describe("deployments", () => {
  const report = (state: StageDeployment["state"], statusDescription: string): StageDeployment => ({
    environment: "payments/canary",
    ref: github.head,
    task: "payments #1",
    description: "v1.4.2",
    state,
    statusDescription,
    environmentUrl: "https://x.example",
    logUrl: "https://x.example/log",
  });
  const all = async () =>
    (await github.octokit("rob").rest.repos.listDeployments({ ...github.place, environment: "payments/canary" })).data;

  it("are made once, with a status wherever it differs, by whichever process", async () => {
    const { head } = await openPull();
    await watched.forge.putCheck({ name: "red", head, status: "in_progress", title: "x", summary: "x" });
    watched.asked.length = 0;
    await watched.forge.putDeployment(report("in_progress", "batch 1"));
    await watched.forge.putDeployment(report("in_progress", "batch 1"));
    const fresh = await restarted();
    await fresh.forge.putDeployment(report("in_progress", "batch 1"));
    expect([watched.writes().length, fresh.writes().length]).toEqual([2, 0]);
    await fresh.forge.putDeployment(report("success", "x".repeat(300)));
    await (await restarted()).forge.putDeployment(report("success", "x".repeat(300)));
    const [made, ...more] = await all();
    expect(more).toEqual([]);
    const { data } = await github.octokit("rob").rest.repos.listDeploymentStatuses({ ...github.place, deployment_id: made?.id ?? 0 });
    expect(data.map(({ state, description }) => [state, description.length])).toEqual([
      ["success", 140],
      ["in_progress", 7],
    ]);
  });

  it("of the next run are others", async () => {
    await watched.forge.putDeployment({ ...report("in_progress", "x"), task: "payments #2" });
    expect((await all()).map((one) => one.task)).toEqual(["payments #2", "payments #1"]);
  });
});

describe("the tracking issue of a release without a PR", () => {
  it("is made once and edited in place, by whichever process, and nobody's of the same words is taken for it", async () => {
    const issue = { title: "payments v2", body: "one", labels: ["rollout"] };
    await github
      .octokit("wim")
      .rest.issues.create({ ...github.place, title: "fooled you", body: "<!-- stagecoach:release:payments -->\nx" });
    const made = await watched.forge.stickyIssue("stagecoach:release:payments", issue);
    const fresh = await restarted();
    expect(await fresh.forge.stickyIssue("stagecoach:release:payments", issue)).toEqual(made);
    expect(fresh.writes()).toEqual([]);
    await fresh.forge.stickyIssue("stagecoach:release:payments", { ...issue, body: "two" });
    const { data } = await github.octokit("rob").rest.issues.get({ ...github.place, issue_number: made.number });
    expect([data.title, data.body, data.user?.login]).toEqual([
      "payments v2",
      "<!-- stagecoach:release:payments -->\ntwo",
      "stagecoach[bot]",
    ]);
  });

  it("is found among the issues by its label, whatever else of ours there is", async () => {
    const made = await watched.forge.stickyIssue("stagecoach:release:found", { title: "found", body: "one", labels: [] });
    for (let n = 0; n < 3; n++) await openPull();
    const fresh = await restarted();
    await fresh.forge.stickyIssue("stagecoach:release:found", { title: "found", body: "two", labels: [] });
    expect(fresh.asked.filter((one) => one.endsWith("/issues"))).toHaveLength(1);
    const { data } = await github.octokit("rob").rest.issues.get({ ...github.place, issue_number: made.number });
    expect([data.body, data.labels.map((label) => (typeof label === "string" ? label : label.name))]).toEqual([
      "<!-- stagecoach:release:found -->\ntwo",
      ["stagecoach"],
    ]);
  });

  it("is closed when its release is over; a pull request or somebody else's issue never is", async () => {
    const { number: ours } = await watched.forge.stickyIssue("stagecoach:release:over", { title: "over", body: "one", labels: [] });
    const body = "<!-- stagecoach:release:over -->\nfooled you";
    const { data: theirs } = await github.octokit("wim").rest.issues.create({ ...github.place, title: "over", body });
    const { number: pull } = await openPull();
    const fresh = await restarted();
    for (const number of [ours, ours, theirs.number, pull]) await fresh.forge.closeStickyIssue?.(number);
    const states = [ours, theirs.number, pull].map(async (number) => {
      const { data } = await github.octokit("rob").rest.issues.get({ ...github.place, issue_number: number });
      return data.state;
    });
    expect(await Promise.all(states)).toEqual(["closed", "open", "open"]);
    expect(fresh.writes()).toHaveLength(1);
  });

  it("two processes at once leave one open, and both know it", async () => {
    const issue = { title: "twins v2", body: "one", labels: [] };
    const forges = [await restarted(), await restarted()].map(({ forge }) => forge);
    const both = await Promise.all(forges.map((forge) => forge.stickyIssue("stagecoach:release:twins", issue)));
    const { forge } = await restarted();
    expect([both[1]?.number, await forge.stickyIssue("stagecoach:release:twins", issue)]).toMatchObject([both[0]?.number, both[0]]);
    const { data } = await github.octokit("rob").rest.issues.listForRepo({ ...github.place, labels: "stagecoach", state: "open" });
    expect(data.filter(({ title }) => title === "twins v2").map(({ number }) => number)).toEqual([both[0]?.number]);
  });

  it("two at once are one", async () => {
    const issue = { title: "ledger v2", body: "one", labels: [] };
    const both = await Promise.all([1, 2].map(() => watched.forge.stickyIssue("stagecoach:release:ledger", issue)));
    expect(both[0]?.number).toBe(both[1]?.number);
  });
});

describe("what a batch costs", () => {
  it("is not a check more where an answer was lost on a commit that we have just made", async () => {
    const { openGitHubWriter } = await import("./commit-writer.ts");
    const { octokit, forge } = watched;
    const writer = openGitHubWriter({ octokit, repository: github.repository, modes: async () => new Map(), fetch: async () => undefined });
    const { data } = await github.octokit("rob").rest.git.getRef({ ...github.place, ref: "heads/main" });
    const input = { branch: "stagecoach-run/payments/8/1-1-1", from: data.object.sha, base: "main", title: "t", body: "b" };
    const made = await writer.propose({ ...input, changes: new Map([["x", "1"]]), message: "m\n", at: 0 });
    if (made.kind !== "proposed") throw new Error(made.message);
    const gate = { name: "stagecoach/gate", head: made.commit, status: "in_progress", title: "t", summary: "s" } as const;
    github.sim.faults.request = ({ path, method }) =>
      method === "POST" && path.endsWith("/check-runs") ? { status: 502, afterwards: true } : undefined;
    await expect(forge.putCheck(gate)).rejects.toMatchObject({ kind: "Unavailable" });
    delete github.sim.faults.request;
    await forge.putCheck(gate);
    expect(await runsAt(made.commit)).toHaveLength(1);
  });

  it("is at most 6 calls that change something, 3 of them content, besides its commit in the journal, however many clusters", async () => {
    const { openGitHubWriter } = await import("./commit-writer.ts");
    const { octokit, forge } = watched;
    const writer = openGitHubWriter({ octokit, repository: github.repository, modes: async () => new Map(), fetch: async () => undefined });
    const batch = async (number: number) => {
      const changes = new Map(Array.from({ length: 200 }, (_, at) => [`clusters/${number}/${at}.yaml`, `version: ${number}\n`]));
      const { data } = await github.octokit("rob").rest.git.getRef({ ...github.place, ref: "heads/main" });
      const input = {
        branch: `stagecoach-run/payments/9/1-${number}-1`,
        from: data.object.sha,
        base: "main",
        title: "t",
        body: "b",
        changes,
        message: "m\n",
        at: 0,
      };
      const made = await writer.propose(input);
      if (made.kind !== "proposed") throw new Error(made.message);
      await forge.labelPull(made.pull, { labels: ["rollout"], teams: ["sre"], users: [] });
      const gate = { name: "stagecoach/gate", head: made.commit, title: "t", summary: "s" };
      await forge.putCheck({ ...gate, status: "in_progress" });
      expect((await forge.findPull(input.branch))?.number).toBe(made.pull);
      await forge.putCheck({ ...gate, status: "completed", conclusion: "success" });
      const merged = await forge.mergePull({
        number: made.pull,
        head: made.commit,
        base: "main",
        method: "squash",
        title: "t",
        message: "m",
      });
      expect(merged.kind).toBe("merged");
    };
    await batch(1);
    watched.asked.length = 0;
    await batch(2);
    const calls = watched.asked.toSorted();
    expect(calls).toEqual([
      "GET /repos/{owner}/{repo}/pulls/{pull_number}",
      // Its base, right before the merge.
      "GET /repos/{owner}/{repo}/pulls/{pull_number}",
      "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}",
      "POST /graphql",
      "POST /graphql",
      "POST /repos/{owner}/{repo}/check-runs",
      "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge",
    ]);
  });
});
