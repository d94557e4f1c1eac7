/**
 * The pictures of the page that docs and README show. `npm run generate` draws anew those that are missing, or whose words are others now; the
 * words are what is compared, since no two machines draw a letter alike.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openUserTokens } from "../../src/adapters/forge/github/user-tokens.ts";
import { expectedDuration } from "../../src/core/report/plan/duration.ts";
import { plannedRelease, planRoom } from "../../src/core/report/plan/plan-model.ts";
import { SITUATIONS } from "../../src/core/report/testing/situations.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import { openLogin } from "../../src/surfaces/web/login/login.ts";
import { webRoutes } from "../../src/surfaces/web/server.ts";
import type { LookedAfter, WebSource } from "../../src/surfaces/web/source.ts";
import { pausedRun } from "../stills.ts";
import { chromiumPath, launchBrowser } from "../support/browser.ts";

if (chromiumPath === undefined) console.log("skipped: the pictures of the page (no Chromium on this machine)");

const repository = "acme/config";
const draws = process.env["STAGECOACH_STILLS"] === "1";
const still = (name: string) => new URL(`../../docs/stills/page-${name}`, import.meta.url);
const SCHEMES = ["light", "dark"] as const;

const HEAD = "5b6c1f0e9a7d4b33c0de5b6c1f0e9a7d4b33c0de";
const { run: paused, now, rollout, plan } = pausedRun();
const run = JSON.parse(JSON.stringify(paused).replace(/0{39}\w/g, HEAD)) as Run;
const failed = run.batches.flatMap(({ targets }) => targets).find(({ phase }) => phase === "Failed");
const OTHERS = { checkout: "waiting for approval", ledger: "running", search: "baking", basket: "done" };

const said = (subject: string, ago: number) => ({ sha: HEAD, at: new Date(now - ago).toISOString(), subject, trailers: {} });
const JOURNAL: ReturnType<NonNullable<WebSource["journal"]>> = {
  runs: async () => [],
  run: async () => run,
  log: async () => [said(`merged #104: ${failed?.application}`, 264_000), said(`${failed?.application} failed`, 95_000)],
  stateAt: async () => undefined,
  runsAround: async () => [],
};

/** A situation's run as it would stand now, of versions as people give them. */
function asOfNow(situation: string): Run {
  const made = SITUATIONS[situation]?.();
  if (made === undefined) throw new Error(`there is no situation "${situation}"`);
  const later = (time: string) => new Date(Date.parse(time) + now - made.now).toISOString();
  const text = JSON.stringify(made.run)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, later)
    .replace(/"v([12])"/g, '"v3.$1.0"')
    .replaceAll("a".repeat(40), HEAD);
  return JSON.parse(text) as Run;
}

/** The sample's failed run, and what else a fleet has. */
function source(): WebSource {
  const links = [{ name: "#46", url: `https://github.example/${repository}/pull/46` }];
  const next = JSON.parse(JSON.stringify(plan).replaceAll("v1.4.2", "v1.4.3").replaceAll("v1.4.1", "v1.4.2")) as typeof plan;
  const expected = expectedDuration(rollout, next, { stages: new Map(), totals: [3_000_000, 3_600_000, 4_500_000] });
  const pull = { ...{ repository, pull: 46, title: "Release my-app v1.4.3", author: "alice", head: HEAD }, isFork: false };
  const planned = [plannedRelease(rollout, next, "v1.4.2", { extras: { expected }, room: planRoom() })];
  const releases = [{ ...pull, judgedAt: new Date(now - 60_000).toISOString(), links, planned }];
  const place: LookedAfter = { repository, state: "Read", idle: [], unread: [], releases };
  const others = Object.entries(OTHERS).map(([name, situation]) => ({ repository, run: { ...asOfNow(situation), rollout: name } }));
  const planes = [{ name: "argocd", uiUrl: "https://argocd.example" }];
  const runs = () => [{ repository, run }, ...others];
  return { runs, repositories: () => [place], planes, journal: () => JOURNAL, onChange: () => () => undefined };
}

describe.skipIf(chromiumPath === undefined)("the pictures of the page", () => {
  let browser: Browser;
  const servers: Server[] = [];

  async function serve(of: WebSource): Promise<string> {
    const routes = webRoutes(of, { now: () => now, after: () => () => undefined });
    const server = createServer((request, response) => void (routes(request, response) || response.writeHead(404).end()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    servers.push(server);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    for (const server of servers) server.close().closeAllConnections();
  });

  /** Time stands still. */
  async function open(url: string, height: number, whole: string): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1000, height }, locale: "en-GB", timezoneId: "UTC" });
    await page.addInitScript("performance.now = () => 0");
    await page.goto(url);
    await page.waitForSelector(`main:has(${whole})`);
    return page;
  }

  async function draw(page: Page, name: string): Promise<void> {
    const camera = await page.context().newCDPSession(page);
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      const { data } = await camera.send("Page.captureScreenshot", { format: "webp", quality: 60 });
      writeFileSync(still(`${name}-${colorScheme}.webp`), Buffer.from(data, "base64"));
    }
  }

  test.each([
    ["fleet", "/", 560, ".fleet"],
    ["run", `/r/${repository}/my-app`, 600, ".stages"],
    ["plan", `/r/${repository}/my-app/pulls/46`, 540, ".plan"],
    ["target", `/r/${repository}/my-app/targets/${failed?.key}`, 520, ".evidence):has(.timeline"],
    ["sign-in", "/", 270, ".sign-in a"],
  ])("%s: it says what the page says", async (name, path, height, whole) => {
    const tokens = openUserTokens({ clientId: "Iv1.x", clientSecret: "secret" });
    const login = openLogin({ tokens, keys: [{ id: "a", secret: randomBytes(32) }], lastsMs: 3_600_000 });
    const page = await open((await serve(name === "sign-in" ? { ...source(), login } : source())) + path, height, whole);
    const words = `${(await page.locator("main").innerText()).replace(/\n\s*\n/g, "\n").trim()}\n`;
    const pictures = SCHEMES.map((scheme) => still(`${name}-${scheme}.webp`));
    const isOld = !existsSync(still(`${name}.txt`)) || readFileSync(still(`${name}.txt`), "utf8") !== words;
    if (draws && (isOld || !pictures.every((one) => existsSync(one)))) {
      await draw(page, name);
      writeFileSync(still(`${name}.txt`), words);
    }
    expect(words, "npm run generate draws it anew").toBe(readFileSync(still(`${name}.txt`), "utf8"));
    for (const one of pictures) expect(statSync(one).size).toBeLessThan(40_000);
    await page.close();
  });
});
