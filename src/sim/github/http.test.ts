import { createSign, generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusal, type TestGitHub, testGitHub } from "./testing/setup.ts";

let github: TestGitHub;
beforeAll(async () => {
  github = await testGitHub();
});
afterAll(() => github.sim.close());

function jwt(claims: object, key: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}`;
  return `${text}.${createSign("RSA-SHA256").update(text).sign(key, "base64url")}`;
}

function appJwt(change: object = {}, key = github.sim.app.privateKey): string {
  const now = Math.floor(Date.now() / 1000);
  return jwt({ iat: now - 30, exp: now + 570, iss: github.sim.app.id, ...change }, key);
}

function ask(path: string, headers: Record<string, string> = {}, init: RequestInit = {}): Promise<Response> {
  return fetch(`${github.sim.url}${path}`, { ...init, headers });
}

describe("every answer", () => {
  it("carries GitHub's headers, and a 304 that costs nothing where nothing has changed", async () => {
    const headers = { authorization: `Bearer ${github.sim.token("rob")}` };
    const first = await ask("/repos/acme/config", headers);
    expect(first.headers.get("x-github-request-id")).toMatch(/^[0-9A-F]{4}:[0-9A-F]{6}:[0-9A-F]{7}:[0-9A-F]+$/);
    expect(first.headers.get("x-ratelimit-limit")).toBe("15000");
    const tag = first.headers.get("etag") ?? "";
    await first.arrayBuffer();
    const again = await ask("/repos/acme/config", { ...headers, "if-none-match": tag });
    expect(again.status).toBe(304);
    expect(again.headers.get("x-ratelimit-used")).toBe(first.headers.get("x-ratelimit-used"));
  });

  it("comes under an Enterprise Server's path, too", async () => {
    expect((await ask("/api/v3/repos/acme/config")).status).toBe(200);
  });

  it.each([
    {
      what: "an unknown token",
      path: "/repos/acme/config",
      headers: { authorization: "Bearer ghp_nobody" },
      status: 401,
      message: "Bad credentials",
    },
    {
      what: "an unknown version",
      path: "/repos/acme/config",
      headers: { "x-github-api-version": "1999-01-01" },
      status: 400,
      message: /not supported/,
    },
    { what: "an unknown repository", path: "/repos/acme/nothing", headers: {}, status: 404, message: "Not Found" },
    { what: "a path that looks like a host", path: "//[", headers: {}, status: 404, message: "Not Found" },
    { what: "an unknown route", path: "/nowhere", headers: {}, status: 404, message: "Not Found" },
    { what: "a number that is none", path: "/repos/acme/config/pulls/x", headers: {}, status: 404, message: "Not Found" },
  ] as { what: string; path: string; headers: Record<string, string>; status: number; message: string | RegExp }[])(
    "to $what is $status in GitHub's shape",
    async ({ path, headers, status, message }) => {
      const answer = await ask(path, headers);
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({
        message: expect.stringMatching(message),
        status: String(status),
        documentation_url: expect.any(String),
      });
    },
  );

  it("to broken JSON is 400", async () => {
    const answer = await ask(
      "/repos/acme/config/pulls",
      { authorization: `Bearer ${github.sim.token("wim")}` },
      { method: "POST", body: "{" },
    );
    expect([answer.status, await answer.json()]).toMatchObject([400, { message: "Problems parsing JSON" }]);
  });

  it("is 403 with nothing remaining once the hour's requests are used up", async () => {
    const small = await testGitHub({ rateLimit: 2 });
    const octokit = small.octokit("rob");
    await octokit.rest.repos.get(small.place);
    await octokit.rest.repos.get(small.place);
    const answer = await octokit.rest.repos.get(small.place).catch((error) => error.response);
    expect(answer).toMatchObject({ status: 403, headers: { "x-ratelimit-remaining": "0" }, data: { message: /rate limit exceeded/ } });
    await small.sim.close();
  });
});

describe("the App", () => {
  it("shows itself and mints tokens to who holds its key", async () => {
    const headers = { authorization: `Bearer ${appJwt()}` };
    expect(await (await ask("/app", headers)).json()).toMatchObject({ slug: "stagecoach", id: github.sim.app.id });
    expect(await (await ask("/repos/acme/config/installation", headers)).json()).toMatchObject({ id: github.installationId });
    const minted = await ask(`/app/installations/${github.installationId}/access_tokens`, headers, { method: "POST" });
    expect(minted.status).toBe(201);
    const { token } = (await minted.json()) as { token: string };
    expect(token).toMatch(new RegExp(`^ghs_${github.sim.app.id}_`));
    expect(await (await ask("/installation/repositories", { authorization: `token ${token}` })).json()).toMatchObject({ total_count: 1 });
  });

  it.each([
    {
      what: "of another key",
      make: () =>
        appJwt(
          {},
          generateKeyPairSync("rsa", {
            modulusLength: 2048,
            privateKeyEncoding: { type: "pkcs8", format: "pem" },
            publicKeyEncoding: { type: "spki", format: "pem" },
          }).privateKey,
        ),
      status: 401,
    },
    { what: "that has expired", make: () => appJwt({ exp: 1 }), status: 401 },
    { what: "that lives too long", make: () => appJwt({ exp: Math.floor(Date.now() / 1000) + 3600 }), status: 401 },
    { what: "of another App", make: () => appJwt({ iss: 7 }), status: 404 },
  ])("is not believed a token $what", async ({ make, status }) => {
    expect((await ask("/app", { authorization: `Bearer ${make()}` })).status).toBe(status);
  });

  it("is told which permission it lacks", async () => {
    const minted = await ask(
      `/app/installations/${github.installationId}/access_tokens`,
      { authorization: `Bearer ${appJwt()}` },
      { method: "POST", body: JSON.stringify({ permissions: { contents: "read" } }) },
    );
    const { token } = (await minted.json()) as { token: string };
    const body = JSON.stringify({ ref: "refs/heads/x", sha: github.head });
    const answer = await ask("/repos/acme/config/git/refs", { authorization: `Bearer ${token}` }, { method: "POST", body });
    expect(answer.status).toBe(403);
    expect(answer.headers.get("x-accepted-github-permissions")).toBe("contents=write");
    expect(await answer.json()).toMatchObject({ message: "Resource not accessible by integration" });
  });

  it("acts as its bot, and its comments name it", async () => {
    const number = await github
      .branch("app", { "app.txt": "x\n" })
      .then(() => github.sim.actAs("wim").openPull(github.repository, { head: "app", title: "x" }));
    const { data } = await github.appOctokit().rest.issues.createComment({ ...github.place, issue_number: number, body: "hello" });
    expect(data).toMatchObject({ user: { login: "stagecoach[bot]", type: "Bot" }, performed_via_github_app: { slug: "stagecoach" } });
  });

  it("is 401 once its tokens have ended, while people's go on", async () => {
    const octokit = github.appOctokit();
    const person = github.octokit("rob");
    github.sim.expireTokens();
    expect((await refusal(octokit.rest.repos.get(github.place))).status).toBe(401);
    expect((await person.rest.repos.get(github.place)).status).toBe(200);
  });
});

describe("people", () => {
  it.each([
    { login: "acme", role_name: "admin", permission: "admin" },
    { login: "mia", role_name: "maintain", permission: "write" },
    { login: "wim", role_name: "write", permission: "write" },
    { login: "rob", role_name: "read", permission: "read" },
  ])("$login has $role_name, which the old word calls $permission", async ({ login, role_name, permission }) => {
    const { data } = await github.octokit("rob").rest.repos.getCollaboratorPermissionLevel({ ...github.place, username: login });
    expect(data).toMatchObject({ role_name, permission });
  });

  it("a reaction is new once and there already the second time", async () => {
    const octokit = github.octokit("rob");
    await github.branch("react", { "react.txt": "x\n" });
    const number = await github.sim.actAs("wim").openPull(github.repository, { head: "react", title: "x" });
    const comment = github.sim.actAs("rob").comment(github.repository, number, "/pause");
    const react = () => octokit.rest.reactions.createForIssueComment({ ...github.place, comment_id: comment, content: "eyes" });
    expect([(await react()).status, (await react()).status]).toEqual([201, 200]);
  });

  it("a comment may be long, but not longer than GitHub takes", async () => {
    const octokit = github.octokit("rob");
    const write = (body: string) => octokit.rest.issues.createComment({ ...github.place, issue_number: 1, body });
    expect((await write("x".repeat(65_536))).status).toBe(201);
    expect((await refusal(write("x".repeat(65_537)))).status).toBe(422);
  });
});
