import { execFile } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ROUTES } from "./routes/all.ts";
import { refusal, type TestGitHub, testGitHub } from "./testing/setup.ts";

let github: TestGitHub;
beforeEach(async () => {
  github = await testGitHub();
});
afterEach(() => github.sim.close());

const told = () => github.sim.deliveries.map((one) => [one.event, one.action].filter(Boolean).join("."));

function lsRemote(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_TERMINAL_PROMPT: "0" };
    execFile("git", ["ls-remote", url, "refs/heads/main"], { env }, (error, out) => (error === null ? resolve(out) : reject(error)));
  });
}

describe("a repository", () => {
  it("that was renamed answers its old name with 301 or 307, for git, too, until the name is taken", async () => {
    const { data } = await github.octokit("rob").rest.repos.get(github.place);
    github.sim.rename(github.repository, "moved");
    const ask = (method: string) => fetch(`${github.sim.url}/repos/acme/config/pulls?state=all`, { method, redirect: "manual" });
    const [read, write] = [await ask("GET"), await ask("POST")];
    const url = `${github.sim.url}/repositories/${data.id}/pulls?state=all`;
    expect([read.status, read.headers.get("location"), write.status]).toEqual([301, url, 307]);
    expect(await read.json()).toMatchObject({ message: "Moved Permanently", url });
    expect((await github.octokit("rob").rest.repos.get(github.place)).data.full_name).toBe("acme/moved");
    expect(await lsRemote(`${github.sim.gitUrl}/acme/config.git`)).toContain(github.head);
    await github.sim.createRepo({ owner: "acme", name: "config", files: new Map([["new", "1"]]) });
    expect((await github.octokit("rob").rest.repos.get(github.place)).data.id).not.toBe(data.id);
  });

  it("that is private and renamed stays hidden from those who never saw it", async () => {
    github.sim.settings(github.repository, { private: true });
    github.sim.rename(github.repository, "moved");
    const answer = await fetch(`${github.sim.url}/repos/acme/config`, { redirect: "manual" });
    expect(answer.status).toBe(404);
  });

  it("that is archived can be read and not written", async () => {
    github.sim.settings(github.repository, { archived: true });
    const octokit = github.appOctokit();
    expect((await octokit.rest.repos.get(github.place)).data.archived).toBe(true);
    const write = octokit.rest.issues.create({ ...github.place, title: "x" });
    expect(await refusal(write)).toMatchObject({ status: 403, message: "Repository was archived so is read-only." });
  });
});

describe("an installation", () => {
  it("that loses a repository sees it no more, and hears of that alone", async () => {
    await github.sim.createRepo({ owner: "acme", name: "other", files: new Map([["a", "b"]]), private: true });
    github.sim.settings(github.repository, { private: true });
    const octokit = github.appOctokit();
    github.sim.selectRepositories(github.installationId, ["acme/other"]);
    expect((await refusal(octokit.rest.repos.get(github.place))).status).toBe(404);
    expect((await octokit.rest.apps.listReposAccessibleToInstallation()).data).toMatchObject({ total_count: 1 });
    const before = told().length;
    await github.branch("unheard", { "x.txt": "x\n" });
    expect(told().slice(before)).toEqual([]);
    expect(told()).toContain("installation_repositories.removed");
  });

  it("that is suspended is refused and told nothing, and is itself again afterwards", async () => {
    const octokit = github.appOctokit();
    github.sim.suspend(github.installationId);
    const read = () => octokit.rest.repos.get(github.place);
    expect(await refusal(read())).toMatchObject({ status: 403, message: "This installation has been suspended" });
    await github.branch("unheard", { "x.txt": "x\n" });
    expect(told()).toEqual(expect.arrayContaining(["installation.suspend"]));
    expect(told()).not.toContain("push");
    github.sim.unsuspend(github.installationId);
    expect((await read()).status).toBe(200);
  });

  it("that is deleted takes its tokens with it", async () => {
    const octokit = github.appOctokit();
    github.sim.uninstall(github.installationId);
    expect(await refusal(octokit.rest.repos.get(github.place))).toMatchObject({ status: 401, message: "Bad credentials" });
  });

  it("has tokens that can be taken back, narrowed to repositories, and that live as long as was said", async () => {
    const token = github.sim.installationToken(github.installationId);
    expect(token).toMatch(new RegExp(`^ghs_${github.sim.app.id}_[\\w-]+\\.[\\w-]+\\.[\\w-]+$`));
    github.sim.revokeToken(token);
    expect((await refusal(github.withToken(token).rest.repos.get(github.place))).status).toBe(401);
    github.sim.settings(github.repository, { private: true });
    const narrow = github.sim.installationToken(github.installationId, { repositories: new Set([1]) });
    expect((await refusal(github.withToken(narrow).rest.repos.get(github.place))).status).toBe(404);
    const brief = await testGitHub({ tokenLifetime: -1 });
    expect((await refusal(brief.appOctokit().rest.repos.get(brief.place))).status).toBe(401);
    await brief.sim.close();
  });

  it("sees teams only with the permission to read members", async () => {
    github.sim.team("acme", "sre", ["mia"]);
    const ask = { org: "acme", team_slug: "sre", username: "mia" };
    expect((await refusal(github.appOctokit().rest.teams.getMembershipForUserInOrg(ask))).status).toBe(404);
    const permissions = { metadata: "read", members: "read" } as const;
    const octokit = github.withToken(github.sim.installationToken(github.installationId, { permissions }));
    expect((await octokit.rest.teams.getMembershipForUserInOrg(ask)).data).toMatchObject({ state: "active", role: "member" });
    expect((await refusal(octokit.rest.teams.getMembershipForUserInOrg({ ...ask, username: "rob" }))).status).toBe(404);
  });
});

