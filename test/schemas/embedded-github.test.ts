import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Permissions } from "../../src/sim/github/model/model.ts";
import { ROUTES } from "../../src/sim/github/routes/all.ts";
import { type TestGitHub, testGitHub } from "../../src/sim/github/testing/setup.ts";
import { type Caller, caller, type Json } from "./every-route.ts";
import { routeKey } from "./route-key.ts";
import { describedEvents, schemaChecks } from "./validate.ts";

const REPO = "/repos/acme/config";
const EVENTS = [
  ...["pull_request", "issue_comment", "issues", "push", "pull_request_review", "check_run", "check_suite", "status"],
  ...["merge_group", "deployment", "deployment_status", "repository"],
];
const PERMISSIONS: Permissions = {
  ...{ metadata: "read", contents: "write", pull_requests: "write", issues: "write", checks: "write", statuses: "write" },
  ...{ deployments: "write", members: "read", administration: "write", merge_queues: "write" },
};

const checks = schemaChecks();
let github: TestGitHub;
let call: Caller;
beforeAll(async () => {
  github = await testGitHub({ ...checks.hooks, asksForSuites: true, app: { events: EVENTS, permissions: PERMISSIONS } });
  github.sim.team("acme", "sre", ["mia", "wim"]);
  call = caller(github.sim, github.installationId);
});
afterAll(() => github.sim.close());

let next = 0;
async function openPull(files?: Record<string, string>): Promise<{ number: number; head: string; branch: string }> {
  const branch = `topic-${++next}`;
  const head = await github.branch(branch, files ?? { [`${branch}.txt`]: "x\n" });
  const made = await call("POST", `${REPO}/pulls`, { title: branch, head: branch, base: "main", body: "why" });
  return { number: Number(made["number"]), head, branch };
}

const number = (json: Json | undefined) => Number(json);

