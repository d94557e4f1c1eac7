import { createHash } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { type TestGitHub, testGitHub } from "../testing/setup.ts";

let github: TestGitHub | undefined;
afterEach(async () => {
  await github?.sim.close();
  github = undefined;
});

const CALLBACK = "http://127.0.0.1:3001/login/callback";
const VERIFIER = "v".repeat(43);
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");

async function world(login = "wim") {
  github = await testGitHub();
  const { sim } = github;
  sim.setCallbackUrls(CALLBACK);
  sim.signIn(login, { consents: true });
  const { clientId, clientSecret } = sim.app;
  const pageOf = (more: Record<string, string> = {}) => {
    const query = {
      client_id: clientId,
      redirect_uri: CALLBACK,
      state: "s",
      code_challenge: CHALLENGE,
      code_challenge_method: "S256",
      ...more,
    };
    return fetch(`${sim.url}/login/oauth/authorize?${new URLSearchParams(query)}`, { redirect: "manual" });
  };
  const codeOf = async () => new URL((await pageOf()).headers.get("location") ?? "").searchParams.get("code") ?? "";
  const ask = async (fields: Record<string, string>) => {
    const body = new URLSearchParams({ client_id: clientId, client_secret: clientSecret, ...fields });
    const headers = { accept: "application/json" };
    return (await (await fetch(`${sim.url}/login/oauth/access_token`, { method: "POST", headers, body })).json()) as Record<string, string>;
  };
  const revoke = async (what: "token" | "grant", token: string) => {
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
    const body = JSON.stringify({ access_token: token });
    return (await fetch(`${sim.url}/applications/${clientId}/${what}`, { method: "DELETE", headers: { authorization }, body })).status;
  };
  const tokens = async () => await ask({ code: await codeOf(), code_verifier: VERIFIER, redirect_uri: CALLBACK });
  const status = async (token: string, path = "/user") =>
    (await fetch(`${sim.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;
  return { ...github, pageOf, codeOf, ask, tokens, revoke, status };
}

test("a code is good once, for its App, its callback and its verifier alone", async () => {
  const { sim, pageOf, codeOf, ask, tokens } = await world();
  expect((await pageOf({ redirect_uri: "http://127.0.0.1:3001/other" })).status).toBe(422);
  expect((await pageOf({ client_id: "Iv23liNobody" })).status).toBe(404);
  for (const [more, error] of [
    [{ code_verifier: "w".repeat(43) }, "bad_verification_code"],
    [{}, "bad_verification_code"],
    [{ code_verifier: VERIFIER, redirect_uri: "http://127.0.0.1:9/" }, "redirect_uri_mismatch"],
    [{ code_verifier: VERIFIER, client_secret: "x" }, "incorrect_client_credentials"],
  ] as const)
    expect(await ask({ code: await codeOf(), ...more })).toMatchObject({ error });
  const code = await codeOf();
  expect(await ask({ code, code_verifier: VERIFIER })).toMatchObject({ token_type: "bearer", expires_in: 28_800, scope: "" });
  expect(await ask({ code, code_verifier: VERIFIER })).toMatchObject({ error: "bad_verification_code" });
  expect((await tokens())["access_token"]).toMatch(/^ghu_\w{36}$/);
  // Who has not said yes is asked.
  sim.signIn("rob");
  const page = await pageOf();
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("wants to act for you")]);
  expect(page.headers.get("content-security-policy")).toContain("form-action 'self' http://127.0.0.1:3001;");
});

test("a refresh token is good once, and ends the token that came with it; what is revoked ends both", async () => {
  const { sim, ask, tokens, revoke, status } = await world();
  const first = await tokens();
  const again = () => ask({ grant_type: "refresh_token", refresh_token: first["refresh_token"] ?? "" });
  const second = await again();
  expect([await status(first["access_token"] ?? ""), await status(second["access_token"] ?? "")]).toEqual([401, 200]);
  expect(await again()).toMatchObject({ error: "bad_refresh_token" });
  expect(await revoke("token", second["access_token"] ?? "")).toBe(204);
  expect(await revoke("token", second["access_token"] ?? "")).toBe(404);
  expect(await ask({ grant_type: "refresh_token", refresh_token: second["refresh_token"] ?? "" })).toMatchObject({
    error: "bad_refresh_token",
  });
  const [one, two] = [await tokens(), await tokens()];
  expect(await revoke("grant", one["access_token"] ?? "")).toBe(204);
  expect([await status(one["access_token"] ?? ""), await status(two["access_token"] ?? "")]).toEqual([401, 401]);
  expect(await revoke("token", sim.token("wim"))).toBe(404);
});

test("a person's token may what the person and the App's installation both may", async () => {
  const { sim, tokens, repository, installationId, withToken, place, status } = await world();
  const token = (await tokens())["access_token"] ?? "";
  const issue = (await withToken(sim.token("wim")).rest.issues.create({ ...place, title: "one" })).data.number;
  const comment = () => withToken(token).rest.issues.createComment({ ...place, issue_number: issue, body: "x" });
  expect((await comment()).data.user?.login).toBe("wim");
  sim.setPermissions(installationId, { metadata: "read", issues: "read" });
  await expect(comment()).rejects.toMatchObject({ status: 403 });
  sim.settings(repository, { private: true });
  expect(await status(token, `/repos/${repository}`)).toBe(200);
  sim.suspend(installationId);
  expect(await status(token, `/repos/${repository}`)).toBe(404);
  expect(await status(sim.token("wim"), `/repos/${repository}`)).toBe(200);
  sim.unsuspend(installationId);
  sim.signIn("mallory", { consents: true });
  expect(await status((await tokens())["access_token"] ?? "", `/repos/${repository}`)).toBe(404);
});
