import { ProbotOctokit } from "probot";
import { afterEach, describe, expect, it } from "vitest";
import type { Exchange } from "../../../sim/github/model/model.ts";
import type { GitHubOptions } from "../../../sim/github/start.ts";
import { refusal, type TestGitHub, testGitHub } from "../../../sim/github/testing/setup.ts";
import { openGitHubForge } from "./index.ts";
import type { OctokitLike } from "./octokit.ts";
import { repoAuth } from "./repo-auth.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

let github: TestGitHub | undefined;
afterEach(() => github?.sim.close());

/** `acme/config` and `acme/secret`, both private, as an installation's Octokit sees them; what it asked, and with which token. */
async function twoRepos(options: Partial<GitHubOptions> = {}) {
  const seen: Exchange[] = [];
  github = await testGitHub({ ...options, onExchange: (exchange) => void seen.push(exchange) });
  const { sim, installationId } = github;
  await sim.createRepo({ owner: "acme", name: "secret", files: new Map([["a", "b"]]), private: true });
  sim.settings(github.repository, { private: true });
  const auth = { appId: sim.app.id, privateKey: sim.app.privateKey, installationId };
  const one = () => ({ authStrategy: repoAuth(), auth, baseUrl: sim.url, throttle: { enabled: false }, log: quiet });
  const octokit = new ProbotOctokit(one()) as unknown as OctokitLike;
  const minted = () => seen.filter(({ path, status }) => path.endsWith("/access_tokens") && status === 201).length;
  const forge = (repository = "acme/config") => openGitHubForge({ octokit, repository });
  return { sim, octokit, seen, minted, forge, installationId };
}

const tokenOf = async (octokit: OctokitLike, repository: string) =>
  ((await octokit.auth({ type: "installation", repository })) as { token: string }).token;

describe("a token that was asked for one repository", () => {
  it("opens no other one: not by REST, not by GraphQL, not with more than is done there", async () => {
    const { octokit, sim } = await twoRepos({ app: { permissions: { metadata: "read", contents: "write", secrets: "write" } as never } });
    const mine = github?.withToken(await tokenOf(octokit, "acme/config"));
    if (mine === undefined) throw new Error("no GitHub");
    const other = { owner: "acme", repo: "secret" };
    expect((await mine.rest.repos.get({ owner: "acme", repo: "config" })).status).toBe(200);
    expect((await refusal(mine.rest.repos.get(other))).status).toBe(404);
    expect((await refusal(mine.rest.issues.create({ ...other, title: "x" }))).status).toBe(404);
    const asked = mine.graphql('{ repository(owner: "acme", name: "secret") { id } }').catch((error) => error.data);
    expect(await asked).toMatchObject({ repository: null });
    const { data } = await fetch(`${sim.url}/installation/repositories`, {
      headers: { authorization: `token ${await tokenOf(octokit, "acme/config")}` },
    }).then(async (answer) => ({ data: (await answer.json()) as { total_count: number } }));
    expect(data.total_count).toBe(1);
  });

  it("is the one that each call about it is sent with, further pages and GraphQL's among them", async () => {
    const { octokit, seen, forge, sim } = await twoRepos();
    for (let n = 0; n < 101; n++) await sim.actAs("mia").push("acme/config", { branch: `b${n}`, files: { n: String(n) }, message: "x" });
    for (let n = 0; n < 101; n++) await sim.actAs("mia").openPull("acme/config", { head: `b${n}`, title: String(n) });
    seen.length = 0;
    expect(await forge().openPulls()).toHaveLength(101);
    await forge().identity();
    await forge().inTeam("sre", "mia");
    await forge().unedited([]);
    await forge("acme/secret").repo();
    await octokit.paginate(octokit.rest.apps.listReposAccessibleToInstallation);
    const used = seen.filter(({ token }) => token !== undefined).map(({ path, token }) => [path, token?.repositories?.join() ?? "all"]);
    const of = (name: string) => used.filter(([path]) => path?.startsWith(`/repos/acme/${name}`)).map(([, opened]) => opened);
    expect(of("config")).toEqual(["acme/config", "acme/config"]);
    expect(of("secret")).toEqual(["acme/secret"]);
    const wide = seen.filter(({ token }) => token !== undefined && token.repositories === undefined);
    expect(wide.map(({ path, token }) => [path, token?.permissions])).toEqual([["/installation/repositories", { metadata: "read" }]]);
  });

  it("is asked for when it is first wanted, once for any number of calls at a time, and kept until shortly before its end", async () => {
    const { forge, minted, octokit } = await twoRepos();
    expect(minted()).toBe(0);
    await Promise.all([1, 2, 3, 4, 5].map(() => forge().repo()));
    await forge().openPulls();
    expect(minted()).toBe(1);
    await forge("acme/secret").repo();
    expect(minted()).toBe(2);
    await forge().gitCredentials();
    await forge().gitCredentials();
    expect(minted()).toBe(3);
    expect(octokit).toBeDefined();
    await github?.sim.close();
    const brief = await twoRepos({ tokenLifetime: 59_000 });
    await brief.forge().repo();
    await brief.forge().repo();
    expect(brief.minted()).toBe(2);
  });

  it("is handed to Git for that repository alone, and its contents", async () => {
    const { forge, sim } = await twoRepos();
    const { username, password } = await forge().gitCredentials();
    const headers = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
    const git = async (name: string) =>
      (await fetch(`${sim.gitUrl}/acme/${name}.git/info/refs?service=git-receive-pack`, { headers })).status;
    expect([await git("config"), await git("secret")]).toEqual([200, 404]);
    const mine = github?.withToken(password);
    expect((await mine?.rest.repos.get({ owner: "acme", repo: "config" }))?.status).toBe(200);
    expect(await refusal(mine?.rest.issues.create({ owner: "acme", repo: "config", title: "x" }) ?? Promise.reject())).toMatchObject({
      status: 403,
    });
  });

  it("is asked for with less once the App was given less, and with more once it was given more", async () => {
    const { forge, seen, sim, installationId } = await twoRepos();
    await forge().repo();
    const held = () => seen.findLast(({ path }) => path === "/repos/acme/config")?.token?.permissions;
    expect(held()).toMatchObject({ checks: "write" });
    sim.setPermissions(installationId, { metadata: "read", contents: "write" });
    sim.expireTokens();
    await forge().repo();
    expect(held()).toEqual({ metadata: "read", contents: "write" });
    sim.setPermissions(installationId, { metadata: "read", contents: "write", issues: "write" });
    await forge().gitCredentials({ renew: true });
    await forge().repo();
    expect(held()).toEqual({ metadata: "read", contents: "write", issues: "write" });
  });
});