describe("an App made from a manifest", () => {
  it("comes back by its code once, is installed by a form, and acts by its own key", async () => {
    const manifest = {
      name: "My Coach",
      redirect_url: "http://127.0.0.1/back",
      default_permissions: { contents: "write" },
      default_events: ["push"],
    };
    const send = { method: "POST", body: new URLSearchParams({ manifest: JSON.stringify(manifest) }), redirect: "manual" } as const;
    const answer = await fetch(`${github.sim.url}/organizations/acme/settings/apps/new?state=abc`, send);
    const back = new URL(answer.headers.get("location") ?? "");
    expect([answer.status, back.searchParams.get("state")]).toEqual([302, "abc"]);
    const convert = () => fetch(`${github.sim.url}/app-manifests/${back.searchParams.get("code")}/conversions`, { method: "POST" });
    const app = (await (await convert()).json()) as { id: number; slug: string; pem: string; html_url: string };
    expect([app.slug, (await convert()).status]).toEqual(["my-coach", 404]);
    const page = `${app.html_url}/installations/new`;
    expect(await (await fetch(page)).text()).toContain('value="acme"');
    const installed = await fetch(page, { method: "POST", body: new URLSearchParams({ account: "acme" }) });
    const id = Number(/Installation (\d+)/.exec(await installed.text())?.[1]);
    const octokit = github.withToken(github.sim.installationToken(id));
    const { data } = await octokit.rest.git.createRef({ ...github.place, ref: "refs/heads/mine", sha: github.head });
    expect(data.ref).toBe("refs/heads/mine");
    const denied = octokit.rest.issues.create({ ...github.place, title: "x" });
    expect(await refusal(denied)).toMatchObject({ status: 403, message: "Resource not accessible by integration" });
  });

  it("is refused without a place to go back to", async () => {
    const body = new URLSearchParams({ manifest: "{}" });
    expect((await fetch(`${github.sim.url}/settings/apps/new`, { method: "POST", body })).status).toBe(422);
  });
});

describe("a token with metadata alone", () => {
  const writes = ROUTES.filter((route) => route.path.startsWith("/repos/:owner/:repo/") && route.method !== "GET");
  const reads = ROUTES.filter((route) => /^\/repos\/:owner\/:repo\/(contents|pulls|issues|git|commits|check|deployments)/.test(route.path));

  it("is told at every route which permission it lacks", async () => {
    github.sim.settings(github.repository, { private: true });
    const token = github.sim.installationToken(github.installationId, { permissions: { metadata: "read" } });
    const asked = new Set([...writes, ...reads].map((route) => `${route.method} ${route.path}`));
    expect(asked.size).toBeGreaterThan(80);
    const wrong: string[] = [];
    for (const [method = "", path = ""] of [...asked].map((one) => one.split(" "))) {
      const place = path.replace(":owner/:repo", "acme/config").replace(/[:*][a-z]+/g, "1");
      const answer = await fetch(`${github.sim.url}${place}`, { method, headers: { authorization: `token ${token}` } });
      const needed = answer.headers.get("x-accepted-github-permissions");
      if (answer.status !== 403 || needed === null) wrong.push(`${method} ${path}: ${answer.status}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe("a fork", () => {
  it("sends pull requests, which follow its branch and leave it where it is when they are merged", async () => {
    const fork = await github.sim.fork(github.repository, "eve");
    expect(fork).toBe("eve/config");
    const eve = github.sim.actAs("eve");
    const push = (text: string) => eve.push(fork, { branch: "fix", files: { "fix.txt": text }, message: text });
    await push("1\n");
    const octokit = github.octokit("eve");
    const opened = (await octokit.rest.pulls.create({ ...github.place, head: "eve:fix", base: "main", title: "Fix" })).data;
    expect(opened).toMatchObject({ head: { label: "eve:fix", repo: { full_name: "eve/config", fork: true } }, changed_files: 1 });
    const again = octokit.rest.pulls.create({ ...github.place, head: "eve:fix", base: "main", title: "Fix" });
    expect((await refusal(again)).errors).toMatchObject([{ message: "A pull request already exists for eve:fix." }]);
    const head = await push("2\n");
    const pull = { ...github.place, pull_number: opened.number };
    expect((await octokit.rest.pulls.get(pull)).data.head.sha).toBe(head);
    expect(told()).toContain("pull_request.synchronize");
    github.sim.settings(github.repository, { deleteBranchOnMerge: true });
    expect((await github.octokit("mia").rest.pulls.merge(pull)).status).toBe(200);
    expect((await octokit.rest.git.getRef({ owner: "eve", repo: "config", ref: "heads/fix" })).data.object.sha).toBe(head);
    github.sim.deleteRepo(fork);
    expect((await github.octokit("rob").rest.pulls.get(pull)).data.head.repo).toBeNull();
  });
});
