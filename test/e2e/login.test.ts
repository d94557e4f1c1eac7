import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTokenLogin, openTokenSight } from "../../src/adapters/forge/github/token-sight.ts";
import { openUserTokens } from "../../src/adapters/forge/github/user-tokens.ts";
import { type TestGitHub, testGitHub } from "../../src/sim/github/testing/setup.ts";
import { openLogin } from "../../src/surfaces/web/login/login.ts";
import { webRoutes } from "../../src/surfaces/web/server.ts";
import { chromiumPath, launchBrowser } from "../support/browser.ts";
import { sampleRun } from "../support/sample-run.ts";

const clock = { now: () => Date.parse("2026-11-21T09:04:00.000Z"), after: () => () => undefined, speed: 1 };

describe.skipIf(chromiumPath === undefined)("signing in, in a browser", () => {
  let browser: Browser;
  let server: Server;
  let github: TestGitHub;
  let url: string;
  const repositories = ["acme/config", "acme/secret"];

  beforeAll(async () => {
    github = await testGitHub({ visitor: { login: "wim" } });
    const { sim } = github;
    await sim.createRepo({ owner: "acme", name: "secret", files: new Map([["README.md", "x"]]) });
    sim.collaborator("acme/secret", "mia", "write");
    for (const name of repositories) sim.settings(name, { private: true });
    const tokens = openUserTokens({ clientId: sim.app.clientId, clientSecret: sim.app.clientSecret, baseUrl: sim.url });
    const login = openLogin({ tokens, keys: [{ id: "a", secret: randomBytes(32) }], lastsMs: 3_600_000 });
    const runs = () => repositories.map((repository) => ({ repository, run: sampleRun({ rollout: repository.split("/")[1] ?? "" }) }));
    const seen = { sightOf: openTokenSight(sim.url), loginOf: openTokenLogin(sim.url), login };
    const routes = webRoutes({ runs, onChange: () => () => undefined, ...seen }, clock);
    server = createServer((request, response) => void (routes(request, response) || response.writeHead(404).end()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    sim.setCallbackUrls(`${url}/login/callback`);
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
    await github?.sim.close();
  });

  /** In a browser of their own, where they land after GitHub's page. */
  async function signIn(login: string, path: string) {
    const page = await (await browser.newContext()).newPage();
    await page.goto(url + path);
    await page.waitForSelector("h2:has-text('You are not signed in')");
    github.sim.signIn(login);
    await page.click(".sign-in a:has-text('Sign in with GitHub')");
    await page.click("#authorize");
    await page.waitForURL(url + path);
    await page.waitForSelector(`.who:has-text('Signed in as @${login}')`);
    return page;
  }

  test("two people see what GitHub shows each of them; one signs out, the other's session is ended on GitHub", async () => {
    const wim = await signIn("wim", "/");
    await wim.waitForSelector("a[href$='/r/acme/config/config']");
    expect(await wim.locator("a[href*='/r/acme/secret/']").count()).toBe(0);
    const mia = await signIn("mia", "/r/acme/secret/secret");
    await mia.waitForSelector(".run");
    await wim.goto(`${url}/r/acme/secret/secret`);
    await wim.waitForSelector("[role=status].missing");

    await wim.click(".who button:has-text('Sign out')");
    await wim.waitForSelector("h2:has-text('You are not signed in')");
    expect(await wim.locator(".who:has-text('Signed in as')").count()).toBe(0);

    github.sim.revokeGrant("mia");
    // Of what was asked within the minute GitHub is not asked again: one more repository is.
    repositories.push("acme/more");
    await mia.goto(url);
    await mia.waitForSelector("h2:has-text('Your session has ended')");
    expect(await mia.locator(".run, .fleet").count()).toBe(0);
    await mia.click(".sign-in a:has-text('Sign in with GitHub')");
    await mia.click("#authorize");
    await mia.waitForSelector(".who:has-text('Signed in as @mia')");
  });
});