describe("what one repository asks of another", () => {
  it("is read with a token that can only read there, and of another owner's with one that opens nothing", async () => {
    const { forge, seen, sim } = await twoRepos();
    const made = await sim.createRepo({ owner: "globex", name: "config", files: new Map([["a", "b"]]), private: true });
    expect(made.repository).toBe("globex/config");
    expect(await forge().commitOf?.("acme/secret", "main")).toMatch(/^[0-9a-f]{40}$/);
    expect(await forge().commitOf?.("globex/config", "main")).toBe("hidden");
    const asked = seen.filter(({ path }) => path.includes("/commits/")).map(({ token }) => token);
    // A revision may be a tag or a branch: both are looked for in the one.
    expect(asked.slice(1)).toEqual([
      { repositories: ["acme/secret"], permissions: { metadata: "read", contents: "read" } },
      { repositories: undefined, permissions: { metadata: "read" } },
    ]);
  });

  it("of another owner's opens no namesake of the installation's, though nobody said who asks", async () => {
    const { octokit, seen, sim } = await twoRepos();
    await sim.createRepo({ owner: "globex", name: "config", files: new Map([["a", "b"]]), private: true });
    expect((await refusal(octokit.rest.repos.get({ owner: "globex", repo: "config" }))).status).toBe(404);
    expect(seen.findLast(({ path }) => path === "/repos/globex/config")?.token).toEqual({
      repositories: undefined,
      permissions: { metadata: "read" },
    });
  });

  it("that the installation has not is answered as everybody is, and no token is asked for each time", async () => {
    const { forge, minted } = await twoRepos();
    await forge().repo();
    await expect(forge("acme/nowhere").repo()).rejects.toMatchObject({ kind: "NotFound" });
    const before = minted();
    await expect(forge("acme/nowhere").repo()).rejects.toMatchObject({ kind: "NotFound" });
    expect(minted()).toBe(before);
  });
});