describe("every route and event of the embedded GitHub is as GitHub describes it", () => {
  it("pull requests, their reviews and merges", async () => {
    const { number: pull, head } = await openPull();
    const at = `${REPO}/pulls/${pull}`;
    for (const path of ["", "/commits", "/files", "/reviews", "/comments", "/requested_reviewers"]) await call("GET", `${at}${path}`);
    await call("GET", `${REPO}/pulls?state=all`);
    await call("PATCH", at, { title: "Better", body: "because" });
    await call("POST", `${at}/requested_reviewers`, { reviewers: ["mia"], team_reviewers: ["sre"] });
    await call("DELETE", `${at}/requested_reviewers`, { reviewers: ["mia"], team_reviewers: ["sre"] });
    const review = await call("POST", `${at}/reviews`, { event: "APPROVE" }, { as: "admin" });
    await call("GET", `${at}/reviews/${number(review["id"])}`);
    await call("PUT", `${at}/reviews/${number(review["id"])}/dismissals`, { message: "no more" });
    await call("POST", `${at}/reviews`, { event: "APPROVE" }, { status: 422 });
    await github.sim.actAs("wim").push(github.repository, { branch: "main", files: { "later.txt": "1\n" }, message: "Later" });
    await call("PUT", `${at}/update-branch`, { expected_head_sha: head });
    await call("PUT", `${at}/update-branch`, {}, { status: 422 });
    await call("GET", `${at}/merge`, undefined, { status: 404 });
    await call("PUT", `${at}/merge`, { sha: head }, { status: 409 });
    await call("PUT", `${at}/merge`, { merge_method: "squash" });
    await call("PUT", `${at}/merge`, {}, { status: 405 });
    await call("GET", `${at}/merge`);
    await call("POST", `${REPO}/pulls`, { title: "x", head: "main", base: "main" }, { status: 422 });
    const other = await openPull();
    await call("PATCH", `${REPO}/pulls/${other.number}`, { state: "closed" });
    await call("PATCH", `${REPO}/pulls/${other.number}`, { state: "open" });
  });

  it("drafts, which are made ready by GraphQL", async () => {
    const { number: pull } = await openPull();
    const { node_id: id } = await call("GET", `${REPO}/pulls/${pull}`);
    for (const name of ["convertPullRequestToDraft", "markPullRequestReadyForReview"])
      await call("POST", "/graphql", { query: `mutation { ${name}(input: { pullRequestId: "${id}" }) { pullRequest { isDraft } } }` });
    await call("POST", "/api/graphql", { query: "{ viewer { login } }" });
  });

  it("issues, comments, reactions, labels", async () => {
    const issue = number((await call("POST", `${REPO}/issues`, { title: "Rollouts", body: "b", labels: ["rollout"] }))["number"]);
    const at = `${REPO}/issues/${issue}`;
    await call("GET", at);
    await call("GET", `${REPO}/issues?labels=rollout&creator=stagecoach[bot]`);
    for (const change of [{ title: "Runs", body: "c" }, { state: "closed" }, { state: "open" }]) await call("PATCH", at, change);
    await call("POST", `${at}/labels`, { labels: ["a", "b"] });
    await call("PUT", `${at}/labels`, { labels: ["a"] });
    await call("GET", `${at}/labels`);
    await call("DELETE", `${at}/labels/a`);
    await call("DELETE", `${at}/labels`);
    await call("PUT", `${at}/lock`);
    await call("DELETE", `${at}/lock`);
    await call("POST", `${REPO}/labels`, { name: "red", color: "ff0000" });
    await call("POST", `${REPO}/labels`, { name: "red", color: "ff0000" }, { status: 422 });
    for (const path of ["/labels", "/labels/red"]) await call("GET", `${REPO}${path}`);
    await call("PATCH", `${REPO}/labels/red`, { new_name: "crimson" });
    await call("DELETE", `${REPO}/labels/crimson`);
    const comment = number((await call("POST", `${at}/comments`, { body: "/status" }))["id"]);
    const there = `${REPO}/issues/comments/${comment}`;
    await call("GET", `${at}/comments`);
    await call("GET", there);
    await call("PATCH", there, { body: "/pause" });
    const reaction = number((await call("POST", `${there}/reactions`, { content: "eyes" }))["id"]);
    await call("POST", `${there}/reactions`, { content: "eyes" }, { status: 200 });
    await call("GET", `${there}/reactions`);
    await call("DELETE", `${there}/reactions/${reaction}`);
    await call("DELETE", there);
    const { number: pull } = await openPull();
    await call("POST", `${REPO}/issues/${pull}/labels`, { labels: ["rollout"] });
    await call("DELETE", `${REPO}/issues/${pull}/labels/rollout`);
  });

  it("checks, statuses, deployments", async () => {
    const { head, branch } = await openPull();
    const annotation = { path: "a.txt", start_line: 1, end_line: 1, annotation_level: "failure", message: "no" };
    const output = { title: "t", summary: "s", annotations: [annotation] };
    const run = number((await call("POST", `${REPO}/check-runs`, { name: "plan", head_sha: head, status: "in_progress", output }))["id"]);
    await call("GET", `${REPO}/check-runs/${run}`);
    await call("GET", `${REPO}/check-runs/${run}/annotations`);
    const done = await call("PATCH", `${REPO}/check-runs/${run}`, { conclusion: "failure", output });
    const suite = number(done["check_suite"]?.["id"]);
    for (const path of ["", "/check-runs"]) await call("GET", `${REPO}/check-suites/${suite}${path}`);
    for (const again of [`check-runs/${run}`, `check-suites/${suite}`]) await call("POST", `${REPO}/${again}/rerequest`);
    const queued = await call("GET", `${REPO}/check-suites/${suite}`);
    expect([queued["status"], queued["conclusion"]]).toEqual(["queued", null]);
    await call("POST", `${REPO}/check-runs/${run}/rerequest`, undefined, { as: "admin", status: 403 });
    for (const path of ["check-runs", "check-suites", "statuses", "status"]) await call("GET", `${REPO}/commits/${branch}/${path}`);
    await call("POST", `${REPO}/statuses/${head}`, {
      state: "pending",
      context: "ci",
      description: "wait",
      target_url: "https://ci.example/1",
    });
    for (const path of ["statuses", "status"]) await call("GET", `${REPO}/commits/${head}/${path}`);
    const wanted = { ref: head, environment: "payments/canary", task: "payments #42", description: "d" };
    await call("POST", `${REPO}/deployments`, { ...wanted, auto_merge: false }, { status: 409 });
    const made = await call("POST", `${REPO}/deployments`, { ...wanted, auto_merge: false, required_contexts: [] });
    await github.sim.actAs("wim").push(github.repository, { branch: "main", files: { "moved.txt": "1\n" }, message: "Moved" });
    await call("POST", `${REPO}/deployments`, { ref: branch, required_contexts: [] }, { status: 202 });
    const at = `${REPO}/deployments/${number(made["id"])}`;
    await call("GET", `${REPO}/deployments?environment=payments/canary`);
    await call("GET", at);
    const status = { state: "success", environment_url: "https://argo.example/app", log_url: "https://ci.example/2" };
    const first = number((await call("POST", `${at}/statuses`, status))["id"]);
    await call("GET", `${at}/statuses`);
    await call("GET", `${at}/statuses/${first}`);
    await call("DELETE", at);
  });

  it("contents and git's own objects", async () => {
    for (const path of ["/contents", "/contents/README.md", "/contents/apps"]) await call("GET", `${REPO}${path}`);
    const content = Buffer.from("x\n").toString("base64");
    await call("PUT", `${REPO}/contents/new.txt`, { message: "New", content });
    await call("PUT", `${REPO}/contents/new.txt`, { message: "New", content }, { status: 422 });
    const blob = await call("POST", `${REPO}/git/blobs`, { content: "hello", encoding: "utf-8" });
    await call("GET", `${REPO}/git/blobs/${blob["sha"]}`);
    const { object } = await call("GET", `${REPO}/git/ref/heads/main`);
    const main = String(object?.["sha"]);
    const tree = await call("POST", `${REPO}/git/trees`, {
      base_tree: main,
      tree: [{ path: "hello.txt", mode: "100644", type: "blob", sha: String(blob["sha"]) }],
    });
    await call("GET", `${REPO}/git/trees/${tree["sha"]}?recursive=1`);
    const commit = await call("POST", `${REPO}/git/commits`, { message: "Hello", tree: String(tree["sha"]), parents: [main] });
    await call("GET", `${REPO}/git/commits/${commit["sha"]}`);
    await call("POST", `${REPO}/git/refs`, { ref: "refs/heads/hello", sha: main });
    await call("POST", `${REPO}/git/refs`, { ref: "refs/heads/hello", sha: main }, { status: 422 });
    await call("PATCH", `${REPO}/git/refs/heads/hello`, { sha: String(commit["sha"]) });
    await call("GET", `${REPO}/git/matching-refs/heads/h`);
    await call("POST", `${REPO}/merges`, { base: "main", head: "hello" });
    await call("DELETE", `${REPO}/git/refs/heads/hello`);
    for (const path of [
      "/activity",
      "/branches",
      "/branches/main",
      "/commits",
      `/commits/${main}`,
      `/commits/${main}/pulls`,
      `/compare/${main}...main`,
    ])
      await call("GET", `${REPO}${path}`);
  });

  it("rules, protection, the merge queue", async () => {
    const rules = [
      { type: "required_signatures" },
      {
        type: "pull_request",
        parameters: {
          required_approving_review_count: 1,
          dismiss_stale_reviews_on_push: false,
          require_code_owner_review: false,
          require_last_push_approval: false,
          required_review_thread_resolution: false,
        },
      },
    ];
    const conditions = { ref_name: { include: ["refs/heads/guarded"], exclude: [] } };
    const made = await call("POST", `${REPO}/rulesets`, { name: "guard", target: "branch", enforcement: "active", conditions, rules });
    const at = `${REPO}/rulesets/${number(made["id"])}`;
    for (const path of [`${REPO}/rulesets`, at, `${REPO}/rules/branches/guarded`]) await call("GET", path);
    await call("PUT", at, { enforcement: "disabled" });
    await call("DELETE", at);
    const guard = `${REPO}/branches/main/protection`;
    await call("GET", guard, undefined, { status: 404 });
    const plain = { required_status_checks: null, required_pull_request_reviews: null, restrictions: null, enforce_admins: true };
    await call("PUT", guard, { ...plain, required_status_checks: { strict: true, contexts: ["build"] } });
    await call("DELETE", guard);
    github.sim.protect(github.repository, "main", { requiredChecks: ["build"], mergeQueue: true, approvals: 0 });
    await call("GET", guard);
    const [one, two] = [await openPull(), await openPull()];
    for (const { head } of [one, two]) await green(head);
    await call("PUT", `${REPO}/pulls/${one.number}/merge`, {}, { status: 405 });
    for (const { number: pull } of [one, two]) await enqueue(pull);
    await github.sim.idle();
    for (const group of groups()) await green(group);
    await github.sim.idle();
    expect((await call("GET", `${REPO}/pulls/${two.number}`))["merged"]).toBe(true);
    github.sim.protect(github.repository, "main", {});
  });

  it("organisations, people, the repository itself", async () => {
    for (const path of ["", "/teams", "/teams/sre", "/teams/sre/members", "/teams/sre/memberships/mia", "/members", "/members/mia"])
      await call("GET", `/orgs/acme${path}`);
    await call("GET", "/orgs/acme/teams/sre/memberships/rob", undefined, { status: 404 });
    await call("GET", "/user", undefined, { as: "admin" });
    await call("GET", "/users/mia");
    await call("GET", "/rate_limit");
    for (const path of ["", "/collaborators", "/collaborators/mia", "/collaborators/mia/permission"]) await call("GET", `${REPO}${path}`);
    await call("PUT", `${REPO}/collaborators/new`, { permission: "push" });
    await call("DELETE", `${REPO}/collaborators/new`);
    await call("POST", `${REPO}/forks`, { organization: "elsewhere" }, { as: "admin" });
    for (const archived of [true, false]) await call("PATCH", REPO, { archived });
    await call("PATCH", REPO, { name: "renamed", delete_branch_on_merge: false });
    await call("GET", REPO, undefined, { status: 301 });
    await call("PATCH", "/repos/acme/renamed", { name: "config" });
    await github.sim.createRepo({ owner: "acme", name: "spare", files: new Map([["a", "b"]]) });
    github.sim.selectRepositories(github.installationId, ["acme/config"]);
    github.sim.selectRepositories(github.installationId, "all");
    await call("DELETE", "/repos/acme/spare");
  });

  it("the App: itself, its installations, tokens, deliveries and the manifest flow", async () => {
    const jwt = { as: "jwt" } as const;
    const id = github.installationId;
    const paths = ["/app", "/app/installations", `/app/installations/${id}`, `${REPO}/installation`, "/orgs/acme/installation"];
    for (const path of [...paths, "/users/acme/installation", "/app/hook/config", "/app/hook/deliveries"])
      await call("GET", path, undefined, jwt);
    await call("GET", "/apps/stagecoach", undefined, { as: "anonymous" });
    await call("GET", "/installation/repositories");
    const wanted = { repositories: ["config"], permissions: { contents: "read" } };
    const { token } = await call("POST", `/app/installations/${id}/access_tokens`, wanted, jwt);
    await fetch(`${github.sim.url}/installation/token`, { method: "DELETE", headers: { authorization: `Bearer ${token}` } });
    const delivery = github.sim.deliveries.at(-1)?.id;
    await call("GET", `/app/hook/deliveries/${delivery}`, undefined, jwt);
    await call("POST", `/app/hook/deliveries/${delivery}/attempts`, undefined, jwt);
    github.sim.suspend(id);
    github.sim.unsuspend(id);
    github.sim.setPermissions(id, PERMISSIONS);
    github.sim.uninstall(github.sim.install("other"));
    const manifest = JSON.stringify({
      name: "My App",
      url: "https://x.example",
      redirect_url: "https://x.example/back",
      hook_attributes: { url: "https://x.example/hook" },
    });
    const form = new URLSearchParams({ manifest });
    const back = await fetch(`${github.sim.url}/settings/apps/new?state=s`, { method: "POST", body: form, redirect: "manual" });
    const code = new URL(back.headers.get("location") ?? "").searchParams.get("code");
    await call("POST", `/app-manifests/${code}/conversions`, undefined, { as: "anonymous" });
  });

  it("what people allow the App is revoked by the token, or whole", async () => {
    const { sim } = github;
    sim.setCallbackUrls("http://127.0.0.1:3001/login/callback");
    sim.signIn("rob", { consents: true });
    const { clientId: client_id, clientSecret: client_secret } = sim.app;
    const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString("base64")}`;
    for (const what of ["token", "grant"]) {
      const page = await fetch(`${sim.url}/login/oauth/authorize?client_id=${client_id}`, { redirect: "manual" });
      const code = new URL(page.headers.get("location") ?? "").searchParams.get("code") ?? "";
      const body = new URLSearchParams({ client_id, client_secret, code });
      const tokens = await fetch(`${sim.url}/login/oauth/access_token`, { method: "POST", body });
      const access_token = new URLSearchParams(await tokens.text()).get("access_token");
      const sent = { method: "DELETE", headers: { authorization }, body: JSON.stringify({ access_token }) };
      expect((await fetch(`${sim.url}/applications/${client_id}/${what}`, sent)).status).toBe(204);
    }
  });

  it("nothing was left out", () => {
    const wanted = [...new Set(ROUTES.map((route) => routeKey(route.method, route.path)))];
    const answered = new Set([...checks.seen.answers].filter((key) => / 2\d\d$/.test(key)).map((key) => key.replace(/ \d+$/, "")));
    expect(wanted.filter((key) => !answered.has(key))).toEqual([]);
    expect(describedEvents().filter((name) => !checks.seen.events.has(name))).toEqual([]);
    expect(checks.problems).toEqual([]);
  });
});

async function green(sha: string): Promise<void> {
  await call("POST", `${REPO}/check-runs`, { name: "build", head_sha: sha, status: "completed", conclusion: "success" });
}

async function enqueue(pull: number): Promise<void> {
  const { node_id: id } = await call("GET", `${REPO}/pulls/${pull}`);
  const { errors } = await call("POST", "/graphql", {
    query: `mutation { enqueuePullRequest(input: { pullRequestId: "${id}" }) { mergeQueueEntry { id state position } } }`,
  });
  expect(errors).toBeUndefined();
}

/** Commits whose checks the queue has asked for. */
function groups(): string[] {
  const asked = github.sim.deliveries.filter((one) => one.event === "merge_group" && one.action === "checks_requested");
  return asked.map((one) => (JSON.parse(one.body) as { merge_group: { head_sha: string } }).merge_group.head_sha);
}
